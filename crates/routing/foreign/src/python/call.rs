//! The calls of handlers, as an interpreter reads them.

use core::net::Ipv4Addr;

use serde_json::{Map, Value};
use wayhop_core::{Addr, Fix, IfaceId, LinkChange, RouteUse, RxMeta, TxId, TxStatus};

/// A kind of call.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Start,
    Outbound,
    Frame,
    Overheard,
    TxStatus,
    Timer,
    RouteUsed,
    Link,
    Position,
    Inspect,
    End,
}

impl Kind {
    /// The method that is called, for users.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Start => "on_start",
            Self::Outbound => "on_outbound",
            Self::Frame => "on_frame",
            Self::Overheard => "on_overheard",
            Self::TxStatus => "on_tx_status",
            Self::Timer => "on_timer",
            Self::RouteUsed => "on_route_used",
            Self::Link => "on_link",
            Self::Position => "on_position",
            Self::Inspect => "inspect",
            Self::End => "end",
        }
    }

    /// Its bit in a set of kinds.
    pub(super) const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// What a handler receives.
pub(super) enum Input<'a> {
    Start {
        addr: Ipv4Addr,
        node: u32,
        interfaces: u8,
        prefix_len: u8,
        values: &'a Map<String, Value>,
    },
    Packet(u64, &'a [u8]),
    Frame(RxMeta, u64, &'a [u8]),
    Overheard(RxMeta, Addr, &'a [u8]),
    TxStatus {
        id: Option<TxId>,
        next_hop: Addr,
        iface: IfaceId,
        status: TxStatus,
        handle: u64,
        octets: &'a [u8],
    },
    Timer(u64),
    RouteUsed(RouteUse),
    Link(IfaceId, LinkChange),
    Position(Fix),
}

impl Input<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Start { addr, node, interfaces, prefix_len, values } => {
                out.extend_from_slice(&addr.octets());
                out.extend_from_slice(&node.to_le_bytes());
                out.extend_from_slice(&[*interfaces, *prefix_len]);
                out.extend(Value::Object((*values).clone()).to_string().bytes());
            }
            Self::Packet(handle, octets) => {
                out.extend_from_slice(&handle.to_le_bytes());
                out.extend_from_slice(octets);
            }
            Self::Frame(rx, handle, octets) => {
                write_rx(rx, out);
                out.extend_from_slice(&handle.to_le_bytes());
                out.extend_from_slice(octets);
            }
            Self::Overheard(rx, next_hop, octets) => {
                write_rx(rx, out);
                write_addr(*next_hop, out);
                out.extend_from_slice(octets);
            }
            Self::TxStatus { id, next_hop, iface, status, handle, octets } => {
                out.push(u8::from(id.is_some()));
                out.extend_from_slice(&id.map_or(0, |id| id.0).to_le_bytes());
                write_addr(*next_hop, out);
                let (status, tries) = numbers(*status);
                out.extend_from_slice(&[iface.0, status, tries]);
                out.extend_from_slice(&handle.to_le_bytes());
                out.extend_from_slice(octets);
            }
            Self::Timer(key) => out.extend_from_slice(&key.to_le_bytes()),
            Self::RouteUsed(used) => {
                write_addr(used.source, out);
                write_addr(used.destination, out);
                write_addr(used.next_hop, out);
                out.push(u8::from(used.previous_hop.is_some()));
                write_addr(used.previous_hop.unwrap_or_default(), out);
                out.push(used.iface.0);
            }
            Self::Link(iface, change) => {
                let change = match change {
                    LinkChange::Up => 0,
                    LinkChange::Down => 1,
                    LinkChange::Changed => 2,
                };
                out.extend_from_slice(&[iface.0, change]);
            }
            Self::Position(fix) => write_fix(fix, out),
        }
    }
}

/// A position, of calls of protocols and applications.
pub(super) fn write_fix(fix: &Fix, out: &mut Vec<u8>) {
    out.extend_from_slice(&fix.latitude_deg.to_le_bytes());
    out.extend_from_slice(&fix.longitude_deg.to_le_bytes());
    out.extend_from_slice(&fix.heading_deg.to_le_bytes());
    out.extend_from_slice(&fix.speed_m_per_s.to_le_bytes());
}

/// Modules get IPv4 addresses only: they ask for no IPv6 packets.
fn write_addr(addr: Addr, out: &mut Vec<u8>) {
    out.extend_from_slice(&addr.v4().unwrap_or(Ipv4Addr::UNSPECIFIED).octets());
}

fn write_rx(rx: &RxMeta, out: &mut Vec<u8>) {
    write_addr(rx.from, out);
    out.extend_from_slice(&[rx.iface.0, u8::from(rx.broadcast)]);
    out.extend_from_slice(&rx.signal_dbm.to_le_bytes());
    out.extend_from_slice(&rx.noise_dbm.to_le_bytes());
    out.extend_from_slice(&rx.rate_kbps.to_le_bytes());
}

/// As `wayhop.TxStatus` numbers them, and the tries.
fn numbers(status: TxStatus) -> (u8, u8) {
    match status {
        TxStatus::Acked => (0, 0),
        TxStatus::NoAck { tries } => (1, tries),
        TxStatus::QueueFull => (2, 0),
        TxStatus::Recalled => (3, 0),
        TxStatus::Unknown => (4, 0),
    }
}

/// The calls that a class may leave out.
pub(super) const OPTIONAL: [Kind; 9] = [
    Kind::Outbound,
    Kind::Frame,
    Kind::Overheard,
    Kind::TxStatus,
    Kind::Timer,
    Kind::RouteUsed,
    Kind::Link,
    Kind::Position,
    Kind::Inspect,
];
