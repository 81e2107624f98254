//! Events of runs made by hand, and the rows that come of them.

use std::net::Ipv4Addr;

use wayhop_core::{DropReason, FlowTag, IfaceId, NodeId, PacketId, Span, Time};
use wayhop_report::Row;
use wayhop_trace::{Direction, FrameEvent, HopEvent, HopKind, Messages, PacketClass, TcpEvent};

pub(crate) fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

/// What happens to a packet of a flow at node 0, at the beginning.
pub(crate) fn hop(kind: HopKind) -> HopEvent {
    HopEvent {
        iface: IfaceId::ANY,
        time: Time::ZERO,
        packet: PacketId(0),
        flow: Some(FlowTag { flow: 0, seq: 0 }),
        node: NodeId(0),
        bytes: 0,
        source: Ipv4Addr::new(10, 0, 0, 1).into(),
        destination: Ipv4Addr::new(10, 0, 0, 4).into(),
        peer: Ipv4Addr::UNSPECIFIED.into(),
        signal_dbm: f32::NAN,
        kind,
        class: PacketClass::Data,
        messages: Messages::NONE,
        ttl: 64,
        reason: (kind == HopKind::Drop).then_some(DropReason::NoRoute),
    }
}

/// A frame at node 0, at the beginning.
pub(crate) fn frame(direction: Direction, bytes: &[u8]) -> FrameEvent<'_> {
    FrameEvent {
        iface: IfaceId(0),
        time: Time::ZERO,
        node: NodeId(0),
        direction,
        bytes,
        original_len: bytes.len() as u32,
        signal_dbm: -60.0,
        noise_dbm: f32::NAN,
        rate_100kbps: 20,
        channel_mhz: 914,
        retries: 0,
        bad_fcs: false,
        comment: "",
    }
}

/// What TCP does at node 0, at the beginning.
pub(crate) fn tcp(event: &'static str) -> TcpEvent {
    TcpEvent {
        time: Time::ZERO,
        flow: 0,
        node: NodeId(0),
        event,
        octet: 0,
        bytes: 0,
        acked: 0,
        in_flight: 0,
        window: 1.0,
        threshold: 1.0,
        srtt: None,
        rto: Span::from_secs(1),
    }
}

/// The first row of these names.
pub(crate) fn find<'a>(rows: impl IntoIterator<Item = &'a Row>, row: &str, quantity: &str) -> &'a Row {
    let is_it = |r: &&Row| (r.row.as_str(), r.quantity.as_str()) == (row, quantity);
    rows.into_iter().find(is_it).unwrap_or_else(|| panic!("no row {row}, {quantity}"))
}
