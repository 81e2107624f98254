//! Sealing what a node transmits, and opening what it receives.

use std::net::Ipv4Addr;

use wayhop_core::{Description, IfaceId, Mac, Packet, Rng, Span, Time};
use wayhop_wire::auth::{self as block, Block, BlockKind, Exchange, Format, TAG_LEN};
use wayhop_wire::ipv4;

use crate::key::{Key, Keys};
use crate::neighbours::NeighbourKeys;
use crate::outbox::Outbox;

/// The longest wait with a challenge: that of broadcasts in RFC 4728 (BroadcastJitter). All neighbours may have heard the
/// same message, and challenge its transmitter, too.
const MAX_JITTER: Span = Span::from_millis(10);
/// How long an exchange waits that the interface's queue refused.
const REFUSED_WAIT: Span = Span::from_millis(50);

/// How often each thing happened.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockCounts {
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
    /// Neighbours challenged.
    pub challenges: u64,
    /// Challenges answered.
    pub answers: u64,
    /// Frames with challenges and answers.
    pub exchanges: u64,
}

impl BlockCounts {
    /// All of them with their names.
    pub fn named(&self) -> [(&'static str, u64); 9] {
        [
            ("sealed", self.sealed),
            ("accepted", self.accepted),
            ("missing", self.missing),
            ("failed", self.failed),
            ("replayed", self.replayed),
            ("unknown", self.unknown),
            ("challenges", self.challenges),
            ("answers", self.answers),
            ("exchanges", self.exchanges),
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
    /// Its transmitter has not answered a challenge since it began.
    Unknown,
    /// It has challenges and answers.
    Exchange {
        /// Whether it verifies its transmitter, with this counter.
        verifies: bool,
    },
}

/// A packet that was looked at; it has no block any more, if it had one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OpenedPacket {
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
    format: Format,
    own: Ipv4Addr,
    index: u64,
    counter: u32,
    neighbours: NeighbourKeys,
    /// One for each interface.
    outboxes: Vec<Outbox>,
    rng: Rng,
    counts: BlockCounts,
    /// It has no key of the network, and believes everybody.
    is_outsider: bool,
}

impl Auth {
    /// Whether there is a way to authenticate a protocol's messages.
    pub fn supports(protocol: &Description) -> bool {
        protocol.messages.authentication.is_some()
    }

    /// That of a node that runs this protocol; `None` if its messages cannot be authenticated.
    pub fn for_protocol(keys: &Keys, protocol: &Description, own: Ipv4Addr, rng: Rng) -> Option<Self> {
        let format = Format::of(&protocol.messages)?;
        Some(Self::new(keys.clone(), format, own, rng))
    }

    /// That of a node with this address, for the packets of one protocol.
    pub fn new(keys: Keys, format: Format, own: Ipv4Addr, mut rng: Rng) -> Self {
        let index = rng.bits();
        Self {
            keys,
            format,
            own,
            index,
            counter: 0,
            neighbours: NeighbourKeys::default(),
            outboxes: Vec::new(),
            rng,
            counts: BlockCounts::default(),
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
    /// The node reboots, without memory.
    pub fn reboot(&mut self) {
        self.index = self.rng.bits();
        self.counter = 0;
        self.neighbours = NeighbourKeys::default();
        self.go_down();
    }
    /// What waits at its interfaces is lost.
    pub fn go_down(&mut self) {
        self.outboxes.clear();
    }
    /// How often each thing happened.
    pub fn counts(&self) -> BlockCounts {
        self.counts
    }
    /// How many neighbours are verified.
    pub fn neighbours(&self) -> usize {
        self.neighbours.len()
    }

    /// Whether this node only takes the packet with a block.
    pub fn concerns(&self, packet: &[u8]) -> bool {
        self.format.concerns(packet, self.keys.data)
    }
    /// Whether this node is to seal the packet when it transmits it. A datagram needs the protocol's port at both ends, which no
    /// unprivileged program has, and this node's address.
    fn is_to_seal(&self, packet: &[u8]) -> bool {
        if !self.concerns(packet) || self.format.find(packet).is_some() {
            return false;
        }
        let Ok(ip) = ipv4::Packet::new_checked(packet) else { return false };
        let is_from_port = || matches!(ip.payload(), [a, b, c, d, ..] if (a, b) == (c, d));
        !self.format.is_udp() || ip.src() == self.own && is_from_port()
    }
    /// Octets that sealing will add to a packet.
    pub fn overhead(&self, packet: &[u8]) -> usize {
        if self.is_to_seal(packet) { self.format.overhead() } else { 0 }
    }

    /// Seals a packet that is about to be transmitted by an interface with this link address to a neighbour, or to all. One that is
    /// sealed already, or not to be sealed, stays as it is.
    pub fn seal(&mut self, p: &mut Packet, mac: Mac, receiver: Ipv4Addr) {
        if self.is_to_seal(p.bytes()) {
            let mut b = self.next_block(BlockKind::Message);
            b.tag = self.tag(&b, mac, receiver, p.bytes());
            if self.format.insert(p, &b).is_ok() {
                self.counts.sealed += 1;
            }
        }
    }

    /// When an exchange is to enter the queue of an interface, if the node has not been told.
    pub fn next_exchange(&mut self, iface: IfaceId) -> Option<Time> {
        self.outboxes.get_mut(iface.index())?.next_look()
    }
    /// Writes the packet of an exchange. It is filled only when it leaves, and so contains every
    /// challenge and answer that became due meanwhile.
    pub fn write_exchange(&self, p: &mut Packet) {
        self.format.write_empty(p, self.own);
    }
    /// Whether this is such a packet, still empty.
    pub fn is_empty_exchange(&self, packet: &[u8]) -> bool {
        self.format.is_empty(packet, self.own)
    }
    /// The time of [`Auth::next_exchange`] came. Returns whether the packet is to enter the queue.
    pub fn begin_exchange(&mut self, at: Time, iface: IfaceId) -> bool {
        let (nonces, rng) = (&mut self.neighbours.nonces, &mut self.rng);
        let nonce = || nonces.current(at, || rng.bits());
        self.outboxes.get_mut(iface.index()).is_some_and(|o| o.look(at, nonce))
    }
    /// Fills the packet of an exchange that is about to be transmitted.
    pub fn seal_exchange(&mut self, iface: IfaceId, p: &mut Packet, mac: Mac) {
        let Some(e) = self.outboxes.get_mut(iface.index()).and_then(Outbox::take) else { return };
        self.counts.exchanges += 1;
        self.counts.challenges += e.asks().len() as u64;
        self.counts.answers += e.answers().len() as u64;
        let mut b = self.next_block(BlockKind::Exchange(e));
        b.tag = self.tag(&b, mac, Ipv4Addr::BROADCAST, p.bytes());
        let inserted = self.format.insert(p, &b);
        debug_assert!(inserted.is_ok(), "an exchange fits into a packet");
    }
    /// The transmission of an exchange ended.
    pub fn end_exchange(&mut self, at: Time, iface: IfaceId) {
        let neighbours = &mut self.neighbours;
        if let Some(o) = self.outboxes.get_mut(iface.index()) {
            o.ended(at, |n| neighbours.asked(n));
        }
    }
    /// The queue of an interface refused an exchange.
    pub fn refuse_exchange(&mut self, at: Time, iface: IfaceId) {
        self.outbox(iface).lost(at, REFUSED_WAIT);
    }
    /// What waits at an interface is lost.
    pub fn clear_exchange(&mut self, iface: IfaceId) {
        *self.outbox(iface) = Outbox::default();
    }
    fn outbox(&mut self, iface: IfaceId) -> &mut Outbox {
        let len = self.outboxes.len().max(iface.index() + 1);
        self.outboxes.resize_with(len, Outbox::default);
        &mut self.outboxes[iface.index()]
    }

    fn tag(&self, b: &Block, mac: Mac, receiver: Ipv4Addr, packet: &[u8]) -> [u8; TAG_LEN] {
        self.keys.first().tag(&TagInput::of(b, self.format, mac, receiver, packet).parts())
    }

    fn next_block(&mut self, kind: BlockKind) -> Block {
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
            self.format.remove(p);
        }
    }

    /// Looks at a packet that [`Auth::concerns`] this node: takes the block off, and says what the packet is worth. `mac` is the link
    /// address that transmitted it, `receiver` the neighbour that it is for, or all. Whatever an outsider sends, nothing
    /// in here changes but counts.
    pub fn open(
        &mut self,
        at: Time,
        iface: IfaceId,
        p: &mut Packet,
        mac: Mac,
        receiver: Ipv4Addr,
    ) -> OpenedPacket {
        let opened = self.judge(at, iface, p, mac, receiver);
        let c = &mut self.counts;
        match opened.verdict {
            Verdict::Good | Verdict::Exchange { .. } => c.accepted += 1,
            Verdict::Missing => c.missing += 1,
            Verdict::Failed => c.failed += 1,
            Verdict::Replayed => c.replayed += 1,
            Verdict::Unknown => c.unknown += 1,
        }
        opened
    }

    /// The transmitter that a packet names, which nobody has verified.
    pub fn claimed(&self, packet: &[u8]) -> Option<Ipv4Addr> {
        self.format.find(packet).map(|b| b.transmitter)
    }

    /// Whether a packet carries challenges and answers.
    pub fn is_exchange(&self, packet: &[u8]) -> bool {
        self.format.find(packet).is_some_and(|b| b.kind != BlockKind::Message)
    }

    fn judge(
        &mut self,
        at: Time,
        iface: IfaceId,
        p: &mut Packet,
        mac: Mac,
        receiver: Ipv4Addr,
    ) -> OpenedPacket {
        let refused = |verdict| OpenedPacket { verdict, transmitter: None, stamp: (0, 0) };
        let b = self.format.remove(p);
        if self.is_outsider {
            let is_message = b.as_ref().is_none_or(|b| b.kind == BlockKind::Message);
            let verdict = if is_message { Verdict::Good } else { Verdict::Failed };
            return OpenedPacket { verdict, transmitter: b.map(|b| b.transmitter), stamp: (0, 0) };
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
        let covered = TagInput::of(&b, self.format, mac, receiver, p.bytes());
        if !key.verifies(&covered.parts(), &b.tag) {
            return refused(Verdict::Failed);
        }
        let n = b.transmitter;
        let is_later = is_known || self.neighbours.is_later(at, n, b.index, b.counter);
        if is_known {
            self.neighbours.note(at, n, b.counter);
        }
        let verdict = match b.kind {
            BlockKind::Message if is_known => Verdict::Good,
            BlockKind::Message => {
                if is_later {
                    let is_overheard = receiver != self.own && receiver != Ipv4Addr::BROADCAST;
                    self.ask(at, iface, n, !is_overheard);
                }
                Verdict::Unknown
            }
            BlockKind::Exchange(_) if receiver != Ipv4Addr::BROADCAST => Verdict::Failed,
            BlockKind::Exchange(_) if !is_later => Verdict::Replayed,
            BlockKind::Exchange(e) => self.exchange(at, iface, n, is_known, (b.index, b.counter), &e),
        };
        OpenedPacket { verdict, transmitter: Some(n), stamp: (b.index, b.counter) }
    }

    /// A neighbour's challenges and answers came.
    fn exchange(
        &mut self,
        at: Time,
        iface: IfaceId,
        n: Ipv4Addr,
        is_known: bool,
        (index, counter): (u64, u32),
        e: &Exchange,
    ) -> Verdict {
        let own = self.own;
        let mut to_own = e.answers().iter().filter(|(to, _)| *to == own);
        let verifies = to_own.any(|(_, nonce)| self.neighbours.answered(at, n, *nonce, index, counter));
        if verifies {
            self.outboxes.iter_mut().for_each(|o| o.forget_ask(n));
        }
        if e.asks().contains(&own) {
            if self.neighbours.may_answer(at, n, e.nonce) {
                let due = at + self.jitter();
                self.outbox(iface).answer(at, n, e.nonce, Some(due));
            }
        } else if !(is_known || verifies || self.neighbours.has_answered(n, e.nonce)) {
            // It will want to know this node, too.
            self.outbox(iface).answer(at, n, e.nonce, None);
        }
        if !(is_known || verifies) {
            self.ask(at, iface, n, false);
        }
        Verdict::Exchange { verifies }
    }

    /// Challenges a neighbour: with a frame of its own, or along with another.
    fn ask(&mut self, at: Time, iface: IfaceId, n: Ipv4Addr, is_urgent: bool) {
        let due = if is_urgent { Some(at + self.jitter()) } else { None };
        if due.is_some_and(|due| self.outbox(iface).hurry(n, due)) {
            return;
        }
        if self.neighbours.may_ask(at, n) {
            self.outbox(iface).ask(at, n, due);
        }
    }

    fn jitter(&mut self) -> Span {
        Span::from_nanos(self.rng.below(MAX_JITTER.as_nanos()))
    }
}

/// What a tag covers.
struct TagInput<'a> {
    pseudo: [u8; 11],
    block: block::BlockInput,
    packet: &'a [u8],
}

impl<'a> TagInput<'a> {
    /// The pseudo-header - the protocol, the link address of the transmitter, the address of the receiver -, the block, and the
    /// packet without it.
    fn of(b: &Block, format: Format, mac: Mac, receiver: Ipv4Addr, packet: &'a [u8]) -> Self {
        let mut pseudo = [0; 11];
        pseudo[0] = format.number();
        pseudo[1..7].copy_from_slice(&mac.0);
        pseudo[7..].copy_from_slice(&receiver.octets());
        Self { pseudo, block: b.covered(), packet }
    }
    fn parts(&self) -> [&[u8]; 3] {
        [&self.pseudo, self.block.bytes(), self.packet]
    }
}
