//! Everything about DSDV that can be chosen.

mod checks;
mod live;
mod profiles;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Span;
use wayhop_wire::dsdv::UpdateEntry;
use wayhop_wire::{ipv4, udp};

/// Octets in front of the entries of an update.
pub(crate) const OVERHEAD: usize = ipv4::HEADER_LEN + udp::HEADER_LEN;

/// Constants and choices of the protocol. Times are in milliseconds.
///
/// [`Params::profile`] gives complete sets; [`Params::default`] is `rfc`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    // ---- updates -----------------------------------------------------------------------------------------------
    /// The longest time between two full updates of a node, ms.
    pub periodic_update_ms: u64,
    /// A full update comes up to this much earlier, ms, so that nodes do not stay in step.
    pub periodic_jitter_ms: u64,
    /// The first update leaves up to this long after the start, ms.
    pub start_jitter_ms: u64,
    /// An update waits a random time up to this, ms, so that neighbours do not answer it in chorus.
    pub broadcast_jitter_ms: u64,
    /// The least time between an update and the next triggered one, ms.
    pub min_triggered_interval_ms: u64,
    /// When a triggered update becomes a full one.
    pub full_update: FullUpdate,
    /// Octets of an IP packet with an update; what does not fit goes into further packets.
    pub mtu_bytes: u16,
    /// Each update tells of this node itself, first; else only full ones do.
    pub tell_own: bool,
    /// News with a newer number that change the distance, or tell that a destination is lost, cause an update; else they
    /// wait for the next one. (A loss that this node detects, a new destination, and a shorter way under the same number
    /// always cause one.)
    pub trigger_with_newer: bool,
    /// Send triggered updates that nobody needs, as ns-2.35 does: a second one, after the least interval, where several routes
    /// asked for the same; and one for a route that came back meanwhile to what was told of it.
    pub redundant_triggered: bool,
    /// Answer each report that this node itself is out of reach by a full update at once; else only a report with a number
    /// newer than its own, and no sooner than a triggered update may leave.
    pub answer_every_loss: bool,
    /// Tell a neighbour that advertises itself under an older number than this node knows of it, as one does that was restarted, the newer
    /// one by a triggered update; else it learns it from the next full update.
    pub answer_old_number: bool,

    // ---- settling ----------------------------------------------------------------------------------------------
    /// How long a route waits before it is advertised, ms, in case a better one follows; with `weighted_settling`, the
    /// first estimate of it.
    pub settling_ms: u64,
    /// Estimate for each destination how long after a number's first news the best one came, as a moving average.
    pub weighted_settling: bool,
    /// The weight of the past in that average, per mille.
    pub settling_weight_per_mille: u16,
    /// How many settling times a route waits.
    pub settling_factor: u32,
    /// Which routes wait.
    pub settle: Settle,

    // ---- broken links ------------------------------------------------------------------------------------------
    /// A neighbour is lost when nothing was heard of it for so many times `periodic_update_ms`.
    pub allowed_missed_updates: u32,
    /// On links whose layer does not acknowledge, send a Hello when nothing was sent for this long, ms: an update of this node
    /// alone, under the number that it told last. Absent: never.
    pub hello_interval_ms: Option<u64>,
    /// A neighbour that sends Hellos is lost when nothing was heard of it for so many times `hello_interval_ms`.
    pub allowed_hello_loss: u32,
    /// Take an unacknowledged transmission for a broken link.
    pub link_feedback: bool,
    /// How long a lost destination is remembered for its number, ms; absent: for ever.
    pub delete_period_ms: Option<u64>,

    // ---- waiting packets ---------------------------------------------------------------------------------------
    /// Packets that may wait for routes; the oldest is dropped to make room.
    pub buffer_packets: usize,
    /// Packets that may wait for one destination; its oldest is dropped to make room.
    pub buffer_per_destination: usize,
    /// How long a packet waits for a route, ms; absent: for ever.
    pub buffer_timeout_ms: Option<u64>,
    /// Packets of others wait for routes, too; else they are dropped without one.
    pub buffer_transit: bool,
    /// Tell the source of a data packet that ends here for want of a route by an ICMP message "host unreachable" about it,
    /// if there is a route to the source, for its transport protocol; of its own packets a node tells its own stack.
    pub failure_notices: bool,

    // ---- the rest ----------------------------------------------------------------------------------------------
    /// Say and believe nothing after the start until neighbours have lost this node: for a node that comes back without its
    /// table and its number.
    pub wait_after_reboot: bool,
    /// Entries in the routing table, at most.
    pub max_routes: usize,
}

/// When a triggered update, which tells what changed since the last full one, becomes a full one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullUpdate {
    /// When the changes do not fit into one packet.
    Overflow,
    /// When there are more than three changes, and more than a third of the table changed.
    ThirdChanged,
}

/// Which routes wait for the settling time before they are advertised.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Settle {
    /// Those whose distance differs from the one that was advertised last; new destinations do not wait.
    Changed,
    /// All, new destinations too, unless they were out of reach before.
    All,
}

impl Params {
    /// How long after the last update that was heard of it a neighbour is lost.
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
