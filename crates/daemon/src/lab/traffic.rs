//! The scenario's flows over real sockets: UDP, and for ping raw ICMP, which the destination's kernel answers. Each packet carries its flow, its number and when it was sent; all nodes have
//! the same clock, so that latencies are one-way and exact.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, IoSliceMut};
use std::net::SocketAddrV4;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use wayhop_core::{Addr, Purpose, Rng, Span, stream};
use wayhop_scenario::{FlowConfig, FlowKind};
use wayhop_trace::{FlowSummary, LatencyMs, ratio};
use wayhop_wire::{icmp, ipv4};

use super::Plan;
use super::wire::Wire;
use crate::error::Error;

/// Flow, number, and time of sending.
const STAMP: usize = 4 + 8 + 8;
/// The TTL that packets begin with.
const TTL: u32 = 64;
/// How long a receiver waits before it looks whether all is over.
const WAIT: Duration = Duration::from_millis(100);
/// How long what is under way at the end is waited for.
const LAST_PACKETS: Duration = Duration::from_millis(300);

/// Flows that are ready to begin.
pub(super) struct Traffic {
    flows: Vec<FlowConfig>,
    senders: Vec<Source>,
    sinks: Vec<Sink>,
    end: Duration,
}

/// Where a flow's packets leave.
struct Source {
    flow: usize,
    socket: Socket,
    to: SockAddr,
}

/// Where packets arrive.
struct Sink {
    socket: Socket,
    /// For the replies of a ping: the identifier of its requests.
    echo: Option<u16>,
}

/// One flow's outcome.
pub(super) struct FlowResult {
    pub(super) summary: FlowSummary,
    latencies_ns: Vec<u64>,
}

impl Traffic {
    /// Opens the sockets of the flows to single nodes.
    pub(super) fn open(plan: &Plan, wire: &Wire, complaints: &mut Vec<String>) -> Result<Self, Error> {
        let mut traffic =
            Self { flows: plan.flows.clone(), senders: Vec::new(), sinks: Vec::new(), end: plan.duration };
        let mut places = Vec::new();
        for (i, f) in plan.flows.iter().enumerate() {
            let Some(&to) = plan.addresses.get(f.dst.index()) else {
                complaints.push(format!("flow {i} is not sent: a lab has flows to single nodes only"));
                continue;
            };
            if matches!(f.kind, FlowKind::Tcp(_)) {
                complaints.push(format!(
                    "flow {i} is not sent: in a lab TCP is the kernel's; run programs that use it"
                ));
                continue;
            }
            let wrong = || Error::system(format!("open the socket of flow {i}"));
            let within = |node: u32, open: &(dyn Fn() -> io::Result<Socket> + Sync)| {
                wire.node(node as usize).within(open).map_err(wrong())
            };
            if matches!(f.kind, FlowKind::Ping { .. }) {
                let raw = || {
                    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4))?;
                    socket.set_ttl_v4(TTL)?;
                    socket.set_read_timeout(Some(WAIT))?;
                    crate::sys::tell_ttl(socket.as_fd())?;
                    Ok(socket)
                };
                let socket = within(f.src.0, &raw)?;
                let copy = socket.try_clone().map_err(wrong())?;
                traffic.sinks.push(Sink { socket: copy, echo: Some(ident(i)) });
                let to = SocketAddrV4::new(to, 0).into();
                traffic.senders.push(Source { flow: i, socket, to });
                continue;
            }
            let udp = |port: u16| {
                let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
                socket.set_ttl_v4(TTL)?;
                socket.set_read_timeout(Some(WAIT))?;
                crate::sys::tell_ttl(socket.as_fd())?;
                socket.bind(&SocketAddrV4::new(Addr::UNSPECIFIED, port).into())?;
                Ok(socket)
            };
            let place = (f.dst, f.dst_port);
            if !places.contains(&place) {
                places.push(place);
                traffic.sinks.push(Sink { socket: within(f.dst.0, &|| udp(f.dst_port))?, echo: None });
            }
            let to = SocketAddrV4::new(to, f.dst_port).into();
            traffic.senders.push(Source { flow: i, socket: within(f.src.0, &|| udp(0))?, to });
        }
        Ok(traffic)
    }

    /// Lets them begin, on threads of their own. Times count from `begun`.
    pub(super) fn begin(self, begun: Instant) -> Running {
        let stop = Arc::new(AtomicBool::new(false));
        let done = Arc::new(AtomicBool::new(false));
        let (flows, end) = (self.flows.clone(), self.end);
        let sender = {
            let (flows, stop) = (self.flows.clone(), Arc::clone(&stop));
            let senders = self.senders;
            thread::spawn(move || send_all(&flows, &senders, begun, end, &stop))
        };
        let sinks = self.sinks.into_iter().map(|sink| {
            let (done, n) = (Arc::clone(&done), self.flows.len());
            thread::spawn(move || receive_all(&sink, n, begun, &done))
        });
        Running { sinks: sinks.collect(), flows, end, begun, stop, done, sender }
    }
}

/// Flows under way.
pub(super) struct Running {
    flows: Vec<FlowConfig>,
    end: Duration,
    begun: Instant,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
    sender: JoinHandle<Vec<u64>>,
    sinks: Vec<JoinHandle<Vec<Received>>>,
}

/// What one socket received of one flow.
#[derive(Clone, Debug, Default)]
struct Received {
    seen: Vec<u64>,
    latencies_ns: Vec<u64>,
    octets: u64,
    hops: u64,
}

impl Received {
    /// Whether packet `n` comes for the first time.
    fn is_new(&mut self, n: u64) -> bool {
        let (word, bit) = ((n / 64) as usize, 1 << (n % 64));
        // Nobody sends that many; a wrong number must not take the memory.
        if word >= 1 << 20 {
            return false;
        }
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }
}

impl Running {
    /// Ends them, and says what became of each.
    pub(super) fn end(self) -> Vec<FlowResult> {
        self.stop.store(true, Ordering::Relaxed);
        let ran = self.begun.elapsed().min(self.end);
        let sent = self.sender.join().unwrap_or_default();
        thread::sleep(LAST_PACKETS);
        self.done.store(true, Ordering::Relaxed);
        let mut all = vec![Received::default(); self.flows.len()];
        for sink in self.sinks {
            for (to, from) in all.iter_mut().zip(sink.join().unwrap_or_default()) {
                if !from.latencies_ns.is_empty() {
                    *to = from;
                }
            }
        }
        let rows = self.flows.iter().zip(all).enumerate();
        rows.map(|(i, (f, r))| result(i, f, sent.get(i).copied().unwrap_or(0), r, ran)).collect()
    }
}

fn result(id: usize, f: &FlowConfig, sent: u64, mut r: Received, ran: Duration) -> FlowResult {
    let received = r.latencies_ns.len() as u64;
    let end = f.stop.map_or(ran.as_secs_f64(), |s| s.as_secs_f64().min(ran.as_secs_f64()));
    let active = end - f.start.as_secs_f64();
    let summary = FlowSummary {
        id: id as u32,
        kind: match f.kind {
            FlowKind::Cbr { .. } => "cbr",
            FlowKind::Poisson { .. } => "poisson",
            FlowKind::Ping { .. } => "ping",
            FlowKind::Tcp(_) => "tcp",
        }
        .into(),
        src: f.src.0,
        dst: f.dst.0,
        sent,
        received,
        delivery_ratio: ratio(received, sent),
        goodput_bps: if active > 0.0 { r.octets as f64 * 8.0 / active } else { 0.0 },
        latency_ms: LatencyMs::of(&mut r.latencies_ns),
        hops_mean: ratio(r.hops, received),
        tcp: None,
        topology: None,
    };
    FlowResult { summary, latencies_ns: r.latencies_ns }
}

/// The latencies of the packets of all flows.
pub(super) fn all_latencies(flows: &[FlowResult]) -> LatencyMs {
    let mut all: Vec<u64> = flows.iter().flat_map(|f| f.latencies_ns.iter().copied()).collect();
    LatencyMs::of(&mut all)
}

fn interval(kind: &FlowKind, rng: &mut Rng) -> Span {
    match *kind {
        FlowKind::Cbr { interval, jitter } => interval.mul_f64(rng.range(1.0 - jitter, 1.0 + jitter)),
        FlowKind::Poisson { interval } => interval.mul_f64(rng.exponential(1.0)),
        FlowKind::Ping { interval } => interval,
        // Not sent here.
        FlowKind::Tcp(_) => Span::MAX,
    }
}

/// Sends all flows' packets when they are due; returns how many of each.
fn send_all(
    flows: &[FlowConfig],
    senders: &[Source],
    begun: Instant,
    end: Duration,
    stop: &AtomicBool,
) -> Vec<u64> {
    let mut sent = vec![0; flows.len()];
    let mut rngs: Vec<Rng> = (0..flows.len()).map(|i| stream(1, Purpose::Traffic, i as u64)).collect();
    let mut due: BinaryHeap<Reverse<(u64, usize)>> =
        senders.iter().enumerate().map(|(k, s)| Reverse((flows[s.flow].start.as_nanos(), k))).collect();
    let mut packet = Vec::new();
    while let Some(Reverse((at, k))) = due.pop() {
        let Source { flow: i, socket, to } = &senders[k];
        let (i, f) = (*i, &flows[*i]);
        let over = f.stop.is_some_and(|s| at >= s.as_nanos()) || f.max_packets.is_some_and(|m| sent[i] >= m);
        if over || at >= end.as_nanos() as u64 {
            continue;
        }
        while let Some(wait) = Duration::from_nanos(at).checked_sub(begun.elapsed()) {
            if stop.load(Ordering::Relaxed) {
                return sent;
            }
            thread::sleep(wait.min(Duration::from_millis(20)));
        }
        if stop.load(Ordering::Relaxed) {
            return sent;
        }
        let echo = matches!(f.kind, FlowKind::Ping { .. });
        packet.clear();
        packet.resize(if echo { icmp::HEADER_LEN } else { 0 }, 0);
        let head = packet.len();
        packet.extend((i as u32).to_be_bytes());
        packet.extend(sent[i].to_be_bytes());
        packet.extend((begun.elapsed().as_nanos() as u64).to_be_bytes());
        packet.resize(head + (f.payload_bytes as usize).max(STAMP), 0);
        if echo {
            icmp::emit_echo_request(&mut packet, ident(i), sent[i] as u16);
        }
        // An earlier packet's "host unreachable" comes back here, once: it says nothing of this one.
        if socket.send_to(&packet, to).is_err() {
            let _ = socket.send_to(&packet, to);
        }
        sent[i] += 1;
        due.push(Reverse((at + interval(&f.kind, &mut rngs[i]).as_nanos().max(1), k)));
    }
    sent
}

/// The identifier of a flow's echo requests.
fn ident(flow: usize) -> u16 {
    0x5748_u16.wrapping_add(flow as u16)
}

/// What a sink's packet carries: all of a datagram, or the data of an echo reply that is for it.
fn payload(packet: &[u8], echo: Option<u16>) -> Option<&[u8]> {
    let Some(wanted) = echo else { return Some(packet) };
    match icmp::Repr::parse(ipv4::Packet::new_checked(packet).ok()?.payload()).ok()? {
        icmp::Repr::EchoReply { ident, data, .. } if ident == wanted => Some(data),
        _ => None,
    }
}

/// Takes what comes to a socket, until it is told to end.
fn receive_all(sink: &Sink, flows: usize, begun: Instant, done: &AtomicBool) -> Vec<Received> {
    let mut all = vec![Received::default(); flows];
    let mut room = vec![0; 65_536];
    while !done.load(Ordering::Relaxed) {
        let Ok((n, ttl)) = receive(&sink.socket, &mut room) else { continue };
        let now = begun.elapsed().as_nanos() as u64;
        let Some(data) = payload(&room[..n], sink.echo) else { continue };
        let Some(stamp) = data.get(..STAMP) else { continue };
        let number = |at: usize| stamp[at..at + 8].iter().fold(0_u64, |v, o| v << 8 | u64::from(*o));
        let flow = stamp[..4].iter().fold(0_usize, |v, o| v << 8 | usize::from(*o));
        let Some(r) = all.get_mut(flow) else { continue };
        if r.is_new(number(4)) {
            r.latencies_ns.push(now.saturating_sub(number(12)));
            r.octets += data.len() as u64;
            r.hops += u64::from((TTL + 1).saturating_sub(ttl));
        }
    }
    all
}

/// A packet, and its TTL on arrival.
fn receive(socket: &Socket, room: &mut [u8]) -> io::Result<(usize, u32)> {
    let mut notes = cmsg_space!(i32);
    let mut parts = [IoSliceMut::new(room)];
    let m = recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut parts, Some(&mut notes), MsgFlags::empty())?;
    let ttl = m.cmsgs()?.find_map(|c| match c {
        ControlMessageOwned::Ipv4Ttl(ttl) => u32::try_from(ttl).ok(),
        _ => None,
    });
    Ok((m.bytes, ttl.unwrap_or(TTL)))
}
