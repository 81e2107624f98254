//! Messages by hand, and the engines' answers.

use std::borrow::Cow;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::Deref;

use serde_json::Value;
use wayhop_core::{
    Addr, Application, ApplicationCx, ApplicationEffect, ApplicationInput, LinkState, Mac, NetworkEffect,
    NetworkInput, Purpose, Rng, Time, TimerKey, TraceNote, hex, stream,
};
use wayhop_mobile_ip::{
    ForeignAgent, ForeignAgentParams, HomeAgent, HomeAgentParams, KnownMobile, MobileNode, MobileNodeParams,
    OwnLink, OwnLinkKind, Peer, Replay, VisitedLink, authenticator,
};
use wayhop_wire::mobile_ip::{
    Advertisement, AgentFlags, AuthKind, Code, Discovery, Message, MobilityAgent, Reply, Request,
    RequestFlags, emit_authentication_head,
};
use wayhop_wire::{arp, ip_in_ip, ipv4, udp};

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

/// Links of the foreign agent.
pub(crate) const FA_MESH_LINK: u8 = 0;
pub(crate) const FA_LAN_LINK: u8 = 1;
pub(crate) const FA_UPLINK: u8 = 2;

/// Links of the mobile node.
pub(crate) const WLAN_LINK: u8 = 0;
pub(crate) const MESH_LINK: u8 = 1;
pub(crate) const CELL_LINK: u8 = 2;

const NTP: u64 = 0xe000_0000;
/// Seconds from 1900 to 1970 (RFC 5905).
const NTP_BEFORE_UNIX_S: u64 = 2_208_988_800;

/// Both clocks of a host: one that begins with the program, and the time of day as NTP writes it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Clock {
    pub(crate) at: Time,
    pub(crate) ntp: u64,
}

/// Both clocks, `s` seconds after the beginning.
pub(crate) fn clock(s: f64) -> Clock {
    let at = Time::from_secs_f64(s);
    Clock { at, ntp: ntp(at) }
}
pub(crate) fn ntp(at: Time) -> u64 {
    let ns = at.as_nanos();
    ((NTP + ns / 1_000_000_000) << 32) | (((ns % 1_000_000_000) << 32) / 1_000_000_000)
}
/// The time of day, nanoseconds since 1970.
fn unix_ns(ntp: u64) -> u64 {
    let fraction = (((ntp & 0xffff_ffff) * 1_000_000_000) >> 32) + u64::from(ntp & 0xffff_ffff > 0);
    ((ntp >> 32) - NTP_BEFORE_UNIX_S) * 1_000_000_000 + fraction
}

/// What two share.
#[derive(Clone, Debug)]
pub(crate) struct Association {
    pub(crate) spi: u32,
    pub(crate) key: Vec<u8>,
    pub(crate) replay: Replay,
}

pub(crate) fn key(spi: u32, replay: Replay) -> Association {
    Association { spi, key: spi.to_be_bytes().repeat(4), replay }
}
pub(crate) fn peer((address, with): (Ipv4Addr, Association)) -> Peer {
    Peer { address, spi: with.spi, key: hex(&with.key), replay: with.replay }
}
fn peers(all: Vec<(Ipv4Addr, Association)>) -> Vec<Peer> {
    all.into_iter().map(peer).collect()
}

/// An application, and what its host keeps for it.
pub(crate) struct Subject<A> {
    application: A,
    rng: Rng,
    /// When its timer fires.
    timer: Option<Time>,
    /// The time of day less the other clock, as it was told, in nanoseconds.
    ahead_ns: Option<u64>,
    place: Place,
}

impl<A> Deref for Subject<A> {
    type Target = A;
    fn deref(&self) -> &A {
        &self.application
    }
}

/// Where a mobile node says that it is attached.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Nowhere,
    Home,
    /// By a foreign agent with this care-of address.
    Foreign(Ipv4Addr),
    CoLocated(Ipv4Addr),
}

impl<A: Application> Subject<A> {
    pub(crate) fn new(application: A, now: Clock, owner: u64) -> Self {
        let rng = stream(3, Purpose::Authentication, owner);
        let mut subject = Self { application, rng, timer: None, ahead_ns: None, place: Place::Nowhere };
        subject.call(now.at, ApplicationInput::Start);
        subject.set_clock(now);
        subject
    }

    /// When it is to be called next.
    pub(crate) const fn next(&self) -> Option<Time> {
        self.timer
    }
    /// Where it is attached.
    pub(crate) const fn attachment(&self) -> Place {
        self.place
    }

    fn set_clock(&mut self, now: Clock) {
        let unix = unix_ns(now.ntp);
        let ahead = unix.wrapping_sub(now.at.as_nanos());
        // The fraction of NTP's seconds is finer than a nanosecond, and coarser elsewhere.
        if self.ahead_ns.is_none_or(|a| a.abs_diff(ahead) > 2) {
            self.ahead_ns = Some(ahead);
            self.call(now.at, ApplicationInput::Network(NetworkInput::TimeOfDay(unix)));
        }
    }

    fn call(&mut self, at: Time, input: ApplicationInput<'_>) -> Vec<ApplicationEffect> {
        let mut out = Vec::new();
        let mut cx = ApplicationCx::new(at, Ipv4Addr::UNSPECIFIED.into(), &mut self.rng, &mut out);
        self.application.on_input(&mut cx, input);
        for effect in &out {
            match effect {
                ApplicationEffect::SetTimer(_, at) => self.timer = Some(*at),
                ApplicationEffect::ClearTimer(_) => self.timer = None,
                _ => {}
            }
        }
        self.place = places(&out).pop().unwrap_or(self.place);
        let is_told = |e: &ApplicationEffect| {
            use ApplicationEffect::{ClearTimer, Network, SetTimer};
            !matches!(e, SetTimer(..) | ClearTimer(_) | Network(NetworkEffect::Log { .. }))
        };
        out.retain(is_told);
        out
    }
}

/// Where a mobile node went.
pub(crate) fn places(out: &[ApplicationEffect]) -> Vec<Place> {
    let place = |(i, e): (usize, &ApplicationEffect)| {
        if !matches!(e, ApplicationEffect::Network(NetworkEffect::Attach(_))) {
            return None;
        }
        let Some(ApplicationEffect::Note(TraceNote { what, about, .. })) = out.get(i + 1) else {
            return Some(Place::Nowhere);
        };
        let care_of = about.v4().unwrap();
        Some(match *what {
            "mip_at_home" => Place::Home,
            "mip_by_foreign_agent" => Place::Foreign(care_of),
            "mip_co_located" => Place::CoLocated(care_of),
            _ => Place::Nowhere,
        })
    };
    out.iter().enumerate().filter_map(place).collect()
}

pub(crate) fn home_agent(replay: Replay) -> Subject<HomeAgent> {
    home_agent_with(replay, Vec::new())
}

pub(crate) fn home_agent_with(
    replay: Replay,
    foreign_agents: Vec<(Ipv4Addr, Association)>,
) -> Subject<HomeAgent> {
    home_agent_at(clock(0.0), replay, foreign_agents, Vec::new())
}

/// One that begins now, and is told what an earlier life of it knew.
pub(crate) fn home_agent_at(
    now: Clock,
    replay: Replay,
    foreign_agents: Vec<(Ipv4Addr, Association)>,
    known: Vec<KnownMobile>,
) -> Subject<HomeAgent> {
    let params = HomeAgentParams {
        interface: "eth0".to_owned(),
        address: format!("{HA}/24"),
        uplinks: vec!["eth1".to_owned()],
        advertise_every_ms: 1_000,
        lifetime_s: 300,
        mobiles: peers(vec![(HOME, key(256, replay))]),
        foreign_agents: peers(foreign_agents),
    };
    let mut ha = Subject::new(HomeAgent::new(params), now, 1);
    for known in known {
        let value = serde_json::to_value(known).unwrap();
        ha.call(now.at, ApplicationInput::Network(NetworkInput::Recall(value)));
    }
    let state = LinkState { is_up: true, addr: Some(HA), mac: Some(MAC_HA) };
    give(&mut ha, now, NetworkInput::Link { link: 0, state });
    ha
}

/// Link 0 is its mesh, link 1 a LAN that mobile nodes visit, link 2 the way to home agents.
pub(crate) fn foreign_agent(max_visitors: u16) -> Subject<ForeignAgent> {
    foreign_agent_with(max_visitors, Vec::new(), Vec::new())
}

pub(crate) fn foreign_agent_with(
    max_visitors: u16,
    mobiles: Vec<(Ipv4Addr, Association)>,
    home_agents: Vec<(Ipv4Addr, Association)>,
) -> Subject<ForeignAgent> {
    let link = |name: &str, mesh| VisitedLink { interface: name.to_owned(), mesh, radio: None };
    let params = ForeignAgentParams {
        uplink: "eth0".to_owned(),
        care_of: FA,
        links: vec![link("mesh0", true), link("eth1", false)],
        advertise_every_ms: 1_000,
        lifetime_s: 300,
        max_visitors,
        mobiles: peers(mobiles),
        home_agents: peers(home_agents),
    };
    let mut fa = Subject::new(ForeignAgent::new(params), clock(0.0), 4);
    for (link, addr) in [(FA_MESH_LINK, FA_MESH), (FA_LAN_LINK, FA_LAN), (FA_UPLINK, FA)] {
        let state = LinkState { is_up: true, addr: Some(addr), mac: None };
        give(&mut fa, clock(0.0), NetworkInput::Link { link, state });
    }
    fa
}

pub(crate) fn mobile_params(replay: Replay) -> MobileNodeParams {
    let link =
        |name: &str, kind| OwnLink { interface: name.to_owned(), kind, radio: None, agents: Vec::new() };
    let own = peer((HOME, key(256, replay)));
    MobileNodeParams {
        home: format!("{HOME}/24"),
        home_agent: HA,
        router: None,
        spi: own.spi,
        key: own.key,
        replay,
        links: vec![
            link("wlan0", OwnLinkKind::Link),
            link("mesh0", OwnLinkKind::Mesh),
            link("ppp0", OwnLinkKind::CoLocated),
        ],
        lifetime_s: 60,
        reverse_tunnel: true,
        foreign_agents: Vec::new(),
        only_known_agents: false,
    }
}

pub(crate) fn mobile_node(replay: Replay) -> Subject<MobileNode> {
    mobile_node_with(mobile_params(replay))
}
pub(crate) fn mobile_node_with(params: MobileNodeParams) -> Subject<MobileNode> {
    Subject::new(MobileNode::new(params), clock(0.0), 2)
}

/// Gives an application something, and returns what it asks for, besides timers and lines of a log.
pub(crate) fn give<A: Application>(
    subject: &mut Subject<A>,
    now: Clock,
    input: NetworkInput<'_>,
) -> Vec<ApplicationEffect> {
    subject.set_clock(now);
    subject.call(now.at, ApplicationInput::Network(input))
}

/// The application's timer fires, or a later moment has come.
pub(crate) fn wake<A: Application>(subject: &mut Subject<A>, now: Clock) -> Vec<ApplicationEffect> {
    subject.set_clock(now);
    subject.timer = None;
    subject.call(now.at, ApplicationInput::Timer(TimerKey(0)))
}

pub(crate) fn tunnelled(link: u8, packet: &[u8]) -> NetworkInput<'_> {
    NetworkInput::Tunnelled { link, packet: packet.into() }
}
pub(crate) fn outbound(packet: &[u8]) -> NetworkInput<'_> {
    NetworkInput::Outbound(packet.into())
}
pub(crate) fn icmp(link: u8, src: Ipv4Addr, message: &[u8]) -> NetworkInput<'_> {
    NetworkInput::Icmp { link, src, message: message.into() }
}
fn octets_of(message: arp::Repr) -> Vec<u8> {
    let mut octets = vec![0; message.buffer_len()];
    message.emit(&mut octets);
    octets
}
pub(crate) fn heard_arp(link: u8, message: arp::Repr) -> NetworkInput<'static> {
    NetworkInput::Arp { link, message: Cow::Owned(octets_of(message)) }
}
pub(crate) fn sent_arp(link: u8, to: Mac, message: arp::Repr) -> ApplicationEffect {
    ApplicationEffect::Network(NetworkEffect::Arp { link, to, message: octets_of(message) })
}

/// Who asks by ARP for the mobile node's home address.
pub(crate) fn asks_for_home(sender_mac: Mac, sender: Ipv4Addr) -> arp::Repr {
    arp::Repr {
        operation: arp::Operation::Request,
        sender_mac,
        sender,
        target_mac: Mac([0; 6]),
        target: HOME,
    }
}
/// Who answers for that address, and to whom.
pub(crate) fn answers_for_home(sender_mac: Mac, target_mac: Mac, target: Ipv4Addr) -> arp::Repr {
    arp::Repr { operation: arp::Operation::Reply, sender_mac, sender: HOME, target_mac, target }
}

pub(crate) const fn intercept() -> ApplicationEffect {
    ApplicationEffect::Network(NetworkEffect::Intercept(HOME))
}
pub(crate) const fn release() -> ApplicationEffect {
    ApplicationEffect::Network(NetworkEffect::Release(HOME))
}
/// The packet that is given to the host's stack.
pub(crate) fn delivered(out: &[ApplicationEffect]) -> Option<&[u8]> {
    let one = |e| {
        if let &ApplicationEffect::Network(NetworkEffect::Deliver(ref p)) = e { Some(&p[..]) } else { None }
    };
    out.iter().find_map(one)
}
/// What is to be remembered.
pub(crate) fn kept(e: &ApplicationEffect) -> Option<&Value> {
    if let ApplicationEffect::Network(NetworkEffect::Remember(_, value)) = e { Some(value) } else { None }
}

/// The figure of a note about an address, if there is one.
pub(crate) fn noted(out: &[ApplicationEffect], what: &str, about: Ipv4Addr) -> Option<u64> {
    let about = Addr::from(about);
    out.iter().find_map(|e| match e {
        ApplicationEffect::Note(n) if n.what == what && n.about == about => Some(n.value),
        _ => None,
    })
}
/// Whether a message was not believed, and nothing else happened.
pub(crate) fn is_disbelief(out: &[ApplicationEffect]) -> bool {
    matches!(out, [ApplicationEffect::Note(TraceNote { what: "mip_not_believed", .. })])
}

/// A datagram from port 434.
pub(crate) fn say<A: Application>(
    subject: &mut Subject<A>,
    now: Clock,
    link: u8,
    src: Ipv4Addr,
    data: &[u8],
) -> Vec<ApplicationEffect> {
    say_from(subject, now, link, SocketAddrV4::new(src, 434), data)
}
pub(crate) fn say_from<A: Application>(
    subject: &mut Subject<A>,
    now: Clock,
    link: u8,
    from: SocketAddrV4,
    data: &[u8],
) -> Vec<ApplicationEffect> {
    give(subject, now, NetworkInput::Datagram { link, from, data: data.into() })
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

/// The reply to a request, without an authenticator.
pub(crate) fn answer(request: &Request, code: Code) -> Reply {
    let &Request { lifetime_s, home, home_agent, identification, .. } = request;
    Reply { code, lifetime_s, home, home_agent, identification }
}
/// A reply with the authenticator of the home agent.
pub(crate) fn reply_signed(reply: &Reply) -> Vec<u8> {
    let mut message = vec![0; Reply::LEN];
    reply.emit(&mut message);
    sign(&mut message, AuthKind::MobileHome, &key(256, Replay::Timestamps));
    message
}

/// What is sent: by which link, and the packet.
pub(crate) fn sent(out: &[ApplicationEffect]) -> Vec<(Option<u8>, &[u8])> {
    let send = |e| match e {
        &ApplicationEffect::Network(NetworkEffect::Send { link, ref packet }) => Some((link, &packet[..])),
        _ => None,
    };
    out.iter().filter_map(send).collect()
}

/// The first packet that is sent, and by which link.
pub(crate) fn first_packet(out: &[ApplicationEffect]) -> (Option<u8>, ipv4::Packet<'_>) {
    let (link, packet) = sent(out)[0];
    (link, ipv4::Packet::new_checked(packet).expect("an IP packet"))
}

/// What datagrams are sent: to whom, and what they carry. Their checksums are right.
pub(crate) fn datagrams(out: &[ApplicationEffect]) -> Vec<(Ipv4Addr, Vec<u8>)> {
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
pub(crate) fn replies(out: &[ApplicationEffect]) -> Vec<Reply> {
    let read = |(_, d): &(Ipv4Addr, Vec<u8>)| match Message::parse(d) {
        Ok(Message::Reply(r, _)) => Some(r),
        _ => None,
    };
    datagrams(out).iter().filter_map(read).collect()
}
/// The code of the only reply that is sent.
pub(crate) fn code(out: &[ApplicationEffect]) -> u8 {
    let all = replies(out);
    assert_eq!(all.len(), 1, "{out:?}");
    all[0].code.0
}
/// The requests that are sent, and to whom.
pub(crate) fn requests(out: &[ApplicationEffect]) -> Vec<(Ipv4Addr, Request)> {
    let read = |(to, d): &(Ipv4Addr, Vec<u8>)| match Message::parse(d) {
        Ok(Message::Request(r, _)) => Some((*to, r)),
        _ => None,
    };
    datagrams(out).iter().filter_map(read).collect()
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
