//! How long packets may be: the protocol and the TUN follow the interface that carries the shortest.

use serde_json::Value;
use wayhop_core::Configured;

use crate::config::settings::Settings;

/// The protocol for links that carry packets of this length, unless the configuration says another.
pub(crate) fn of_protocol(settings: &Settings, shortest: usize) -> Configured {
    let configured = settings.protocol.clone();
    match key(settings) {
        Some(key) => configured.with(key, value(settings, shortest)).unwrap_or(configured),
        None => configured,
    }
}

/// The TUN's, octets: less than the links', for the protocol's headers.
pub(crate) fn of_tun(settings: &Settings, shortest: usize) -> u16 {
    settings.config.mtu.unwrap_or_else(|| {
        let room = settings.protocol.description().host.header_room;
        unsealed(settings, shortest).saturating_sub(room).clamp(576, 65_535) as u16
    })
}

/// The protocol's parameter that says how long packets may be, where the configuration leaves it to the interfaces.
pub(crate) fn key(settings: &Settings) -> Option<&'static str> {
    let key = settings.protocol.description().host.mtu;
    key.filter(|key| !settings.config.protocol.overrides.contains_key(*key))
}

/// Its value, for links that carry packets of this length.
pub(crate) fn value(settings: &Settings, shortest: usize) -> Value {
    unsealed(settings, shortest).min(usize::from(u16::MAX)).into()
}

/// How long packets may be before they get what authenticates them.
fn unsealed(settings: &Settings, shortest: usize) -> usize {
    let seal = if settings.keys.is_some() { wayhop_wire::auth::MAX_LEN } else { 0 };
    shortest.saturating_sub(seal)
}
