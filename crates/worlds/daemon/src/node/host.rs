//! The node on this host: inputs from the TUN, the interfaces and the kernel, and timers.
//!
//! It does no I/O. The event loop delivers packets and the time, and takes the frames in the node's
//! queue ([`Host::frames`], [`Host::sent`]) and the effects in [`FieldWorld`].

use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_control::ParameterSet;
use wayhop_core::{
    Addr, DataPlane, DropReason, Frame, IfaceId, Interests, Limits, LinkChange, Mac, Packet, Payload,
    Protocol, Rng, RxMeta, Socket, Time, TxStatus,
};
use wayhop_linux::Prefix;
use wayhop_linux::packet_socket::{ETHERNET, ETHERTYPE_ARP, ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use wayhop_node::{Due, Engine, Hop, HopKind, IfaceConfig, Node, Resolution, Stage, World as _};
use wayhop_wire::{arp, ip, ipv4};

use crate::interfaces::signals::Map;
use crate::node::power::Power;
use crate::node::timing::Timing;
use crate::node::transmitters::Transmitters;
use crate::node::tx_status::{StatusVerdict, TxStatuses};
use crate::node::world::FieldWorld;
use crate::position::whereabouts::{NodePlaces, Whereabouts};
use wayhop_protocols::hop as hop_of;
use wayhop_trace::PacketClass;

/// The most packets of one class that wait when the interface does not take them.
const MAX_QUEUED: usize = 64;
/// Timers that fire in one turn: one that sets itself to the same moment must not keep the packets waiting.
const MAX_TIMERS: usize = 64;

/// One node, and what surrounds it.
pub(crate) struct Host {
    pub(crate) node: Node,
    pub(crate) around: FieldWorld,
    pub(crate) interests: Interests,
    pub(crate) plane: DataPlane,
    /// How long frames take, if that is wanted.
    pub(crate) timing: Option<Timing>,
    pub(crate) whereabouts: Whereabouts,
    /// Where other nodes said that they are.
    pub(crate) heard: NodePlaces,
    /// What the protocol runs with.
    pub(crate) parameters: ParameterSet,
    /// With which power neighbours are received, as each source of signals tells.
    pub(crate) signals: Vec<Arc<Map>>,
    /// By interface.
    pub(crate) lines: Vec<HostInterface>,
    pub(crate) transmitters: Transmitters,
    /// When the node is down.
    pub(crate) power: Power,
}

/// What the host knows of one of the node's interfaces.
pub(crate) struct HostInterface {
    name: String,
    /// What became of unicasts, where the driver tells.
    pub(crate) tx_statuses: TxStatuses,
    config: IfaceConfig,
}

/// What an interface is.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub(crate) name: String,
    pub(crate) mac: Mac,
    /// Longest IP packet, octets.
    pub(crate) mtu: usize,
    /// Of several interfaces to a neighbour, the one with the lowest carries what is for it: 1 for a radio, 0 for a wire.
    pub(crate) metric: u8,
}

impl Port {
    fn config(&self) -> IfaceConfig {
        IfaceConfig {
            mtu: self.mtu,
            queue_packets: MAX_QUEUED,
            resolution: Resolution::Host,
            metric: self.metric,
            ..IfaceConfig::default()
        }
    }
}

impl Host {
    pub(crate) fn new(
        protocol: Box<dyn Protocol>,
        addr: Ipv4Addr,
        mesh: Prefix,
        port: Port,
        rng: Rng,
    ) -> Self {
        let config = port.config();
        let (interests, plane) = (protocol.interests(), protocol.data_plane());
        let engine = Engine::new(protocol, rng);
        Self {
            node: Node::with_mac(addr, engine, Some(port.mac), Arc::new(config.clone())),
            around: FieldWorld::new(addr, mesh),
            interests,
            plane,
            timing: None,
            whereabouts: Whereabouts::default(),
            heard: NodePlaces::default(),
            parameters: ParameterSet::default(),
            signals: Vec::new(),
            transmitters: Transmitters::default(),
            power: Power::default(),
            lines: vec![HostInterface { name: port.name, tx_statuses: TxStatuses::default(), config }],
        }
    }

    /// One more interface. Before the protocol begins.
    pub(crate) fn add(&mut self, port: Port) {
        let config = port.config();
        self.node.add_interface(Some(port.mac), Arc::new(config.clone()));
        self.lines.push(HostInterface { name: port.name, tx_statuses: TxStatuses::default(), config });
    }

    /// What the node takes from its neighbours, at all interfaces.
    pub(crate) fn limit(&mut self, limits: Limits) {
        for (line, iface) in self.lines.iter_mut().zip(0..) {
            line.config.limits = limits;
            self.node.configure(IfaceId(iface), Arc::new(line.config.clone()));
        }
    }

    /// The interfaces.
    pub(crate) fn ifaces(&self) -> impl Iterator<Item = IfaceId> + use<> {
        (0..self.node.interfaces()).map(IfaceId)
    }
    /// The name of an interface, where there are several.
    pub(crate) fn name(&self, iface: IfaceId) -> Option<&str> {
        (self.lines.len() > 1).then(|| self.lines[iface.index()].name.as_str())
    }
    pub(crate) fn line(&mut self, iface: IfaceId) -> &mut HostInterface {
        &mut self.lines[iface.index()]
    }

    /// The clock goes on. It never goes back.
    pub(crate) fn at(&mut self, now: Time) {
        self.around.now = self.around.now.max(now);
    }
    /// The clock, as the last event set it.
    pub(crate) fn now(&self) -> Time {
        self.around.now
    }

    /// Calls the node, with what surrounds it and the time.
    pub(crate) fn call<R>(&mut self, f: impl FnOnce(&mut Node, &mut FieldWorld, Time) -> R) -> R {
        let now = self.now();
        f(&mut self.node, &mut self.around, now)
    }

    /// The protocol begins, and opens its sockets.
    pub(crate) fn start(&mut self) {
        self.call(Node::start);
    }

    /// What the protocol listens to.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = Socket> + '_ {
        self.node.sockets().map(|o| o.socket)
    }

    /// An interface is another one, or has other properties.
    pub(crate) fn set_port(&mut self, iface: IfaceId, port: &Port) {
        self.node.set_mac(iface, port.mac);
        let line = self.line(iface);
        line.config.mtu = port.mtu;
        line.name.clone_from(&port.name);
        self.configure(iface);
    }

    /// Tells everybody the link address of an interface, which is another one now.
    pub(crate) fn announce(&mut self, iface: IfaceId) {
        self.call(|n, w, at| n.announce(w, at, iface));
    }

    /// An interface went down, came up, or changed.
    pub(crate) fn link(&mut self, iface: IfaceId, change: LinkChange) {
        self.call(|n, w, at| n.link(w, at, iface, change));
    }

    /// Tells the node when the trust in the reports of an interface's driver has changed.
    pub(crate) fn note_trust(&mut self, iface: IfaceId) {
        let line = self.line(iface);
        if line.config.acknowledges != line.tx_statuses.is_trusted() {
            self.configure(iface);
        }
    }

    fn configure(&mut self, iface: IfaceId) {
        let line = self.line(iface);
        line.config.acknowledges = line.tx_statuses.is_trusted();
        let config = Arc::new(line.config.clone());
        self.node.configure(iface, config);
        self.link(iface, LinkChange::Changed);
    }

    // ---- the way down ---------------------------------------------------------------------------------------------

    /// A packet from this host's stack: a program's, or (with kernel routes) one that the kernel found no route for.
    pub(crate) fn packet_in(&mut self, bytes: &[u8]) {
        let Ok(ip) = ipv4::Packet::new_checked(bytes) else { return self.packet_in6(bytes) };
        let (own, len) = (ip.src() == self.node.addr(), ip.total_len());
        let p = self.around.packet(&bytes[..len]);
        let plane = self.plane;
        match plane {
            _ if own => self.call(|n, w, at| n.originate(w, at, p)),
            DataPlane::Forwarding => self.call(|n, w, at| n.missed(w, at, p)),
            // From outside, by way of this host, which is a gateway.
            DataPlane::PerPacket if self.brings_in(&p) => self.call(|n, w, at| n.missed(w, at, p)),
            DataPlane::PerPacket => self.refuse(p),
        }
    }

    /// A gateway's way out works, or it does not. Says whether that is news.
    pub(crate) fn open_way_out(&mut self, is_open: bool) -> bool {
        let Some(edge) = &self.around.edge else { return false };
        let outside = if is_open { edge.outside.clone() } else { edge.outside.cut_off() };
        self.call(|n, w, at| n.change_outside(w, at, outside))
    }

    fn brings_in(&self, p: &Packet) -> bool {
        let ends = ipv4::ends(p.bytes());
        ends.is_some_and(|(from, to)| self.around.is_in_mesh(to) && self.around.leads_to(from))
    }

    /// Only the mesh's own addresses travel: a packet of another of this host's addresses could not be answered.
    pub(crate) fn refuse(&mut self, p: Packet) {
        self.call(|_, w, at| {
            w.record(at, &p, Hop { kind: HopKind::Drop, reason: Some(DropReason::Policy), ..Hop::HERE });
            w.work.pool.recycle(p);
        });
    }

    /// The frames that wait for an interface, in order: Ethernet headers, and with each the frame itself.
    pub(crate) fn frames(&self, iface: IfaceId) -> impl Iterator<Item = ([u8; ETHERNET], &Frame)> {
        let mac = self.node.mac(iface);
        self.node.queue(iface).iter().map(move |f| (ethernet_header(f, mac), f))
    }
    /// How many wait, at all interfaces.
    pub(crate) fn queued(&self) -> usize {
        self.ifaces().map(|i| self.node.queued(i)).sum()
    }
    /// Whether a class of a queue may be too full for one more burst: time to send.
    pub(crate) fn is_nearly_full(&self) -> bool {
        self.ifaces().any(|i| self.node.queue(i).fullest_class() >= MAX_QUEUED / 2)
    }

    /// An interface took the first frame of its queue.
    pub(crate) fn sent(&mut self, iface: IfaceId) -> Option<(Frame, TxStatus)> {
        let frame = self.node.pull(iface)?;
        if !frame.payload.is_resolution() {
            let bytes = frame.packet.bytes();
            let (class, messages) = wayhop_protocols::classify(bytes);
            let is_own =
                |a: Addr| a == self.node.addr() || self.node.addr6().is_some_and(|own| a == Addr::from(own));
            let own = ip::Packet::new_checked(bytes).is_ok_and(|ip| is_own(ip.src));
            if class.is_none() && !own && !self.lines[iface.index()].tx_statuses.is_second_try(bytes) {
                self.around.counters.forwarded += 1;
            }
            self.around.counters.sent(bytes, class.map(PacketClass::Control), messages);
        }
        let frame = self.lines[iface.index()].tx_statuses.taken(self.around.now, frame)?;
        Some((frame, TxStatus::Unknown))
    }

    /// An interface refused the first frame of its queue for good.
    pub(crate) fn refused(&mut self, iface: IfaceId) -> Option<(Frame, TxStatus)> {
        self.around.counters.send_errors += 1;
        Some((self.node.pull(iface)?, TxStatus::QueueFull))
    }

    /// The transmission of a frame ended.
    pub(crate) fn finished(&mut self, frame: Frame, status: TxStatus) {
        self.call(|n, w, at| n.finished(w, at, frame, status));
    }

    // ---- the way up -----------------------------------------------------------------------------------------------

    /// A neighbour showed itself.
    pub(crate) fn learn(&mut self, iface: IfaceId, addr: Ipv4Addr, mac: Mac) {
        if addr == self.node.addr() {
            return;
        }
        let before = self.node.mac_of(iface, addr);
        self.call(|n, w, at| n.learn(w, at, iface, addr.into(), mac));
        // An address that no host has is not learned.
        if self.node.mac_of(iface, addr) == Some(mac) {
            self.transmitters.learn(addr, mac);
            if before != Some(mac) {
                self.around.events.neighbour(self.around.now, addr, mac);
            }
        }
    }

    /// An ARP message from an interface. The node answers what the kernel does not.
    pub(crate) fn arp_in(&mut self, iface: IfaceId, message: &[u8], kernel_answers: bool) {
        let Ok(heard) = arp::Repr::parse(message) else { return };
        if !self.node.is_up() {
            return;
        }
        self.learn(iface, heard.sender, heard.sender_mac);
        if !kernel_answers {
            self.call(|n, w, at| n.receive_arp(w, at, iface, message));
        }
    }

    /// A frame of the protocol from an interface.
    pub(crate) fn frame_in(&mut self, iface: IfaceId, frame: &[u8], for_other: bool, signal_dbm: f32) {
        if is_ipv6(frame) {
            // What is overheard serves protocols for IPv4 only.
            return if for_other {
                self.around.counters.overheard_frames += 1;
            } else {
                self.frame_in6(iface, frame, signal_dbm);
            };
        }
        let Some((to, from_mac, body)) = self.checked(iface, frame) else {
            self.around.counters.strange_frames += 1;
            return;
        };
        let broadcast = to.is_group();
        // A broadcast is a routing message and names its transmitter; what follows it comes from the same link address.
        let known = self.transmitters.addr(from_mac);
        let sealed = self.node.auth().is_some_and(|a| a.concerns(body));
        let told = if broadcast || known.is_none() || sealed {
            hop_of(body).and_then(|(from, _)| from.v4())
        } else {
            None
        };
        // Somebody uses this node's address, or returns what it sent; or an address that no host has. The kernel takes the
        // network's own address for everybody, so that a route over it would never be found broken.
        let is_strange = |from: Ipv4Addr| from == self.node.addr() || !self.around.is_in_mesh(from);
        let Some(from) = told.or(known).filter(|_| !told.is_some_and(is_strange)) else {
            self.around.counters.strange_frames += 1;
            return;
        };
        // With keys, only what a verified message says of a neighbour is believed.
        if told.is_some() && self.node.auth().is_none() {
            self.learn(iface, from, from_mac);
        }
        let rx = RxMeta { iface, ..RxMeta::from(from, broadcast).with_signal(signal_dbm) };
        if for_other {
            self.around.counters.overheard_frames += 1;
            let next =
                self.transmitters.addr(to).map(Addr::from).or_else(|| hop_of(body).map(|(_, next)| next));
            if let Some(next_hop) = next {
                self.call(|n, w, at| n.overhear_from(w, at, body, next_hop, rx, Some(from_mac)));
            }
            return;
        }
        self.around.counters.received_frames += 1;
        let kernel_forwards = self.plane == DataPlane::Forwarding;
        let destination = ipv4::Packet::new_checked(body).map(|ip| ip.dst());
        if kernel_forwards && !broadcast && !destination.is_ok_and(|to| self.around.is_for_us(to)) {
            return;
        }
        let p = self.around.packet(body);
        self.around.arrived = Some(p.meta.id);
        self.call(|n, w, at| n.receive_from(w, at, p, rx, Some(from_mac)));
        self.around.arrived = None;
        if sealed {
            self.learn_verified(iface, body, from_mac);
        }
    }

    /// The transmitter of a routing packet was verified at this link address, or it was not.
    fn learn_verified(&mut self, iface: IfaceId, packet: &[u8], mac: Mac) {
        let Some(addr) = self.node.auth().and_then(|a| a.claimed(packet)) else { return };
        if self.node.verified_mac(iface, addr.into()) == Some(mac)
            && self.transmitters.addr(mac) != Some(addr)
        {
            self.transmitters.learn(addr, mac);
            self.around.events.neighbour(self.around.now, addr, mac);
        }
    }

    /// Receiver, transmitter and IP packet of a frame, if it is one from another station.
    fn checked<'a>(&self, iface: IfaceId, frame: &'a [u8]) -> Option<(Mac, Mac, &'a [u8])> {
        let (header, body) = frame.split_at_checked(ETHERNET)?;
        let (to, from) = (mac_at(header, 0), mac_at(header, 6));
        let ip = ipv4::Packet::new_checked(body).ok()?;
        (from != self.node.mac(iface) && !from.is_group()).then(|| (to, from, &body[..ip.total_len()]))
    }

    /// With which power the transmitter of this frame is received, dBm; NaN if nobody tells.
    pub(crate) fn signal_of(&self, frame: &[u8]) -> f32 {
        if frame.len() < ETHERNET {
            return f32::NAN;
        }
        self.signal_from(mac_at(frame, 6)).unwrap_or(f32::NAN)
    }

    /// With which power a neighbour of this link address is received, dBm.
    pub(crate) fn signal_from(&self, mac: Mac) -> Option<f32> {
        self.signals.iter().find_map(|map| map.get(&mac).copied())
    }

    // ---- the kernel's forwarding ------------------------------------------------------------------------------------

    /// The kernel used a row of the forwarding table.
    pub(crate) fn route_used(&mut self, source: Ipv4Addr, destination: Ipv4Addr, transmitter: Mac) {
        let previous_hop = self.transmitters.addr(transmitter).map(Into::into);
        self.call(|n, w, at| n.route_used(w, at, source.into(), destination.into(), previous_hop));
    }

    /// The kernel forwards to a neighbour that does not answer: what it had for it is lost.
    pub(crate) fn not_found(&mut self, iface: IfaceId, next_hop: Ipv4Addr) {
        self.call(|n, w, at| n.unresolved(w, at, iface, next_hop.into()));
    }

    // ---- time -------------------------------------------------------------------------------------------------------

    /// When something is due.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        let untold = self.lines.iter().filter_map(|l| l.tx_statuses.next());
        self.around.due.next().into_iter().chain(untold).chain(self.power.next()).min()
    }

    /// The driver reported the transmit status of the frame with this IP packet.
    pub(crate) fn tx_status(&mut self, iface: IfaceId, ip_packet: &[u8], acked: bool) {
        let verdict = self.line(iface).tx_statuses.told(ip_packet, acked);
        self.note_trust(iface);
        match verdict {
            None => {}
            Some(StatusVerdict::Acked(frame)) => self.finished(frame, TxStatus::Acked),
            Some(StatusVerdict::Again(frame)) => {
                self.call(|n, w, at| n.frame_due(w, at, Stage::Enqueue, frame));
            }
            Some(StatusVerdict::Lost(frame, tries)) => self.finished(frame, TxStatus::NoAck { tries }),
        }
    }

    /// Does what is due.
    pub(crate) fn run_due(&mut self) {
        self.run_power();
        for iface in self.ifaces() {
            let now = self.now();
            while let Some(frame) = self.line(iface).tx_statuses.untold(now) {
                self.finished(frame, TxStatus::Unknown);
            }
            self.note_trust(iface);
        }
        let mut timers = 0;
        while timers < MAX_TIMERS {
            let Some((_, due)) = self.around.due.pop(self.around.now) else { break };
            match due {
                Due::Timer(engine, key) => {
                    timers += 1;
                    self.call(|n, w, at| n.timer(w, at, engine, key));
                }
                Due::Frame(stage, frame) => self.call(|n, w, at| n.frame_due(w, at, stage, frame)),
                Due::Resolution(iface) => self.call(|n, w, at| n.resolve_due(w, at, iface)),
            }
        }
    }
}

fn ethernet_header(frame: &Frame, from: Mac) -> [u8; ETHERNET] {
    let ethertype = match frame.payload {
        Payload::Ip => ETHERTYPE_IPV4,
        Payload::Arp => ETHERTYPE_ARP,
        Payload::Ip6 | Payload::Neighbour => ETHERTYPE_IPV6,
        Payload::Ethernet(ethertype) => ethertype,
    };
    let mut header = [0; ETHERNET];
    header[..6].copy_from_slice(&frame.receiver.0);
    header[6..12].copy_from_slice(&from.0);
    header[12..].copy_from_slice(&ethertype.to_be_bytes());
    header
}

/// The link address at this offset of an Ethernet header.
pub(crate) fn mac_at(header: &[u8], at: usize) -> Mac {
    let mut m = [0; 6];
    m.copy_from_slice(&header[at..at + 6]);
    Mac(m)
}

/// Whether a frame says that it carries an IPv6 packet.
fn is_ipv6(frame: &[u8]) -> bool {
    frame.get(12..ETHERNET) == Some(&ETHERTYPE_IPV6.to_be_bytes())
}
