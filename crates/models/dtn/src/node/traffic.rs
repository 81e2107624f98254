//! Bundles that a node makes by itself, for simulations, emulations and tests.

use serde::{Deserialize, Serialize};
use wayhop_core::{Span, Time};

use crate::agent::Request;
use crate::eid::Eid;

/// When bundles are made, and what they are like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundleSeries {
    /// When the first is made, after the node's first start.
    pub start: Span,
    /// When to stop, after the same.
    pub stop: Option<Span>,
    /// Payload of each bundle, bytes.
    pub size_bytes: u64,
    /// From bundle to bundle.
    pub interval: Span,
    /// How long each lives.
    pub lifetime: Span,
    /// Use custody transfer.
    pub custody: bool,
    /// Stop after this many bundles.
    pub max_bundles: Option<u64>,
}

impl BundleSeries {
    /// When the bundle of this number is made, from 0; `None` if it is not.
    pub fn departure(&self, number: u64) -> Option<Span> {
        let after = self.interval.as_nanos().checked_mul(number)?.checked_add(self.start.as_nanos())?;
        let at = Span::from_nanos(after);
        let is_made =
            self.max_bundles.is_none_or(|most| number < most) && self.stop.is_none_or(|stop| at < stop);
        is_made.then_some(at)
    }
}

/// Bundles from an endpoint of the node to another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// From there.
    pub from: Eid,
    /// To there.
    pub to: Eid,
    /// When, and what they are like.
    pub series: BundleSeries,
}

impl Source {
    /// What it asks of the agent: a bundle of octets that anybody can tell, the flow's number, over and over.
    pub(super) fn request(&self, number: u64) -> Request {
        let fill = flow_of(&self.from).unwrap_or(0) as u8;
        Request {
            number,
            source: self.from.clone(),
            destination: self.to.clone(),
            report_to: Eid::None,
            lifetime: self.series.lifetime,
            flags: 0,
            custody: self.series.custody,
            payload: vec![fill; self.series.size_bytes as usize],
        }
    }
}

/// A source under way.
#[derive(Clone, Debug)]
pub(super) struct RunningSource {
    pub(super) source: Source,
    /// The number of its next bundle.
    number: u64,
}

impl RunningSource {
    pub(super) const fn new(source: Source) -> Self {
        Self { source, number: 0 }
    }

    /// When the next bundle is due. `begun`: the node's first start.
    pub(super) fn next(&self, begun: Time) -> Option<Time> {
        self.source.series.departure(self.number).map(|after| begun + after)
    }
    /// The next bundle is made.
    pub(super) const fn pass(&mut self) {
        self.number += 1;
    }
    /// Leaves out those that were due before.
    pub(super) fn skip(&mut self, begun: Time, now: Time) {
        while self.next(begun).is_some_and(|at| at < now) {
            self.pass();
        }
    }
}

/// The service of the application of a scenario's flow, at both of its ends.
pub fn flow_service(flow: u32) -> String {
    format!("flow-{flow}")
}

/// The scenario's flow whose application has this endpoint.
pub fn flow_of(endpoint: &Eid) -> Option<u32> {
    let text = endpoint.to_string();
    text.rsplit_once('/')?.1.strip_prefix("flow-")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_are_made_at_their_interval_until_the_series_stops() {
        let s = Span::from_secs;
        let series = BundleSeries {
            start: s(1),
            stop: Some(s(6)),
            size_bytes: 1,
            interval: s(2),
            lifetime: s(9),
            custody: false,
            max_bundles: None,
        };
        let times: Vec<_> = (0..5).map(|n| series.departure(n)).collect();
        assert_eq!(times, [Some(s(1)), Some(s(3)), Some(s(5)), None, None]);
        let few = BundleSeries { max_bundles: Some(1), ..series };
        assert_eq!([few.departure(0), few.departure(1)], [Some(s(1)), None]);
    }

    #[test]
    fn flows_are_found_by_their_endpoints() {
        assert_eq!(flow_of(&"dtn://mesh-3/flow-7".parse().expect("an endpoint")), Some(7));
        assert_eq!(flow_of(&"dtn://flow-7/x".parse().expect("an endpoint")), None);
    }
}
