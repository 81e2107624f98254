//! The MTU: protocol and TUN follow the interface with the smallest.

use serde_json::Value;
use wayhop_core::Configured;

use crate::config::settings::Settings;

/// How long packets may be, as it follows from what the interfaces carry.
#[derive(Clone)]
pub(crate) struct MtuPlan {
    /// The TUN's, bytes, if the configuration gives it.
    tun: Option<u16>,
    /// Room that the protocol's headers need, bytes.
    header_room: usize,
    /// What authenticates a packet, bytes.
    seal: usize,
    /// The protocol's parameter that says it, where the configuration leaves it to the interfaces.
    pub(crate) key: Option<&'static str>,
}

impl MtuPlan {
    pub(crate) fn of(settings: &Settings) -> Self {
        let traits = &settings.protocol.description().host;
        let given = &settings.config.protocol.overrides;
        Self {
            tun: settings.config.mtu,
            header_room: traits.header_room,
            seal: if settings.keys.is_some() { wayhop_wire::auth::MAX_LEN } else { 0 },
            key: traits.mtu.filter(|key| !given.contains_key(*key)),
        }
    }

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
