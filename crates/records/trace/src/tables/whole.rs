//! The tables of a run as the records that they were written from.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use parquet::record::{Field, Row};
use wayhop_core::{
    AccuracyFrom, Addr, Classifier, Decision, DropReason, Fix, FixQuality, FixStatus, FlowTag, IfaceId,
    NodeId, PacketId, Position, SendState, Span, TcpConnection, TcpEnds, Time, TraceNote,
};

use super::read::each_row;
use crate::{
    ConnectionEvent, Counter, Echo, Error, GpsEvent, GpsSource, HopEvent, HopKind, Identity, IdentityEvent,
    InterfaceInfo, LinkKind, Messages, NodeInfo, NoteEvent, PacketClass, PositionEvent, RunDir, SendEvent,
    SizeEvent, TcpEvent,
};

/// The most different names that are kept: protocols and hosts have fixed lists of them.
const MOST_NAMES: usize = 4_096;

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

    /// `identities`.
    pub fn identities(&self, take: Take<'_, IdentityEvent>) -> Result<(), Error> {
        self.each("identities", identity, take)
    }

    /// `events`.
    pub fn events(&self, take: Take<'_, NoteEvent>) -> Result<(), Error> {
        self.each("events", note, take)
    }

    /// `sends`.
    pub fn sends(&self, take: Take<'_, SendEvent>) -> Result<(), Error> {
        self.each("sends", send, take)
    }

    /// `tcp`; nothing in a run without it.
    pub fn tcp(&self, take: Take<'_, TcpEvent>) -> Result<(), Error> {
        if self.has("tcp") { self.each("tcp", tcp, take) } else { Ok(()) }
    }

    /// `connections`; nothing in a run without it.
    pub fn connections(&self, take: Take<'_, ConnectionEvent>) -> Result<(), Error> {
        if self.has("connections") { self.each("connections", connection, take) } else { Ok(()) }
    }

    /// `sizes`; nothing in a run without it.
    pub fn sizes(&self, take: Take<'_, SizeEvent>) -> Result<(), Error> {
        if self.has("sizes") { self.each("sizes", size, take) } else { Ok(()) }
    }

    /// `gps`; nothing in a run without it.
    pub fn gps(&self, take: Take<'_, GpsEvent>) -> Result<(), Error> {
        if self.has("gps") { self.each("gps", gps, take) } else { Ok(()) }
    }

    /// Whether the run has a table that not every run has.
    fn has(&self, table: &str) -> bool {
        self.run.path().join(format!("{table}.parquet")).exists()
    }

    /// `positions`.
    pub fn positions(&self, take: Take<'_, PositionEvent>) -> Result<(), Error> {
        self.each("positions", position, take)
    }

    /// `counters`.
    pub fn counters(&self, take: Take<'_, Counter>) -> Result<(), Error> {
        self.each("counters", counter, take)
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

fn hop(row: &Row, protocol: &str, classifier: &dyn Classifier) -> Option<HopEvent> {
    let class_name = text(row, "class")?;
    let class = match text(row, "protocol") {
        Some(of) => PacketClass::Control(classifier.class(of, class_name)?),
        None if class_name == PacketClass::Arp.name() => PacketClass::Arp,
        None => PacketClass::of_flow(class_name),
    };
    let messages = match text(row, "messages") {
        Some(names) => {
            let names: Vec<&str> = names.split('+').collect();
            classifier.messages(text(row, "protocol").unwrap_or(protocol), &names)?
        }
        None => Messages::NONE,
    };
    let reason = match text(row, "reason") {
        Some(name) => Some(DropReason::ALL.into_iter().find(|r| r.name() == name)?),
        None => None,
    };
    let flow = match (number(row, "flow"), number(row, "seq")) {
        (Some(flow), Some(seq)) => {
            Some(FlowTag { flow: u32::try_from(flow).ok()?, seq: u32::try_from(seq).ok()? })
        }
        _ => None,
    };
    let event = text(row, "event")?;
    Some(HopEvent {
        time: time(row, "time_ns")?,
        packet: PacketId(count(row, "packet")?),
        flow,
        node: place(row, "node")?,
        bytes: u32::try_from(number(row, "bytes")?).ok()?,
        source: address(row, "source")?,
        destination: address(row, "destination")?,
        peer: optional_address(row, "peer")?,
        iface: match number(row, "interface") {
            Some(i) => IfaceId(u8::try_from(i).ok()?),
            None => IfaceId::ANY,
        },
        signal_dbm: float(row, "signal_dbm").map_or(f32::NAN, |v| v as f32),
        kind: kind(event)?,
        class,
        messages,
        ttl: u8::try_from(number(row, "ttl")?).ok()?,
        reason,
    })
}

fn identity(row: &Row) -> Option<IdentityEvent> {
    let port = |name| u16::try_from(number(row, name)?).ok();
    Some(IdentityEvent {
        time: time(row, "time_ns")?,
        node: place(row, "node")?,
        packet: PacketId(count(row, "packet")?),
        kind: kind(text(row, "event")?)?,
        identity: Identity {
            frame: number(row, "frame")?.cast_unsigned(),
            end_to_end: number(row, "end_to_end")?.cast_unsigned(),
            protocol: u8::try_from(number(row, "protocol")?).ok()?,
            ports: port("source_port").zip(port("destination_port")),
            payload: u32::try_from(number(row, "payload_bytes")?).ok()?,
            echo: port("echo_request").map(Echo::Request).or_else(|| port("echo_reply").map(Echo::Reply)),
        },
    })
}

fn note(row: &Row) -> Option<NoteEvent> {
    Some(NoteEvent {
        time: time(row, "time_ns")?,
        node: place(row, "node")?,
        note: TraceNote {
            what: known(text(row, "what")?)?,
            about: address(row, "about")?,
            value: number(row, "value")?.cast_unsigned(),
        },
    })
}

fn send(row: &Row) -> Option<SendEvent> {
    let small = |name| u8::try_from(number(row, name)?).ok();
    let micros = |name| count(row, name).map_or(Span::ZERO, Span::from_micros);
    let decision = text(row, "decision")?;
    Some(SendEvent {
        time: time(row, "time_ns")?,
        node: place(row, "node")?,
        state: SendState {
            packet: PacketId(count(row, "packet")?),
            next_hop: optional_address(row, "next_hop")?,
            decision: Decision::ALL.into_iter().find(|d| d.name() == decision)?,
            attempt: small("attempt")?,
            hops: small("hops")?,
            queued: u32::try_from(number(row, "queued")?).ok()?,
            timer: micros("timer_us"),
            rtt: micros("rtt_us"),
            rtt_deviation: micros("rtt_deviation_us"),
        },
    })
}

fn tcp(row: &Row) -> Option<TcpEvent> {
    let micros = |name| count(row, name).map(Span::from_micros);
    Some(TcpEvent {
        time: time(row, "time_ns")?,
        flow: u32::try_from(number(row, "flow")?).ok()?,
        node: place(row, "node")?,
        event: known(text(row, "event")?)?,
        octet: count(row, "octet")?,
        bytes: u32::try_from(number(row, "bytes")?).ok()?,
        acked: count(row, "acked")?,
        in_flight: count(row, "in_flight")?,
        window: float(row, "cwnd")? as f32,
        threshold: float(row, "ssthresh")? as f32,
        srtt: micros("srtt_us"),
        rto: micros("rto_us").unwrap_or(Span::ZERO),
    })
}

fn connection(row: &Row) -> Option<ConnectionEvent> {
    let port = |name| u16::try_from(number(row, name)?).ok();
    let small = |name| u32::try_from(number(row, name)?).ok();
    let micros = |name| count(row, name).map(Span::from_micros);
    let ends = TcpEnds {
        local: address(row, "local")?,
        local_port: port("local_port")?,
        remote: address(row, "remote")?,
        remote_port: port("remote_port")?,
    };
    let connection = TcpConnection {
        ends,
        state: known(text(row, "state")?)?,
        sent: count(row, "sent")?,
        sent_again: count(row, "sent_again")?,
        acked: count(row, "acked")?,
        received: count(row, "received")?,
        retransmissions: small("retransmissions")?,
        in_flight: small("in_flight")?,
        window: small("cwnd")?,
        threshold: small("ssthresh"),
        segment: small("mss")?,
        srtt: micros("srtt_us"),
        deviation: micros("rtt_deviation_us"),
        rto: micros("rto_us").unwrap_or(Span::ZERO),
    };
    Some(ConnectionEvent { time: time(row, "time_ns")?, node: place(row, "node")?, connection })
}

fn size(row: &Row) -> Option<SizeEvent> {
    Some(SizeEvent {
        time: time(row, "time_ns")?,
        node: place(row, "node")?,
        what: known(text(row, "what")?)?,
        iface: match number(row, "interface") {
            Some(i) => IfaceId(u8::try_from(i).ok()?),
            None => IfaceId::ANY,
        },
        count: count(row, "count")?,
    })
}

fn gps(row: &Row) -> Option<GpsEvent> {
    let source = text(row, "source")?;
    let fix = match (float(row, "latitude_deg"), float(row, "longitude_deg")) {
        (Some(latitude_deg), Some(longitude_deg)) => Some(Fix {
            latitude_deg,
            longitude_deg,
            heading_deg: float(row, "heading_deg")? as f32,
            speed_m_per_s: float(row, "speed_mps")? as f32,
        }),
        _ => None,
    };
    let quality = match text(row, "status") {
        Some(status) => Some(quality(row, status)?),
        None => None,
    };
    Some(GpsEvent {
        time: time(row, "time_ns")?,
        node: place(row, "node")?,
        about: address(row, "about")?,
        source: GpsSource::ALL.into_iter().find(|s| s.name() == source)?,
        fix,
        quality,
    })
}

fn quality(row: &Row, status: &str) -> Option<FixQuality> {
    let accuracy_from = match text(row, "accuracy_from") {
        Some(name) => Some(AccuracyFrom::ALL.into_iter().find(|a| a.name() == name)?),
        None => None,
    };
    Some(FixQuality {
        mode: u8::try_from(number(row, "mode")?).ok()?,
        status: FixStatus::ALL.into_iter().find(|s| s.name() == status)?,
        time_unix_ns: count(row, "fix_time_ns"),
        altitude_m: float(row, "altitude_m"),
        accuracy_m: float(row, "accuracy_m"),
        vertical_m: float(row, "vertical_m"),
        accuracy_from,
        satellites: number(row, "satellites").and_then(|n| n.try_into().ok()),
        corrections_age_s: float(row, "corrections_age_s"),
    })
}

fn position(row: &Row) -> Option<PositionEvent> {
    let of = |names: [&str; 3]| {
        let [x, y, z] = names.map(|name| float(row, name));
        Some(Position::new(x?, y?, z?))
    };
    Some(PositionEvent {
        time: time(row, "time_ns")?,
        until: match number(row, "until_ns") {
            Some(ns) => Time::from_nanos(u64::try_from(ns).ok()?),
            None => Time::NEVER,
        },
        node: place(row, "node")?,
        at: of(["x_m", "y_m", "z_m"])?,
        velocity: of(["vx_mps", "vy_mps", "vz_mps"])?,
    })
}

fn counter(row: &Row) -> Option<Counter> {
    Some(Counter {
        node: place(row, "node")?,
        iface: match number(row, "interface") {
            Some(i) => Some(IfaceId(u8::try_from(i).ok()?)),
            None => None,
        },
        layer: known(text(row, "layer")?)?,
        name: known(text(row, "name")?)?,
        value: number(row, "value")?.cast_unsigned(),
    })
}

fn node(row: &Row) -> Option<NodeInfo> {
    // What the frames are matters for captures, which are files of their own.
    let interface = |name: &str| InterfaceInfo { name: name.to_owned(), kind: LinkKind::Ethernet };
    let addr6 = match text(row, "address6") {
        Some(a) => Some(a.parse().ok()?),
        None => None,
    };
    Some(NodeInfo {
        name: text(row, "name")?.to_owned(),
        addr: text(row, "address")?.parse().ok()?,
        addr6,
        interfaces: text(row, "interfaces").unwrap_or_default().split(',').map(interface).collect(),
    })
}

fn field<'a>(row: &'a Row, name: &str) -> Option<&'a Field> {
    row.get_column_iter().find(|(n, _)| n.as_str() == name).map(|(_, f)| f)
}

fn text<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    match field(row, name)? {
        Field::Str(s) => Some(s),
        _ => None,
    }
}

fn number(row: &Row, name: &str) -> Option<i64> {
    match field(row, name)? {
        Field::Int(v) => Some((*v).into()),
        Field::Long(v) => Some(*v),
        _ => None,
    }
}

fn float(row: &Row, name: &str) -> Option<f64> {
    match field(row, name)? {
        Field::Float(v) => Some(f64::from(*v)),
        Field::Double(v) => Some(*v),
        _ => None,
    }
}

fn count(row: &Row, name: &str) -> Option<u64> {
    u64::try_from(number(row, name)?).ok()
}

fn time(row: &Row, name: &str) -> Option<Time> {
    count(row, name).map(Time::from_nanos)
}

fn place(row: &Row, name: &str) -> Option<NodeId> {
    u32::try_from(number(row, name)?).ok().map(NodeId)
}

fn address(row: &Row, name: &str) -> Option<Addr> {
    text(row, name)?.parse().ok()
}

/// The unspecified address where there is none.
fn optional_address(row: &Row, name: &str) -> Option<Addr> {
    match text(row, name) {
        Some(a) => a.parse().ok(),
        None => Some(Addr::UNSPECIFIED),
    }
}

fn kind(event: &str) -> Option<HopKind> {
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
