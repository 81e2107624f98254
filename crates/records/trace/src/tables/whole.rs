//! The tables of a run as the records that they were written from, and when nodes were down.

use std::collections::BTreeSet;
use std::num::TryFromIntError;
use std::sync::{Mutex, PoisonError};

use parquet::record::Row;
use wayhop_core::{
    AccuracyFrom, Addr, Classifier, Decision, DropReason, Fix, FixQuality, FixStatus, FlowTag, IfaceId,
    NodeId, PacketId, Position, SendState, Span, TcpConnection, TcpEnds, Time, TraceNote,
};

use super::cell::Cell as _;
use super::read::{collect, each_row};
use crate::{
    ConnectionEvent, Counter, Echo, Error, GpsEvent, GpsSource, HopEvent, HopKind, Identity, IdentityEvent,
    InterfaceInfo, LinkKind, Messages, NodeInfo, NoteEvent, PacketClass, PositionEvent, RunDir, SendEvent,
    SizeEvent, TcpEvent,
};

/// The most different names that are kept: protocols and hosts have fixed lists of them.
const MOST_NAMES: usize = 4_096;

/// Tables without which a run counts as one whose tables are empty.
const NOT_IN_EVERY_RUN: [&str; 4] = ["tcp", "connections", "sizes", "gps"];

/// The tables of one run. Each method calls something with every row, in order; that may break the reading off with an error.
pub struct Tables<'a> {
    run: &'a RunDir,
    /// The routing protocol: whose messages data packets carry.
    protocol: String,
}

/// What is done with a row. The text says why there can be no more.
type Take<'a, T> = &'a mut dyn FnMut(T) -> Result<(), String>;

impl<'a> Tables<'a> {
    /// Of this run, with this routing protocol.
    pub fn of(run: &'a RunDir, protocol: impl Into<String>) -> Self {
        Self { run, protocol: protocol.into() }
    }

    fn each<T>(&self, table: &str, read: impl Fn(&Row) -> Option<T>, take: Take<'_, T>) -> Result<(), Error> {
        if NOT_IN_EVERY_RUN.contains(&table) && !self.run.has(table) && !self.run.leaves_out(table) {
            return Ok(());
        }
        let mut refused = None;
        let read = each_row(self.run, table, |row| {
            let value = read(row)?;
            take(value).map_err(|why| refused = Some(why)).ok()
        });
        match refused {
            Some(why) => Err(Error::invalid(&self.run.path().join(format!("{table}.parquet")), why)),
            None => read,
        }
    }

    /// `packets`.
    pub fn packets(&self, take: Take<'_, HopEvent>) -> Result<(), Error> {
        self.each("packets", |row| hop(row, &self.protocol, self.run.classifier()), take)
    }

    /// `nodes`, in the order of their numbers.
    pub fn nodes(&self) -> Result<Vec<NodeInfo>, Error> {
        let mut all = Vec::new();
        self.each("nodes", node, &mut |one| {
            all.push(one);
            if all.len() > 1 << 22 { Err("more nodes than any run has".to_owned()) } else { Ok(()) }
        })?;
        Ok(all)
    }
}

/// A method for each table: its name, the type of its records, and what reads one.
macro_rules! tables {
    ($($table:ident: $record:ty = $read:ident;)*) => {
        impl Tables<'_> {
            $(#[doc = concat!("`", stringify!($table), "`.")]
            pub fn $table(&self, take: Take<'_, $record>) -> Result<(), Error> {
                self.each(stringify!($table), $read, take)
            })*
        }
    };
}
tables! {
    identities: IdentityEvent = identity;
    events: NoteEvent = note;
    sends: SendEvent = send;
    tcp: TcpEvent = tcp;
    connections: ConnectionEvent = connection;
    sizes: SizeEvent = size;
    gps: GpsEvent = gps;
    positions: PositionEvent = position;
    counters: Counter = counter;
}

fn hop(row: &Row, protocol: &str, classifier: &dyn Classifier) -> Option<HopEvent> {
    let class_name = row.text("class")?;
    let class = match row.text("protocol") {
        Some(of) => PacketClass::Control(classifier.class(of, class_name)?),
        None if class_name == PacketClass::Arp.name() => PacketClass::Arp,
        None => PacketClass::of_flow(class_name),
    };
    let messages = match row.text("messages") {
        Some(names) => {
            let names: Vec<&str> = names.split('+').collect();
            classifier.messages(row.text("protocol").unwrap_or(protocol), &names)?
        }
        None => Messages::NONE,
    };
    let reason = match row.text("reason") {
        Some(name) => Some(DropReason::ALL.into_iter().find(|r| r.name() == name)?),
        None => None,
    };
    let (flow, seq) = (row.optional("flow").ok()?, row.optional("seq").ok()?);
    Some(HopEvent {
        time: row.time("time_ns")?,
        packet: PacketId(row.int("packet")?),
        flow: flow.zip(seq).map(|(flow, seq)| FlowTag { flow, seq }),
        node: row.node("node")?,
        bytes: row.int("bytes")?,
        source: row.parsed("source")?,
        destination: row.parsed("destination")?,
        peer: address_or_none(row, "peer")?,
        iface: interface(row).ok()?.unwrap_or(IfaceId::ANY),
        signal_dbm: row.float("signal_dbm").map_or(f32::NAN, |v| v as f32),
        kind: kind(row)?,
        class,
        messages,
        ttl: row.int("ttl")?,
        reason,
    })
}

fn identity(row: &Row) -> Option<IdentityEvent> {
    let request = row.int("echo_request").map(Echo::Request);
    Some(IdentityEvent {
        time: row.time("time_ns")?,
        node: row.node("node")?,
        packet: PacketId(row.int("packet")?),
        kind: kind(row)?,
        identity: Identity {
            frame: row.number("frame")?.cast_unsigned(),
            end_to_end: row.number("end_to_end")?.cast_unsigned(),
            protocol: row.int("protocol")?,
            ports: row.int("source_port").zip(row.int("destination_port")),
            payload: row.int("payload_bytes")?,
            echo: request.or_else(|| row.int("echo_reply").map(Echo::Reply)),
        },
    })
}

fn note(row: &Row) -> Option<NoteEvent> {
    Some(NoteEvent {
        time: row.time("time_ns")?,
        node: row.node("node")?,
        note: TraceNote {
            what: known(row.text("what")?)?,
            about: row.parsed("about")?,
            value: row.number("value")?.cast_unsigned(),
        },
    })
}

fn send(row: &Row) -> Option<SendEvent> {
    let micros = |name| row.int(name).map_or(Span::ZERO, Span::from_micros);
    let decision = row.text("decision")?;
    Some(SendEvent {
        time: row.time("time_ns")?,
        node: row.node("node")?,
        state: SendState {
            packet: PacketId(row.int("packet")?),
            next_hop: address_or_none(row, "next_hop")?,
            decision: Decision::ALL.into_iter().find(|d| d.name() == decision)?,
            attempt: row.int("attempt")?,
            hops: row.int("hops")?,
            queued: row.int("queued")?,
            timer: micros("timer_us"),
            rtt: micros("rtt_us"),
            rtt_deviation: micros("rtt_deviation_us"),
        },
    })
}

fn tcp(row: &Row) -> Option<TcpEvent> {
    let micros = |name| row.int(name).map(Span::from_micros);
    Some(TcpEvent {
        time: row.time("time_ns")?,
        flow: row.int("flow")?,
        node: row.node("node")?,
        event: known(row.text("event")?)?,
        octet: row.int("octet")?,
        bytes: row.int("bytes")?,
        acked: row.int("acked")?,
        in_flight: row.int("in_flight")?,
        window: row.float("cwnd")? as f32,
        threshold: row.float("ssthresh")? as f32,
        srtt: micros("srtt_us"),
        rto: micros("rto_us").unwrap_or(Span::ZERO),
    })
}

fn connection(row: &Row) -> Option<ConnectionEvent> {
    let micros = |name| row.int(name).map(Span::from_micros);
    let ends = TcpEnds {
        local: row.parsed("local")?,
        local_port: row.int("local_port")?,
        remote: row.parsed("remote")?,
        remote_port: row.int("remote_port")?,
    };
    let connection = TcpConnection {
        ends,
        state: known(row.text("state")?)?,
        sent: row.int("sent")?,
        sent_again: row.int("sent_again")?,
        acked: row.int("acked")?,
        received: row.int("received")?,
        retransmissions: row.int("retransmissions")?,
        in_flight: row.int("in_flight")?,
        window: row.int("cwnd")?,
        threshold: row.int("ssthresh"),
        segment: row.int("mss")?,
        srtt: micros("srtt_us"),
        deviation: micros("rtt_deviation_us"),
        rto: micros("rto_us").unwrap_or(Span::ZERO),
    };
    Some(ConnectionEvent { time: row.time("time_ns")?, node: row.node("node")?, connection })
}

fn size(row: &Row) -> Option<SizeEvent> {
    Some(SizeEvent {
        time: row.time("time_ns")?,
        node: row.node("node")?,
        what: known(row.text("what")?)?,
        iface: interface(row).ok()?.unwrap_or(IfaceId::ANY),
        count: row.int("count")?,
    })
}

fn gps(row: &Row) -> Option<GpsEvent> {
    let source = row.text("source")?;
    let fix = match (row.float("latitude_deg"), row.float("longitude_deg")) {
        (Some(latitude_deg), Some(longitude_deg)) => Some(Fix {
            latitude_deg,
            longitude_deg,
            heading_deg: row.float("heading_deg")? as f32,
            speed_m_per_s: row.float("speed_mps")? as f32,
        }),
        _ => None,
    };
    let quality = match row.text("status") {
        Some(status) => Some(quality(row, status)?),
        None => None,
    };
    Some(GpsEvent {
        time: row.time("time_ns")?,
        node: row.node("node")?,
        about: row.parsed("about")?,
        source: GpsSource::ALL.into_iter().find(|s| s.name() == source)?,
        fix,
        quality,
    })
}

fn quality(row: &Row, status: &str) -> Option<FixQuality> {
    let accuracy_from = match row.text("accuracy_from") {
        Some(name) => Some(AccuracyFrom::ALL.into_iter().find(|a| a.name() == name)?),
        None => None,
    };
    Some(FixQuality {
        mode: row.int("mode")?,
        status: FixStatus::ALL.into_iter().find(|s| s.name() == status)?,
        time_unix_ns: row.int("fix_time_ns"),
        altitude_m: row.float("altitude_m"),
        accuracy_m: row.float("accuracy_m"),
        vertical_m: row.float("vertical_m"),
        accuracy_from,
        satellites: row.int("satellites"),
        corrections_age_s: row.float("corrections_age_s"),
    })
}

pub(super) fn position(row: &Row) -> Option<PositionEvent> {
    let of = |names: [&str; 3]| {
        let [x, y, z] = names.map(|name| row.float(name));
        Some(Position::new(x?, y?, z?))
    };
    Some(PositionEvent {
        time: row.time("time_ns")?,
        until: row.optional("until_ns").ok()?.map_or(Time::NEVER, Time::from_nanos),
        node: row.node("node")?,
        at: of(["x_m", "y_m", "z_m"])?,
        velocity: of(["vx_mps", "vy_mps", "vz_mps"])?,
    })
}

fn counter(row: &Row) -> Option<Counter> {
    Some(Counter {
        node: row.node("node")?,
        iface: interface(row).ok()?,
        layer: known(row.text("layer")?)?,
        name: known(row.text("name")?)?,
        value: row.number("value")?.cast_unsigned(),
    })
}

fn node(row: &Row) -> Option<NodeInfo> {
    // What the frames are matters for captures, which are files of their own.
    let interface = |name: &str| InterfaceInfo { name: name.to_owned(), kind: LinkKind::Ethernet };
    Some(NodeInfo {
        name: row.text("name")?.to_owned(),
        addr: row.parsed("address")?,
        addr6: row.text("address6").map(str::parse).transpose().ok()?,
        interfaces: row.text("interfaces").unwrap_or_default().split(',').map(interface).collect(),
    })
}

/// The unspecified address where there is none.
fn address_or_none(row: &Row, name: &str) -> Option<Addr> {
    row.text(name).map_or(Some(Addr::UNSPECIFIED), |a| a.parse().ok())
}

fn interface(row: &Row) -> Result<Option<IfaceId>, TryFromIntError> {
    Ok(row.optional("interface")?.map(IfaceId))
}

fn kind(row: &Row) -> Option<HopKind> {
    let event = row.text("event")?;
    HopKind::ALL.into_iter().find(|k| k.name() == event)
}

/// A name that was read from a file, for good: there are few of them, and each is kept once. `None` once there are too many.
fn known(name: &str) -> Option<&'static str> {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(n) = names.get(name) {
        return Some(n);
    }
    (names.len() < MOST_NAMES && name.len() <= 64).then(|| {
        let n: &'static str = Box::leak(name.to_owned().into_boxed_str());
        names.insert(n);
        n
    })
}

/// Nothing is farther away, metres, or faster, metres a second: what is computed of it stays finite.
const FARTHEST: f64 = 1e9;

/// The legs of the motion of a run's nodes, as the table `positions` has them.
pub fn motion(run: &RunDir) -> Result<Vec<PositionEvent>, Error> {
    let is_near = |p: Position| [p.x, p.y, p.z].iter().all(|v| v.abs() <= FARTHEST);
    collect(run, "positions", |row| {
        position(row).filter(|leg| is_near(leg.at) && is_near(leg.velocity)).map(Some)
    })
}

/// A node went down, or came back.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PowerChange {
    /// When.
    pub time: Time,
    /// Who.
    pub node: NodeId,
    /// Whether it came back.
    pub on: bool,
}

/// When nodes went down, whyever they did, and came back: the remarks `node_down` and `node_up` of the table `events`, in its order.
pub fn power(run: &RunDir) -> Result<Vec<PowerChange>, Error> {
    collect(run, "events", |row| {
        let on = match row.text("what")? {
            "node_up" => true,
            "node_down" => false,
            _ => return Some(None),
        };
        Some(Some(PowerChange { time: row.time("time_ns")?, node: row.node("node")?, on }))
    })
}
