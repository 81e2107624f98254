//! Filters for the lost packets that `wayhop why` lists.

use std::collections::BTreeSet;
use std::net::IpAddr;

use wayhop_core::{DropReason, nearest, node_named};
use wayhop_trace::{LostPacket, NodeInfo, RunDir, Tables};

use crate::failure::{Failure, usage};

/// Cause of packets that were still in transit when the run ended.
const HELD: &str = "held";
const MOST_NAMES: usize = 12;

#[derive(Debug, clap::Args)]
pub(crate) struct FilterArgs {
    /// List only packets lost at S seconds of the run or later (held packets: last seen)
    #[arg(long, value_name = "S", value_parser = seconds, conflicts_with_all = ["packet", "seq"])]
    from: Option<f64>,
    /// List only packets lost before S seconds of the run
    #[arg(long, value_name = "S", value_parser = seconds, conflicts_with_all = ["packet", "seq"])]
    until: Option<f64>,
    /// List only packets lost at this node: its name, number or address
    #[arg(long, value_name = "NODE", conflicts_with_all = ["packet", "seq"])]
    node: Option<String>,
    /// List only packets lost for this reason, such as NO_ROUTE, or with this outcome of a frame, such as collision; held for
    /// packets still in transit at the end
    #[arg(long, value_name = "CAUSE", conflicts_with_all = ["packet", "seq"])]
    cause: Option<String>,
    /// List only packets from or to this address
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["packet", "seq"])]
    address: Option<IpAddr>,
}

fn seconds(text: &str) -> Result<f64, String> {
    let s: f64 = text.parse().map_err(|_| "give a time in seconds, such as 12.5".to_owned())?;
    if s.is_finite() && s >= 0.0 { Ok(s) } else { Err("give a time from 0 s, such as 12.5".to_owned()) }
}

impl FilterArgs {
    /// Whether packets are left out.
    pub(super) fn is_given(&self) -> bool {
        let Self { from, until, node, cause, address } = self;
        from.is_some() || until.is_some() || node.is_some() || cause.is_some() || address.is_some()
    }

    pub(super) fn apply(&self, run: &RunDir, all: &mut Vec<LostPacket>) -> Result<(), Failure> {
        if let Some((from, until)) = self.from.zip(self.until).filter(|(from, until)| from >= until) {
            return Err(usage!("--from {from} --until {until}: empty range; give a later --until"));
        }
        let node = self.node.as_deref().map(|name| node_of(run, name)).transpose()?;
        if let Some(cause) = &self.cause {
            check_cause(cause, all)?;
        }
        all.retain(|p| {
            let at = p.time_s.or(p.sent_s);
            let address = |text: &Option<String>| text.as_ref().and_then(|t| t.parse::<IpAddr>().ok());
            self.from.is_none_or(|from| at.is_some_and(|at| at >= from))
                && self.until.is_none_or(|until| at.is_some_and(|at| at < until))
                && node.is_none_or(|node| p.node == Some(node))
                && self.cause.as_deref().is_none_or(|cause| has_cause(p, cause))
                && self
                    .address
                    .is_none_or(|a| [address(&p.source), address(&p.destination)].contains(&Some(a)))
        });
        Ok(())
    }
}

fn has_cause(p: &LostPacket, cause: &str) -> bool {
    causes(p).any(|c| c.eq_ignore_ascii_case(cause))
}

/// Why a packet did not arrive.
fn causes(p: &LostPacket) -> impl Iterator<Item = &str> {
    let end = p.reason.as_deref().unwrap_or(&p.outcome);
    std::iter::once(end).chain(p.causes.iter().flatten().map(|(what, _)| what.as_str()))
}

/// Rejects a cause that is neither a drop reason nor a cause in this run.
fn check_cause(cause: &str, all: &[LostPacket]) -> Result<(), Failure> {
    let here: BTreeSet<&str> = all.iter().flat_map(causes).collect();
    let mut known: Vec<&str> = DropReason::ALL.iter().map(|r| r.name()).chain([HELD]).collect();
    known.extend(here.iter().copied());
    if known.iter().any(|k| k.eq_ignore_ascii_case(cause)) {
        return Ok(());
    }
    let meant = nearest(cause, known).map(|m| format!("did you mean {m}? ")).unwrap_or_default();
    let list: Vec<&str> = here.into_iter().collect();
    let of_run = if list.is_empty() { "no packet was lost".to_owned() } else { list.join(", ") };
    Err(usage!("--cause {cause}: no such cause; {meant}causes in this run: {of_run}"))
}

fn node_of(run: &RunDir, name: &str) -> Result<u32, Failure> {
    let nodes: Vec<NodeInfo> = Tables::of(run, String::new()).nodes().map_err(Failure::trace)?;
    let names: Vec<String> = nodes.iter().map(|n| n.name.clone()).collect();
    let address: Option<IpAddr> = name.parse().ok();
    let has = |n: &NodeInfo| [Some(IpAddr::from(n.addr)), n.addr6.map(IpAddr::from)].contains(&address);
    let by_address = address.and_then(|_| nodes.iter().position(has));
    let number = by_address.or_else(|| node_named(&names, name));
    number.map(|n| n as u32).ok_or_else(|| {
        let more = if names.len() > MOST_NAMES { ", ..." } else { "" };
        let some: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
        usage!("--node {name}: the run has no such node; give one of {}{more}", some.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(at: f64, reason: Option<&str>, source: &str) -> LostPacket {
        let outcome = if reason.is_some() { "dropped" } else { HELD };
        LostPacket {
            flow: 0,
            seq: 0,
            outcome: outcome.into(),
            reason: reason.map(str::to_owned),
            packet: None,
            sent_s: Some(at),
            source_node: None,
            destination_node: None,
            source: Some(source.to_owned()),
            destination: Some("10.0.0.9".to_owned()),
            time_s: Some(at),
            node: Some(0),
            node_name: None,
            causes: None,
            path: None,
        }
    }

    #[test]
    fn causes_are_found_in_any_case_and_wrong_ones_are_refused_with_a_list() {
        let all = [packet(1.0, Some("NO_ROUTE"), "10.0.0.1"), packet(2.0, None, "10.0.0.2")];
        assert!(
            has_cause(&all[0], "no_route") && has_cause(&all[1], "held") && !has_cause(&all[1], "NO_ROUTE")
        );
        assert!(check_cause("HELD", &all).is_ok());
        let Err(Failure::Usage(wrong)) = check_cause("NO_ROUT", &all) else { panic!("refused") };
        assert!(wrong.contains("did you mean NO_ROUTE?") && wrong.contains("NO_ROUTE, held"), "{wrong}");
    }

    #[test]
    fn times_are_seconds_of_the_run() {
        assert_eq!(seconds("1.5"), Ok(1.5));
        assert!(["-1", "nan", "inf", "x"].iter().all(|t| seconds(t).is_err()));
    }
}
