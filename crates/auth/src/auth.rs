//! Sealing what a node transmits, and opening what it receives.

use std::net::Ipv4Addr;

use wayhop_core::{Description, Mac, Packet, Rng, Span, Time};
use wayhop_wire::auth::{self as block, Block, Carrier, Kind, TAG_LEN};
use wayhop_wire::ipv4;

use crate::key::{Key, Keys};
use crate::neighbours::{Challenge, Neighbours};

/// The longest wait with a challenge to all: that of broadcasts in RFC 4728 (BroadcastJitter).
const MAX_JITTER: Span = Span::from_millis(10);

/// How often each thing happened.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets sealed.
    pub sealed: u64,
    /// Packets accepted.
    pub accepted: u64,
    /// Without authentication.
    pub missing: u64,
    /// With a tag that no key makes.
    pub failed: u64,
    /// Received before.
    pub replayed: u64,
    /// Of neighbours that had not answered a challenge.
    pub unknown: u64,
    /// Challenges sent.
    pub challenges: u64,
    /// Challenges answered.
    pub answers: u64,
}

impl Counts {
    /// All of them with their names.
    pub fn named(&self) -> [(&'static str, u64); 8] {
        [
            ("sealed", self.sealed),
            ("accepted", self.accepted),
            ("missing", self.missing),
            ("failed", self.failed),
            ("replayed", self.replayed),
            ("unknown", self.unknown),
            ("challenges", self.challenges),
            ("answers", self.answers),
        ]
    }
}

/// What to do with a packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is what its transmitter sent, for the first time; a message.
    Good,
    /// It has no authentication.
    Missing,
    /// No key of this node made its tag.
    Failed,
    /// It was received before.
    Replayed,
    /// Its transmitter has not answered a challenge since it began; send it this one, if there is one.
    Unknown(Option<Challenge>),
    /// It is a challenge; send the nonce back, if there is one, and perhaps a challenge of one's own.
    Challenge {
        /// The nonce to send back.
        answer: Option<u64>,
        /// The challenge to send.
        ask: Option<Challenge>,
    },
    /// It answers this node's challenge: the transmitter is verified with this counter.
    Verified,
}

/// A packet that was looked at; it has no block any more, if it had one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// What to do with it.
    pub verdict: Verdict,
    /// Its transmitter, with a right tag.
    pub transmitter: Option<Ipv4Addr>,
    /// The transmitter's index and the packet's counter.
    pub stamp: (u64, u32),
}

/// A node's authentication.
#[derive(Clone, Debug)]
pub struct Auth {
    keys: Keys,
    carrier: Carrier,
    own: Ipv4Addr,
    index: u64,
    counter: u32,
    neighbours: Neighbours,
    rng: Rng,
    counts: Counts,
    /// It has no key of the network, and believes everybody.
    is_outsider: bool,
}

impl Auth {
    /// That of a node that runs this protocol; `None` if its messages cannot be authenticated.
    pub fn for_protocol(keys: &Keys, protocol: &Description, own: Ipv4Addr, rng: Rng) -> Option<Self> {
        let carrier = Carrier::of(protocol.messages.carrier)?;
        Some(Self::new(keys.clone(), carrier, own, rng))
    }

    /// That of a node with this address, for the packets of one protocol.
    pub fn new(keys: Keys, carrier: Carrier, own: Ipv4Addr, mut rng: Rng) -> Self {
        let index = rng.bits();
        Self {
            keys,
            carrier,
            own,
            index,
            counter: 0,
            neighbours: Neighbours::default(),
            rng,
            counts: Counts::default(),
            is_outsider: false,
        }
    }

    /// That of an attacker without a key of this network: it reads every message, and signs with a key that nobody else has.
    /// `None` if the protocol's messages cannot be authenticated.
    pub fn outsider(network: &Keys, protocol: &Description, own: Ipv4Addr, mut rng: Rng) -> Option<Self> {
        let octets: Vec<u8> = (0..4).flat_map(|_| rng.bits().to_ne_bytes()).collect();
        let key = Key::new(network.first().id(), &octets)?;
        let auth = Self::for_protocol(&Keys::new(vec![key], network.data)?, protocol, own, rng)?;
        Some(Self { is_outsider: true, ..auth })
    }

    /// Other keys: what is known of neighbours stays.
    pub fn set_keys(&mut self, keys: Keys) {
        self.keys = keys;
    }
    /// The node begins anew, without memory.
    pub fn reboot(&mut self) {
        self.index = self.rng.bits();
        self.counter = 0;
        self.neighbours.clear();
    }
    /// How often each thing happened.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// The numbers of the keys, the one that signs first.
    pub fn key_ids(&self) -> impl Iterator<Item = u8> + '_ {
        self.keys.ids()
    }
    /// How many neighbours are verified.
    pub fn neighbours(&self) -> usize {
        self.neighbours.len()
    }

    /// Whether this node only takes the packet with a block.
    pub fn concerns(&self, packet: &[u8]) -> bool {
        block::concerns(packet, self.carrier, self.keys.data)
    }
    /// Whether this node is to seal the packet when it transmits it. A datagram needs the protocol's port at both ends, which no
    /// unprivileged program has, and this node's address.
    fn is_to_seal(&self, packet: &[u8]) -> bool {
        if !self.concerns(packet) || block::find(packet).is_some() {
            return false;
        }
        let Ok(ip) = ipv4::Packet::new_checked(packet) else { return false };
        let is_from_port = || matches!(ip.payload(), [a, b, c, d, ..] if (a, b) == (c, d));
        !self.carrier.is_udp() || ip.src() == self.own && is_from_port()
    }
    /// Octets that sealing will add to a packet.
    pub fn overhead(&self, packet: &[u8]) -> usize {
        if self.is_to_seal(packet) { self.carrier.overhead() } else { 0 }
    }

    /// Seals a packet that is about to be transmitted by an interface with this link address to a neighbour, or to all. One that is
    /// sealed already, or not to be sealed, stays as it is.
    pub fn seal(&mut self, p: &mut Packet, mac: Mac, receiver: Ipv4Addr) {
        if self.is_to_seal(p.bytes()) {
            let mut b = self.next_block(Kind::Message);
            b.tag = self.keys.first().tag(&covered(&b, self.carrier, mac, receiver, p.bytes()).parts());
            if block::insert(p, &b).is_ok() {
                self.counts.sealed += 1;
            }
        }
    }

    /// Writes a challenge of a neighbour into a packet. Returns how long to wait with it: others may have heard the same message, and
    /// challenge its transmitter, too.
    pub fn ask(&mut self, p: &mut Packet, challenge: Challenge, mac: Mac, neighbour: Ipv4Addr) -> Span {
        let receiver = if challenge.to_all { Ipv4Addr::BROADCAST } else { neighbour };
        self.write(p, Kind::Request(challenge.nonce), mac, neighbour, receiver);
        self.counts.challenges += 1;
        if challenge.to_all { Span::from_nanos(self.rng.below(MAX_JITTER.as_nanos())) } else { Span::ZERO }
    }

    /// Writes the answer to a neighbour's challenge into a packet.
    pub fn answer(&mut self, p: &mut Packet, nonce: u64, mac: Mac, neighbour: Ipv4Addr) {
        self.write(p, Kind::Reply(nonce), mac, neighbour, neighbour);
        self.counts.answers += 1;
    }

    fn write(&mut self, p: &mut Packet, kind: Kind, mac: Mac, neighbour: Ipv4Addr, receiver: Ipv4Addr) {
        let mut b = self.next_block(kind);
        // The packet without its block is the same for every tag.
        let written = block::write_alone(p, self.carrier, neighbour, &b).and_then(|()| {
            block::remove(p);
            b.tag = self.keys.first().tag(&covered(&b, self.carrier, mac, receiver, p.bytes()).parts());
            block::insert(p, &b)
        });
        debug_assert!(written.is_ok(), "a challenge fits into a packet");
    }

    fn next_block(&mut self, kind: Kind) -> Block {
        if self.counter == u32::MAX {
            // RFC 8967, section 4.1: no pair of index and counter is used twice. Neighbours challenge the new index.
            self.index = self.rng.bits();
            self.counter = 0;
        }
        self.counter += 1;
        Block {
            key_id: self.keys.first().id(),
            kind,
            transmitter: self.own,
            index: self.index,
            counter: self.counter,
            tag: [0; TAG_LEN],
        }
    }

    /// Takes the block off a packet that this node transmitted, or tried to.
    pub fn strip(&self, p: &mut Packet) {
        if self.concerns(p.bytes()) {
            block::remove(p);
        }
    }

    /// Looks at a packet that [`Auth::concerns`] this node: takes the block off, and says what the packet is worth. `mac` is the link
    /// address that transmitted it, `receiver` the neighbour that it is for, or all. Whatever an outsider sends, nothing
    /// in here changes but counts.
    pub fn open(&mut self, at: Time, p: &mut Packet, mac: Mac, receiver: Ipv4Addr) -> Opened {
        let opened = self.judge(at, p, mac, receiver);
        let c = &mut self.counts;
        match opened.verdict {
            Verdict::Good | Verdict::Challenge { .. } | Verdict::Verified => c.accepted += 1,
            Verdict::Missing => c.missing += 1,
            Verdict::Failed => c.failed += 1,
            Verdict::Replayed => c.replayed += 1,
            Verdict::Unknown(_) => c.unknown += 1,
        }
        opened
    }

    /// The transmitter that a packet names, which nobody has verified.
    pub fn claimed(packet: &[u8]) -> Option<Ipv4Addr> {
        block::find(packet).map(|b| b.transmitter)
    }

    fn judge(&mut self, at: Time, p: &mut Packet, mac: Mac, receiver: Ipv4Addr) -> Opened {
        let refused = |verdict| Opened { verdict, transmitter: None, stamp: (0, 0) };
        let b = block::remove(p);
        if self.is_outsider {
            let is_message = b.is_none_or(|b| b.kind == Kind::Message);
            let verdict = if is_message { Verdict::Good } else { Verdict::Failed };
            return Opened { verdict, transmitter: b.map(|b| b.transmitter), stamp: (0, 0) };
        }
        let Some(b) = b else { return refused(Verdict::Missing) };
        let key = self.keys.find(b.key_id).filter(|_| b.transmitter != self.own);
        let Some(key) = key else { return refused(Verdict::Failed) };
        let known = self.neighbours.verified(b.transmitter, b.index);
        if known.is_some_and(|v| !v.window.is_new(b.counter)) {
            // Before the tag is computed: a replay costs next to nothing.
            return refused(Verdict::Replayed);
        }
        let is_known = known.is_some();
        let is_to_own = receiver == self.own || destination(p.bytes()) == Some(self.own);
        if matches!(b.kind, Kind::Request(_)) && receiver == Ipv4Addr::BROADCAST && !is_to_own {
            // A challenge of somebody else, transmitted to all.
            let verdict = Verdict::Challenge { answer: None, ask: None };
            return Opened { verdict, transmitter: None, stamp: (0, 0) };
        }
        if !key.verifies(&covered(&b, self.carrier, mac, receiver, p.bytes()).parts(), &b.tag) {
            return refused(Verdict::Failed);
        }
        let n = b.transmitter;
        if is_known {
            self.neighbours.note(at, n, b.counter);
        }
        let verdict = match b.kind {
            Kind::Message if is_known => Verdict::Good,
            Kind::Message => Verdict::Unknown(self.challenge(at, n)),
            // Only the one who is asked answers.
            Kind::Request(_) if !is_to_own => Verdict::Failed,
            Kind::Reply(_) if receiver != self.own => Verdict::Failed,
            Kind::Request(nonce) => Verdict::Challenge {
                answer: self.neighbours.may_answer(at, n).then_some(nonce),
                ask: if is_known { None } else { self.challenge(at, n) },
            },
            Kind::Reply(nonce) if self.neighbours.answered(at, n, nonce, b.index, b.counter) => {
                Verdict::Verified
            }
            Kind::Reply(_) => Verdict::Replayed,
        };
        Opened { verdict, transmitter: Some(n), stamp: (b.index, b.counter) }
    }

    fn challenge(&mut self, at: Time, n: Ipv4Addr) -> Option<Challenge> {
        let rng = &mut self.rng;
        self.neighbours.challenge(at, n, || rng.bits())
    }
}

/// The neighbour that a packet's IP header names.
fn destination(packet: &[u8]) -> Option<Ipv4Addr> {
    ipv4::Packet::new_checked(packet).ok().map(|ip| ip.dst())
}

/// What a tag covers.
struct Covered<'a> {
    pseudo: [u8; 11],
    block: [u8; 26],
    packet: &'a [u8],
}

/// The pseudo-header - the protocol, the link address of the transmitter, the address of the receiver -, the block, and the packet
/// without it.
fn covered<'a>(b: &Block, carrier: Carrier, mac: Mac, receiver: Ipv4Addr, packet: &'a [u8]) -> Covered<'a> {
    let mut pseudo = [0; 11];
    pseudo[0] = carrier.number();
    pseudo[1..7].copy_from_slice(&mac.0);
    pseudo[7..].copy_from_slice(&receiver.octets());
    Covered { pseudo, block: b.covered(), packet }
}

impl Covered<'_> {
    fn parts(&self) -> [&[u8]; 3] {
        [&self.pseudo, &self.block, self.packet]
    }
}
