//! Which values parameters can have.

use crate::cache::path::MAX_HOPS;
use crate::params::{CacheKind, Metric, Params};

impl Params {
    /// The same values within the ranges that the engine and the packet format can hold.
    #[must_use]
    pub(crate) fn clamped(mut self) -> Self {
        self.max_route_hops = self.max_route_hops.clamp(1, MAX_HOPS as u8);
        self.max_salvage_count = self.max_salvage_count.min(15);
        self.request_table_size = self.request_table_size.max(1);
        self.request_table_ids = self.request_table_ids.max(1);
        self.request_period_ms = self.request_period_ms.max(1);
        self.request_backoff_factor = self.request_backoff_factor.max(1);
        self.max_request_period_ms = self.max_request_period_ms.max(self.request_period_ms);
        self.send_buffer_packets = self.send_buffer_packets.max(1);
        self.send_buffer_check_max_ms = self.send_buffer_check_max_ms.max(self.send_buffer_check_min_ms);
        self.cache_primary_routes = self.cache_primary_routes.max(1);
        self.cache_secondary_routes = self.cache_secondary_routes.max(1);
        if self.metric == Metric::Etx {
            self.route_cache = CacheKind::Link;
            self.ring_zero_search = false;
            self.learn_from_requests = true;
            self.learn_reverse_routes = true;
        }
        self.grat_table_size = self.grat_table_size.max(1);
        self.discovery_hop_limit = self.discovery_hop_limit.max(1);
        self.control_ttl = self.control_ttl.max(1);
        self.flow_table_size = self.flow_table_size.max(1);
        self.flow_timeout_s = self.flow_timeout_s.max(1);
        self.rexmt_timer_min_ms = self.rexmt_timer_min_ms.max(1);
        self.rexmt_backoff_factor = self.rexmt_backoff_factor.clamp(1, 8);
        self.rexmt_timer_max_ms = self.rexmt_timer_max_ms.max(self.rexmt_timer_min_ms);
        self
    }
}
