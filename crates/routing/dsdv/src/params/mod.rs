//! Everything about DSDV that can be chosen.

mod checks;
mod live;
mod profiles;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Span;
use wayhop_wire::dsdv::Entry;
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
    /// The longest time between two full updates of a node, in milliseconds.
    pub periodic_update_ms: u64,
    /// Maximum time by which a full update is early, in milliseconds, so that nodes do not synchronise.
    pub periodic_jitter_ms: u64,
    /// Maximum time from the start to the first update, in milliseconds.
    pub start_jitter_ms: u64,
    /// Maximum jitter before an update, in milliseconds, so that neighbours do not all answer it at once.
    pub broadcast_jitter_ms: u64,
    /// The minimum time between an update and the next triggered one, in milliseconds.
    pub min_triggered_interval_ms: u64,
    /// When a triggered update becomes a full one.
    pub full_update: FullUpdate,
    /// The largest IP packet with an update, in bytes; larger updates are split.
    pub mtu_bytes: u16,
    /// Whether each update begins with this node's own entry, or only full updates do.
    pub tell_own: bool,
    /// Whether a newer number with another distance, or with the loss of the destination, triggers
    /// an update, or waits for the next one. (A loss detected by this node, a new destination, and
    /// a shorter route with the same number always trigger one.)
    pub trigger_with_newer: bool,
    /// Whether redundant triggered updates are sent, as in ns-2.35: a second one, after the minimum
    /// interval, when several routes asked for one; and one for a route that meanwhile returned to
    /// what was last announced.
    pub redundant_triggered: bool,
    /// Whether every report that this node is unreachable is answered by a full update at once. Otherwise
    /// only one with a number newer than its own, and no sooner than a triggered update may leave.
    pub answer_every_loss: bool,
    /// Whether a neighbour that advertises itself with an older number than this node knows, as
    /// after a restart, gets the newer number by a triggered update. Otherwise it learns it from
    /// the next full update.
    pub answer_old_number: bool,

    // ---- settling ----------------------------------------------------------------------------------------------
    /// How long a route waits for a better one before it is advertised, in milliseconds; with
    /// `weighted_settling`, the first estimate of it.
    pub settling_ms: u64,
    /// Whether the settling time is estimated per destination: a moving average of the time from
    /// the first news of a number to the best.
    pub weighted_settling: bool,
    /// The weight of the past in the average of `weighted_settling`, in thousandths.
    pub settling_weight_per_mille: u16,
    /// The number of settling times that a route waits.
    pub settling_factor: u32,
    /// Which routes wait before they are advertised.
    pub settle: Settle,

    // ---- broken links ------------------------------------------------------------------------------------------
    /// A neighbour is lost after this many `periodic_update_ms` without a packet from it.
    pub allowed_missed_updates: u32,
    /// Time without a transmission after which a Hello is sent on links without acknowledgements, in
    /// milliseconds: an update with only this node, and the number announced last. Absent: never.
    pub hello_interval_ms: Option<u64>,
    /// A neighbour that sends Hellos is lost after this many `hello_interval_ms` without a packet from it.
    pub allowed_hello_loss: u32,
    /// Whether an unacknowledged transmission counts as a broken link.
    pub link_feedback: bool,
    /// How long a lost destination's number is remembered, in milliseconds. Absent: for ever.
    pub delete_period_ms: Option<u64>,

    // ---- waiting packets ---------------------------------------------------------------------------------------
    /// Capacity of the buffer of packets that wait for routes; the oldest is dropped when it is full.
    pub buffer_packets: usize,
    /// The most packets that wait for one destination; its oldest is dropped beyond that.
    pub buffer_per_destination: usize,
    /// How long a packet may wait for a route, in milliseconds. Absent: for ever.
    pub buffer_timeout_ms: Option<u64>,
    /// Whether forwarded packets without a route also wait for one, or are dropped.
    pub buffer_transit: bool,
    /// Whether the source of a data packet that is dropped here without a route gets an ICMP "host
    /// unreachable" message for its transport protocol, if there is a route to it. For the node's
    /// own packets, its own stack is notified.
    pub failure_notices: bool,

    // ---- the rest ----------------------------------------------------------------------------------------------
    /// Whether a node neither sends nor accepts updates after its start until its neighbours have
    /// lost it, for nodes that restart without their table and number.
    pub wait_after_reboot: bool,
    /// Capacity of the routing table, entries.
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
        (usize::from(self.mtu_bytes).saturating_sub(OVERHEAD) / Entry::LEN).max(1)
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
