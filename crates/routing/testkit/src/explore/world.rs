//! The state of an explored world, and the names of its events.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_core::{BROADCAST, Time, TimerKey};

use super::air::{Air, Flight, Transmissions};
use super::checked::Explorable;
use super::host::Host;
use super::names::Names;
use crate::packets::addr;

/// How often each thing may happen. What is left of it is part of the state.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Packets that applications send.
    pub packets: u8,
    /// Frames lost on links that are up.
    pub losses: u8,
    /// Frames that arrive before an earlier one of the same link.
    pub overtakings: u8,
    /// Unicasts that arrive although their sender hears no acknowledgement.
    pub unheard: u8,
    /// Links that break.
    pub breaks: u8,
    /// Broken links that come back.
    pub restores: u8,
    /// Nodes that reboot.
    pub reboots: u8,
    /// Steps of time.
    pub waits: u8,
}

/// The budget in words, for reports.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.packets, "packets"),
            (self.losses, "losses"),
            (self.overtakings, "overtakings"),
            (self.unheard, "unheard"),
            (self.breaks, "breaks"),
            (self.restores, "restores"),
            (self.reboots, "reboots"),
            (self.waits, "waits"),
        ];
        let words: Vec<String> =
            all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        f.write_str(&words.join(", "))
    }
}

/// One thing that happens.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The application of this flow sends a packet.
    Send(usize),
    /// A flight arrives.
    Deliver(usize),
    /// A flight arrives, and its sender takes it for lost.
    Unheard(usize),
    /// A flight is lost.
    Lose(usize),
    /// A link breaks.
    Break {
        /// One end.
        a: usize,
        /// The other.
        b: usize,
        /// Whether what is on it still arrives.
        keep: bool,
    },
    /// A broken link comes back.
    Restore(usize, usize),
    /// A node reboots.
    Reboot(usize),
    /// A timer that is due fires.
    Fire(usize, TimerKey),
    /// Time passes, to the next timer.
    Wait,
}

/// Everything at one moment.
#[derive(Clone, Debug)]
pub struct World<P> {
    /// The nodes.
    pub nodes: Vec<Arc<Host<P>>>,
    pub(crate) air: Air,
    pub(crate) left: Budget,
    /// The node that the last action brought to where it should not have come, and what is wrong.
    pub(crate) wrong_step: Option<(usize, &'static str)>,
    /// Nodes that the last action called, one bit each; no part of the state.
    pub(crate) touched: u8,
}

impl<P> Hash for World<P> {
    fn hash<H: Hasher>(&self, h: &mut H) {
        self.nodes.iter().for_each(|n| h.write_u64(n.digest));
        for f in &self.air.flights {
            h.write_u8((f.from * 16 + f.to) as u8);
            h.write_u8(u8::from(f.broadcast) * 2 + u8::from(f.is_reported()));
            h.write_u64(f.sent.as_nanos());
            h.write_u64(f.digest);
        }
        h.write_u64(self.air.now.as_nanos());
        self.air.up.hash(h);
        self.air.counts.hash(h);
        self.left.hash(h);
        self.wrong_step.hash(h);
    }
}

impl<P> PartialEq for World<P> {
    /// By digest, as states are told apart.
    fn eq(&self, other: &Self) -> bool {
        let sum = |w: &Self| {
            let mut h = std::hash::DefaultHasher::new();
            w.hash(&mut h);
            h.finish()
        };
        sum(self) == sum(other)
    }
}

impl<P: Explorable> World<P> {
    /// The time.
    pub fn now(&self) -> Time {
        self.air.now
    }
    /// What is on its way.
    pub fn flights(&self) -> &[Flight] {
        &self.air.flights
    }
    /// How often the packets that still exist were transmitted, by name.
    pub fn transmissions(&self) -> &[Transmissions] {
        &self.air.counts
    }

    /// The node with this address.
    pub fn node_of(&self, a: Ipv4Addr) -> Option<usize> {
        (0..self.nodes.len()).find(|&i| addr(i) == a && a != BROADCAST)
    }
}

/// A complaint if next hops lead in a circle.
pub fn no_loop<P: Explorable>(w: &World<P>, names: Names) -> Option<String> {
    loop_in_tables(w).map(|(way, to)| format!("loop {} for {}", names.way(&way), names.node(to)))
}

/// A complaint if a node has a route to itself.
pub fn no_self_entry<P: Explorable>(w: &World<P>, names: Names) -> Option<String> {
    let has = |&i: &usize| w.nodes[i].route(addr(i)).is_some();
    (0..w.nodes.len()).find(has).map(|i| format!("{} has a route to itself", names.node(i)))
}

/// The circle that forwarding tables send packets for some destination into: the nodes of it, the first one again at the end, and
/// the destination.
fn loop_in_tables<P: Explorable>(w: &World<P>) -> Option<(Vec<usize>, usize)> {
    let n = w.nodes.len();
    for to in 0..n {
        let next = |i: usize| {
            w.nodes[i].route(addr(to)).filter(|_| i != to).and_then(|r| w.node_of(r.next_hop.v4()?))
        };
        for start in 0..n {
            let mut way = vec![start];
            while let Some(hop) = next(way[way.len() - 1]) {
                if let Some(first) = way.iter().position(|&i| i == hop) {
                    way.push(hop);
                    return Some((way.split_off(first), to));
                }
                way.push(hop);
            }
        }
    }
    None
}
