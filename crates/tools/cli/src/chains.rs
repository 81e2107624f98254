//! `wayhop topology --measure-chains`: the throughput of static chains, for the expected throughput.

use std::fs::{self, OpenOptions};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use wayhop_core::{NodeId, Position, Time};
use wayhop_runs::interruption::stop_on_signal;
use wayhop_runs::{Error, jobs, to_end};
use wayhop_scenario::{CapturePlan, ReceptionPlan, Resolved};
use wayhop_topology::ChainThroughput;
use wayhop_trace::Recorder;
use wayhop_transport::tcp::{App, TcpConfig};
use wayhop_transport::{FlowConfig, FlowKind};
use wayhop_world::Track;

use crate::failure::Failure;
use crate::job_progress::JobProgress;
use crate::scenario_args::{metres, seconds, whole};

/// Default spacing of a chain as a share of the range: 180 m of 250 m. Nodes three hops apart then sense each other with a
/// carrier-sense range of 2.2 times the range, and no node is hidden.
const SPACING_OF_RANGE: f64 = 0.72;

/// The chains to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct MeasureArgs {
    /// Measure the throughput of static chains of 1, 2, ... hops with this scenario's radio, protocol and first TCP flow, write
    /// it to FILE (for --chains), and use it
    #[arg(long, value_name = "FILE", conflicts_with = "chains")]
    pub(crate) measure_chains: Option<PathBuf>,
    /// Spacing of the nodes in these chains, in metres. Default: 0.72 of the range
    #[arg(long, value_name = "M", value_parser = metres, requires = "measure_chains", allow_negative_numbers = true)]
    chain_spacing: Option<f64>,
    /// Longest chain to measure, 1 to 64 hops; its throughput is also used for longer chains
    #[arg(long, value_name = "HOPS", default_value = "8", value_parser = whole(1..=64_u32), requires = "measure_chains", allow_negative_numbers = true)]
    chain_hops: u32,
    /// Runs per chain, with seeds 1, 2, ...
    #[arg(long, value_name = "N", default_value = "5", value_parser = whole(1..=10_000_u32), requires = "measure_chains", allow_negative_numbers = true)]
    chain_seeds: u32,
    /// Duration of each run, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds, requires = "measure_chains", allow_negative_numbers = true)]
    chain_duration: f64,
}

impl MeasureArgs {
    /// Measures and writes the file, if `--measure-chains` is given.
    pub(crate) fn measure(
        &self,
        scenario: &Resolved,
        range_m: Option<f64>,
    ) -> Result<Option<ChainThroughput>, Failure> {
        let Some(path) = &self.measure_chains else { return Ok(None) };
        let flow = scenario.flows.iter().find_map(endless).ok_or_else(|| {
            Failure::Usage(format!(
                "--measure-chains: {} has no flow of kind \"tcp\"; add one, since TCP measures the throughput of a chain",
                scenario.name
            ))
        })?;
        if !scenario.interfaces.is_single() {
            return Err(Failure::Usage(
                "--measure-chains needs a scenario with one radio; this one has several radios or wires"
                    .to_owned(),
            ));
        }
        let range_m = range_m.unwrap_or_else(|| scenario.radio().nominal_range_m());
        let spacing_m = self.chain_spacing.unwrap_or(SPACING_OF_RANGE * range_m);
        if spacing_m >= range_m {
            return Err(Failure::Usage(format!(
                "--chain-spacing {spacing_m}: neighbours would be out of range; give less than {range_m} m"
            )));
        }
        let cannot = |e| {
            let path = path.display();
            Failure::Run(format!("cannot write {path}: {e}; choose another file with --measure-chains"))
        };
        // Before minutes of measuring.
        let is_new = !path.exists();
        OpenOptions::new().create(true).append(true).open(path).map_err(cannot)?;
        let means = self.means(scenario, &flow, spacing_m).inspect_err(|_| {
            if is_new {
                // An empty file is useless.
                let _ = fs::remove_file(path);
            }
        })?;
        let chains = ChainThroughput::new(means)
            .ok_or_else(|| Failure::Run("the throughput of a chain is not a number".to_owned()))?;
        fs::write(path, chains.to_csv()).map_err(cannot)?;
        Ok(Some(chains))
    }

    /// Mean throughput of chains of 1, 2, ... hops, bit/s.
    fn means(&self, scenario: &Resolved, flow: &FlowConfig, spacing_m: f64) -> Result<Vec<f64>, Failure> {
        let runs: Vec<(u32, u32)> = (1..=self.chain_seeds)
            .flat_map(|seed| (1..=self.chain_hops).map(move |hops| (hops, seed)))
            .collect();
        let stop = stop_on_signal()?;
        let progress = JobProgress::new(runs.len(), "chains", false);
        progress.at(0);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let run = |&(hops, seed): &(u32, u32)| {
            let duration = Time::from_secs_f64(self.chain_duration);
            carried(&chain(scenario, flow, hops, spacing_m, duration, seed.into()), &stop)
        };
        let results = jobs::run(&runs, threads, &stop, |done| progress.at(done), run);
        progress.done();
        let mut sums = vec![0.0; self.chain_hops as usize];
        for ((hops, _), result) in runs.iter().zip(results) {
            let bps = result.unwrap_or(Ok(None))?;
            sums[*hops as usize - 1] += bps.ok_or_else(|| {
                Failure::Stopped(
                    "interrupted before all chains were measured; nothing was written".to_owned(),
                )
            })?;
        }
        Ok(sums.into_iter().map(|s| s / f64::from(self.chain_seeds)).collect())
    }
}

/// A TCP flow with endless data; `None` for other flows.
fn endless(flow: &FlowConfig) -> Option<FlowConfig> {
    let FlowKind::Tcp(tcp) = flow.kind else { return None };
    let kind = FlowKind::Tcp(TcpConfig { app: App::Bulk { bytes: None }, ..tcp });
    Some(FlowConfig { kind, start: Time::ZERO, stop: None, ..flow.clone() })
}

/// The scenario's network as a chain: identical static nodes in the open, and one flow from end to end.
fn chain(
    scenario: &Resolved,
    flow: &FlowConfig,
    hops: u32,
    spacing_m: f64,
    duration: Time,
    seed: u64,
) -> Resolved {
    let place = |i: u32| Track::fixed(Position::new(f64::from(i) * spacing_m, 0.0, 0.0));
    let address = |i: u32| -> Ipv4Addr { NodeId(i).default_addr() };
    let mut interfaces = scenario.interfaces.clone();
    interfaces.radios[0].config.site = None;
    Resolved {
        seed,
        duration,
        area: [f64::from(hops) * spacing_m, 0.0, 0.0],
        tracks: (0..=hops).map(place).collect(),
        names: (0..=hops).map(|i| i.to_string()).collect(),
        addresses: (0..=hops).map(address).collect(),
        ipv6: None,
        routes: Vec::new(),
        edge: None,
        flows: vec![FlowConfig { src: NodeId(0), dst: NodeId(hops), ip6: false, ..flow.clone() }],
        interfaces,
        cards: Vec::new(),
        stalls: Vec::new(),
        outages: Vec::new(),
        attacks: Vec::new(),
        energy: Vec::new(),
        orders: Vec::new(),
        applications: Vec::new(),
        programs: Vec::new(),
        captures: CapturePlan::default(),
        receptions: ReceptionPlan::default(),
        identities: false,
        ns2_trace: false,
        warnings: Vec::new(),
        ..scenario.clone()
    }
}

/// Goodput in bit/s; `None` if interrupted.
fn carried(chain: &Resolved, stop: &AtomicBool) -> Result<Option<f64>, Error> {
    let ended = to_end(chain, Recorder::hash_only(), || stop.load(Ordering::Relaxed))?;
    Ok(ended.and_then(|o| o.summary.flows.first().and_then(|f| f.goodput_bps)))
}
