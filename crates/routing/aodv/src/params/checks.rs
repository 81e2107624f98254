//! Which values are valid together.

use crate::params::{Hello, Params};
use crate::routing_table::subnet::Subnet;

impl Params {
    /// Rejects values that contradict each other or the RFC, with the key and a remedy.
    ///
    /// An [`crate::Engine`] survives any values, but does not route with rejected ones.
    pub fn check(&self) -> Result<(), String> {
        let positive: [(&str, u64); 10] = [
            ("active_route_timeout_ms", self.active_route_timeout_ms),
            ("my_route_timeout_ms", self.my_route_timeout_ms),
            ("check_interval_ms", self.check_interval_ms),
            ("node_traversal_time_ms", self.node_traversal_time_ms),
            ("net_diameter", self.net_diameter.into()),
            ("ttl_start", self.ttl_start.into()),
            ("ttl_increment", self.ttl_increment.into()),
            ("buffer_packets", self.buffer_packets as u64),
            ("max_routes", self.max_routes as u64),
            ("max_requests_remembered", self.max_requests_remembered as u64),
        ];
        if let Some((key, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{key} is 0: give at least 1"));
        }
        let hello_timeout = self.hello_interval_ms.saturating_mul(self.allowed_hello_loss.into());
        if self.hello != Hello::Off && hello_timeout == 0 {
            return Err("hello is on, but hello_interval_ms or allowed_hello_loss is 0".to_owned());
        }
        if self.hello != Hello::Off && self.active_route_timeout_ms <= hello_timeout {
            return Err(format!(
                "active_route_timeout_ms ({}) must be more than allowed_hello_loss * hello_interval_ms ({hello_timeout}) \
                 (RFC 3561 section 10)",
                self.active_route_timeout_ms
            ));
        }
        if self.hello == Hello::Off && !self.link_feedback && !self.passive_ack {
            return Err(
                "hello, link_feedback and passive_ack are all off: broken links would never be detected; \
                 enable one"
                    .to_owned(),
            );
        }
        if let Some(bad) = self.subnet_routers.iter().find(|t| Subnet::parse(t).is_none()) {
            return Err(format!(
                "subnet_routers has \"{bad}\": give the router's address and a prefix length of 1 to 30, such as \
                 \"10.0.0.5/29\""
            ));
        }
        let path_discovery_ms = 2 * self.net_traversal_time().as_millis();
        if self.request_memory_ms < path_discovery_ms {
            return Err(format!(
                "request_memory_ms ({}) must be at least PATH_DISCOVERY_TIME ({path_discovery_ms}), or nodes forward the same \
                 request again (RFC 3561 section 6.5)",
                self.request_memory_ms
            ));
        }
        if self.my_route_timeout_ms < 2 * path_discovery_ms {
            return Err(format!(
                "my_route_timeout_ms ({}) must be at least 2 * PATH_DISCOVERY_TIME ({}) (RFC 3561 section 10)",
                self.my_route_timeout_ms,
                2 * path_discovery_ms
            ));
        }
        let active = if self.link_feedback { self.active_route_timeout_ms } else { 0 };
        let longest = if self.hello == Hello::Off { active } else { active.max(hello_timeout) };
        if let Some(delete) = self.delete_period_ms.filter(|&d| d < longest) {
            return Err(format!(
                "delete_period_ms ({delete}) must be at least {longest}: what a neighbour may still send this way \
                 must not be forgotten (RFC 3561 section 10)"
            ));
        }
        Ok(())
    }
}
