//! Events of a node, for subscribers at its control socket.

use std::collections::VecDeque;
use std::net::IpAddr;

use wayhop_control::{Event, EventKind, Gps, Place, Server, SizeOf};
use wayhop_core::{
    Addr, DropReason, Fix, FixQuality, IfaceId, Mac, Packet, Prefix, Route, SendState, Time, TraceNote, hex,
};
use wayhop_node::Hop;
use wayhop_trace::SizeEvent;
use wayhop_wire::ip;

use crate::config::number::NODE;

/// Octets of a packet that are told: all its headers, and the beginning of what it carries.
const HEAD: usize = 320;
/// More do not wait between two looks; what comes then is counted.
const MOST_WAITING: usize = 4_096;

/// What happened since the last look. Nothing is kept while nobody wants it.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// Whether somebody subscribed to what is not of single packets.
    pub(crate) wanted: bool,
    wants_packets: bool,
    wants_sends: bool,
    pub(crate) wants_sizes: bool,
    waiting: VecDeque<Event>,
    missed: u64,
}

impl Events {
    /// The protocol's remark.
    pub(crate) fn note(&mut self, at: Time, note: TraceNote) {
        if self.wanted {
            let (what, about) = (note.what.to_owned(), note.about.ip());
            self.keep(Event::Note { time_s: at.as_secs_f64(), node: NODE, what, about, value: note.value });
        }
    }

    /// A packet ended undelivered.
    pub(crate) fn dropped(&mut self, at: Time, p: &Packet, why: DropReason) {
        if self.wanted {
            let ends = ip::Packet::new_checked(p.bytes()).map(|ip| (ip.src, ip.dst)).ok();
            let known = |a: Addr| (!a.is_unspecified()).then_some(a.ip());
            self.keep(Event::Drop {
                time_s: at.as_secs_f64(),
                node: NODE,
                reason: why.name().to_owned(),
                source: ends.and_then(|(source, _)| known(source)),
                destination: ends.and_then(|(_, destination)| known(destination)),
                bytes: p.len() as u32,
            });
        }
    }

    /// A row of the forwarding table came or changed, or (`None`) went.
    pub(crate) fn route(&mut self, at: Time, destination: Prefix, row: Option<&Route>) {
        if self.wanted {
            self.keep(Event::Route {
                time_s: at.as_secs_f64(),
                node: NODE,
                // Prefixes of more than one address are named by their first one.
                destination: destination.addr.ip(),
                next_hop: row.map(|r| r.next_hop.ip()),
                hops: row.map(|r| r.metric.min(u8::MAX.into()) as u8),
            });
        }
    }

    /// Something became of a packet.
    pub(crate) fn hop(&mut self, at: Time, p: &Packet, hop: &Hop) {
        if self.wants_packets {
            self.keep(Event::Packet {
                time_s: at.as_secs_f64(),
                node: NODE,
                event: hop.kind.name().to_owned(),
                packet: p.meta.id.0,
                flow: None,
                seq: None,
                bytes: p.len() as u32,
                head: hex(&p.bytes()[..p.len().min(HEAD)]),
                interface: (hop.iface != IfaceId::ANY).then_some(hop.iface.0),
                peer: (!hop.peer.is_unspecified()).then_some(hop.peer.ip()),
                signal_dbm: (!hop.signal_dbm.is_nan()).then_some(hop.signal_dbm),
                reason: hop.reason.map(|why| why.name().to_owned()),
            });
        }
    }

    /// The protocol sent a packet in this state.
    pub(crate) fn sent(&mut self, at: Time, state: SendState) {
        if self.wants_sends {
            self.keep(Event::Sent { time_s: at.as_secs_f64(), node: NODE, state });
        }
    }

    /// Queues and tables are so long.
    pub(crate) fn sizes(&mut self, at: Time, rows: &[SizeEvent]) {
        if self.wants_sizes {
            let size = |e: &SizeEvent| SizeOf {
                what: e.what.to_owned(),
                count: e.count,
                interface: (e.iface != IfaceId::ANY).then_some(e.iface.0),
            };
            let sizes = rows.iter().map(size).collect();
            self.keep(Event::Sizes { time_s: at.as_secs_f64(), node: NODE, sizes });
        }
    }

    /// A place is known now: the node's own or, with an address, another node's.
    pub(crate) fn position(&mut self, at: Time, about: Option<IpAddr>, fix: &Fix, gps: Option<FixQuality>) {
        if self.wanted {
            let (place, gps) = (Place::from(*fix), gps.map(Gps::from));
            self.keep(Event::Position { time_s: at.as_secs_f64(), node: NODE, about, place, gps });
        }
    }

    /// A neighbour is new, or has another link address.
    pub(crate) fn neighbour(&mut self, at: Time, address: impl Into<IpAddr>, mac: Mac) {
        if self.wanted {
            let time_s = at.as_secs_f64();
            self.keep(Event::Neighbour { time_s, node: NODE, address: address.into(), mac: mac.to_string() });
        }
    }

    /// Somebody changed something that the node depends on, and the node reacted.
    pub(crate) fn host(&mut self, at: Time, what: &str, done: &str) {
        if self.wanted {
            let (what, done) = (what.to_owned(), done.to_owned());
            self.keep(Event::Host { time_s: at.as_secs_f64(), node: NODE, what, done });
        }
    }

    /// Asks whether anybody wants to know. Before anything happens: a subscription does not wake the node.
    pub(crate) fn ask(&mut self, server: &Server) {
        const KINDS: [EventKind; 6] = [
            EventKind::Note,
            EventKind::Drop,
            EventKind::Route,
            EventKind::Position,
            EventKind::Neighbour,
            EventKind::Host,
        ];
        self.wanted = KINDS.iter().any(|k| server.wants(*k));
        self.wants_packets = server.wants(EventKind::Packet);
        self.wants_sends = server.wants(EventKind::Sent);
        self.wants_sizes = server.wants(EventKind::Sizes);
    }

    /// Tells the subscribers.
    pub(crate) fn publish(&mut self, server: &Server) {
        for e in self.waiting.drain(..) {
            server.publish(&e);
        }
        if self.missed > 0 {
            server.publish(&Event::Lost { count: std::mem::take(&mut self.missed) });
        }
    }

    fn keep(&mut self, e: Event) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back(e);
        } else {
            self.missed += 1;
        }
    }
}
