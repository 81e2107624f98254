//! DSDV's parameters.

mod checks;
mod live;
mod profiles;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Span;
use wayhop_wire::dsdv::UpdateEntry;
use wayhop_wire::{ipv4, udp};

/// Bytes before the entries of an update.
pub(crate) const OVERHEAD: usize = ipv4::HEADER_LEN + udp::HEADER_LEN;

/// Constants and choices of the protocol.
///
/// [`Params::profile`] gives complete sets; [`Params::default`] is `rfc`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    // ---- updates -----------------------------------------------------------------------------------------------
    /// Maximum time between two full updates of a node, in milliseconds.
    pub periodic_update_ms: u64,
    /// Maximum random time by which a full update is early, in milliseconds, so that nodes do not
    /// synchronise.
    pub periodic_jitter_ms: u64,
    /// Maximum random delay of the first update after the start, in milliseconds.
    pub start_jitter_ms: u64,
    /// Maximum random delay of an update, in milliseconds, so that neighbours do not answer a broadcast
    /// simultaneously.
    pub broadcast_jitter_ms: u64,
    /// Minimum time between an update and the next triggered one, in milliseconds.
    pub min_triggered_interval_ms: u64,
    /// When a triggered update becomes a full one.
    pub full_update: FullUpdate,
    /// Maximum length of an IP packet with an update, in bytes; further entries go into further packets.
    pub mtu_bytes: u16,
    /// Whether each update begins with an entry for this node. Otherwise only full updates do.
    pub tell_own: bool,
    /// Whether news with a newer number trigger an update if they change the distance or report a loss.
    /// Otherwise they wait for the next update. (A loss that this node detects, a new destination, and a
    /// shorter route with the same number always trigger one.)
    pub trigger_with_newer: bool,
    /// Whether unnecessary triggered updates are sent, as in ns-2.35: a second one, after the minimum
    /// interval, if several routes requested it; and one for a route that has meanwhile returned to its
    /// advertised state.
    pub redundant_triggered: bool,
    /// Whether each report that this node is unreachable is answered at once by a full update. Otherwise only
    /// reports with a newer number than its own are, and no sooner than a triggered update is allowed.
    pub answer_every_loss: bool,
    /// Whether a neighbour that advertises itself with an older number than this node knows, as after a
    /// restart, is told the newer one by a triggered update. Otherwise it learns it from the next full
    /// update.
    pub answer_old_number: bool,

    // ---- settling ----------------------------------------------------------------------------------------------
    /// How long a route waits before it is advertised, in milliseconds, in case a better one follows. With
    /// `weighted_settling`, the initial estimate of this time.
    pub settling_ms: u64,
    /// Whether each destination has a moving average of the time from the first news of a number to the best.
    pub weighted_settling: bool,
    /// Weight of the past in that average, per mille.
    pub settling_weight_per_mille: u16,
    /// Number of settling times that a route waits.
    pub settling_factor: u32,
    /// Which routes wait.
    pub settle: Settle,

    // ---- broken links ------------------------------------------------------------------------------------------
    /// A neighbour counts as lost after this many times `periodic_update_ms` without a message from it.
    pub allowed_missed_updates: u32,
    /// On links without acknowledgements, the time without own transmissions after which a node sends a
    /// Hello, in milliseconds: an update of this node alone, with its last advertised number. Absent: never.
    pub hello_interval_ms: Option<u64>,
    /// A neighbour that sends Hellos counts as lost after this many times `hello_interval_ms` without a
    /// message from it.
    pub allowed_hello_loss: u32,
    /// Whether an unacknowledged transmission counts as a broken link.
    pub link_feedback: bool,
    /// How long a lost destination is kept for its number, in milliseconds; absent: forever.
    pub delete_period_ms: Option<u64>,

    // ---- waiting packets ---------------------------------------------------------------------------------------
    /// Maximum number of packets waiting for routes; if there are more, the oldest is dropped.
    pub buffer_packets: usize,
    /// Maximum number of packets waiting for one destination; if there are more, its oldest is dropped.
    pub buffer_per_destination: usize,
    /// How long a packet waits for a route, in milliseconds; absent: forever.
    pub buffer_timeout_ms: Option<u64>,
    /// Whether packets of other nodes wait for routes, too. Otherwise they are dropped without a route.
    pub buffer_transit: bool,
    /// Whether the source of a data packet that ends here without a route gets the ICMP message "host
    /// unreachable", if there is a route to it, for its transport protocol. For its own packets, the node
    /// notifies its own stack.
    pub failure_notices: bool,

    // ---- the rest ----------------------------------------------------------------------------------------------
    /// Whether the node, after its start, advertises and believes only its own number until neighbours have
    /// lost it: for a node that restarts without its table and its number.
    pub wait_after_reboot: bool,
    /// Maximum number of entries in the routing table.
    pub max_routes: usize,
}

/// When a triggered update, which has the changes since the last full one, becomes a full one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullUpdate {
    /// When the changes do not fit into one packet.
    Overflow,
    /// When there are more than three changes, and more than a third of the table has changed.
    ThirdChanged,
}

/// Which routes wait for the settling time before they are advertised.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Settle {
    /// Those whose distance differs from the advertised one; new destinations do not wait.
    Changed,
    /// All, including new destinations, unless they were unreachable before.
    All,
}

impl Params {
    /// Time after a neighbour's last update at which it counts as lost.
    pub fn neighbour_timeout(&self) -> Span {
        Span::from_millis(self.periodic_update_ms) * u64::from(self.allowed_missed_updates)
    }
    /// Entries that fit into one packet.
    pub fn entries_per_packet(&self) -> usize {
        (usize::from(self.mtu_bytes).saturating_sub(OVERHEAD) / UpdateEntry::LEN).max(1)
    }
    pub(crate) fn min_triggered_interval(&self) -> Span {
        Span::from_millis(self.min_triggered_interval_ms)
    }
    pub(crate) fn delete_period(&self) -> Span {
        self.delete_period_ms.map_or(Span::MAX, Span::from_millis)
    }
    pub(crate) fn buffer_timeout(&self) -> Span {
        self.buffer_timeout_ms.map_or(Span::MAX, Span::from_millis)
    }
}

impl Default for Params {
    fn default() -> Self {
        Self::rfc()
    }
}
