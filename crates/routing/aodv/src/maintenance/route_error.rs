//! Route Errors: sent, received, forwarded (section 6.11).

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Cx, DropReason, Packet, Span};
use wayhop_wire::aodv::{MAX_UNREACHABLE, Message, Rerr, Unreachable};

use crate::engine::ids;
use crate::engine::state::Engine;
use crate::forwarding::head::Head;
use crate::forwarding::route_use::DataPath;
use crate::params::RerrNumber;
use crate::routing_table::seq::{newer, newest};
use crate::routing_table::{Precursors, RouteState};

/// The most destinations in one Route Error: what fits a packet of 1500 octets.
const PER_MESSAGE: usize = (1_500 - crate::forwarding::output::OVERHEAD - 4) / 8;
const _: () = assert!(PER_MESSAGE <= MAX_UNREACHABLE);

/// The receivers of a Route Error.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Audience {
    #[default]
    Nobody,
    One(Ipv4Addr),
    Many,
}

impl Audience {
    pub(crate) fn add(&mut self, p: &Precursors) {
        for n in p.iter() {
            *self = match *self {
                Self::Nobody => Self::One(n),
                Self::One(m) if m == n => Self::One(n),
                _ => Self::Many,
            };
        }
    }
}

impl Engine {
    /// Reports the destinations in `self.lost`, if there are any. It is empty afterwards.
    pub(crate) fn send_rerr(&mut self, cx: &mut Cx<'_>, audience: Audience, no_delete: bool, jitter: Span) {
        let lost = core::mem::take(&mut self.lost);
        for part in lost.chunks(PER_MESSAGE) {
            if self.rerr_rate.take(cx.now(), self.params.rerr_rate_limit).is_err() {
                break;
            }
            let message = Message::Rerr(Rerr { no_delete, unreachable: part.into() });
            let first = part[0].destination;
            match audience {
                Audience::One(n) if self.params.rerr_unicast => {
                    let p = self.new_message(cx, &message, None, n, 1);
                    Self::unicast(cx, p, n, ids::CONTROL);
                }
                _ => {
                    let p = self.new_message(cx, &message, None, BROADCAST, 1);
                    self.broadcast(cx, p, jitter);
                }
            }
            cx.note("rerr_sent", first, part.len() as u64);
        }
        self.lost = lost;
        self.lost.clear();
    }

    /// A packet of somebody else's that has no route (section 6.11 ii).
    pub(crate) fn no_route(&mut self, cx: &mut Cx<'_>, p: Packet, destination: Ipv4Addr) {
        let delete = cx.now() + self.params.delete_period();
        if self.is_quiet(cx.now()) {
            // Section 6.13: somebody still sends this way; the wait restarts.
            self.begin_reboot_wait(cx);
        }
        let is_known = self.table.best(destination).is_some();
        let e = self.entry(cx, destination);
        if !e.is_valid() {
            e.expires = delete;
        }
        // The number went up when the route was lost; raising it with every packet would run ahead of its owner. But of a
        // route learned in the wait after a reboot the sender has an older idea.
        let seq = self.table.number(destination).map_or(0, |s| s.wrapping_add(is_known.into()));
        self.lost.push(Unreachable { destination, seq });
        // Broadcast: the packet's sender is often not a known precursor, as on the way back from a
        // destination.
        self.send_rerr(cx, Audience::Many, false, Span::ZERO);
        self.end_unreachable(cx, p, DropReason::NoRoute);
    }

    /// A packet goes back where it came from: this route and the neighbour's lead to each other.
    pub(crate) fn turned_back(&mut self, cx: &mut Cx<'_>, used: &DataPath) {
        let key = self.table.key(used.destination);
        if !self.table.get(key).is_some_and(|e| e.is_valid() && e.next_hop == used.next_hop) {
            return;
        }
        self.invalidate(cx, key, |seq| seq.map(|s| s.wrapping_add(1)));
        let seq = self.table.number(used.destination).unwrap_or(0);
        self.lost.push(Unreachable { destination: used.destination, seq });
        self.send_rerr(cx, Audience::Many, false, Span::ZERO);
    }

    /// A Route Error from a neighbour (section 6.11 iii).
    pub(crate) fn on_rerr(&mut self, cx: &mut Cx<'_>, head: &Head, m: Rerr<'_>) {
        let mut audience = Audience::default();
        let mut any = false;
        for u in m.unreachable {
            let Some(key) = self.concerned(u.destination, head.source) else { continue };
            let Some(e) = self.table.get(key) else { continue };
            if m.no_delete {
                // Section 6.12: repaired further down; told on, nothing else.
                if !e.precursors().is_empty() {
                    audience.add(e.precursors());
                    self.lost.push(Unreachable { destination: key, seq: u.seq });
                }
                continue;
            }
            if !self.is_credible(e.seq, u.seq) {
                continue;
            }
            any = true;
            let told = u.seq;
            self.invalidate(cx, key, |seq| match seq {
                // A node that lost its own memory reports number 0: the route is broken all the same (section 6.1).
                Some(own) if told == 0 => Some(own.wrapping_add(1)),
                // Higher in any case: at the same number this route could come back by way of its own users.
                Some(own) => Some(newest(own.wrapping_add(1), told)),
                None => None,
            });
            let Some(e) = self.table.get_mut(key) else { continue };
            if !e.precursors().is_empty() {
                audience.add(e.precursors());
                e.clear_precursors();
                let seq = e.seq.unwrap_or(0);
                self.lost.push(Unreachable { destination: key, seq });
            }
        }
        if any && !m.no_delete && self.params.drop_queued_on_rerr {
            cx.recall(head.source);
        }
        if !self.is_quiet(cx.now()) {
            let jitter = self.params.broadcast_jitter();
            self.send_rerr(cx, audience, m.no_delete, jitter);
        }
        self.lost.clear();
    }

    /// The entry that a Route Error of this neighbour about a destination concerns: the destination's own, or that of the
    /// subnet by which packets for it go there.
    fn concerned(&self, destination: Ipv4Addr, from: Ipv4Addr) -> Option<Ipv4Addr> {
        match self.table.get(destination) {
            Some(e) if e.state != RouteState::Invalid && e.next_hop == from => Some(destination),
            _ => self.table.key_over(destination, from),
        }
    }

    /// Whether a Route Error's number is news about a route with this one.
    fn is_credible(&self, own: Option<u32>, told: u32) -> bool {
        match own {
            None => true,
            Some(own) => match self.params.rerr_number {
                RerrNumber::Newer => newer(told, own) || told == 0,
                RerrNumber::NotOlder => !newer(own, told) || told == 0,
                RerrNumber::Any => true,
            },
        }
    }
}
