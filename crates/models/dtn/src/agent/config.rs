//! The settings of a node's agent when it opens.

use serde::{Deserialize, Serialize};
use wayhop_core::Span;

use crate::bundle::Crc;
use crate::codec::ParseLimits;
use crate::eid::Eid;

/// The settings of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Config {
    /// The node's administrative endpoint: `dtn://name/` or `ipn:5.0`.
    pub node: Eid,
    /// The node's clock, if it has an accurate one: DTN time (milliseconds since 2000-01-01T00:00:00Z) at
    /// [`wayhop_core::Time::ZERO`] of the times that the host gives. `None` for a node without: its bundles have creation
    /// time 0 and a Bundle Age block (RFC 9171, section 4.2.7).
    pub dtn_time_at_zero_ms: Option<u64>,
    /// What the node keeps at most.
    pub limits: Limits,
    /// How long a custodian waits for a signal before it sends a bundle again.
    pub custody_timeout: Span,
    /// How many bundles are under way on one contact at a time.
    pub window: usize,
    /// The check of the blocks of bundles that are made here.
    pub crc: Crc,
    /// The limit of hops of bundles that are made here; 0 for none.
    pub hop_limit: u8,
    /// Whether status reports that bundles ask for are sent.
    pub status_reports: bool,
}

/// What a node keeps at most. A hostile neighbour fills these, never the memory.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Bundles and fragments.
    pub bundles: usize,
    /// Octets of bundles and fragments, as they are encoded.
    pub octets: u64,
    /// Identifiers that are remembered of bundles that are here no more, so that none comes a second time.
    pub seen: usize,
    /// Octets of one application data unit that is reassembled here.
    pub adu_octets: u64,
    /// The longest lifetime; a bundle that wants more is kept for so long.
    pub lifetime: Span,
    /// Bounds on one bundle.
    pub parse: ParseLimits,
}

impl Config {
    /// The settings of a node by default: no accurate clock, 256 MiB.
    pub fn new(node: Eid) -> Self {
        Self {
            node,
            dtn_time_at_zero_ms: None,
            limits: Limits::default(),
            custody_timeout: Span::from_secs(60),
            window: 4,
            crc: Crc::Crc32c,
            hop_limit: 64,
            status_reports: false,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bundles: 100_000,
            octets: 256 << 20,
            seen: 1_000_000,
            adu_octets: 64 << 20,
            lifetime: Span::from_secs(30 * 86_400),
            parse: ParseLimits::default(),
        }
    }
}
