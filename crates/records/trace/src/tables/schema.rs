//! The columns of each table. `docs/reference/run-directory.md` explains them.

use wayhop_core::{Addr, FlowTag, IfaceId, Span, Time};

use super::column::{Column, column};
use super::texts::{TextId, Texts};
use crate::{
    BundleEvent, ConnectionEvent, ContactEvent, Counter, Echo, FlowSummary, GpsEvent, HopEvent,
    IdentityEvent, NodeInfo, NoteEvent, PacketOutcome, PositionEvent, ReceptionEvent, SendEvent, SizeEvent,
    TcpEvent,
};

/// The names of the tables that a run directory may hold.
pub const TABLES: [&str; 16] = [
    "packets",
    "positions",
    "flows",
    "counters",
    "events",
    "sends",
    "tcp",
    "connections",
    "outcomes",
    "receptions",
    "bundles",
    "contacts",
    "gps",
    "sizes",
    "identities",
    "nodes",
];

/// `packets`: one row per hop event.
pub(crate) const PACKETS: &[Column<HopEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("node", Int32, |e| e.node.0 as i32),
    column!("event", Text, |e, t| t.name(e.kind.name())),
    column!("packet", Int64, |e| e.packet.0 as i64),
    column!("flow", OptInt32, |e| e.flow.map(|f: FlowTag| f.flow as i32)),
    column!("seq", OptInt64, |e| e.flow.map(|f: FlowTag| i64::from(f.seq))),
    column!("class", Text, |e, t| t.name(e.class.name())),
    column!("protocol", OptText, |e, t| e.class.protocol().map(|s| t.name(s))),
    column!("messages", OptText, |e, t| t.messages(e.messages)),
    column!("bytes", Int32, |e| e.bytes as i32),
    column!("source", Text, |e, t| t.addr(e.source)),
    column!("destination", Text, |e, t| t.addr(e.destination)),
    column!("peer", OptText, |e, t| address(e.peer, t)),
    column!("ttl", Int32, |e| i32::from(e.ttl)),
    column!("signal_dbm", OptFloat, |e| decibels(e.signal_dbm)),
    column!("reason", OptText, |e, t| e.reason.map(|r| t.name(r.name()))),
    column!("interface", OptInt32, |e| (e.iface != IfaceId::ANY).then(|| i32::from(e.iface.0))),
];

/// `positions`: one row per leg of a node's motion.
pub(crate) const POSITIONS: &[Column<PositionEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("node", Int32, |e| e.node.0 as i32),
    column!("x_m", Double, |e| e.at.x),
    column!("y_m", Double, |e| e.at.y),
    column!("z_m", Double, |e| e.at.z),
    column!("vx_mps", Double, |e| e.velocity.x),
    column!("vy_mps", Double, |e| e.velocity.y),
    column!("vz_mps", Double, |e| e.velocity.z),
    column!("until_ns", OptInt64, |e| (e.until != Time::NEVER).then(|| nanos(e.until))),
];

/// `gps`: one row per report of a node's receiver, and per place of another node that it heard of.
pub(crate) const GPS: &[Column<GpsEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("node", Int32, |e| e.node.0 as i32),
    column!("about", Text, |e, t| t.addr(e.about)),
    column!("source", Text, |e, t| t.name(e.source.name())),
    column!("status", OptText, |e, t| e.quality.map(|q| t.name(q.status.name()))),
    column!("mode", OptInt32, |e| e.quality.map(|q| i32::from(q.mode))),
    column!("fix_time_ns", OptInt64, |e| e.quality?.time_unix_ns.and_then(|t| t.try_into().ok())),
    column!("latitude_deg", OptDouble, |e| e.fix.map(|f| f.latitude_deg)),
    column!("longitude_deg", OptDouble, |e| e.fix.map(|f| f.longitude_deg)),
    column!("altitude_m", OptDouble, |e| e.quality?.altitude_m),
    column!("heading_deg", OptFloat, |e| e.fix.map(|f| f.heading_deg)),
    column!("speed_mps", OptFloat, |e| e.fix.map(|f| f.speed_m_per_s)),
    column!("accuracy_m", OptDouble, |e| e.quality?.accuracy_m),
    column!("vertical_m", OptDouble, |e| e.quality?.vertical_m),
    column!("accuracy_from", OptText, |e, t| e.quality?.accuracy_from.map(|a| t.name(a.name()))),
    column!("satellites", OptInt32, |e| e.quality?.satellites.map(i32::from)),
    column!("corrections_age_s", OptDouble, |e| e.quality?.corrections_age_s),
];

/// `sizes`: one row per list of a node that is not empty, each time they are looked at.
pub(crate) const SIZES: &[Column<SizeEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("node", Int32, |e| e.node.0 as i32),
    column!("what", Text, |e, t| t.name(e.what)),
    column!("count", Int32, |e| e.count.min(i32::MAX as u64) as i32),
    column!("interface", OptInt32, |e| (e.iface != IfaceId::ANY).then(|| i32::from(e.iface.0))),
];

/// `events`: one row per remark of a protocol.
pub(crate) const EVENTS: &[Column<NoteEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("node", Int32, |e| e.node.0 as i32),
    column!("what", Text, |e, t| t.name(e.note.what)),
    column!("about", Text, |e, t| t.addr(e.note.about)),
    column!("value", Int64, |e| e.note.value as i64),
];

/// `sends`: one row per packet that a protocol sent, with its state at that moment.
pub(crate) const SENDS: &[Column<SendEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("node", Int32, |e| e.node.0 as i32),
    column!("packet", Int64, |e| e.state.packet.0 as i64),
    column!("next_hop", OptText, |e, t| address(e.state.next_hop, t)),
    column!("decision", Text, |e, t| t.name(e.state.decision.name())),
    column!("attempt", Int32, |e| i32::from(e.state.attempt)),
    column!("hops", Int32, |e| i32::from(e.state.hops)),
    column!("queued", Int32, |e| e.state.queued as i32),
    column!("timer_us", OptInt64, |e| micros(e.state.timer)),
    column!("rtt_us", OptInt64, |e| micros(e.state.rtt)),
    column!("rtt_deviation_us", OptInt64, |e| micros(e.state.rtt_deviation)),
];

/// `tcp`: one row per event at a TCP sender, with its state after it.
pub(crate) const TCP: &[Column<TcpEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("flow", Int32, |e| e.flow as i32),
    column!("node", Int32, |e| e.node.0 as i32),
    column!("event", Text, |e, t| t.name(e.event)),
    column!("octet", Int64, |e| e.octet as i64),
    column!("bytes", Int32, |e| e.bytes as i32),
    column!("acked", Int64, |e| e.acked as i64),
    column!("in_flight", Int64, |e| e.in_flight as i64),
    column!("cwnd", Double, |e| f64::from(e.window)),
    column!("ssthresh", Double, |e| f64::from(e.threshold)),
    column!("srtt_us", OptInt64, |e| e.srtt.and_then(micros)),
    column!("rto_us", OptInt64, |e| micros(e.rto)),
];

/// `connections`: one row per look at a TCP connection of a program that has changed since the last look.
pub(crate) const CONNECTIONS: &[Column<ConnectionEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("node", Int32, |e| e.node.0 as i32),
    column!("local", Text, |e, t| t.addr(e.connection.ends.local)),
    column!("local_port", Int32, |e| e.connection.ends.local_port.into()),
    column!("remote", Text, |e, t| t.addr(e.connection.ends.remote)),
    column!("remote_port", Int32, |e| e.connection.ends.remote_port.into()),
    column!("state", Text, |e, t| t.name(e.connection.state)),
    column!("sent", Int64, |e| e.connection.sent as i64),
    column!("sent_again", Int64, |e| e.connection.sent_again as i64),
    column!("acked", Int64, |e| e.connection.acked as i64),
    column!("received", Int64, |e| e.connection.received as i64),
    column!("retransmissions", Int32, |e| e.connection.retransmissions as i32),
    column!("in_flight", Int32, |e| e.connection.in_flight as i32),
    column!("cwnd", Int32, |e| e.connection.window as i32),
    column!("ssthresh", OptInt32, |e| e.connection.threshold.map(|n| n as i32)),
    column!("mss", Int32, |e| e.connection.segment as i32),
    column!("srtt_us", OptInt64, |e| e.connection.srtt.and_then(micros)),
    column!("rtt_deviation_us", OptInt64, |e| e.connection.deviation.and_then(micros)),
    column!("rto_us", OptInt64, |e| micros(e.connection.rto)),
];

/// `outcomes`: one row per packet of a flow.
pub(crate) const OUTCOMES: &[Column<PacketOutcome>] = &[
    column!("flow", Int32, |o| o.packet.flow as i32),
    column!("seq", Int64, |o| i64::from(o.packet.seq)),
    column!("outcome", Text, |o, t| t.name(o.outcome.name())),
    column!("reason", OptText, |o, t| o.outcome.reason().map(|r| t.name(r.name()))),
    column!("nodes", Int32, |o| o.nodes as i32),
];

/// `receptions`: one row per frame and node that should have received it.
pub(crate) const RECEPTIONS: &[Column<ReceptionEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("sent_ns", Int64, |e| nanos(e.sent)),
    column!("node", OptInt32, |e| e.node.map(|n| n.0 as i32)),
    column!("sender", Int32, |e| e.sender.0 as i32),
    column!("frame", Text, |e, t| t.name(e.frame)),
    column!("packet", OptInt64, |e| e.packet.map(|p| p.0 as i64)),
    column!("flow", OptInt32, |e| e.flow.map(|f| f.flow as i32)),
    column!("seq", OptInt64, |e| e.flow.map(|f| i64::from(f.seq))),
    column!("attempt", OptInt32, |e| (e.attempt > 0).then(|| i32::from(e.attempt))),
    column!("outcome", Text, |e, t| t.name(e.outcome)),
    column!("signal_dbm", OptFloat, |e| decibels(e.signal_dbm)),
    column!("mean_signal_dbm", OptFloat, |e| decibels(e.mean_signal_dbm)),
    column!("needed_dbm", OptFloat, |e| decibels(e.needed_dbm)),
    column!("other", OptInt32, |e| e.other.map(|n| n.0 as i32)),
    column!("other_frame", OptText, |e, t| e.other_frame.map(|s| t.name(s))),
    column!("other_packet", OptInt64, |e| e.other_packet.map(|p| p.0 as i64)),
    column!("interface", OptInt32, |e| (e.iface != IfaceId::ANY).then(|| i32::from(e.iface.0))),
];

/// `bundles`: one row per event in the life of a bundle.
pub(crate) const BUNDLES: &[Column<BundleEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("node", Int32, |e| e.node.0 as i32),
    column!("event", Text, |e, t| t.name(e.kind.name())),
    column!("bundle", Text, |e, t| t.text(&e.bundle)),
    column!("offset", OptInt64, |e| e.offset.map(|n| n as i64)),
    column!("flow", OptInt32, |e| e.flow.map(|f| f as i32)),
    column!("bytes", Int64, |e| e.bytes as i64),
    column!("peer", OptInt32, |e| e.peer.map(|n| n.0 as i32)),
    column!("reason", OptText, |e, t| e.reason.as_deref().map(|s| t.text(s))),
];

/// `contacts`: one row per contact and end.
pub(crate) const CONTACTS: &[Column<ContactEvent>] = &[
    column!("time_ns", Int64, |c| nanos(c.time)),
    column!("from_ns", Int64, |c| nanos(c.from)),
    column!("node", Int32, |c| c.node.0 as i32),
    column!("peer", Int32, |c| c.peer.0 as i32),
    column!("sent", Int64, |c| c.sent as i64),
    column!("sent_bytes", Int64, |c| c.sent_bytes as i64),
    column!("received", Int64, |c| c.received as i64),
    column!("received_bytes", Int64, |c| c.received_bytes as i64),
];

/// `identities`: one row per row of `packets`, in the same order.
pub(crate) const IDENTITIES: &[Column<IdentityEvent>] = &[
    column!("time_ns", Int64, |e| nanos(e.time)),
    column!("node", Int32, |e| e.node.0 as i32),
    column!("packet", Int64, |e| e.packet.0 as i64),
    column!("event", Text, |e, t| t.name(e.kind.name())),
    column!("frame", Int64, |e| e.identity.frame as i64),
    column!("end_to_end", Int64, |e| e.identity.end_to_end as i64),
    column!("protocol", Int32, |e| i32::from(e.identity.protocol)),
    column!("source_port", OptInt32, |e| e.identity.ports.map(|p| i32::from(p.0))),
    column!("destination_port", OptInt32, |e| e.identity.ports.map(|p| i32::from(p.1))),
    column!("payload_bytes", Int32, |e| e.identity.payload as i32),
    column!("echo_request", OptInt32, |e| match e.identity.echo {
        Some(Echo::Request(sequence)) => Some(i32::from(sequence)),
        _ => None,
    }),
    column!("echo_reply", OptInt32, |e| match e.identity.echo {
        Some(Echo::Reply(sequence)) => Some(i32::from(sequence)),
        _ => None,
    }),
];

/// `counters`: one row per counter of a node.
pub(crate) const COUNTERS: &[Column<Counter>] = &[
    column!("node", Int32, |c| c.node.0 as i32),
    column!("layer", Text, |c, t| t.name(c.layer)),
    column!("name", Text, |c, t| t.name(c.name)),
    column!("value", Int64, |c| c.value as i64),
    column!("interface", OptInt32, |c| c.iface.map(|i| i32::from(i.0))),
];

/// `flows`: one row per traffic flow, as in the summary.
pub(crate) const FLOWS: &[Column<FlowSummary>] = &[
    column!("id", Int32, |f| f.id as i32),
    column!("kind", Text, |f, t| t.text(&f.kind)),
    column!("src", Int32, |f| f.src as i32),
    column!("dst", Int32, |f| f.dst as i32),
    column!("sent", OptInt64, |f| f.sent.map(|n| n as i64)),
    column!("received", OptInt64, |f| f.received.map(|n| n as i64)),
    column!("delivery_ratio", OptDouble, |f| f.delivery_ratio),
    column!("goodput_bps", OptDouble, |f| f.goodput_bps),
    column!("latency_ms.mean", OptDouble, |f| f.latency_ms.map(|l| l.mean)),
    column!("latency_ms.p50", OptDouble, |f| f.latency_ms.map(|l| l.p50)),
    column!("latency_ms.p95", OptDouble, |f| f.latency_ms.map(|l| l.p95)),
    column!("latency_ms.p99", OptDouble, |f| f.latency_ms.map(|l| l.p99)),
    column!("latency_ms.max", OptDouble, |f| f.latency_ms.map(|l| l.max)),
    column!("hops_mean", OptDouble, |f| f.hops_mean),
    column!("dropped", OptInt64, |f| f.dropped.map(|n| n as i64)),
    column!("held", OptInt64, |f| f.held.map(|n| n as i64)),
    column!("protocol", OptInt32, |f| f.protocol.map(i32::from)),
    column!("src_port", OptInt32, |f| f.src_port.map(i32::from)),
    column!("dst_port", OptInt32, |f| f.dst_port.map(i32::from)),
    column!("src_address", OptText, |f, t| f.src_address.as_deref().map(|s| t.text(s))),
    column!("dst_address", OptText, |f, t| f.dst_address.as_deref().map(|s| t.text(s))),
];

/// `nodes`: who the numbers in the other tables are.
pub(crate) const NODES: &[Column<(u32, NodeInfo)>] = &[
    column!("node", Int32, |(id, _)| *id as i32),
    column!("name", Text, |(_, n), t| t.text(&n.name)),
    column!("address", Text, |(_, n), t| t.addr(n.addr.into())),
    column!("interfaces", Text, |(_, n), t| t
        .text(&n.interfaces.iter().map(|i| &*i.name).collect::<Vec<_>>().join(","))),
    column!("address6", OptText, |(_, n), t| n.addr6.map(|a| t.addr(a.into()))),
];

/// Nothing for 0.0.0.0.
fn address(a: Addr, t: &mut Texts) -> Option<TextId> {
    (!a.is_unspecified()).then(|| t.addr(a))
}

/// Nothing for what is not known.
fn decibels(dbm: f32) -> Option<f32> {
    (!dbm.is_nan()).then_some(dbm)
}

/// Nothing for no time.
fn micros(s: Span) -> Option<i64> {
    (s != Span::ZERO).then(|| i64::try_from(s.as_micros()).unwrap_or(i64::MAX))
}

fn nanos(t: Time) -> i64 {
    i64::try_from(t.as_nanos()).unwrap_or(i64::MAX)
}
