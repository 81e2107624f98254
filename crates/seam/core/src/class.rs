//! Classes of routing packets.

use crate::place::{self, Place};
use crate::{Description, Messages, Ns2Packet};

/// A class of routing packets: a protocol's Route Requests, for instance.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    place: Place,
    index: u8,
}

impl Class {
    /// The first place of protocols that are no part of the registry. Trace hashes do not tell their places apart.
    pub const FIRST_FOREIGN: u8 = place::FIRST_FOREIGN;

    /// The class with this index among those of the protocol at this place of the registry; `None` if there is none.
    pub fn of(place: u8, protocol: &'static Description, index: u8) -> Option<Self> {
        let is_one = usize::from(index) < protocol.messages.classes.len();
        is_one.then(|| Self { place: Place::of(place, protocol), index })
    }

    /// Whose packets they are.
    ///
    /// # Panics
    /// Never: a class is made with its protocol.
    #[inline]
    pub fn protocol(self) -> &'static Description {
        match self.place.protocol() {
            Some(protocol) => protocol,
            None => unreachable!("a class is made with its protocol"),
        }
    }
    /// The name in tables. Protocols share names: many have a `rreq`.
    #[inline]
    pub fn name(self) -> &'static str {
        self.protocol().messages.classes[usize::from(self.index)]
    }

    /// Its place among its protocol's classes, if a node takes a limited number of such packets from each neighbour.
    pub fn limited(self) -> Option<u8> {
        (self.protocol().messages.limited >> self.index & 1 == 1).then_some(self.index)
    }

    /// What trace hashes contain, from 5 up. The numbers of the first two protocols, with five classes each, and 15, which is
    /// ARP, are older than the registry; each later one has 16.
    pub const fn code(self) -> u8 {
        match self.place.number() {
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
