//! `wayhop lab`: N nodes on this machine, each a `wayhop node` of its own in a network namespace of its own, on one
//! Ethernet that a macfilter makes into a mesh.
//!
//! * `wire`: the namespaces, the bridge between them, and its filter.
//! * [`MacFilter`]: who ignores whom from when on, as a text that people can write.
//! * `traffic`: the scenario's flows over real sockets.
//! * `nodes`: the daemons and other programs.
//!
//! Nothing has a name outside of this process: when it is gone, however it ended, the nodes end, and with them the
//! namespaces and all that is in them.

mod macfilter;
mod nodes;
mod traffic;
mod wire;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use wayhop_core::{Addr, Mac};
use wayhop_scenario::FlowConfig;
use wayhop_trace::Summary;

use crate::error::Error;
pub use macfilter::{Ignores, MacFilter, MacFilterError};
use nodes::Nodes;
use traffic::Traffic;
use wire::Wire;

/// A lab that is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names of the nodes.
    pub names: Vec<String>,
    /// Their addresses, which lie in one network.
    pub addresses: Vec<Addr>,
    /// `dsr` or `aodv`, and `path.key=value` settings of the nodes' configuration.
    pub protocol: String,
    /// See `protocol`.
    pub sets: Vec<String>,
    /// Who ignores whom.
    pub filter: MacFilter,
    /// The flows.
    pub flows: Vec<FlowConfig>,
    /// The nodes' captures, if there are to be any.
    pub captures: Vec<Option<PathBuf>>,
    /// How long it runs.
    pub duration: Duration,
    /// A command in a node, with which the run ends.
    pub command: Option<(usize, Vec<OsString>)>,
}

/// How a lab ended.
#[derive(Clone, Debug)]
pub struct LabOutcome {
    /// The run in numbers. Name, seed and version are the caller's to fill in.
    pub summary: Summary,
    /// Whether it came to its end.
    pub complete: bool,
    /// What the user should know.
    pub complaints: Vec<String>,
}

/// The link address of the node with this network address, as captures of simulated runs have it.
pub fn link_address(node: Addr) -> Mac {
    Mac::from_addr(node)
}

/// Runs a lab until its time is over, its command has ended, or `stop` is raised.
pub fn run_lab(plan: &Plan, stop: &AtomicBool) -> Result<LabOutcome, Error> {
    let prefix_len = prefix(&plan.addresses).ok_or_else(|| {
        Error::Config(
            "the nodes' addresses lie in no common network of at least a /8; give them nearer ones".into(),
        )
    })?;
    let mut wire = Wire::new(&plan.addresses)?;
    let mut steps = plan.filter.steps(&plan.addresses).into_iter().peekable();
    // What holds from the beginning holds before the first node speaks.
    while let Some(step) = steps.next_if(|s| s.at == wayhop_core::Time::ZERO) {
        wire.ignore(step.node, step.from)?;
    }
    wire.apply()?;
    let mut nodes = Nodes::start(plan, prefix_len, &wire)?;
    let mut complaints = Vec::new();
    let traffic = Traffic::open(plan, &wire, &mut complaints)?;
    let begun = Instant::now();
    let traffic = traffic.begin(begun);
    if let Some((node, command)) = &plan.command {
        nodes.run(*node, command, &wire)?;
    }
    let mut ended: Option<ExitStatus> = None;
    let mut complete = false;
    while !stop.load(Ordering::Relaxed) {
        let now = begun.elapsed();
        let mut changed = false;
        while let Some(step) = steps.next_if(|s| s.at.as_nanos() <= now.as_nanos() as u64) {
            wire.ignore(step.node, step.from)?;
            changed = true;
        }
        if changed {
            wire.apply()?;
        }
        ended = nodes.command_ended();
        complete = ended.is_some() || plan.command.is_none() && now >= plan.duration;
        if complete {
            break;
        }
        nodes.check(&mut complaints);
        let next = steps.peek().map_or(Duration::MAX, |s| Duration::from_nanos(s.at.as_nanos()));
        std::thread::sleep(next.saturating_sub(now).min(Duration::from_millis(10)));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let flows = traffic.end();
    let mut summary = nodes.end(&mut complaints);
    summary.world = "lab".into();
    summary.protocol.clone_from(&plan.protocol);
    (summary.simulated_s, summary.wall_s) = (seconds, seconds);
    summary.totals.latency_ms = traffic::all_latencies(&flows);
    summary.flows = flows.into_iter().map(|f| f.summary).collect();
    summary.totals.sum_flows(&summary.flows);
    summary.command_exit = ended.map(nodes::exit_code);
    Ok(LabOutcome { summary, complete, complaints })
}

/// The length of the shortest prefix from 8 on, in whole octets, that all addresses share, and of which none is the
/// network's or the broadcast address.
fn prefix(addresses: &[Addr]) -> Option<u8> {
    let first = addresses.first()?.to_bits();
    [24_u8, 16, 8].into_iter().find(|len| {
        let hosts = u32::MAX >> len;
        addresses.iter().all(|a| {
            let bits = a.to_bits();
            bits & !hosts == first & !hosts && bits & hosts != 0 && bits & hosts != hosts
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_is_the_smallest_that_all_nodes_are_hosts_of() {
        let net = |last: &[[u8; 4]]| prefix(&last.iter().map(|o| Addr::from(*o)).collect::<Vec<_>>());
        assert_eq!(net(&[[10, 0, 0, 1], [10, 0, 0, 254]]), Some(24));
        assert_eq!(net(&[[10, 0, 0, 1], [10, 0, 0, 255]]), Some(16));
        assert_eq!(net(&[[10, 0, 0, 1], [10, 9, 0, 1]]), Some(8));
        assert_eq!(net(&[[10, 0, 0, 1], [11, 0, 0, 1]]), None);
    }
}
