//! Looking into a protocol: for people, tests, and the host's packet count.

use core::fmt::Display;

use crate::{Packet, PacketId};

/// Receives a protocol's tables, row by row.
pub trait Inspect {
    /// A row of a table, as (column, value) pairs.
    fn row(&mut self, table: &'static str, fields: &[(&'static str, &dyn Display)]);
    /// A packet that the protocol holds, and where.
    fn held(&mut self, place: &'static str, p: &Packet);
}

/// An [`Inspect`] that keeps the ids of the packets held and nothing else.
#[derive(Debug, Default)]
pub struct HeldPackets(pub Vec<(&'static str, PacketId)>);

impl Inspect for HeldPackets {
    fn row(&mut self, _: &'static str, _: &[(&'static str, &dyn Display)]) {}
    fn held(&mut self, place: &'static str, p: &Packet) {
        self.0.push((place, p.meta.id));
    }
}
