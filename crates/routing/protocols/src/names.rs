//! Classes and types of messages by their names.

use wayhop_core::{Class, Description, Messages};

use crate::ALL;

/// The class of this name among those of a protocol.
pub fn class(protocol: &str, class: &str) -> Option<Class> {
    let (place, description) = placed(protocol)?;
    let index = description.messages.classes.iter().position(|name| *name == class)?;
    Class::of(place, description, index as u8)
}

/// A set of a protocol's types of messages; `None` for an unknown name.
pub fn messages(protocol: &str, types: &[&str]) -> Option<Messages> {
    let (place, description) = placed(protocol)?;
    let known = description.messages.types;
    let bit = |name: &str| Some(1 << known.iter().find(|(_, n)| *n == name)?.0);
    let bits = types.iter().try_fold(0, |bits, name| Some(bits | bit(name)?))?;
    Some(Messages::of(place, description, bits))
}

/// The names of the types of messages of all protocols.
pub fn message_names() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|d| d.messages.types).map(|(_, name)| *name)
}

/// The protocol of this name, with its place in [`ALL`].
fn placed(protocol: &str) -> Option<(u8, &'static Description)> {
    let place = ALL.iter().position(|d| d.name == protocol)?;
    Some((place as u8, ALL[place]))
}
