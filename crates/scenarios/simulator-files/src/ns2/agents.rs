//! Agents and applications that a traffic file creates, and the flows that they make.

use std::collections::BTreeMap;
use std::path::PathBuf;

use wayhop_core::Time;
use wayhop_document::{Error, LineColumn, Problems, Result};
use wayhop_transport::FlowKind;
use wayhop_transport::tcp::TcpConfig;

use super::generator::{Generator, MAX_PAYLOAD, periods};
use super::{tcp, value};

/// ns-2's default (`tcl/lib/ns-default.tcl`): `Agent/UDP`.
const UDP_PACKET_SIZE: u32 = 1000;

/// A place in one of the files read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) file: usize,
    pub(super) place: LineColumn,
}

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
    Generator(Generator),
    Tcp(Box<tcp::Ns2Agent>),
    TcpSink(tcp::Sink),
    Ftp(tcp::Ftp),
    /// Something without a counterpart in a scenario (the simulator, the topography).
    Other,
}

impl Object {
    /// An object of a class, with ns-2's own defaults.
    fn new(class: &str) -> Result<Self> {
        Ok(match class {
            "Agent/UDP" => Self::Udp { node: None, peer: None, packet_size: UDP_PACKET_SIZE },
            "Agent/Null" | "Agent/LossMonitor" | "Agent/UDPSink" => Self::Sink { node: None },
            "Application/FTP" | "Source/FTP" => Self::Ftp(tcp::Ftp::default()),
            "Simulator" | "Topography" | "God" | "RNG" => Self::Other,
            c if c.starts_with("Agent/TCPSink") => Self::TcpSink(tcp::Sink::new(&c["Agent/".len()..])?),
            c if c.starts_with("Agent/TCP") => Self::Tcp(Box::new(tcp::Ns2Agent::new(&c["Agent/".len()..])?)),
            c => {
                let traffic = c.strip_prefix("Application/").unwrap_or(c).strip_prefix("Traffic/");
                if let Some(generator) = traffic.and_then(Generator::new) {
                    return Ok(Self::Generator(generator));
                }
                if c.starts_with("Application/") {
                    let remedy = "use Application/Traffic/CBR, Exponential or Pareto, or Application/FTP";
                    return Err(Error::new(format!("{c} is not supported"), remedy));
                }
                let remedy = "use Agent/UDP, Agent/Null, Application/Traffic/CBR, Agent/TCP, Agent/TCPSink, Application/FTP";
                return Err(Error::new(format!("objects of class {c} are not supported"), remedy));
            }
        })
    }

    /// `set KEY VALUE`. Returns what a user should know.
    fn set(&mut self, key: &str, text: &str, place: LineColumn) -> Result<Option<String>> {
        match (self, key) {
            (Self::Tcp(agent), _) => agent.set(key, text, place)?,
            (Self::TcpSink(sink), _) => sink.set(key, text, place)?,
            (Self::Ftp(ftp), _) => ftp.set(key, text, place)?,
            (Self::Udp { packet_size, .. }, "packetSize_") => {
                *packet_size = value::count(text, key, MAX_PAYLOAD, place)? as u32;
            }
            (Self::Generator(generator), _) => return generator.set(key, text, place),
            (Self::Sink { .. } | Self::Other, _) => {}
            (_, key) if value::is_label(key) => {}
            _ => return Err(value::unknown_variable(key, "packetSize_").at(place)),
        }
        Ok(None)
    }
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

#[derive(Default)]
pub(super) struct Agents {
    by_name: BTreeMap<String, usize>,
    all: Vec<(Object, String, Spot)>,
    /// What a file sets for whole classes, by class and variable: `Agent/TCP set packetSize_ 512`.
    classes: BTreeMap<String, BTreeMap<String, String>>,
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

    pub(super) fn attach_to_node(&mut self, agent: usize, id: u32, place: LineColumn) -> Result<()> {
        match &mut self.all[agent].0 {
            Object::Udp { node, .. } | Object::Sink { node } => *node = Some(id),
            Object::Tcp(agent) => agent.node = Some(id),
            Object::TcpSink(sink) => sink.node = Some(id),
            Object::Other => {}
            Object::Generator(_) | Object::Ftp(_) => {
                let reason = "an application cannot be attached to a node";
                return Err(Error::new(reason, "attach it to an agent").at(place));
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
    ) -> Result<()> {
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

    pub(super) fn attach_agent(&mut self, object: usize, to: usize) {
        match &mut self.all[object].0 {
            Object::Generator(g) => g.agent = Some(to),
            Object::Ftp(ftp) => ftp.agent = Some(to),
            _ => {}
        }
    }

    /// Whether nothing that the object does matters here.
    pub(super) fn has_no_part(&self, object: usize) -> bool {
        matches!(self.all[object].0, Object::Sink { .. } | Object::TcpSink(_) | Object::Other)
    }

    pub(super) fn switch(&mut self, object: usize, at: Time, on: bool) {
        let switches = match &mut self.all[object].0 {
            Object::Generator(g) => &mut g.switches,
            Object::Ftp(ftp) => &mut ftp.switches,
            _ => return,
        };
        // Said again for the same moment, it changes nothing.
        if switches.last() != Some(&(at, on)) {
            switches.push((at, on));
        }
    }

    /// `$object VERB VALUE`; false if it is nothing that the object does.
    pub(super) fn order(
        &mut self,
        object: usize,
        at: Time,
        verb: &str,
        text: &str,
        place: LineColumn,
    ) -> Result<bool> {
        match &mut self.all[object].0 {
            Object::Ftp(ftp) => ftp.order(at, verb, text, place),
            _ => Ok(false),
        }
    }

    pub(super) fn set(&mut self, object: usize, key: &str, value: &str, place: LineColumn) -> Result<()> {
        let remark = self.all[object].0.set(key, value, place)?;
        self.remarks.extend(remark);
        Ok(())
    }

    /// `CLASS set KEY VALUE`: applies to objects of the class that are created from then on.
    pub(super) fn set_class(&mut self, class: &str, key: &str, value: &str, place: LineColumn) -> Result<()> {
        let mut tried = Object::new(class).map_err(|e| e.at(place))?;
        if matches!((&tried, key), (Object::Generator(_), "interval_") | (Object::Ftp(_), _)) {
            self.remarks.push(format!(
                "{class} set {key} {value} (line {}) changes nothing, as in ns-2: set it for each object{}",
                place.line,
                if key == "interval_" { ", or rate_ for the class" } else { "" }
            ));
            return Ok(());
        }
        self.remarks.extend(tried.set(key, value, place)?);
        self.classes.entry(class.to_owned()).or_default().insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    /// The object that `new CLASS` makes, with what the file has set for its class: for those that it descends from
    /// first, so that its own settings come last, whatever their order in the file.
    pub(super) fn make(&self, class: &str, place: LineColumn) -> Result<Object> {
        let mut object = Object::new(class).map_err(|e| e.at(place))?;
        let ends = class.match_indices('/').map(|(i, _)| i).chain([class.len()]);
        for (key, value) in ends.filter_map(|end| self.classes.get(&class[..end])).flatten() {
            object.set(key, value, place)?;
        }
        Ok(object)
    }

    /// The flows, in the order in which their applications were created; one for each time that an application runs.
    pub(super) fn flows(&self, files: &[PathBuf], warnings: &mut Vec<String>) -> Result<Vec<RawFlow>> {
        warnings.extend(self.remarks.iter().cloned());
        let (mut flows, mut problems) = (Vec::new(), Problems::default());
        for (object, name, spot) in &self.all {
            let made = match object {
                Object::Ftp(ftp) => self.transfers(ftp, name, *spot, files, warnings),
                Object::Generator(generator) => self.datagrams(generator, name, *spot, files, warnings),
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

    /// The flows of an application that sends through `Agent/UDP`.
    fn datagrams(
        &self,
        generator: &Generator,
        name: &str,
        spot: Spot,
        files: &[PathBuf],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<RawFlow>> {
        let wrong = |reason: String, remedy: &str| {
            Error::new(reason, remedy).in_file(&files[spot.file]).at(spot.place)
        };
        if generator.switches.is_empty() {
            warnings.push(format!("{name} (line {}) never starts and makes no traffic", spot.place.line));
            return Ok(Vec::new());
        }
        let agent = generator
            .agent
            .ok_or_else(|| wrong(format!("{name} starts but has no agent"), "add: $cbr attach-agent $udp"))?;
        let Object::Udp { node, peer, packet_size } = self.all[agent].0 else {
            let reason = format!("{name} is attached to something other than Agent/UDP");
            return Err(wrong(reason, "attach it to Agent/UDP"));
        };
        let agent_name = &self.all[agent].1;
        let Some(src) = node else {
            let reason = format!("{agent_name}, the agent of {name}, is on no node");
            return Err(wrong(reason, "add: $ns_ attach-agent $node_(...) $udp"));
        };
        let Some(peer) = peer else {
            let reason = format!("{agent_name}, the agent of {name}, is not connected");
            return Err(wrong(reason, "add: $ns_ connect $udp $null"));
        };
        let (Object::Sink { node: dst } | Object::Udp { node: dst, .. }) = self.all[peer].0 else {
            let reason = format!("{agent_name} is connected to something that does not accept UDP");
            return Err(wrong(reason, "connect it to Agent/Null"));
        };
        let Some(dst) = dst else {
            let reason = format!("{}, the sink of {name}, is on no node", self.all[peer].1);
            return Err(wrong(reason, "add: $ns_ attach-agent $node_(...) $null"));
        };
        let kind = generator.kind().map_err(|(why, remedy)| wrong(format!("{name} {why}"), remedy))?;
        if generator.packet_size > packet_size {
            warnings.push(format!(
                "{name} (line {}) sends {} bytes through an agent whose packetSize_ is {packet_size}: ns-2 cuts them \
                 into several packets, here they stay one",
                spot.place.line, generator.packet_size
            ));
        }
        let (payload_bytes, max_packets) = (generator.packet_size, generator.max_packets());
        let flow = |(start, stop)| {
            let kind = kind.clone();
            RawFlow { src, dst, kind, start, stop, payload_bytes, max_packets, spot }
        };
        Ok(periods(&generator.switches).map(flow).collect())
    }

    /// The connections of an FTP application: one for each time that it runs.
    fn transfers(
        &self,
        ftp: &tcp::Ftp,
        name: &str,
        spot: Spot,
        files: &[PathBuf],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<RawFlow>> {
        let wrong = |reason: String, remedy: &str| {
            Error::new(reason, remedy).in_file(&files[spot.file]).at(spot.place)
        };
        let Some(Object::Tcp(agent)) = ftp.agent.map(|a| &self.all[a].0) else {
            let reason = format!("{name} is not attached to an Agent/TCP");
            return Err(wrong(reason, "add: $ftp attach-agent $tcp"));
        };
        let transfers = ftp.transfers(agent.config.segment_bytes);
        if transfers.is_empty() {
            warnings.push(format!("{name} (line {}) never starts and makes no traffic", spot.place.line));
            return Ok(Vec::new());
        }
        let Some(Object::TcpSink(sink)) = agent.peer.map(|a| &self.all[a].0) else {
            let reason = format!("the agent of {name} is not connected to an Agent/TCPSink");
            return Err(wrong(reason, "add: $ns_ connect $tcp $sink"));
        };
        let (Some(src), Some(dst)) = (agent.node, sink.node) else {
            let reason = format!("the agent of {name}, or its sink, is on no node");
            return Err(wrong(reason, "add: $ns_ attach-agent $node_(...) $tcp, and the same for the sink"));
        };
        let flow = |(start, stop, app)| {
            let config = TcpConfig { app, delayed_ack: sink.delayed_ack, ..agent.config };
            let (kind, payload_bytes) = (FlowKind::Tcp(config), config.segment_bytes);
            RawFlow { src, dst, kind, start, stop, payload_bytes, max_packets: None, spot }
        };
        Ok(transfers.into_iter().map(flow).collect())
    }
}
