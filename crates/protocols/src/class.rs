//! Classes of routing packets.

use wayhop_core::{Description, Ns2Packet};

use crate::{ALL, Messages};

/// A class of routing packets: a protocol's Route Requests, for instance.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    protocol: u8,
    index: u8,
}

impl Class {
    /// The class of this name among those of a protocol.
    pub fn named(protocol: &str, class: &str) -> Option<Self> {
        let at = ALL.iter().position(|d| d.name == protocol)?;
        let index = ALL[at].messages.classes.iter().position(|name| *name == class)?;
        Some(Self { protocol: at as u8, index: index as u8 })
    }

    /// Of the protocol at this place of [`ALL`]; `None` if it has no such class.
    pub(crate) fn of(protocol: u8, index: u8) -> Option<Self> {
        let classes = ALL[usize::from(protocol)].messages.classes.len();
        (usize::from(index) < classes).then_some(Self { protocol, index })
    }

    /// Whose packets they are.
    pub fn protocol(self) -> &'static Description {
        ALL[usize::from(self.protocol)]
    }
    /// The name in tables. Protocols share names: many have a `rreq`.
    pub fn name(self) -> &'static str {
        self.protocol().messages.classes[usize::from(self.index)]
    }

    /// Its place among its protocol's classes, if a node takes a limited number of such packets from each neighbour.
    pub(crate) fn limited(self) -> Option<u8> {
        (self.protocol().messages.limited >> self.index & 1 == 1).then_some(self.index)
    }

    /// What trace hashes contain, from 5 up. The numbers of the first two protocols, with five classes each, and 15, which is
    /// ARP, are older than this registry; each later one has 16.
    pub const fn code(self) -> u8 {
        match self.protocol {
            0 => 5 + self.index,
            1 => 10 + self.index,
            later => 16 * (later - 1) + self.index,
        }
    }

    /// Appends what follows the IP header in a line of an ns-2 trace. -1 stands for no node, or all.
    pub fn ns2_tail(self, messages: Messages, source: i64, destination: i64, out: &mut String) {
        let packet = Ns2Packet { class: self.index, types: messages.bits(), source, destination };
        (self.protocol().messages.ns2.tail)(&packet, out);
    }
}
