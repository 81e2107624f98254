//! Named sets of parameters.

use crate::cache::path::MAX_HOPS;
use crate::params::{BadLinks, CacheKind, Maintenance, Metric, Params};

impl Default for Params {
    fn default() -> Self {
        Self::rfc()
    }
}

impl Params {
    /// The named set of values: `rfc` (RFC 4728), `ns2` (what ns-2.35's DSR does, for comparison with it) or `cmu` (the
    /// testbed of Maltz, Broch and Johnson 1999).
    pub fn profile(name: &str) -> Option<Self> {
        match name {
            "rfc" => Some(Self::rfc()),
            "ns2" => Some(Self::ns2()),
            "cmu" => Some(Self::cmu()),
            _ => None,
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table: one line a parameter")]
    fn rfc() -> Self {
        Self {
            ring_zero_search: true,
            nonprop_request_timeout_ms: 30,
            request_period_ms: 500,
            request_backoff_factor: 2,
            max_request_period_ms: 10_000,
            max_request_rexmt: 16,
            discovery_hop_limit: 255,
            broadcast_jitter_ms: 10,
            max_route_hops: MAX_HOPS as u8,
            request_table_size: 64,
            request_table_ids: 16,
            request_ids_in_order: false,
            send_buffer_packets: 64,
            send_buffer_timeout_s: 30,
            send_buffer_check_min_ms: 0,
            send_buffer_check_max_ms: 0,
            send_buffer_release_spacing_ms: 0,
            release_on_any_route: true,
            route_cache_timeout_s: 300,
            cache_primary_routes: 30,
            cache_secondary_routes: 64,
            snoop_overheard: true,
            overheard_once: false,
            learn_from_requests: true,
            learn_reverse_routes: true,
            learn_from_forwarded_replies: true,
            learn_ahead_of_replies: false,
            route_cache: CacheKind::Path,
            link_cache_nodes: 256,
            link_cache_links: 1_024,
            bad_links: BadLinks::None,
            bad_link_timeout_s: 10,
            bad_link_distance_m: 25.0,
            bad_link_unlocated_timeout_s: 60,
            bad_link_probability: 0.45,
            // The reception threshold of the 914 MHz WaveLAN.
            bad_link_signal_dbm: -64.4,
            bad_link_path_loss_exponent: 4.0,
            bad_link_last_resort_ms: 200,
            metric: Metric::Hops,
            reply_from_cache: true,
            cached_reply_delay_us: 3_000,
            salvage: true,
            max_salvage_count: 15,
            salvage_replies: false,
            discover_for_salvage: false,
            resend_own_control: false,
            error_before_salvage: true,
            error_to_queued_sources: true,
            failure_notices: false,
            propagate_errors: true,
            propagate_errors_ms: 1_000,
            first_node_takes_spread_errors: false,
            blacklist: true,
            blacklist_probable_ms: 1_000,
            blacklist_expiry_ms: 3_000,
            maintenance: Maintenance::Auto,
            rexmt_buffer_packets: 50,
            maint_holdoff_ms: 250,
            max_maint_rexmt: 2,
            try_passive_acks: 1,
            passive_ack_timeout_ms: 100,
            ack_confirms_neighbour: true,
            rexmt_timer_min_ms: 50,
            rexmt_timer_max_ms: 1_000,
            rexmt_timer_initial_ms: 100,
            rexmt_backoff_factor: 2,
            rexmt_tick_ms: 0,
            rexmt_queue_threshold: 5,
            rexmt_queue_factor_ms: 0,
            rexmt_timer_from_air: true,
            remember_forwarded: true,
            low_delay_tos: false,
            acknowledgements_first: false,
            location_option: false,
            watchdog: false,
            watchdog_timeout_ms: 500,
            watchdog_threshold: 10,
            watchdog_window_ms: 10_000,
            pathrater: false,
            gratuitous_replies: true,
            grat_reply_holdoff_ms: 1_000,
            grat_holdoff_by_route: false,
            grat_table_size: 64,
            flow_state: false,
            flow_timeout_s: 60,
            flow_announcements: 3,
            flow_announce_ms: 5_000,
            flow_extended_by_use: false,
            flow_recovery_wait_s: 0,
            flow_shortening: true,
            flow_errors_by_hop: true,
            flow_table_size: 512,
            multicast_flood: true,
            // An 802.11 MSDU of 2304 octets less LLC and SNAP.
            mtu_bytes: 2_296,
            source_route_on_one_hop: true,
            control_ttl: 255,
        }
    }

    fn ns2() -> Self {
        Self {
            // ns-2's period of 0.5 s is shifted by two bits for each request already sent: 2 s, 8 s, then the maximum.
            request_period_ms: 2_000,
            request_backoff_factor: 4,
            max_request_rexmt: 0,
            discovery_hop_limit: 16,
            // 16 addresses, source and destination among them.
            max_route_hops: 15,
            request_table_size: 128,
            request_ids_in_order: true,
            send_buffer_check_min_ms: 30,
            send_buffer_check_max_ms: 60,
            send_buffer_release_spacing_ms: 30,
            release_on_any_route: false,
            route_cache_timeout_s: 0,
            overheard_once: true,
            learn_from_requests: false,
            learn_reverse_routes: false,
            learn_from_forwarded_replies: false,
            learn_ahead_of_replies: true,
            cached_reply_delay_us: 0,
            salvage_replies: true,
            discover_for_salvage: true,
            resend_own_control: true,
            error_before_salvage: false,
            error_to_queued_sources: false,
            first_node_takes_spread_errors: true,
            blacklist: false,
            maintenance: Maintenance::Link,
            acknowledgements_first: true,
            grat_holdoff_by_route: true,
            grat_table_size: 10,
            flow_state: true,
            multicast_flood: false,
            flow_extended_by_use: true,
            flow_shortening: false,
            flow_errors_by_hop: false,
            ..Self::rfc()
        }
    }

    fn cmu() -> Self {
        Self {
            // The testbed looked for due Route Requests every 30 ms.
            send_buffer_check_min_ms: 30,
            send_buffer_check_max_ms: 30,
            max_route_hops: 15,
            // A source took back what its first hop did not get (section 8.2 of the paper: 185 packets); of salvage by other
            // nodes the paper says nothing.
            salvage: false,
            maintenance: Maintenance::Network,
            maint_holdoff_ms: 0,
            // Three transmissions in all; the first may be confirmed passively (section 6.2 of the paper).
            try_passive_acks: 0,
            passive_ack_timeout_ms: 0,
            ack_confirms_neighbour: false,
            rexmt_timer_initial_ms: 50,
            rexmt_backoff_factor: 1,
            rexmt_tick_ms: 50,
            rexmt_queue_factor_ms: 20,
            rexmt_timer_from_air: false,
            remember_forwarded: false,
            low_delay_tos: true,
            location_option: true,
            ..Self::rfc()
        }
    }
}
