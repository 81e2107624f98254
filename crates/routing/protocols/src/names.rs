//! Protocols, and classes and types of messages, by their names.

use wayhop_core::{Class, Description, Messages};
use wayhop_wire::ipv4::protocol;

use crate::{ALL, foreign, formats};

/// The protocol of this name, built in or loaded.
pub fn find(name: &str) -> Option<&'static Description> {
    ALL.iter().find(|d| d.name == name).copied().or_else(|| foreign::find(name))
}

/// The class of this name among those of a protocol.
pub fn class(protocol: &str, class: &str) -> Option<Class> {
    placed(protocol).find_map(|(place, description)| {
        let index = description.messages.classes.iter().position(|name| *name == class)?;
        Class::of(place, description, index as u8)
    })
}

/// The class of a routing daemon's message in an IP packet with this payload.
pub fn class_of_host(number: u8, payload: &[u8]) -> Option<Class> {
    match number {
        // RFC 5340, section A.1.
        89 => class("none", "ospf"),
        // RFC 2453, section 3.6; RFC 2080, section 2.1.
        protocol::UDP if matches!(payload.get(2..4)?, [2, 8 | 9]) => class("none", "rip"),
        _ => None,
    }
}

/// The class of what is neither IP nor ARP.
pub fn class_of_frames() -> Option<Class> {
    class("none", "ethernet")
}

/// A set of a protocol's types of messages; `None` for an unknown name.
pub fn messages(protocol: &str, types: &[&str]) -> Option<Messages> {
    placed(protocol).find_map(|(place, description)| {
        let known = description.messages.types;
        let bit = |name: &str| Some(1 << known.iter().find(|(_, n)| *n == name)?.0);
        let bits = types.iter().try_fold(0, |bits, name| Some(bits | bit(name)?))?;
        Some(Messages::of(place, description, bits))
    })
}

/// The names of the types of messages of all protocols.
pub fn message_names() -> impl Iterator<Item = &'static str> {
    formats().flat_map(|(_, d)| d.messages.types).map(|(_, name)| *name)
}

/// The protocols of this name with their places: one, or versions of a library that differ in their messages.
fn placed(protocol: &str) -> impl Iterator<Item = (u8, &'static Description)> {
    formats().chain(foreign::placed()).filter(move |(_, d)| d.name == protocol)
}
