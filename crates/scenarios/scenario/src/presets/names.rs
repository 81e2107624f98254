//! Names of protocols, profiles and radios, which may be written in capitals: the result is the name as it is listed.

use serde::{Deserialize as _, Deserializer};

pub(crate) fn protocol<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(from).map(|name| name.map(|name| listed(name, wayhop_protocols::names())))
}

pub(crate) fn profile<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let all = wayhop_protocols::ALL.iter().flat_map(|d| d.profiles).map(|p| p.name);
    Option::<String>::deserialize(from).map(|name| name.map(|name| listed(name, all)))
}

pub(crate) fn radio<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(|name| listed(name, wayhop_radio::PRESETS.iter().map(|(name, _)| *name)))
}

/// The listed name that differs from this one only in capitals; without one, the name as it is, which is refused where
/// it is looked up.
fn listed(name: String, mut all: impl Iterator<Item = &'static str>) -> String {
    all.find(|known| known.eq_ignore_ascii_case(&name)).map_or(name, str::to_owned)
}
