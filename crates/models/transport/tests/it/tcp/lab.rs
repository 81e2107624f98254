//! Two hosts on a path that a test scripts packet by packet: the ends of a flow, or programs; and one end against a peer that a test
//! plays.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use wayhop_core::{
    Application, ApplicationCx, ApplicationEffect, ApplicationInput, NodeId, Packet, Pool, Purpose, Rng,
    Span, StreamEffect, StreamInput, Time, TimerKey, stream,
};
use wayhop_transport::tcp::{Endpoint, FlowEnd, HostIo, HostTcp, Note, NoteKind, TcpConfig};
use wayhop_transport::{FlowConfig, FlowKind, TcpClient, TcpServer};
use wayhop_wire::tcp::{Flags, Repr};
use wayhop_wire::{icmp, ipv4, tcp};

pub(crate) const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub(crate) const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// The number of the application of either host.
const APPLICATION: u32 = 7;

pub(crate) fn ms(n: u64) -> Span {
    Span::from_millis(n)
}
pub(crate) fn at_ms(n: u64) -> Time {
    Time::ZERO + ms(n)
}

/// Octets of a segment of [`endless`].
pub(crate) const MSS: i64 = 100;

/// An endless stream in segments of [`MSS`] octets, with a window that does not bound it.
pub(crate) fn endless() -> TcpConfig {
    TcpConfig { segment_bytes: MSS as u32, window_segments: 64, delayed_ack: None, ..TcpConfig::rfc() }
}

/// Which end of a connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Client,
    Server,
}

/// A host: its TCP, and the flow's application above it.
pub(crate) struct Host {
    pub(crate) tcp: HostTcp,
    application: Option<Box<dyn Application>>,
    timers: Vec<(TimerKey, Time)>,
    ip_id: u16,
    /// What a program heard.
    pub(crate) heard: Vec<(Time, StreamInput<'static>)>,
}

impl Host {
    fn new(tcp: HostTcp, application: Option<Box<dyn Application>>) -> Self {
        Self { tcp, application, timers: Vec::new(), ip_id: 0, heard: Vec::new() }
    }
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.timers.iter().map(|(_, at)| *at).chain(self.tcp.deadline()).min()
    }
}

/// A segment as the network saw it. Numbers count from the first octet of each stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) at: Time,
    pub(crate) from: End,
    pub(crate) seq: i64,
    pub(crate) len: usize,
    pub(crate) ack: i64,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) sack: Vec<(i64, i64)>,
}

/// What becomes of a packet: when its copies arrive. None: it is lost.
pub(crate) type Path = Box<dyn FnMut(&Seen, &mut Packet) -> Vec<Span>>;

pub(crate) struct Lab {
    pub(crate) ends: [Host; 2],
    pub(crate) now: Time,
    pub(crate) log: Vec<Seen>,
    pub(crate) packets: Vec<(Time, Vec<u8>)>,
    pub(crate) notes: Vec<(End, Note)>,
    /// What each end's application got.
    pub(crate) got: [Vec<u8>; 2],
    pub(crate) path: Path,
    pub(crate) pool: Pool,
    next_id: u64,
    rng: Rng,
    air: BTreeMap<(Time, u64), (End, Packet)>,
    /// The sequence number of each stream's first octet.
    base: [Option<u32>; 2],
    arrivals: u64,
}

fn other(end: End) -> End {
    if end == End::Client { End::Server } else { End::Client }
}

impl Lab {
    /// A connection whose packets take `path`.
    pub(crate) fn new(config: TcpConfig, path: Path) -> Self {
        let flow = FlowConfig::new(FlowKind::Tcp(config), NodeId(0), NodeId(1), config.segment_bytes);
        flow.check().expect("the settings are allowed");
        let mut rng = stream(1, Purpose::Traffic, 0);
        let [client, server] = FlowEnd::draw(&flow, &config, &mut rng);
        let [client, server] = [client, server].map(|end| HostTcp::of_flow(config, end));
        let to = SocketAddr::from((B, flow.dst_port));
        let source = Host::new(client, Some(Box::new(TcpClient::new(&flow, config.app, to))));
        let sink = Host::new(server, Some(Box::new(TcpServer::new(&flow, config.app))));
        let mut lab = Self::between([source, sink], path);
        lab.ask(End::Server, ApplicationInput::Start);
        lab
    }

    /// Hosts of programs.
    pub(crate) fn of_programs(config: TcpConfig, path: Path) -> Self {
        let host = |n| Host::new(HostTcp::new(config, stream(1, Purpose::Applications, n)), None);
        Self::between([host(0), host(1)], path)
    }

    fn between(ends: [Host; 2], path: Path) -> Self {
        Self {
            ends,
            now: Time::ZERO,
            log: Vec::new(),
            packets: Vec::new(),
            notes: Vec::new(),
            got: [Vec::new(), Vec::new()],
            path,
            pool: Pool::new(),
            next_id: 0,
            rng: stream(2, Purpose::Traffic, 0),
            air: BTreeMap::new(),
            base: [None; 2],
            arrivals: 0,
        }
    }

    /// Over a path of 50 ms each way that loses nothing, but for what `lost` says.
    pub(crate) fn losing(config: TcpConfig, mut lost: impl FnMut(&Seen) -> bool + 'static) -> Self {
        Self::new(config, Box::new(move |s, _| if lost(s) { vec![] } else { vec![ms(50)] }))
    }

    /// The client alone: the peer is the test's, and hears nothing unless it looks at the log.
    pub(crate) fn alone(config: TcpConfig) -> Self {
        let mut lab = Self::losing(TcpConfig { handshake: false, ..config }, |_| true);
        lab.start();
        lab
    }

    /// A client with the segments 7 to 16 under way and 10 as its window: the first three were sent at once, and each
    /// acknowledgement brought two more, until seven were acknowledged.
    pub(crate) fn with_ten_under_way(config: TcpConfig) -> Self {
        let mut lab = Self::alone(config);
        assert_eq!(lab.fresh(MSS), [0, 1, 2]);
        for acked in 1..=7 {
            lab.run_for(ms(10));
            lab.ack(acked * MSS);
        }
        assert_eq!(lab.fresh(MSS), (3..17).collect::<Vec<_>>());
        assert_eq!(lab.end(End::Client).window(), 10.0);
        lab.run_for(ms(10));
        lab
    }

    /// Calls an end's TCP.
    pub(crate) fn tcp<R>(&mut self, end: End, f: impl FnOnce(&mut HostTcp, &mut HostIo<'_>) -> R) -> R {
        let mut notes = Vec::new();
        let got = &mut self.got[end as usize];
        let host = &mut self.ends[end as usize];
        let mut io = HostIo {
            now: self.now,
            pool: &mut self.pool,
            next_id: &mut self.next_id,
            ip_id: &mut host.ip_id,
            notes: &mut notes,
            deliver: &mut |from, octets| {
                assert_eq!(from, got.len() as u64, "in order");
                got.extend_from_slice(octets);
            },
        };
        let answer = f(&mut host.tcp, &mut io);
        self.notes.extend(notes.into_iter().map(|n| (end, n)));
        answer
    }

    /// Calls an end's application, and does what it asks for.
    fn ask(&mut self, end: End, input: ApplicationInput<'_>) {
        let (mut effects, addr) = (Vec::new(), if end == End::Client { A } else { B });
        let mut cx = ApplicationCx::new(self.now, addr.into(), &mut self.rng, &mut effects);
        if let Some(application) = &mut self.ends[end as usize].application {
            application.on_input(&mut cx, input);
        }
        for effect in effects {
            let timers = &mut self.ends[end as usize].timers;
            match effect {
                ApplicationEffect::SetTimer(key, at) => {
                    timers.retain(|(k, _)| *k != key);
                    timers.push((key, at));
                }
                ApplicationEffect::ClearTimer(key) => timers.retain(|(k, _)| *k != key),
                ApplicationEffect::Stream(effect) => self.effect(end, effect),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Has an end's TCP do what its application asks for.
    pub(crate) fn effect(&mut self, end: End, effect: StreamEffect) {
        let from = if end == End::Client { A } else { B };
        self.tcp(end, |tcp, io| tcp.apply(io, APPLICATION, from.into(), effect));
    }

    /// Takes events and packets of an end until there are none.
    pub(crate) fn serve(&mut self, end: End) {
        loop {
            while let Some((owner, input)) = self.tcp(end, HostTcp::event) {
                assert_eq!(owner, APPLICATION);
                if self.ends[end as usize].application.is_none() {
                    self.ends[end as usize].heard.push((self.now, input));
                } else {
                    self.ask(end, ApplicationInput::Stream(input));
                }
            }
            while let Some((_, p)) = self.ends[end as usize].tcp.packet() {
                self.depart(end, p);
            }
            if !self.ends[end as usize].tcp.has_events() {
                break;
            }
        }
    }

    /// Time has come to an end's deadline.
    fn wake(&mut self, end: End) {
        self.tcp(end, HostTcp::on_timer);
        let due = |host: &Host, now| host.timers.iter().position(|(_, at)| *at <= now);
        while let Some(i) = due(&self.ends[end as usize], self.now) {
            let (key, _) = self.ends[end as usize].timers.remove(i);
            self.ask(end, ApplicationInput::Timer(key));
        }
        self.serve(end);
    }

    fn depart(&mut self, from: End, mut p: Packet) {
        let seen = self.see(from, &p);
        self.packets.push((self.now, p.bytes().to_vec()));
        let delays = (self.path)(&seen, &mut p);
        self.log.push(seen);
        for d in delays {
            let copy = self.pool.copy(&p);
            self.arrivals += 1;
            self.air.insert((self.now + d, self.arrivals), (other(from), copy));
        }
        self.pool.recycle(p);
    }

    fn see(&mut self, from: End, p: &Packet) -> Seen {
        let ip = ipv4::Packet::new_checked(p.bytes()).expect("it is IP");
        assert!(ip.checksum_is_valid());
        let r = Repr::parse(ip.payload(), ip.src(), ip.dst()).expect("it is TCP with a right checksum");
        let syn = r.flags.contains(Flags::SYN);
        let own = *self.base[from as usize].get_or_insert(r.seq.wrapping_add(u32::from(syn)));
        let peer = &mut self.base[other(from) as usize];
        if r.flags.contains(Flags::ACK) {
            peer.get_or_insert(r.ack);
        }
        let peer = peer.unwrap_or(0);
        let relative = |n: u32, base: u32| i64::from(n.wrapping_sub(base) as i32);
        Seen {
            at: self.now,
            from,
            seq: relative(r.seq, own),
            len: tcp::Packet::new_checked(ip.payload()).expect("it was parsed").payload().len(),
            ack: relative(r.ack, peer),
            syn,
            fin: r.flags.contains(Flags::FIN),
            sack: r
                .sack
                .iter()
                .map_while(|b| *b)
                .map(|(f, t)| (relative(f, peer), relative(t, peer)))
                .collect(),
        }
    }

    /// The client opens the connection.
    pub(crate) fn start(&mut self) {
        self.ask(End::Client, ApplicationInput::Start);
        self.wake(End::Client);
    }

    /// Lets time go on.
    pub(crate) fn run_until(&mut self, end: Time) {
        loop {
            let arrival = self.air.first_key_value().map(|(k, _)| k.0);
            let timer = [End::Client, End::Server]
                .into_iter()
                .filter_map(|e| Some((self.ends[e as usize].deadline()?, e)))
                .min_by_key(|t| t.0);
            let next = arrival.into_iter().chain(timer.map(|t| t.0)).min();
            let Some(next) = next.filter(|t| *t <= end) else { break };
            self.now = self.now.max(next);
            if arrival == Some(next) {
                let (_, (to, p)) = self.air.pop_first().expect("one arrives");
                self.hear(to, p.bytes());
                self.pool.recycle(p);
            } else if let Some((_, end)) = timer {
                self.wake(end);
            }
        }
        self.now = end;
    }
    pub(crate) fn run_for(&mut self, d: Span) {
        self.run_until(self.now + d);
    }

    /// The client, or the server, once it has a connection.
    pub(crate) fn end(&self, end: End) -> &Endpoint {
        self.ends[end as usize].tcp.endpoints().next().expect("a connection")
    }
    /// First octets and times of the client's segments with data.
    pub(crate) fn sends(&self) -> Vec<(u64, i64)> {
        let data = self.log.iter().filter(|s| s.from == End::Client && s.len > 0);
        data.map(|s| (s.at.as_nanos() / 1_000_000, s.seq)).collect()
    }
    /// First octets, in segments, of what the client sent since the last call.
    pub(crate) fn fresh(&mut self, mss: i64) -> Vec<i64> {
        let out =
            self.log.iter().filter(|s| s.from == End::Client && s.len > 0).map(|s| s.seq / mss).collect();
        self.log.clear();
        out
    }
    pub(crate) fn count(&self, kind: NoteKind) -> usize {
        self.notes.iter().filter(|(_, n)| n.kind == kind).count()
    }

    /// The peer that the test plays acknowledges everything before this octet.
    pub(crate) fn ack(&mut self, ack: i64) {
        self.ack_with(ack, &[], 0xffff);
    }
    pub(crate) fn ack_with(&mut self, ack: i64, sack: &[(i64, i64)], window: u16) {
        let wire = |n: i64| self.base[0].expect("the client has sent").wrapping_add(n as u32);
        let mut r = Repr {
            src_port: wayhop_transport::DEFAULT_PORT,
            dst_port: wayhop_transport::DEFAULT_PORT,
            seq: self.base[1].expect("the client's first segment acknowledges"),
            ack: wire(ack),
            flags: Flags::ACK,
            window,
            ..Repr::default()
        };
        r.sack.iter_mut().zip(sack).for_each(|(slot, b)| *slot = Some((wire(b.0), wire(b.1))));
        let segment = segment(&r, B, A, &[]);
        self.hear(End::Client, &segment);
    }
    /// A packet for one end arrives now.
    pub(crate) fn hear(&mut self, end: End, packet: &[u8]) {
        self.tcp(end, |tcp, io| tcp.on_packet(io, packet));
        self.serve(end);
    }
    /// "Host unreachable" about the client's segment that begins at this octet.
    pub(crate) fn unreachable(&mut self, octet: i64) {
        let seq = self.base[0].expect("the client has sent").wrapping_add(octet as u32);
        let r = Repr {
            src_port: wayhop_transport::DEFAULT_PORT,
            dst_port: wayhop_transport::DEFAULT_PORT,
            seq,
            flags: Flags::ACK,
            ..Repr::default()
        };
        // A router returns the IP header and eight octets at least.
        let original = segment(&r, A, B, &[0; 100]);
        let message = icmp::Repr::DestinationUnreachable {
            code: icmp::unreachable_code::HOST,
            next_hop_mtu: 0,
            original: &original[..28],
        };
        let mut bytes = vec![0; message.buffer_len()];
        message.emit(&mut bytes);
        assert!(self.tcp(End::Client, |tcp, io| tcp.on_icmp(io, &bytes, None)));
        self.serve(End::Client);
    }
}

/// A whole packet.
pub(crate) fn segment(r: &Repr, src: Ipv4Addr, dst: Ipv4Addr, payload: &[u8]) -> Vec<u8> {
    let header_len = r.buffer_len();
    let mut bytes = vec![0; ipv4::HEADER_LEN + header_len];
    bytes.extend_from_slice(payload);
    let len = bytes.len() - ipv4::HEADER_LEN;
    r.emit(&mut bytes[ipv4::HEADER_LEN..], src, dst);
    ipv4::Repr::new(src, dst, ipv4::protocol::TCP, len as u16).emit(&mut bytes);
    bytes
}
