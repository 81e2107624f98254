//! Complete sets of parameters.

use crate::params::{FullUpdate, Params, Settle};

impl Params {
    /// The set of this name: `rfc` or `ns2`.
    pub fn profile(name: &str) -> Option<Self> {
        match name {
            "rfc" => Some(Self::rfc()),
            "ns2" => Some(Self::ns2()),
            _ => None,
        }
    }

    /// The paper's rules with the constants of ns-3.37, and link-layer feedback. (There is no RFC.)
    ///
    /// From ns-3: full updates every 15 s, an unweighted settling time of 5 s, up to three missed updates, 500 packets
    /// waiting for routes, 5 per destination, for 30 s. The paper does not specify how nodes avoid synchronisation (here
    /// 10 % of the period), how often updates may be triggered (once per second), and how long a lost destination is
    /// remembered: 15 minutes, by which time news that missed the loss have left a path of 20 hops with three missed
    /// updates each.
    pub fn rfc() -> Self {
        Self {
            periodic_update_ms: 15_000,
            periodic_jitter_ms: 1_500,
            start_jitter_ms: 2_000,
            broadcast_jitter_ms: 10,
            min_triggered_interval_ms: 1_000,
            full_update: FullUpdate::Overflow,
            mtu_bytes: 1_500,
            tell_own: true,
            trigger_with_newer: true,
            redundant_triggered: false,
            answer_every_loss: false,
            answer_old_number: true,
            settling_ms: 5_000,
            weighted_settling: false,
            settling_weight_per_mille: 875,
            settling_factor: 1,
            settle: Settle::Changed,
            allowed_missed_updates: 3,
            hello_interval_ms: Some(1_000),
            allowed_hello_loss: 3,
            link_feedback: true,
            delete_period_ms: Some(900_000),
            buffer_packets: 500,
            buffer_per_destination: 5,
            buffer_timeout_ms: Some(30_000),
            buffer_transit: false,
            failure_notices: false,
            wait_after_reboot: false,
            max_routes: 4_096,
        }
    }

    /// The constants and choices of ns-2.35 (`dsdv/dsdv.cc`, with the values of Debian's package).
    ///
    /// **Updates.** A full one every 15 s x U(0.75, 1), the first within 2 s; each increases the node's number by two. A
    /// triggered one has what changed since the last full one, and mentions a newer number only once. With more than
    /// three changes that are more than a third of the table it becomes a full one, which postpones the next periodic
    /// one. Each route requests its own triggered update: the first one sends all changes, and the next one, at least a
    /// second later, repeats those with a new distance. Only full updates contain this node. All wait U(0, 10 ms).
    ///
    /// **Triggers.** A new destination, a shorter route with the same number, a link lost at this node, and an older
    /// loss reported for a destination that this node reaches. All news with a newer number wait for the next update,
    /// including losses.
    ///
    /// **Settling.** 6 s at first, then 7/8 of the previous value and 1/8 of the time from the first news of a number
    /// to the best. A route is in no update, not even a full one, until twice that time has passed since its change,
    /// unless it was or is unreachable.
    ///
    /// **Losses.** A neighbour is lost after 45 s of silence. Unacknowledged packets are dropped without consequence
    /// (`use_mac_` is 0). A node that hears that it is unreachable sends a full update at once.
    ///
    /// **Waiting packets.** 5 per destination, including those of others, forever.
    ///
    /// Not copied: the TTL of 32 in data packets (the host sets it; 64 here), updates that are 8 bytes shorter for want
    /// of a UDP header, one packet for any number of entries, table entries for destinations that packets wait for, and
    /// the endless loop in which ns-2 moves waiting packets when it hears older news of their destination.
    pub fn ns2() -> Self {
        Self {
            periodic_jitter_ms: 3_750,
            full_update: FullUpdate::ThirdChanged,
            tell_own: false,
            trigger_with_newer: false,
            redundant_triggered: true,
            answer_every_loss: true,
            answer_old_number: false,
            settling_ms: 6_000,
            weighted_settling: true,
            settling_weight_per_mille: 875,
            settling_factor: 2,
            settle: Settle::All,
            hello_interval_ms: None,
            link_feedback: false,
            delete_period_ms: None,
            buffer_timeout_ms: None,
            buffer_transit: true,
            ..Self::rfc()
        }
    }
}
