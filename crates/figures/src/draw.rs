//! Which figure is drawn by what.

use wayhop_report::Figure;

use crate::kind::Kind;
use crate::runs::Runs;
use crate::{over_time, sequence, shares, times};

impl Runs<'_> {
    /// The figure of this kind; `None` where the runs have nothing for it.
    pub fn figure(&self, kind: Kind) -> Option<Figure> {
        match kind {
            Kind::Delivery => over_time::delivery(self),
            Kind::Latency => over_time::latency(self),
            Kind::Cdf => times::latency(self),
            Kind::Searches => times::searches(self),
            Kind::Overhead => shares::overhead(self),
            Kind::Hops => shares::hops(self),
            Kind::Losses => shares::losses(self),
            Kind::Sequence => sequence::figure(self),
        }
    }
}
