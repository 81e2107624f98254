//! The MTU: protocol and TUN follow the interface with the smallest.

use serde_json::Value;
use wayhop_core::Configured;

use crate::config::plan::MtuPlan;

impl MtuPlan {
    /// The protocol for links that carry packets of this length, unless the configuration says another.
    pub(crate) fn of_protocol(&self, configured: Configured, shortest: usize) -> Configured {
        match self.key {
            Some(key) => configured.with(key, self.value(shortest)).unwrap_or(configured),
            None => configured,
        }
    }

    /// The TUN's, bytes: less than the links', for the protocol's headers.
    pub(crate) fn of_tun(&self, shortest: usize) -> u16 {
        self.tun.unwrap_or_else(|| {
            self.unsealed(shortest).saturating_sub(self.header_room).clamp(576, 65_535) as u16
        })
    }

    /// The value of the protocol's parameter, for links that carry packets of this length.
    pub(crate) fn value(&self, shortest: usize) -> Value {
        self.unsealed(shortest).min(usize::from(u16::MAX)).into()
    }

    /// How long packets may be before they get what authenticates them.
    fn unsealed(&self, shortest: usize) -> usize {
        shortest.saturating_sub(self.seal)
    }
}
