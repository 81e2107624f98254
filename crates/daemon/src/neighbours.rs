//! Who on the link has which link address.
//!
//! Learned from frames of the protocol, whose headers name the transmitter, and from ARP. What is on the air is not
//! authenticated: a neighbour can claim any address, with the protocols as with ARP (docs/security.md).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, Mac, Span, Time};
pub(crate) use wayhop_protocols::hop as hop_of;

use crate::outbox::Outgoing;

/// The most neighbours that are remembered: a liar must not fill the memory.
const MAX_NEIGHBOURS: usize = 4096;
/// The most packets that wait for link addresses, all together, and for one.
const MAX_WAITING: usize = 256;
const MAX_WAITING_EACH: usize = 16;
/// The waits after each ARP request; then the packets are given up.
const ASK_AGAIN: [Span; 3] = [Span::from_millis(100), Span::from_millis(200), Span::from_millis(400)];

/// The table of neighbours, and the packets that wait for an entry.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    macs: FxHashMap<Addr, Mac>,
    addrs: FxHashMap<Mac, Addr>,
    waiting: FxHashMap<Addr, Waiting>,
    packets: usize,
}

#[derive(Debug)]
struct Waiting {
    asked: usize,
    due: Time,
    packets: VecDeque<Outgoing>,
}

/// What a look at the waiting packets brought.
pub(crate) enum Due {
    /// Ask for this address.
    Ask(Addr),
    /// Nobody has it: these packets failed.
    Failed(VecDeque<Outgoing>),
}

impl Neighbours {
    /// A neighbour's link address.
    pub(crate) fn mac(&self, a: Addr) -> Option<Mac> {
        self.macs.get(&a).copied()
    }
    /// The neighbour with this link address.
    pub(crate) fn addr(&self, m: Mac) -> Option<Addr> {
        self.addrs.get(&m).copied()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Addr, Mac)> + '_ {
        self.macs.iter().map(|(a, m)| (*a, *m))
    }

    /// A neighbour showed itself. Returns the packets that waited for it.
    pub(crate) fn learn(&mut self, a: Addr, m: Mac) -> Option<VecDeque<Outgoing>> {
        if self.macs.get(&a) != Some(&m) || self.addrs.get(&m) != Some(&a) {
            let strange = a.is_unspecified() || a.is_broadcast() || a.is_multicast() || a.is_loopback();
            if strange || m.is_group() || m.0 == [0; 6] {
                return None;
            }
            if self.macs.len() >= MAX_NEIGHBOURS || self.addrs.len() >= MAX_NEIGHBOURS {
                // Whoever still speaks is learned again at once.
                self.macs.clear();
                self.addrs.clear();
            }
            self.macs.insert(a, m);
            self.addrs.insert(m, a);
        }
        if self.waiting.is_empty() {
            return None;
        }
        let found = self.waiting.remove(&a)?;
        self.packets -= found.packets.len();
        Some(found.packets)
    }

    /// A packet whose next hop has no known link address waits. Returns whether to ask for it now, and a packet that
    /// had to make room.
    pub(crate) fn wait(&mut self, now: Time, out: Outgoing) -> (bool, Option<Outgoing>) {
        if self.packets >= MAX_WAITING {
            return (false, Some(out));
        }
        let mut ask = false;
        let w = self.waiting.entry(out.next_hop).or_insert_with(|| {
            ask = true;
            Waiting { asked: 1, due: now + ASK_AGAIN[0], packets: VecDeque::new() }
        });
        w.packets.push_back(out);
        let pushed_out = if w.packets.len() > MAX_WAITING_EACH { w.packets.pop_front() } else { None };
        self.packets += usize::from(pushed_out.is_none());
        (ask, pushed_out)
    }

    /// Takes out what waits for this neighbour.
    pub(crate) fn recall(&mut self, a: Addr) -> VecDeque<Outgoing> {
        let taken = self.waiting.remove(&a).map(|w| w.packets).unwrap_or_default();
        self.packets -= taken.len();
        taken
    }

    /// When to look next.
    pub(crate) fn next(&self) -> Option<Time> {
        self.waiting.values().map(|w| w.due).min()
    }

    /// Something that is due: a question to repeat, or packets to give up.
    pub(crate) fn due(&mut self, now: Time) -> Option<Due> {
        let (&addr, w) = self.waiting.iter_mut().find(|(_, w)| w.due <= now)?;
        if let Some(wait) = ASK_AGAIN.get(w.asked) {
            w.asked += 1;
            w.due = now + *wait;
            return Some(Due::Ask(addr));
        }
        Some(Due::Failed(self.recall(addr)))
    }

    /// Packets that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.packets
    }
}
