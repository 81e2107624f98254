//! The throughput of static chains: what a moving flow could have had.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

use wayhop_core::Time;
use wayhop_scenario::{FlowConfig, FlowKind, Resolved};
use wayhop_trace::Recorder;
use wayhop_transport::tcp::{App, TcpConfig};

use crate::error::Error;
use crate::jobs;
use crate::simulate::to_end;

/// Default spacing of a chain as a share of the range: 180 m of 250 m. Nodes three hops apart then sense each other with a
/// carrier-sense range of 2.2 times the range, and no node is hidden.
pub const SPACING_OF_RANGE: f64 = 0.72;

/// The chains to measure.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Chains {
    /// Distance between neighbours, metres.
    pub spacing_m: f64,
    /// The longest chain; shorter ones from 1 hop on are measured, too.
    pub hops: u32,
    /// Runs per chain, with seeds 1, 2, ...
    pub seeds: u32,
    /// Duration of each run.
    pub duration: Time,
}

/// The first TCP flow of a scenario, with endless data.
pub fn tcp_flow(scenario: &Resolved) -> Option<FlowConfig> {
    scenario.flows.iter().find_map(endless)
}

fn endless(flow: &FlowConfig) -> Option<FlowConfig> {
    let FlowKind::Tcp(tcp) = flow.kind else { return None };
    let kind = FlowKind::Tcp(TcpConfig { app: App::Bulk { bytes: None }, ..tcp });
    Some(FlowConfig { kind, start: Time::ZERO, stop: None, ..flow.clone() })
}

impl Chains {
    /// Number of runs.
    pub fn runs(&self) -> usize {
        (self.hops * self.seeds) as usize
    }

    /// Mean throughput of chains of 1, 2, ... hops with a scenario's radio and protocol, bit/s. `done` is called after each run
    /// with the number that are.
    ///
    /// # Errors
    /// A chain cannot be simulated, or `stop` was raised.
    pub fn measure(
        &self,
        scenario: &Resolved,
        flow: &FlowConfig,
        stop: &AtomicBool,
        done: impl Fn(usize) + Sync,
    ) -> Result<Vec<f64>, Error> {
        let runs: Vec<(u32, u32)> =
            (1..=self.seeds).flat_map(|seed| (1..=self.hops).map(move |hops| (hops, seed))).collect();
        let threads = available_parallelism().map_or(1, usize::from);
        let run = |&(hops, seed): &(u32, u32)| {
            goodput_bps(&scenario.as_chain(flow, hops, self.spacing_m, self.duration, seed.into()), stop)
        };
        let results = jobs::run(&runs, threads, stop, done, run);
        let mut sums = vec![0.0; self.hops as usize];
        for ((hops, _), result) in runs.iter().zip(results) {
            let bps = result.unwrap_or(Ok(None))?;
            sums[*hops as usize - 1] += bps.ok_or_else(|| {
                let what = "interrupted before all chains were measured; nothing was written";
                Error::Stopped(what.to_owned())
            })?;
        }
        Ok(sums.into_iter().map(|s| s / f64::from(self.seeds)).collect())
    }
}

/// The goodput of a chain; `None` if interrupted.
fn goodput_bps(chain: &Resolved, stop: &AtomicBool) -> Result<Option<f64>, Error> {
    let ended = to_end(chain, Recorder::hash_only(), || stop.load(Ordering::Relaxed))?;
    Ok(ended.and_then(|o| o.summary.flows.first().and_then(|f| f.goodput_bps)))
}
