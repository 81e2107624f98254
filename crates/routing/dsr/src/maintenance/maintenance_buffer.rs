//! The Maintenance Buffer (RFC 4728 section 4.5), which the CMU testbed called Retransmission Buffer: copies of packets
//! whose next hop has not confirmed them.

use std::net::Ipv4Addr;

use wayhop_core::{Inspect, Packet, Span, Time, TxId};
use wayhop_wire::Error;
use wayhop_wire::ipv4::{self, protocol};

use crate::forwarding::view::View;

/// What tells one packet from another, and how far it has come.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    protocol: u8,
    id: u16,
    fragment_offset: u16,
    /// Salvage count and Segments Left of its Source Route.
    route: Option<(u8, u8)>,
    /// Whether it carries an Acknowledgement.
    pub(crate) has_ack: bool,
}

impl Fingerprint {
    /// Reads a packet, whose DSR header may follow a Flow State header.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let ip = ipv4::Packet::new_checked(bytes)?;
        if ip.protocol() == protocol::DSR && !starts_with_bare_flow(&ip) {
            return View::new(bytes).map(|v| Self::of(&v));
        }
        Ok(Self::of_ip(&ip))
    }
    /// That of a packet that was read already.
    pub(crate) fn of(v: &View<'_>) -> Self {
        let route = v.source_route.map(|s| (s.salvage, s.segments_left));
        Self { route, has_ack: v.has_ack, ..Self::of_ip(&v.ip) }
    }
    fn of_ip(ip: &ipv4::Packet<'_>) -> Self {
        Self {
            source: ip.src(),
            destination: ip.dst(),
            protocol: ip.protocol(),
            id: ip.id(),
            fragment_offset: ip.fragment_offset(),
            route: None,
            has_ack: false,
        }
    }

    /// Whether hearing `later` from `transmitter` shows that `next_hop` got this packet (section 8.3.2).
    fn is_confirmed_by(&self, later: &Self, next_hop: Ipv4Addr, transmitter: Ipv4Addr) -> bool {
        let same = self.is_same_packet(later) && self.protocol == later.protocol;
        same && match (self.route, later.route) {
            (Some((_, before)), Some((_, after))) => after < before,
            // Without a source route nothing says in which order the nodes sent it, but who did.
            (None, None) => transmitter == next_hop,
            _ => false,
        }
    }
    /// Whether both are copies of one packet, wherever they are. A retransmission may have a DSR header that the first
    /// transmission had not, so the protocol may differ.
    pub(crate) fn is_same_packet(&self, o: &Self) -> bool {
        let key = |f: &Self| (f.source, f.destination, f.id, f.fragment_offset);
        key(self) == key(o)
    }
    /// Equal for all that [`Fingerprint::is_same_packet`] holds for, and seldom for others.
    pub(crate) fn tag(&self) -> u32 {
        let ends = self.source.to_bits() ^ self.destination.to_bits().rotate_left(16);
        let number = u32::from(self.id) << 16 | u32::from(self.fragment_offset);
        (ends ^ number).wrapping_mul(0x9e37_79b1)
    }
    /// Whether this node sent this packet on after it had come as `received` says.
    pub(crate) fn was(&self, received: &Self) -> bool {
        self.is_same_packet(received)
            && match (self.route, received.route) {
                (Some((s, left)), Some((t, before))) => s == t && left + 1 == before,
                (None, None) => true,
                _ => false,
            }
    }
    /// Whether both are the same copy at the same place of the same way.
    pub(crate) fn is_same_copy(&self, o: &Self) -> bool {
        self.is_same_packet(o) && self.route == o.route
    }
}

/// Whether a Flow State header is followed by something else than a DSR Options header.
fn starts_with_bare_flow(ip: &ipv4::Packet<'_>) -> bool {
    let p = ip.payload();
    p.len() >= 2 && p[1] & 0x80 != 0 && p[0] != protocol::DSR
}

/// A packet that waits for its confirmation.
#[derive(Clone)]
pub(crate) struct UnconfirmedPacket {
    /// As it was sent first; without Acknowledgement Request.
    pub(crate) packet: Packet,
    pub(crate) what: Fingerprint,
    pub(crate) next_hop: Ipv4Addr,
    /// Length of the route from here.
    pub(crate) hops: u8,
    /// The identification of its Acknowledgement Requests.
    pub(crate) ask_id: u16,
    /// How often it is sent without asking.
    pub(crate) silent: u8,
    /// How often it may be sent in all.
    pub(crate) limit: u8,
    /// How often it was sent.
    pub(crate) attempts: u8,
    /// The last transmission.
    pub(crate) tx: TxId,
    /// When that began.
    pub(crate) sent: Time,
    /// Whether the radio has sent it, this time or before.
    pub(crate) aired: bool,
    /// How long its confirmation may take.
    pub(crate) timer: Span,
    /// When it is to be sent again, or given up.
    pub(crate) deadline: Time,
}

/// A bounded list, in the order of the first transmissions.
#[derive(Clone)]
pub(crate) struct MaintenanceBuffer {
    rows: Vec<UnconfirmedPacket>,
    size: usize,
}

impl MaintenanceBuffer {
    pub(crate) fn new(size: usize) -> Self {
        Self { rows: Vec::new(), size }
    }
    /// Changes the bound. Copies beyond it stay until their time.
    pub(crate) fn resize(&mut self, size: usize) {
        self.size = size;
    }
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &UnconfirmedPacket> {
        self.rows.iter()
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= self.size
    }
    /// Adds a packet at a place of the list; the caller has seen that there is room.
    pub(crate) fn put(&mut self, at: usize, w: UnconfirmedPacket) {
        self.rows.insert(at.min(self.rows.len()), w);
    }
    pub(crate) fn push(&mut self, w: UnconfirmedPacket) {
        self.rows.push(w);
    }
    pub(crate) fn take(&mut self, at: usize) -> UnconfirmedPacket {
        self.rows.remove(at)
    }
    /// The first packet whose time has come.
    pub(crate) fn due(&self, now: Time) -> Option<usize> {
        self.rows.iter().position(|w| w.deadline <= now)
    }
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.rows.iter().map(|w| w.deadline).min()
    }
    /// The packet that an Acknowledgement of `from` with this identification confirms.
    pub(crate) fn asked(&self, from: Ipv4Addr, id: u16) -> Option<usize> {
        self.rows.iter().position(|w| w.next_hop == from && w.ask_id == id && w.attempts > w.silent)
    }
    /// The packet that is confirmed by hearing `transmitter` send `heard`.
    pub(crate) fn heard(&self, heard: &Fingerprint, transmitter: Ipv4Addr) -> Option<usize> {
        let may_be = |w: &UnconfirmedPacket| w.next_hop != w.what.destination;
        self.rows.iter().position(|w| may_be(w) && w.what.is_confirmed_by(heard, w.next_hop, transmitter))
    }
    /// Any packet for this neighbour.
    pub(crate) fn for_neighbour(&self, next_hop: Ipv4Addr) -> Option<usize> {
        self.rows.iter().position(|w| w.next_hop == next_hop)
    }
    /// Any packet for this neighbour that the radio has sent.
    pub(crate) fn aired_to(&self, next_hop: Ipv4Addr) -> Option<usize> {
        self.rows.iter().position(|w| w.next_hop == next_hop && w.aired)
    }
    /// Whether what was received is held already, sent on.
    pub(crate) fn holds(&self, received: &Fingerprint) -> bool {
        self.rows.iter().any(|w| w.what.was(received))
    }
    /// The packet whose last transmission this was.
    pub(crate) fn sent_as(&mut self, tx: TxId) -> Option<&mut UnconfirmedPacket> {
        self.rows.iter_mut().find(|w| w.tx == tx)
    }
    pub(crate) fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        for w in &self.rows {
            let waited_ms = now.since(w.sent).as_secs_f64() * 1e3;
            let timer_ms = w.timer.as_secs_f64() * 1e3;
            out.row(
                "maintenance_buffer",
                &[
                    ("next_hop", &w.next_hop),
                    ("attempts", &w.attempts),
                    ("waited_ms", &waited_ms),
                    ("timer_ms", &timer_ms),
                ],
            );
            out.held("maintenance_buffer", &w.packet);
        }
    }
}
