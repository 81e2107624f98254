//! A node's authentication, and the packets that wait for their transmitters to be verified.

use std::net::Ipv4Addr;

use wayhop_auth::{Auth, OpenedPacket};
use wayhop_core::{Packet, PacketMeta, RxMeta};

/// How many packets its transmitter may have sent between one that waits and its answer: what is older may be a replay. Among
/// them are its exchanges with other neighbours.
const FRESH: u32 = 64;
/// The most packets that wait for their transmitters to answer a challenge, one for each.
const MAX_WAITING: usize = 64;

/// A node's authentication, and what waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Authentic {
    pub(crate) auth: Auth,
    waiting: Vec<Waiting>,
}

/// The last routing packet of a neighbour that was challenged. It is looked at again when the neighbour has answered, so
/// that a first Route Request is not lost.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    transmitter: Ipv4Addr,
    /// The transmitter's index and the packet's counter.
    stamp: (u64, u32),
    pub(crate) octets: Vec<u8>,
    pub(crate) meta: PacketMeta,
    pub(crate) rx: RxMeta,
}

impl Authentic {
    pub(crate) fn new(auth: Auth) -> Self {
        Self { auth, waiting: Vec::new() }
    }
    pub(crate) fn reboot(&mut self) {
        self.auth.reboot();
        self.waiting.clear();
    }

    pub(crate) fn wait(&mut self, from: &OpenedPacket, p: &Packet, rx: RxMeta) {
        let Some(transmitter) = from.transmitter else { return };
        self.waiting.retain(|w| w.transmitter != transmitter);
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.remove(0);
        }
        let (octets, meta) = (p.bytes().to_vec(), p.meta);
        self.waiting.push(Waiting { transmitter, stamp: from.stamp, octets, meta, rx });
    }

    /// What waited for this answer.
    pub(crate) fn waited(&mut self, answer: &OpenedPacket) -> Option<Waiting> {
        let transmitter = answer.transmitter?;
        let place = self.waiting.iter().position(|w| w.transmitter == transmitter)?;
        let (index, counter) = answer.stamp;
        let is_fresh =
            |w: &Waiting| w.stamp.0 == index && (1..=FRESH).contains(&counter.wrapping_sub(w.stamp.1));
        Some(self.waiting.remove(place)).filter(is_fresh)
    }
}
