//! Routes under repair.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use wayhop_core::Time;

/// Deadlines of repairs under `LocalRepair::PastHalfWay`.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Repairs(pub(crate) BTreeSet<(Time, Ipv4Addr)>);

impl Repairs {
    /// More than this many routes do not break before the first deadline, except by malice.
    pub(crate) const LIMIT: usize = 1_024;
}
