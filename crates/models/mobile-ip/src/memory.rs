//! What a home agent knows of its mobile nodes and needs again after a restart.
//!
//! Times are of the day: the other clock begins with the program.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use wayhop_core::{Span, Time};
use wayhop_wire::mobile_ip::INFINITE;

use crate::clock::Clock;

/// Of one mobile node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownMobile {
    /// Its home address.
    pub home: Ipv4Addr,
    /// With timestamps: the last identification that was accepted. No request that is not later may ever be (section 5.7.1).
    pub identification: Option<u64>,
    /// Its bindings.
    pub bindings: Vec<KnownBinding>,
}

/// A binding.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownBinding {
    /// Where the tunnel leads.
    pub care_of: Ipv4Addr,
    /// Whether packets come back by it.
    #[serde(rename = "reverse")]
    pub is_reverse: bool,
    /// When it was granted, as NTP writes the time of day.
    pub granted_ntp: u64,
    /// For how long, in seconds.
    pub lifetime_s: u16,
}

impl KnownBinding {
    /// When it ends; nothing if it has. A clock that has stepped back since extends nothing beyond
    /// what was granted.
    pub(crate) fn expiry(&self, now: Clock) -> Option<Time> {
        if self.lifetime_s == INFINITE {
            return Some(Time::NEVER);
        }
        // Clocks wrap in 2036; a difference does not.
        let elapsed = now.ntp.wrapping_sub(self.granted_ntp).cast_signed().max(0);
        let elapsed_ns = (i128::from(elapsed) * 1_000_000_000) >> 32;
        let left_ns = i128::from(self.lifetime_s) * 1_000_000_000 - elapsed_ns;
        u64::try_from(left_ns).ok().filter(|ns| *ns > 0).map(|ns| now.at + Span::from_nanos(ns))
    }
}
