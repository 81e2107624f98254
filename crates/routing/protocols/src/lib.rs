//! The registry of routing protocols.
//!
//! [`ALL`] lists the [`Description`] of each protocol, and of `none`, for no routing. Everything
//! else in Wayhop takes names, parameters, messages and needs from there: no other crate names a
//! protocol. `docs/concepts/new-protocol.md` says how to add one.
//!
//! [`load`] adds a protocol from a shared library.
//!
//! Crates that must not know any protocol are handed [`CLASSIFIER`]. Packets go through [`classify`], [`decode`], [`hop`] and
//! [`route_header`], which find the protocol by the packet's IP protocol number or UDP port: one of [`ALL`], a loaded one, or one
//! of [`DAEMONS`], whose messages are only decoded.

mod classifier;
mod daemons;
mod dissector;
mod foreign;
mod format;
mod names;
mod none;
mod packet;

pub use classifier::CLASSIFIER;
pub use daemons::DAEMONS;
pub use dissector::dissector;
pub use foreign::{absolute, library, load, locate};
pub use names::{class, class_of_frames, class_of_host, find, message_names, messages};
pub use none::silent;
pub use packet::{classify, decode, hop, limited_class, route_header};
use wayhop_core::{Class, Description};
pub use wayhop_foreign::{is_python, progress, supervise_by};

/// Every built-in protocol. Its place is a part of [`wayhop_core::Class`] and of trace hashes: add new ones at the end.
pub static ALL: &[&Description] = &[
    &wayhop_dsr::DESCRIPTION,
    &wayhop_aodv::DESCRIPTION,
    &wayhop_dsdv::DESCRIPTION,
    &none::DESCRIPTION,
    &wayhop_controlled::DESCRIPTION,
];

/// Everything built in that has a message format, and its place: that of a protocol in [`ALL`], and those of [`DAEMONS`] counted
/// down, so that neither list moves the other.
fn formats() -> impl Iterator<Item = (u8, &'static Description)> {
    (0..).zip(ALL.iter().copied()).chain(daemons())
}

fn daemons() -> impl Iterator<Item = (u8, &'static Description)> {
    (0..Class::FIRST_FOREIGN).rev().zip(DAEMONS.iter().copied())
}

/// The protocol of scenarios and nodes that name none.
pub fn default() -> &'static Description {
    ALL[0]
}

/// The names of all built-in protocols.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|d| d.name)
}

#[cfg(test)]
mod tests;
