//! Agents and applications that a traffic file creates, and the flows that they make.

use std::collections::BTreeMap;
use std::path::PathBuf;

use wayhop_core::{Span, Time};
use wayhop_transport::FlowKind;
use wayhop_transport::tcp::TcpConfig;

use super::classes::Classes;
use super::spot::Spot;
use super::{tcp, value};
use crate::error::{Error, Place, Problems};

/// ns-2's defaults (`tcl/lib/ns-default.tcl`): `Application/Traffic/CBR` and `Agent/UDP`.
const CBR_PACKET_SIZE: u32 = 210;
const CBR_RATE: f64 = 448e3;
const CBR_MAX_PACKETS: u64 = 268_435_456;
const UDP_PACKET_SIZE: u32 = 1000;
/// The longest UDP payload in an IPv4 packet.
const MAX_PAYLOAD: u64 = 65_507;

/// An object that a file created.
#[derive(Clone, Debug)]
pub(super) enum Object {
    Udp {
        node: Option<u32>,
        peer: Option<usize>,
        packet_size: u32,
    },
    Sink {
        node: Option<u32>,
    },
    Cbr(Cbr),
    Tcp(Box<tcp::Agent>),
    TcpSink(tcp::Sink),
    Ftp(tcp::Ftp),
    /// Something that has no part in a scenario (the simulator, the topography).
    Other,
}

/// `Application/Traffic/CBR`. Setting `interval_` sets the rate for the packet size of that moment, as in ns-2
/// (`tcl/lib/ns-source.tcl`), so that a later `packetSize_` changes the interval.
#[derive(Clone, Debug)]
pub(super) struct Cbr {
    agent: Option<usize>,
    packet_size: u32,
    rate_bps: f64,
    random: bool,
    max_packets: u64,
    switches: Vec<(Time, bool)>,
}

impl Object {
    /// An object of a class, with ns-2's own defaults.
    fn new(class: &str) -> Result<Self, (String, &'static str)> {
        Ok(match class {
            "Agent/UDP" => Self::Udp { node: None, peer: None, packet_size: UDP_PACKET_SIZE },
            "Agent/Null" | "Agent/LossMonitor" | "Agent/UDPSink" => Self::Sink { node: None },
            "Application/Traffic/CBR" | "Traffic/CBR" => Self::Cbr(Cbr {
                agent: None,
                packet_size: CBR_PACKET_SIZE,
                rate_bps: CBR_RATE,
                random: false,
                max_packets: CBR_MAX_PACKETS,
                switches: Vec::new(),
            }),
            "Application/FTP" | "Source/FTP" => Self::Ftp(tcp::Ftp::default()),
            "Simulator" | "Topography" | "God" | "RNG" => Self::Other,
            c if c.starts_with("Agent/TCPSink") => Self::TcpSink(tcp::Sink::new(&c["Agent/".len()..])?),
            c if c.starts_with("Agent/TCP") => Self::Tcp(Box::new(tcp::Agent::new(&c["Agent/".len()..])?)),
            c if c.starts_with("Application/") => {
                return Err((
                    format!("{c} is not supported"),
                    "use Application/Traffic/CBR or Application/FTP",
                ));
            }
            c => {
                return Err((
                    format!("objects of class {c} are not supported"),
                    "use Agent/UDP, Agent/Null, Application/Traffic/CBR, Agent/TCP, Agent/TCPSink, Application/FTP",
                ));
            }
        })
    }

    /// `set KEY VALUE`. Returns what a user should know.
    fn set(&mut self, key: &str, value: &str, place: Place) -> Result<Option<String>, Error> {
        let size = |v| value::count(v, key, MAX_PAYLOAD, place).map(|n| n as u32);
        match (self, key) {
            (Self::Tcp(agent), _) => agent.set(key, value, place)?,
            (Self::TcpSink(sink), _) => sink.set(key, value, place)?,
            (Self::Ftp(ftp), _) => ftp.set(key, value, place)?,
            (Self::Udp { packet_size, .. }, "packetSize_") => *packet_size = size(value)?,
            (Self::Cbr(c), _) => return c.set(key, value, place),
            (Self::Sink { .. } | Self::Other, _) => {}
            (_, key) if is_label(key) => {}
            _ => return Err(unknown_variable(key, "packetSize_").at(place)),
        }
        Ok(None)
    }
}

/// Variables that mark packets, or that change nothing here.
fn is_label(key: &str) -> bool {
    matches!(key, "fid_" | "class_" | "prio_" | "flags_" | "ttl_" | "type_")
}

fn unknown_variable(key: &str, known: &str) -> Error {
    Error::new(format!("{key} is not a variable that is understood here"), format!("known are {known}"))
}

/// A flow as a file describes it, by the file's own node ids.
#[derive(Clone, Debug)]
pub(super) struct RawFlow {
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) kind: FlowKind,
    pub(super) start: Time,
    pub(super) stop: Option<Time>,
    pub(super) payload_bytes: u32,
    pub(super) max_packets: Option<u64>,
    /// Where its application is created.
    pub(super) spot: Spot,
}

/// All objects of the files read so far.
#[derive(Default)]
pub(super) struct Agents {
    by_name: BTreeMap<String, usize>,
    all: Vec<(Object, String, Spot)>,
    classes: Classes,
    /// What a user should know of single lines.
    remarks: Vec<String>,
}

impl Agents {
    pub(super) fn create(&mut self, name: &str, object: Object, spot: Spot) -> usize {
        self.by_name.insert(name.to_owned(), self.all.len());
        self.all.push((object, name.to_owned(), spot));
        self.all.len() - 1
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(super) fn attach_to_node(&mut self, agent: usize, id: u32, place: Place) -> Result<(), Error> {
        match &mut self.all[agent].0 {
            Object::Udp { node, .. } | Object::Sink { node } => *node = Some(id),
            Object::Tcp(agent) => agent.node = Some(id),
            Object::TcpSink(sink) => sink.node = Some(id),
            Object::Other => {}
            Object::Cbr(_) | Object::Ftp(_) => {
                return Err(Error::new(
                    "an application cannot be attached to a node",
                    "attach it to an agent",
                )
                .at(place));
            }
        }
        Ok(())
    }

    pub(super) fn connect(&mut self, a: usize, b: usize) {
        for (one, other) in [(a, b), (b, a)] {
            match &mut self.all[one].0 {
                Object::Udp { peer, .. } => *peer = Some(other),
                Object::Tcp(agent) => agent.peer = Some(other),
                _ => {}
            }
        }
    }

    /// `[$ns_ create-connection SOURCE $node SINK $node FID]`: both agents, connected; the answer is the source.
    pub(super) fn create_connection(
        &mut self,
        name: &str,
        source: (&str, u32),
        sink: (&str, u32),
        spot: Spot,
    ) -> Result<(), Error> {
        let made = |class: &str| self.make(&format!("Agent/{class}"), spot.place);
        let agents = [(made(source.0)?, source.1), (made(sink.0)?, sink.1)];
        let first = self.all.len();
        for ((object, node), name) in agents.into_iter().zip([name, ""]) {
            let made = self.create(name, object, spot);
            self.attach_to_node(made, node, spot.place)?;
        }
        self.connect(first, first + 1);
        Ok(())
    }

    /// `$object attach-agent $agent`.
    pub(super) fn attach_agent(&mut self, object: usize, to: usize) {
        match &mut self.all[object].0 {
            Object::Cbr(cbr) => cbr.agent = Some(to),
            Object::Ftp(ftp) => ftp.agent = Some(to),
            _ => {}
        }
    }

    /// Whether nothing that the object does matters here.
    pub(super) fn has_no_part(&self, object: usize) -> bool {
        matches!(self.all[object].0, Object::Sink { .. } | Object::TcpSink(_) | Object::Other)
    }

    /// `$object start` and `$object stop`.
    pub(super) fn switch(&mut self, object: usize, at: Time, on: bool) {
        match &mut self.all[object].0 {
            Object::Cbr(cbr) => cbr.switches.push((at, on)),
            Object::Ftp(ftp) => ftp.switches.push((at, on)),
            _ => {}
        }
    }

    /// `$object VERB VALUE`; false if it is nothing that the object does.
    pub(super) fn order(
        &mut self,
        object: usize,
        at: Time,
        verb: &str,
        text: &str,
        place: Place,
    ) -> Result<bool, Error> {
        match &mut self.all[object].0 {
            Object::Ftp(ftp) => ftp.order(at, verb, text, place),
            _ => Ok(false),
        }
    }

    /// `$object set KEY VALUE`.
    pub(super) fn set(&mut self, object: usize, key: &str, value: &str, place: Place) -> Result<(), Error> {
        let remark = self.all[object].0.set(key, value, place)?;
        self.remarks.extend(remark);
        Ok(())
    }

    /// `CLASS set KEY VALUE`: what objects of the class have that are made from then on.
    pub(super) fn set_class(
        &mut self,
        class: &str,
        key: &str,
        value: &str,
        place: Place,
    ) -> Result<(), Error> {
        let mut tried = Object::new(class).map_err(|(why, remedy)| Error::new(why, remedy).at(place))?;
        if matches!((&tried, key), (Object::Cbr(_), "interval_") | (Object::Ftp(_), _)) {
            self.remarks.push(format!(
                "{class} set {key} {value} (line {}) changes nothing, as in ns-2: set it for each object{}",
                place.line,
                if key == "interval_" { ", or rate_ for the class" } else { "" }
            ));
            return Ok(());
        }
        self.remarks.extend(tried.set(key, value, place)?);
        self.classes.set(class, key, value);
        Ok(())
    }

    /// The object that `new CLASS` makes, with what the file has set for its class.
    pub(super) fn make(&self, class: &str, place: Place) -> Result<Object, Error> {
        let mut object = Object::new(class).map_err(|(why, remedy)| Error::new(why, remedy).at(place))?;
        for (key, value) in self.classes.settings(class) {
            object.set(key, value, place)?;
        }
        Ok(object)
    }

    /// The flows, in the order in which their applications were created; one for each time that an application runs.
    pub(super) fn flows(&self, files: &[PathBuf], warnings: &mut Vec<String>) -> Result<Vec<RawFlow>, Error> {
        warnings.extend(self.remarks.iter().cloned());
        let (mut flows, mut problems) = (Vec::new(), Problems::default());
        for (object, name, spot) in &self.all {
            let made = match object {
                Object::Ftp(ftp) => self.transfers(ftp, name, *spot, files, warnings),
                Object::Cbr(cbr) => self.datagrams(cbr, name, *spot, files, warnings),
                _ => continue,
            };
            match made {
                Ok(made) => flows.extend(made),
                Err(e) => problems.note(e),
            }
        }
        problems.outcome()?;
        Ok(flows)
    }

    /// The flows of a CBR application.
    fn datagrams(
        &self,
        cbr: &Cbr,
        name: &str,
        spot: Spot,
        files: &[PathBuf],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<RawFlow>, Error> {
        let wrong = |reason: String, remedy: &str| {
            Error::new(reason, remedy).in_file(&files[spot.file]).at(spot.place)
        };
        if cbr.switches.is_empty() {
            warnings.push(format!("{name} (line {}) never starts and makes no traffic", spot.place.line));
            return Ok(Vec::new());
        }
        let agent = cbr
            .agent
            .ok_or_else(|| wrong(format!("{name} starts but has no agent"), "add: $cbr attach-agent $udp"))?;
        let Object::Udp { node, peer, packet_size } = self.all[agent].0 else {
            return Err(wrong(
                format!("{name} is attached to something other than Agent/UDP"),
                "attach it to Agent/UDP",
            ));
        };
        let agent_name = &self.all[agent].1;
        let src = node.ok_or_else(|| {
            wrong(
                format!("{agent_name}, the agent of {name}, is on no node"),
                "add: $ns_ attach-agent $node_(...) $udp",
            )
        })?;
        let peer = peer.ok_or_else(|| {
            wrong(
                format!("{agent_name}, the agent of {name}, is not connected"),
                "add: $ns_ connect $udp $null",
            )
        })?;
        let (Object::Sink { node: dst } | Object::Udp { node: dst, .. }) = self.all[peer].0 else {
            return Err(wrong(
                format!("{agent_name} is connected to something that takes no UDP"),
                "connect it to Agent/Null",
            ));
        };
        let dst = dst.ok_or_else(|| {
            wrong(
                format!("{}, the sink of {name}, is on no node", self.all[peer].1),
                "add: $ns_ attach-agent $node_(...) $null",
            )
        })?;
        if cbr.packet_size == 0 || cbr.rate_bps <= 0.0 {
            return Err(wrong(
                format!("{name} sends {} octets at {} b/s", cbr.packet_size, cbr.rate_bps),
                "give both a value above zero",
            ));
        }
        if cbr.interval() < Span::from_micros(1) {
            return Err(wrong(
                format!("{name} sends more than a million packets a second"),
                "give a lower rate_ or a longer interval_",
            ));
        }
        if cbr.packet_size > packet_size {
            warnings.push(format!(
                "{name} (line {}) sends {} octets through an agent whose packetSize_ is {packet_size}: ns-2 cuts them \
                 into several packets, here they stay one",
                spot.place.line, cbr.packet_size
            ));
        }
        let template = RawFlow {
            src,
            dst,
            kind: FlowKind::Cbr { interval: cbr.interval(), jitter: if cbr.random { 0.5 } else { 0.0 } },
            start: Time::ZERO,
            stop: None,
            payload_bytes: cbr.packet_size,
            max_packets: (cbr.max_packets < CBR_MAX_PACKETS).then_some(cbr.max_packets),
            spot,
        };
        let flow = |(start, stop)| RawFlow { start, stop, ..template.clone() };
        Ok(cbr.periods().map(flow).collect())
    }

    /// The connections of an FTP application: one for each time that it runs.
    fn transfers(
        &self,
        ftp: &tcp::Ftp,
        name: &str,
        spot: Spot,
        files: &[PathBuf],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<RawFlow>, Error> {
        let wrong = |reason: String, remedy: &str| {
            Error::new(reason, remedy).in_file(&files[spot.file]).at(spot.place)
        };
        let Some(Object::Tcp(agent)) = ftp.agent.map(|a| &self.all[a].0) else {
            return Err(wrong(format!("{name} is attached to no Agent/TCP"), "add: $ftp attach-agent $tcp"));
        };
        let transfers = ftp.transfers(agent.config.segment_bytes);
        if transfers.is_empty() {
            warnings.push(format!("{name} (line {}) never starts and makes no traffic", spot.place.line));
            return Ok(Vec::new());
        }
        let Some(Object::TcpSink(sink)) = agent.peer.map(|a| &self.all[a].0) else {
            return Err(wrong(
                format!("the agent of {name} is connected to no Agent/TCPSink"),
                "add: $ns_ connect $tcp $sink",
            ));
        };
        let (Some(src), Some(dst)) = (agent.node, sink.node) else {
            return Err(wrong(
                format!("the agent of {name}, or its sink, is on no node"),
                "add: $ns_ attach-agent $node_(...) $tcp, and the same for the sink",
            ));
        };
        let flow = |(start, stop, app)| {
            let config = TcpConfig { app, delayed_ack: sink.delayed_ack, ..agent.config };
            let payload_bytes = config.segment_bytes;
            RawFlow {
                src,
                dst,
                kind: FlowKind::Tcp(config),
                start,
                stop,
                payload_bytes,
                max_packets: None,
                spot,
            }
        };
        Ok(transfers.into_iter().map(flow).collect())
    }
}

impl Cbr {
    fn set(&mut self, key: &str, value: &str, place: Place) -> Result<Option<String>, Error> {
        let size = || value::count(value, key, MAX_PAYLOAD, place).map(|n| n as u32);
        match key {
            "packetSize_" | "packet_size_" => self.packet_size = size()?,
            "rate_" => self.rate_bps = value::bandwidth(value, key, place)?,
            "interval_" => {
                let s = value::seconds(value, key, place)?;
                if s <= 0.0 {
                    return Err(Error::new(format!("an interval of {value}"), "give a time above zero")
                        .key(key)
                        .at(place));
                }
                self.rate_bps = f64::from(self.packet_size) * 8.0 / s;
            }
            // ns-2 has a whole number in it, and reads any word as 0.
            "random_" => match value::truth(value) {
                Some(on) => {
                    self.random = false;
                    return Ok(on.then(|| {
                        format!(
                            "random_ {value} (line {}) is 0 to ns-2, and here, too: write 1 for intervals that vary",
                            place.line
                        )
                    }));
                }
                None => self.random = value::number(value, key, place)? != 0.0,
            },
            "maxpkts_" => self.max_packets = value::count(value, key, i32::MAX as u64, place)?,
            key if is_label(key) => {}
            _ => {
                let known = "packetSize_, interval_, rate_, random_, maxpkts_";
                return Err(unknown_variable(key, known).at(place));
            }
        }
        Ok(None)
    }

    /// At least a nanosecond, so that time goes on.
    fn interval(&self) -> Span {
        Span::from_secs_f64(f64::from(self.packet_size) * 8.0 / self.rate_bps).max(Span::from_nanos(1))
    }

    /// From when to when it runs. A start while it runs starts the schedule afresh, as in ns-2.
    fn periods(&self) -> impl Iterator<Item = (Time, Option<Time>)> {
        let mut switches = self.switches.clone();
        switches.sort_by_key(|s| s.0);
        let mut out: Vec<(Time, Option<Time>)> = Vec::new();
        for (t, on) in switches {
            if let Some((_, stop @ None)) = out.last_mut() {
                *stop = Some(t);
            }
            if on {
                out.push((t, None));
            }
        }
        out.into_iter()
    }
}
