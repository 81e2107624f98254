//! Which code draws which figure.

use wayhop_report::Figure;
use wayhop_trace::FlowSummary;

use crate::column::ColumnRun;
use crate::kind::FigureKind;
use crate::runs::Runs;
use crate::{over_time, sequence, shares, times};

impl Runs<'_> {
    /// The figure of this kind; `None` where the runs have nothing for it.
    pub fn figure(&self, kind: FigureKind) -> Option<Figure> {
        match kind {
            FigureKind::Delivery => over_time::delivery(self),
            FigureKind::Throughput => over_time::throughput(self),
            FigureKind::Latency => over_time::latency(self),
            FigureKind::Cdf => times::latency(self),
            FigureKind::Searches => times::searches(self),
            FigureKind::Overhead => shares::overhead(self),
            FigureKind::Hops => shares::hops(self),
            FigureKind::Losses => shares::losses(self),
            FigureKind::Sequence => sequence::figure(self),
        }
    }

    /// Why there is no figure of this kind.
    pub fn nothing(&self, kind: FigureKind) -> &'static str {
        let all = || self.columns.iter().flat_map(|c| &c.runs);
        let sum = |of: fn(&ColumnRun) -> u64| all().map(of).sum::<u64>();
        let (sent, arrived) = (sum(|r| r.summary.totals.sent), sum(|r| r.summary.totals.received));
        match kind {
            FigureKind::Overhead => "no routing messages were sent, or their types were not recorded",
            FigureKind::Searches if all().all(|r| r.searches.is_none()) => {
                "these runs recorded no route searches"
            }
            FigureKind::Searches if all().flat_map(|r| &r.searches).all(Vec::is_empty) => {
                "no route search was completed"
            }
            FigureKind::Searches => "no route search found a route",
            FigureKind::Sequence => "there are no TCP flows, and no program connections were recorded",
            _ if all().all(|r| r.summary.flows.is_empty()) => "these runs have no flows",
            _ if all().all(|r| !r.summary.flows.iter().any(FlowSummary::knows_both_ends)) => {
                "these runs cannot tell which packets arrived; combine the runs of field nodes with `wayhop merge`"
            }
            _ if sent == 0 => "no packets were sent",
            FigureKind::Losses if all().any(|r| r.summary.totals.dropped.is_none()) && arrived < sent => {
                "these runs did not record where packets were lost"
            }
            FigureKind::Losses => "no packets were lost",
            _ if arrived == 0 => "no packets arrived",
            FigureKind::Latency | FigureKind::Cdf | FigureKind::Hops => "only pings arrived",
            FigureKind::Delivery | FigureKind::Throughput => "these runs recorded no packets",
        }
    }
}
