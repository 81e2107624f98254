//! Which code draws which figure.

use wayhop_report::Figure;
use wayhop_trace::FlowSummary;

use crate::column::Run;
use crate::kind::Kind;
use crate::runs::Runs;
use crate::{over_time, sequence, shares, times};

impl Runs<'_> {
    /// The figure of this kind; `None` where the runs have nothing for it.
    pub fn figure(&self, kind: Kind) -> Option<Figure> {
        match kind {
            Kind::Delivery => over_time::delivery(self),
            Kind::Throughput => over_time::throughput(self),
            Kind::Latency => over_time::latency(self),
            Kind::Cdf => times::latency(self),
            Kind::Searches => times::searches(self),
            Kind::Overhead => shares::overhead(self),
            Kind::Hops => shares::hops(self),
            Kind::Losses => shares::losses(self),
            Kind::Sequence => sequence::figure(self),
        }
    }

    /// Why there is no figure of this kind.
    pub fn nothing(&self, kind: Kind) -> &'static str {
        let all = || self.columns.iter().flat_map(|c| &c.runs);
        let sum = |of: fn(&Run) -> u64| all().map(of).sum::<u64>();
        let (sent, arrived) = (sum(|r| r.summary.totals.sent), sum(|r| r.summary.totals.received));
        match kind {
            Kind::Overhead => "no routing messages were sent, or their types were not recorded",
            Kind::Searches if all().all(|r| r.searches.is_none()) => "these runs recorded no route searches",
            Kind::Searches if all().flat_map(|r| &r.searches).all(Vec::is_empty) => {
                "no route search was completed"
            }
            Kind::Searches => "no route search found a route",
            Kind::Sequence => "there are no TCP flows, and no program connections were recorded",
            _ if all().all(|r| r.summary.flows.is_empty()) => "these runs have no flows",
            _ if all().all(|r| !r.summary.flows.iter().any(FlowSummary::knows_both_ends)) => {
                "these runs cannot tell which packets arrived; combine the runs of field nodes with `wayhop merge`"
            }
            _ if sent == 0 => "no packets were sent",
            Kind::Losses if all().any(|r| r.summary.totals.dropped.is_none()) && arrived < sent => {
                "these runs did not record where packets were lost"
            }
            Kind::Losses => "no packets were lost",
            _ if arrived == 0 => "no packets arrived",
            Kind::Latency | Kind::Cdf | Kind::Hops => "only pings arrived",
            Kind::Delivery | Kind::Throughput => "these runs recorded no packets",
        }
    }
}
