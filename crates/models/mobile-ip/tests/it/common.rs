//! Messages by hand, and what engines say to them.

use std::net::Ipv4Addr;

use wayhop_core::{Mac, Purpose, Rng, Span, Time, stream};
use wayhop_mobile_ip::{
    AgentAdvertisement, Association, Clock, Engine, Event, ForeignAgent, ForeignConfig, ForeignLink,
    HomeAgent, HomeConfig, Input, KnownMobile, LinkKind, MobileAccount, MobileConfig, MobileLink, MobileNode,
    Output, Replay, authenticator,
};
use wayhop_wire::mobile_ip::{
    Advertisement, AgentFlags, AuthKind, Discovery, Message, MobilityAgent, Reply, Request, RequestFlags,
    emit_authentication_head,
};
use wayhop_wire::{ip_in_ip, ipv4, udp};

pub(crate) const HOME: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 9);
pub(crate) const HA: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
/// The foreign agent, to the world and in its mesh.
pub(crate) const FA: Ipv4Addr = Ipv4Addr::new(10, 4, 0, 2);
pub(crate) const FA_MESH: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 3);
/// And on a LAN.
pub(crate) const FA_LAN: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 1);
/// The mobile node in the mesh, and at the cellular network.
pub(crate) const MESH: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
pub(crate) const CELL: Ipv4Addr = Ipv4Addr::new(10, 5, 0, 2);
pub(crate) const PEER: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
pub(crate) const STRANGER: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 66);
pub(crate) const MAC_HA: Mac = Mac([2, 0, 0, 0, 0, 1]);
pub(crate) const MAC_MOBILE: Mac = Mac([2, 0, 0, 0, 0, 9]);

/// Links of the mobile node.
pub(crate) const WLAN_LINK: u8 = 0;
pub(crate) const MESH_LINK: u8 = 1;
pub(crate) const CELL_LINK: u8 = 2;

const NTP: u64 = 0xe000_0000;

/// Both clocks, so many seconds after the beginning.
pub(crate) fn clock(s: f64) -> Clock {
    let at = Time::from_secs_f64(s);
    Clock { at, ntp: ntp(at) }
}
pub(crate) fn ntp(at: Time) -> u64 {
    let ns = at.as_nanos();
    ((NTP + ns / 1_000_000_000) << 32) | (((ns % 1_000_000_000) << 32) / 1_000_000_000)
}

pub(crate) fn rng(owner: u64) -> Rng {
    stream(3, Purpose::Authentication, owner)
}

pub(crate) fn key(spi: u32, replay: Replay) -> Association {
    Association { spi, key: spi.to_be_bytes().repeat(4), replay }
}

pub(crate) fn advertising(link: u8, addr: Ipv4Addr, is_mesh: bool) -> AgentAdvertisement {
    AgentAdvertisement {
        link,
        addr,
        prefix_len: 24,
        is_mesh,
        every: Span::from_secs(1),
        lifetime_s: 3,
        registration_lifetime_s: 300,
    }
}

pub(crate) fn home_agent(replay: Replay) -> HomeAgent {
    home_agent_with(replay, Vec::new())
}

pub(crate) fn home_agent_with(replay: Replay, foreign_agents: Vec<(Ipv4Addr, Association)>) -> HomeAgent {
    home_agent_at(clock(0.0), replay, foreign_agents, Vec::new())
}

/// One that begins now, and is told what an earlier life of it knew.
pub(crate) fn home_agent_at(
    now: Clock,
    replay: Replay,
    foreign_agents: Vec<(Ipv4Addr, Association)>,
    known: Vec<KnownMobile>,
) -> HomeAgent {
    let mobiles = vec![MobileAccount { home: HOME, association: key(256, replay) }];
    let home_link = advertising(0, HA, false);
    let config = HomeConfig { home_link, mac: MAC_HA, mobiles, foreign_agents, known };
    HomeAgent::new(config, now, rng(1))
}

/// Link 0 is its mesh, link 1 the way to home agents, link 2 a LAN that mobile nodes visit.
pub(crate) fn foreign_agent(max_visitors: usize) -> ForeignAgent {
    foreign_agent_with(max_visitors, Vec::new(), Vec::new())
}

pub(crate) fn foreign_agent_with(
    max_visitors: usize,
    mobiles: Vec<(Ipv4Addr, Association)>,
    home_agents: Vec<(Ipv4Addr, Association)>,
) -> ForeignAgent {
    let links = vec![ForeignLink(advertising(0, FA_MESH, true)), ForeignLink(advertising(2, FA_LAN, false))];
    ForeignAgent::new(ForeignConfig { care_of: FA, links, mobiles, home_agents, max_visitors }, clock(0.0))
}

pub(crate) fn mobile_config(replay: Replay) -> MobileConfig {
    let link = |link, kind| MobileLink { link, kind, ask: Vec::new() };
    MobileConfig {
        home: HOME,
        home_agent: HA,
        association: key(256, replay),
        agents: Vec::new(),
        only_known_agents: false,
        links: vec![
            link(WLAN_LINK, LinkKind::Link),
            link(MESH_LINK, LinkKind::Mesh),
            link(CELL_LINK, LinkKind::CoLocated),
        ],
        lifetime_s: 60,
        reverse_tunnel: true,
    }
}

pub(crate) fn mobile_node(replay: Replay) -> MobileNode {
    MobileNode::new(mobile_config(replay), rng(2))
}

/// Gives an engine something, and returns what it asks for.
pub(crate) fn give(engine: &mut dyn Engine, now: Clock, input: Input<'_>) -> Vec<Output> {
    let mut out = Vec::new();
    engine.input(now, input, &mut out);
    out
}

/// A datagram from port 434.
pub(crate) fn say(
    engine: &mut dyn Engine,
    now: Clock,
    link: u8,
    src: Ipv4Addr,
    payload: &[u8],
) -> Vec<Output> {
    give(engine, now, Input::Udp { link, src, src_port: 434, payload })
}

/// Appends an authenticator made here.
pub(crate) fn sign(message: &mut Vec<u8>, kind: AuthKind, with: &Association) {
    let at = message.len();
    message.resize(at + 6, 0);
    emit_authentication_head(&mut message[at..], kind, with.spi, 16);
    message.extend(authenticator(&with.key, message));
}

/// A request from a co-located care-of address, made at this moment.
pub(crate) fn request(at: Clock, care_of: Ipv4Addr, lifetime_s: u16) -> Request {
    let flags = RequestFlags::CO_LOCATED | RequestFlags::REVERSE_TUNNEL;
    Request { flags, lifetime_s, home: HOME, home_agent: HA, care_of, identification: at.ntp }
}

/// It, with the authenticator of its mobile node.
pub(crate) fn signed(request: &Request) -> Vec<u8> {
    signed_by(request, &key(256, Replay::Timestamps))
}
pub(crate) fn signed_by(request: &Request, with: &Association) -> Vec<u8> {
    let mut message = vec![0; Request::LEN];
    request.emit(&mut message);
    sign(&mut message, AuthKind::MobileHome, with);
    message
}

/// A request by the foreign agent, made at this moment, with all that it has to have.
pub(crate) fn visit(at: Clock, lifetime_s: u16) -> Request {
    Request { flags: RequestFlags::REVERSE_TUNNEL, ..request(at, FA, lifetime_s) }
}
pub(crate) fn signed_visit(request: &Request) -> Vec<u8> {
    let mut message = signed(request);
    encapsulating(&mut message);
    message
}
/// Appends the wish to send in packets of protocol 4 (RFC 3024, section 3.3: type 130, no value).
pub(crate) fn encapsulating(message: &mut Vec<u8>) {
    message.extend([130, 0]);
}

/// An advertisement: of whom, for how many seconds, its sequence number, what it is, and its care-of addresses.
pub(crate) fn advertisement(
    addr: Ipv4Addr,
    lifetime_s: u16,
    sequence: u16,
    flags: AgentFlags,
    care_of: &[Ipv4Addr],
) -> Vec<u8> {
    let care_of: Vec<u8> = care_of.iter().flat_map(Ipv4Addr::octets).collect();
    let entry = Advertisement::entry(addr, 0);
    let mut a = Advertisement::new(lifetime_s, &entry).expect("one address fits");
    a.agent = Some(MobilityAgent::new(sequence, 300, flags, &care_of).expect("they fit"));
    let message = Discovery::Advertisement(a);
    let mut octets = vec![0; message.buffer_len()];
    message.emit(&mut octets);
    octets
}

/// A reply with the authenticator of the home agent.
pub(crate) fn reply_signed(reply: &Reply) -> Vec<u8> {
    let mut message = vec![0; Reply::LEN];
    reply.emit(&mut message);
    sign(&mut message, AuthKind::MobileHome, &key(256, Replay::Timestamps));
    message
}

/// What is sent: by which link, and the packet.
pub(crate) fn sent(out: &[Output]) -> Vec<(Option<u8>, &[u8])> {
    let send = |o| if let &Output::Send { link, ref packet } = o { Some((link, &packet[..])) } else { None };
    out.iter().filter_map(send).collect()
}

/// What datagrams are sent: to whom, and what they carry. Their checksums are right.
pub(crate) fn datagrams(out: &[Output]) -> Vec<(Ipv4Addr, Vec<u8>)> {
    let read = |(_, packet): (Option<u8>, &[u8])| {
        let ip = ipv4::Packet::new_checked(packet).expect("an IP packet");
        (ip.protocol() == ipv4::protocol::UDP).then(|| {
            assert!(ip.checksum_is_valid());
            udp::Repr::parse(ip.payload(), ip.src(), ip.dst()).expect("a datagram with a right checksum");
            let d = udp::Packet::new_checked(ip.payload()).expect("a datagram");
            (ip.dst(), d.payload().to_vec())
        })
    };
    sent(out).into_iter().filter_map(read).collect()
}

/// The replies that are sent.
pub(crate) fn replies(out: &[Output]) -> Vec<Reply> {
    let read = |(_, d): &(Ipv4Addr, Vec<u8>)| match Message::parse(d) {
        Ok(Message::Reply(r, _)) => Some(r),
        _ => None,
    };
    datagrams(out).iter().filter_map(read).collect()
}
/// The requests that are sent, and to whom.
pub(crate) fn requests(out: &[Output]) -> Vec<(Ipv4Addr, Request)> {
    let read = |(to, d): &(Ipv4Addr, Vec<u8>)| match Message::parse(d) {
        Ok(Message::Request(r, _)) => Some((*to, r)),
        _ => None,
    };
    datagrams(out).iter().filter_map(read).collect()
}

pub(crate) fn events(out: &[Output]) -> Vec<&Event> {
    out.iter().filter_map(|o| if let Output::Event(e) = o { Some(e) } else { None }).collect()
}

/// An IP packet with a little data.
pub(crate) fn packet(src: Ipv4Addr, dst: Ipv4Addr) -> Vec<u8> {
    let mut p = vec![7; ipv4::HEADER_LEN + 8];
    ipv4::Repr::new(src, dst, ipv4::protocol::UDP, 8).emit(&mut p);
    p
}

/// It in a tunnel.
pub(crate) fn in_tunnel(src: Ipv4Addr, dst: Ipv4Addr, inner: &[u8]) -> Vec<u8> {
    let inner = ipv4::Packet::new_checked(inner).expect("a packet");
    let outer = ip_in_ip::Repr { src, dst, ttl: 64, id: 1 };
    let mut p = vec![0; outer.buffer_len(&inner)];
    outer.emit(&inner, &mut p).expect("it fits");
    p
}
