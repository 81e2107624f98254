//! The scenario's flows over real sockets: UDP, and for ping raw ICMP, which the destination's kernel answers.
//!
//! What is sent, and when, is the simulator's: the same sources with the same random streams. Each packet carries its number
//! and the time at which it was due; all nodes have the same clock, so that latencies are one-way and exact.

mod receive;
mod send;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use wayhop_core::{Purpose, Rng, Time, stream};
use wayhop_linux::Error;
use wayhop_netns::{Lateness, Namespace};
use wayhop_scenario::{FlowConfig, FlowKind, Resolved};
use wayhop_trace::{FlowSummary, LatencyMs, PacketClass, ratio};
use wayhop_transport::{Departures, GROUP, INITIAL_TTL, Source, Stamp};

use super::outages;
use super::record::Records;
use super::stamped::address;
use receive::{ExpectedFlow, FlowReceipt, Listener};
use send::{Outlet, SendReport};

/// How long a receiver waits before it looks whether all is over.
const WAIT: Duration = Duration::from_millis(100);
/// How long what is under way at the end is waited for.
const LAST_PACKETS: Duration = Duration::from_millis(300);

/// Flows that are ready to begin.
pub(super) struct Traffic {
    outlets: Vec<Outlet>,
    listeners: Vec<Listener>,
    nodes: usize,
    end: Time,
}

/// Flows under way.
pub(super) struct TrafficThreads {
    sender: JoinHandle<SendReport>,
    listeners: Vec<JoinHandle<Vec<FlowReceipt>>>,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
    begun: Instant,
    end: Time,
    nodes: usize,
}

/// What became of the flows.
pub(super) struct Outcome {
    pub(super) flows: Vec<FlowSummary>,
    /// Of the packets of all flows but pings, nanoseconds.
    pub(super) latencies_ns: Vec<u64>,
    /// Of the replies to all pings.
    pub(super) round_trip: Option<LatencyMs>,
    /// How late packets left.
    pub(super) lateness: Lateness,
}

impl Traffic {
    /// Opens the sockets of all flows.
    pub(super) fn open(
        s: &Resolved,
        nodes: &[Namespace],
        complaints: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let mut traffic = Self {
            outlets: Vec::with_capacity(s.flows.len()),
            listeners: Vec::new(),
            nodes: nodes.len(),
            end: s.duration,
        };
        for (i, config) in s.flows.iter().enumerate() {
            let (config, is_longer) = stamped(config.clone());
            if is_longer {
                complaints.push(format!(
                    "flow {i}: its packets have at least {} octets, for their number and time",
                    Stamp::LEN
                ));
            }
            let wrong = |e| Error::system(format!("open the sockets of flow {i}"))(e);
            traffic.flow(i, config, s, nodes).map_err(wrong)?;
        }
        Ok(traffic)
    }

    /// The flows, before anything was sent.
    pub(super) fn flows(&self) -> Vec<FlowSummary> {
        self.outlets.iter().map(|o| summary(o, Time::ZERO, self.nodes, std::iter::empty())).collect()
    }

    fn flow(&mut self, i: usize, config: FlowConfig, s: &Resolved, nodes: &[Namespace]) -> io::Result<()> {
        let own = address(s, &config, config.src);
        let to = if config.is_to_all() { GROUP.into() } else { address(s, &config, config.dst) };
        let rng: Rng = stream(s.seed, Purpose::Traffic, i as u64);
        let class = PacketClass::of_flow(config.kind.name());
        let namespace = &nodes[config.src.index()];
        let wanted = ExpectedFlow { flow: i as u32, class, from: own, to };
        let socket = if class == PacketClass::Ping {
            let socket = namespace.within(|| raw_socket(config.ip6))?;
            self.listeners.push(Listener {
                socket: socket.try_clone()?,
                node: config.src,
                echo: Some(config.src_port),
                // The answer comes from where the request went.
                wanted: vec![ExpectedFlow { from: to, to: own, ..wanted }],
            });
            socket
        } else {
            for node in (0..nodes.len()).filter(|n| config.is_to_all() || *n == config.dst.index()) {
                if node != config.src.index() {
                    self.listen(node, &config, wanted, s.addresses[node], &nodes[node])?;
                }
            }
            let all = config.is_to_all();
            let group_from = own.v4().filter(|_| all);
            namespace.within(|| udp_socket(own.ip(), config.src_port, group_from))?
        };
        if config.tos != 0 {
            if config.ip6 {
                socket.set_tclass_v6(config.tos.into())?;
            } else {
                socket.set_tos_v4(config.tos.into())?;
            }
        }
        let port = if class == PacketClass::Ping { 0 } else { config.dst_port };
        let to_socket: SockAddr = SocketAddr::new(to.ip(), port).into();
        let down = outages::of_node(s, config.src);
        config.check().map_err(io::Error::other)?;
        self.outlets.push(Outlet {
            flow: i as u32,
            source: Source::new(config.clone(), to.ip()),
            config,
            departures: Departures::default(),
            rng,
            from: own,
            class,
            socket,
            to: to_socket,
            to_addr: to,
            down,
        });
        Ok(())
    }

    /// A socket where packets of a flow arrive: one for each node and port.
    fn listen(
        &mut self,
        node: usize,
        config: &FlowConfig,
        wanted: ExpectedFlow,
        own: Ipv4Addr,
        namespace: &Namespace,
    ) -> io::Result<()> {
        let port = config.dst_port;
        let here = |l: &&mut Listener| {
            l.node.index() == node
                && l.echo.is_none()
                && l.socket
                    .local_addr()
                    .ok()
                    .and_then(|a| a.as_socket())
                    .is_some_and(|a| a.port() == port && a.is_ipv6() == config.ip6)
        };
        let group = config.is_to_all().then_some(own);
        if let Some(l) = self.listeners.iter_mut().find(here) {
            if let Some(own) = group {
                l.socket.join_multicast_v4(&GROUP, &own)?;
            }
            l.wanted.push(wanted);
            return Ok(());
        }
        let socket = namespace.within(|| {
            let any: IpAddr =
                if config.ip6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
            let socket = udp_socket(any, port, None)?;
            if let Some(own) = group {
                socket.join_multicast_v4(&GROUP, &own)?;
            }
            Ok(socket)
        })?;
        let node = wayhop_core::NodeId(node as u32);
        self.listeners.push(Listener { socket, node, echo: None, wanted: vec![wanted] });
        Ok(())
    }

    /// Lets them begin, on threads of their own. Times count from `begun`.
    pub(super) fn begin(self, begun: Instant, records: &Records) -> TrafficThreads {
        let stop = Arc::new(AtomicBool::new(false));
        let done = Arc::new(AtomicBool::new(false));
        let (end, nodes) = (self.end, self.nodes);
        let sender = {
            let (stop, records, outlets) = (Arc::clone(&stop), records.clone(), self.outlets);
            thread::spawn(move || send::send_all(outlets, begun, end, &stop, &records))
        };
        let listeners = self.listeners.into_iter().map(|l| {
            let (done, records) = (Arc::clone(&done), records.clone());
            thread::spawn(move || l.run(begun, &done, &records))
        });
        TrafficThreads { listeners: listeners.collect(), sender, stop, done, begun, end, nodes }
    }
}

impl TrafficThreads {
    /// Ends them, and says what became of each.
    pub(super) fn end(self) -> Outcome {
        self.stop.store(true, Ordering::Relaxed);
        let ran = Time::from_nanos(self.begun.elapsed().as_nanos() as u64).min(self.end);
        let sent = self.sender.join().unwrap_or_default();
        thread::sleep(LAST_PACKETS);
        self.done.store(true, Ordering::Relaxed);
        let received: Vec<FlowReceipt> =
            self.listeners.into_iter().flat_map(|l| l.join().unwrap_or_default()).collect();
        let flows = sent
            .outlets
            .iter()
            .enumerate()
            .map(|(i, o)| summary(o, ran, self.nodes, received.iter().filter(|r| r.flow as usize == i)));
        let is_ping = |flow: u32| sent.outlets[flow as usize].class == PacketClass::Ping;
        let times = |pings: bool| {
            let of = received.iter().filter(|r| is_ping(r.flow) == pings);
            of.flat_map(|r| r.latencies_ns.iter().copied()).collect::<Vec<_>>()
        };
        let (latencies_ns, round_trip) = (times(false), LatencyMs::of(&mut times(true)));
        Outcome { flows: flows.collect(), latencies_ns, round_trip, lateness: sent.lateness }
    }
}

/// The flow with packets that have room for their number and time, and whether that makes any longer.
fn stamped(mut config: FlowConfig) -> (FlowConfig, bool) {
    let least = Stamp::LEN as u32;
    let mut is_longer = config.payload_bytes < least;
    config.payload_bytes = config.payload_bytes.max(least);
    if let FlowKind::Trace(schedule) = &mut config.kind {
        is_longer = schedule.packets().iter().any(|p| p.payload_bytes < least);
        *schedule = Arc::new(schedule.with_payload_of_at_least(least));
    }
    (config, is_longer)
}

fn summary<'a>(
    o: &Outlet,
    ran: Time,
    nodes: usize,
    received: impl Iterator<Item = &'a FlowReceipt>,
) -> FlowSummary {
    let config = &o.config;
    let receivers = if config.is_to_all() { nodes as u64 - 1 } else { 1 };
    let (mut latencies, mut octets, mut hops) = (Vec::new(), 0, 0);
    for r in received {
        latencies.extend_from_slice(&r.latencies_ns);
        octets += r.octets;
        hops += r.hops;
    }
    let (sent, received) = (o.departures.packets() * receivers, latencies.len() as u64);
    let active_s = o.departures.active_time(config, ran).as_secs_f64();
    FlowSummary {
        id: o.flow,
        kind: o.class.name().to_owned(),
        src: config.src.0,
        dst: config.dst.0,
        sent: Some(sent),
        received: Some(received),
        // The kernels between do not tell what became of the others.
        dropped: None,
        held: None,
        delivery_ratio: ratio(received, sent),
        received_bytes: Some(octets),
        goodput_bps: (active_s > 0.0).then(|| octets as f64 * 8.0 / active_s),
        latency_ms: LatencyMs::of(&mut latencies),
        hops_mean: ratio(hops, received),
        ..FlowSummary::default()
    }
}

fn raw_socket(ip6: bool) -> io::Result<Socket> {
    let (domain, protocol) =
        if ip6 { (Domain::IPV6, Protocol::ICMPV6) } else { (Domain::IPV4, Protocol::ICMPV4) };
    prepared(Socket::new(domain, Type::RAW, Some(protocol))?, ip6)
}

/// A UDP socket at an address and a port; multicasts leave by the interface with the address `group_from`.
fn udp_socket(at: IpAddr, port: u16, group_from: Option<Ipv4Addr>) -> io::Result<Socket> {
    let at = SocketAddr::new(at, port);
    let socket = Socket::new(Domain::for_address(at), Type::DGRAM, Some(Protocol::UDP))?;
    if at.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    let socket = prepared(socket, at.is_ipv6())?;
    socket.bind(&at.into())?;
    if let Some(own) = group_from {
        socket.set_multicast_if_v4(&own)?;
        socket.set_multicast_ttl_v4(INITIAL_TTL.into())?;
        socket.set_multicast_loop_v4(false)?;
    }
    Ok(socket)
}

fn prepared(socket: Socket, ip6: bool) -> io::Result<Socket> {
    socket.set_read_timeout(Some(WAIT))?;
    if ip6 {
        socket.set_unicast_hops_v6(INITIAL_TTL.into())?;
        wayhop_linux::syscalls::tell_hop_limit(socket.as_fd())?;
    } else {
        socket.set_ttl_v4(INITIAL_TTL.into())?;
        wayhop_linux::syscalls::tell_ttl(socket.as_fd())?;
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use wayhop_core::{NodeId, Span};
    use wayhop_transport::{Schedule, Scheduled};

    use super::*;

    #[test]
    fn packets_of_a_trace_are_made_long_enough_for_their_stamps() {
        let mut schedule = Schedule::default();
        for (s, payload_bytes) in [(0, 1), (1, 1_000)] {
            assert!(schedule.push(Scheduled { after: Span::from_secs(s), payload_bytes }));
        }
        let flow =
            |schedule| FlowConfig::new(FlowKind::Trace(Arc::new(schedule)), NodeId(0), NodeId(1), 1_000);
        let long = schedule.with_payload_of_at_least(Stamp::LEN as u32);
        let octets: Vec<u32> = long.packets().iter().map(|p| p.payload_bytes).collect();
        assert_eq!(octets, [16, 1_000]);
        assert_eq!(stamped(flow(schedule)), (flow(long.clone()), true));
        assert_eq!(stamped(flow(long.clone())), (flow(long), false));
    }
}
