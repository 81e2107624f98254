//! `wayhop topology --measure-chains`: the throughput of static chains, for the expected throughput.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;

use wayhop_core::Time;
use wayhop_runs::chains::{Chains, SPACING_OF_RANGE, tcp_flow};
use wayhop_runs::interruption::stop_on_signal;
use wayhop_scenario::Resolved;
use wayhop_topology::ChainThroughput;

use crate::failure::{Failure, usage};
use crate::job_progress::JobProgress;
use crate::scenario_args::{metres, seconds, whole};

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
        let flow = tcp_flow(scenario).ok_or_else(|| {
            usage!("--measure-chains: {} has no flow of kind \"tcp\"; add one, since TCP measures the throughput of a chain",
                scenario.name)
        })?;
        if !scenario.interfaces.is_single() {
            return Err(usage!(
                "--measure-chains needs a scenario with one radio; this one has several radios or wires"
            ));
        }
        let range_m = range_m.unwrap_or_else(|| scenario.radio().nominal_range_m());
        let spacing_m = self.chain_spacing.unwrap_or(SPACING_OF_RANGE * range_m);
        if spacing_m >= range_m {
            return Err(usage!(
                "--chain-spacing {spacing_m}: neighbours would be out of range; give less than {range_m} m"
            ));
        }
        let cannot = |e| {
            let path = path.display();
            Failure::Run(format!("cannot write {path}: {e}; choose another file with --measure-chains"))
        };
        // Before minutes of measuring.
        let is_new = !path.exists();
        OpenOptions::new().create(true).append(true).open(path).map_err(cannot)?;
        let chains = Chains {
            spacing_m,
            hops: self.chain_hops,
            seeds: self.chain_seeds,
            duration: Time::from_secs_f64(self.chain_duration),
        };
        let stop = stop_on_signal()?;
        let progress = JobProgress::new(chains.runs(), "chains", false);
        progress.at(0);
        let means = chains.measure(scenario, &flow, &stop, |done| progress.at(done)).inspect_err(|_| {
            if is_new {
                // An empty file is useless.
                let _ = fs::remove_file(path);
            }
        });
        progress.done();
        let means = means?;
        let chains = ChainThroughput::new(means)
            .ok_or_else(|| Failure::Run("the throughput of a chain is not a number".to_owned()))?;
        fs::write(path, chains.to_csv()).map_err(cannot)?;
        Ok(Some(chains))
    }
}
