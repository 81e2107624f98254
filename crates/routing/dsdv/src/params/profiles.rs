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
    /// From ns-3: full updates every 15 s, a settling time of 5 s that is not weighted, three updates may be missed, 500
    /// packets wait for routes, 5 for each destination, 30 s long. The paper leaves open how nodes avoid to stay in step, how
    /// often an update may be triggered, and how long a lost destination is remembered: 10 % of the period, once a second, and
    /// 15 minutes, in which news that missed the loss are gone from a path of 20 hops, three missed updates each.
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

    /// The constants and choices of ns-2.35 (`dsdv/dsdv.cc`, with the values that Debian's package runs with):
    ///
    /// **Updates.** A full one every 15 s x U(0.75, 1), the first within 2 s; each raises the node's number by two. A
    /// triggered one tells what changed since the last full one, that a newer number came once only, and becomes a full one,
    /// which puts the next periodic one off, with more than three changes that are more than a third of the table. Each route
    /// asks for its own triggered update: the first that is due sends all changes, and the next one, at least a second later,
    /// those with a new distance again. This node is in full updates only. All wait U(0, 10 ms).
    ///
    /// **What triggers.** A new destination, a shorter way under the same number, a link that is lost here, and an
    /// older loss heard of a destination that this node reaches. News with a newer number wait for the next update, whatever
    /// they say, losses too.
    ///
    /// **Settling.** 6 s at first, then 7/8 of what it was and 1/8 of the time from the first news of a number to the
    /// best. A route is in no update, full ones included, before twice that has passed since it changed, unless it was or is out
    /// of reach.
    ///
    /// **Losses.** A neighbour is lost after 45 s of silence. Unacknowledged packets are dropped and tell nothing (`use_mac_` is
    /// 0). Who hears that it is out of reach sends a full update at once.
    ///
    /// **Waiting packets.** 5 for each destination, of others too, for ever.
    ///
    /// Not taken over: data packets' TTL of 32 (the host's matter; 64 here), the 8 octets less that updates have without a UDP
    /// header, one packet for any number of entries, the entries of destinations that packets wait for, and the endless loop in
    /// which ns-2 moves packets that wait when it hears older news of their destination.
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
