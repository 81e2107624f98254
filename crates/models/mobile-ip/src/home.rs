//! The home agent (section 3.8): bindings, and the tunnels that follow from them.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_core::{Mac, Rng, Span, Time};
use wayhop_wire::mobile_ip::{
    AgentFlags, AuthKind, Code, Discovery, Extensions, INFINITE, Message, Reply, Request, RequestFlags,
};
use wayhop_wire::{arp, ipv4};

use crate::advertising::{Advertiser, AgentAdvertisement};
use crate::engine::{Clock, Engine, Input, LinkId, Output};
use crate::event::Event;
use crate::identification::Guard;
use crate::memory::{KnownBinding, KnownMobile};
use crate::packets;
use crate::rate::Rate;
use crate::security::{Association, Verdict, seal, verify};

/// Replies that refuse something, a second: strangers must not make a home agent a source of traffic.
const REFUSALS: u32 = 10;
/// Bindings of one mobile node at a time (section 3.8.3.1: the agent's choice).
const MAX_BINDINGS: usize = 4;
/// How often the home link is told by ARP where a mobile node's packets go now, a second apart: one may be lost (section 4.6).
const ANNOUNCEMENTS: u32 = 3;
const BETWEEN_ANNOUNCEMENTS: Span = Span::from_secs(1);

/// What a home agent is told.
#[derive(Clone, Debug)]
pub struct HomeConfig {
    /// Its link with the home network, and how it advertises there. Its address there is that of the home agent.
    pub home_link: AgentAdvertisement,
    /// The link address of its interface there.
    pub mac: Mac,
    /// Its mobile nodes.
    pub mobiles: Vec<MobileAccount>,
    /// Keys that it shares with foreign agents. A request by one of these without an authenticator is refused.
    pub foreign_agents: Vec<(Ipv4Addr, Association)>,
    /// What an earlier life of this agent knew. Of mobile nodes that it has no more it means nothing.
    pub known: Vec<KnownMobile>,
}

/// A mobile node, as its home agent knows it.
#[derive(Clone, Debug)]
pub struct MobileAccount {
    /// Its home address.
    pub home: Ipv4Addr,
    /// The key that they share.
    pub association: Association,
}

/// What the agent remembers of a mobile node.
#[derive(Debug)]
struct Mobile {
    association: Association,
    guard: Guard,
    bindings: Vec<Binding>,
    /// Its link address at home, if it was heard there.
    mac: Option<Mac>,
    /// How often and when its place is announced on the home link yet.
    announcements: u32,
    announce_at: Time,
}

#[derive(Copy, Clone, Debug)]
struct Binding {
    care_of: Ipv4Addr,
    until: Time,
    is_reverse: bool,
    granted_ntp: u64,
    lifetime_s: u16,
}

/// A home agent.
#[derive(Debug)]
pub struct HomeAgent {
    addr: Ipv4Addr,
    link: LinkId,
    mac: Mac,
    max_lifetime_s: u16,
    mobiles: BTreeMap<Ipv4Addr, Mobile>,
    foreign_agents: BTreeMap<Ipv4Addr, Association>,
    advertiser: Advertiser,
    refusals: Rate,
    /// Who was away when an earlier life of this agent ended, until the host has heard of it.
    resumed: Vec<Ipv4Addr>,
    id: u16,
    rng: Rng,
}

/// Where a request came from, and where its reply goes.
#[derive(Copy, Clone)]
struct Sender {
    addr: Ipv4Addr,
    port: u16,
}

impl HomeAgent {
    /// A home agent with the bindings that it is told of and that have not ended.
    pub fn new(config: HomeConfig, now: Clock, mut rng: Rng) -> Self {
        let mobile = |account: MobileAccount, rng: &mut Rng| Mobile {
            guard: Guard::new(account.association.replay, now.ntp, rng),
            association: account.association,
            bindings: Vec::new(),
            mac: None,
            announcements: 0,
            announce_at: Time::NEVER,
        };
        let mut mobiles: BTreeMap<_, _> =
            config.mobiles.into_iter().map(|a| (a.home, mobile(a, &mut rng))).collect();
        let mut resumed = Vec::new();
        for known in config.known {
            if let Some(mobile) = mobiles.get_mut(&known.home)
                && resume(mobile, &known, now)
            {
                resumed.push(known.home);
            }
        }
        let flags = AgentFlags::HOME_AGENT | AgentFlags::REVERSE_TUNNEL;
        Self {
            addr: config.home_link.addr,
            link: config.home_link.link,
            mac: config.mac,
            max_lifetime_s: config.home_link.registration_lifetime_s,
            mobiles,
            foreign_agents: config.foreign_agents.into_iter().collect(),
            advertiser: Advertiser::new(config.home_link, flags, &[], now.at),
            refusals: Rate::per_second(REFUSALS),
            resumed,
            id: 0,
            rng,
        }
    }

    /// Where a mobile node is: its care-of addresses.
    pub fn bindings(&self, home: Ipv4Addr) -> impl Iterator<Item = Ipv4Addr> + '_ {
        self.mobiles.get(&home).into_iter().flat_map(|m| m.bindings.iter().map(|b| b.care_of))
    }

    fn udp(&mut self, now: Clock, from: Sender, payload: &[u8], out: &mut Vec<Output>) {
        let Ok(Message::Request(request, extensions)) = Message::parse(payload) else { return };
        let code = self.judge(now, from, &request, &extensions);
        // Only a request whose authenticator is right has used its identification.
        let was_new = code.is_accepted() || code.0 > Code::HOME_IDENTIFICATION.0;
        if !code.is_accepted() {
            out.push(Output::Event(Event::Refused { home: request.home, from: from.addr, code }));
            if was_new {
                self.remember(request.home, out);
            }
            if self.refusals.take(now.at) {
                self.reply(now, from, &request, (code, 0, was_new), out);
            }
            return;
        }
        let lifetime_s = match request.lifetime_s {
            0 => 0,
            asked => asked.min(self.max_lifetime_s),
        };
        self.bind(now, &request, lifetime_s, out);
        self.remember(request.home, out);
        self.reply(now, from, &request, (code, lifetime_s, true), out);
    }

    /// What a request deserves (section 3.8.2.1).
    fn judge(&mut self, now: Clock, from: Sender, request: &Request, extensions: &Extensions<'_>) -> Code {
        let Some(mobile) = self.mobiles.get_mut(&request.home) else { return Code::HOME_PROHIBITED };
        if verify(extensions, AuthKind::MobileHome, &mobile.association) != Verdict::Right {
            return Code::HOME_MOBILE_AUTHENTICATION;
        }
        if let Some(shared) = self.foreign_agents.get(&from.addr)
            && verify(extensions, AuthKind::ForeignHome, shared) != Verdict::Right
        {
            return Code::HOME_FOREIGN_AUTHENTICATION;
        }
        if !mobile.guard.accept(request.identification, now.ntp, &mut self.rng) {
            return Code::HOME_IDENTIFICATION;
        }
        let is_home = request.care_of == request.home;
        if request.home_agent != self.addr {
            Code::HOME_UNKNOWN_AGENT
        } else if !ipv4::is_host(request.care_of)
            || request.care_of == self.addr
            || is_home && request.lifetime_s != 0
        {
            Code::HOME_POOR_REQUEST
        } else if request.flags.has(RequestFlags::GRE)
            || request.flags.has(RequestFlags::MINIMAL_ENCAPSULATION)
        {
            Code::HOME_ENCAPSULATION
        } else if request.flags.has(RequestFlags::SIMULTANEOUS)
            && request.lifetime_s != 0
            && mobile.bindings.len() >= MAX_BINDINGS
            && mobile.bindings.iter().all(|b| b.care_of != request.care_of)
        {
            Code::HOME_TOO_MANY
        } else {
            Code::ACCEPTED
        }
    }

    /// Does what an accepted request asks for (section 3.8.2.2).
    fn bind(&mut self, now: Clock, request: &Request, lifetime_s: u16, out: &mut Vec<Output>) {
        let (home, care_of) = (request.home, request.care_of);
        let Some(mobile) = self.mobiles.get_mut(&home) else { return };
        let was_away = !mobile.bindings.is_empty();
        if lifetime_s == 0 {
            mobile.bindings.retain(|b| care_of != home && b.care_of != care_of);
        } else {
            let keeps = request.flags.has(RequestFlags::SIMULTANEOUS);
            mobile.bindings.retain(|b| keeps && b.care_of != care_of);
            mobile.bindings.push(Binding {
                care_of,
                until: expiry(now.at, lifetime_s),
                is_reverse: request.flags.has(RequestFlags::REVERSE_TUNNEL),
                granted_ntp: now.ntp,
                lifetime_s,
            });
            out.push(Output::Event(Event::Bound { home, care_of, lifetime_s }));
        }
        self.follow(now.at, home, was_away, out);
    }

    /// Before anything is answered: an identification that is forgotten could be used again.
    fn remember(&self, home: Ipv4Addr, out: &mut Vec<Output>) {
        let Some(m) = self.mobiles.get(&home) else { return };
        let known = |b: &Binding| KnownBinding {
            care_of: b.care_of,
            is_reverse: b.is_reverse,
            granted_ntp: b.granted_ntp,
            lifetime_s: b.lifetime_s,
        };
        out.push(Output::Remember(KnownMobile {
            home,
            identification: m.guard.last_accepted(),
            bindings: m.bindings.iter().map(known).collect(),
        }));
    }

    /// The home link and the host hear of the bindings that an earlier life of this agent made.
    fn tell_resumed(&mut self, now: Time, out: &mut Vec<Output>) {
        for home in std::mem::take(&mut self.resumed) {
            let Some(mobile) = self.mobiles.get_mut(&home) else { continue };
            for b in &mobile.bindings {
                let left = (b.until != Time::NEVER).then(|| b.until.since(now));
                out.push(Output::Event(Event::Resumed { home, care_of: b.care_of, left }));
            }
            self.follow(now, home, false, out);
        }
    }

    /// The home link and the host follow when a mobile node left or came back.
    fn follow(&mut self, now: Time, home: Ipv4Addr, was_away: bool, out: &mut Vec<Output>) {
        let Some(mobile) = self.mobiles.get_mut(&home) else { return };
        let is_away = !mobile.bindings.is_empty();
        if is_away == was_away {
            return;
        }
        if is_away {
            out.push(Output::Intercept(home));
        } else {
            out.push(Output::Release(home));
            out.push(Output::Event(Event::Returned(home)));
        }
        mobile.announcements = ANNOUNCEMENTS;
        mobile.announce_at = now;
        self.announce(now, out);
    }

    /// Tells the home link by ARP, without being asked, where a mobile node's packets go (section 4.6).
    fn announce(&mut self, now: Time, out: &mut Vec<Output>) {
        for (home, mobile) in &mut self.mobiles {
            if mobile.announce_at > now {
                continue;
            }
            mobile.announcements = mobile.announcements.saturating_sub(1);
            mobile.announce_at =
                if mobile.announcements == 0 { Time::NEVER } else { now + BETWEEN_ANNOUNCEMENTS };
            // Of one that came back the agent may have heard nothing yet: it speaks for itself.
            let mac = if mobile.bindings.is_empty() { mobile.mac } else { Some(self.mac) };
            out.extend(mac.map(|mac| gratuitous(self.link, *home, mac)));
        }
    }

    fn reply(
        &mut self,
        now: Clock,
        to: Sender,
        request: &Request,
        (code, lifetime_s, was_new): (Code, u16, bool),
        out: &mut Vec<Output>,
    ) {
        let mobile = self.mobiles.get(&request.home);
        let identification = match mobile {
            Some(m) => m.guard.of_reply(request.identification, was_new, now.ntp),
            None => request.identification,
        };
        let reply = Reply { code, lifetime_s, home: request.home, home_agent: self.addr, identification };
        let mut message = vec![0; Reply::LEN];
        reply.emit(&mut message);
        if let Some(m) = mobile {
            seal(&mut message, AuthKind::MobileHome, &m.association);
        }
        if let Some(shared) = self.foreign_agents.get(&to.addr) {
            seal(&mut message, AuthKind::ForeignHome, shared);
        }
        // At home, the reply must not go into the tunnel's interface.
        let link = (to.addr == request.home).then_some(self.link);
        out.push(Output::Send { link, packet: packets::datagram(self.addr, to.addr, to.port, &message) });
    }

    /// A packet for a mobile node that is away, by the host's own route: into all of its tunnels.
    fn outbound(&mut self, packet: &[u8], out: &mut Vec<Output>) {
        let Some((_, dst)) = ipv4::ends(packet) else { return };
        let Some(mobile) = self.mobiles.get(&dst) else { return };
        for b in &mobile.bindings {
            let outer = packets::tunnelled(self.addr, b.care_of, &mut self.id, packet);
            out.extend(outer.map(|packet| Output::Send { link: None, packet }));
        }
    }

    /// A packet of a mobile node by its reverse tunnel (RFC 3024, section 4.3): only from where it is.
    fn tunnelled(&mut self, packet: &[u8], out: &mut Vec<Output>) {
        let Some((from, to, inner)) = packets::untunnelled(packet) else { return };
        let is_bound = |m: &Mobile| m.bindings.iter().any(|b| b.is_reverse && b.care_of == from);
        if to == self.addr && self.mobiles.get(&inner.src()).is_some_and(is_bound) {
            out.extend(packets::forwarded(&inner).map(Output::Deliver));
        } else {
            out.push(Output::Event(Event::NotBelieved { from, why: "no binding has this tunnel" }));
        }
    }

    /// ARP on the home link: the agent answers for who is away, and remembers the others (section 4.6).
    fn arp(&mut self, link: LinkId, heard: arp::Repr, out: &mut Vec<Output>) {
        if link != self.link {
            return;
        }
        if let Some(m) = self.mobiles.get_mut(&heard.sender)
            && heard.sender_mac != self.mac
        {
            m.mac = Some(heard.sender_mac);
        }
        let is_away = self.mobiles.get(&heard.target).is_some_and(|m| !m.bindings.is_empty());
        // Who asks for its own address looks whether somebody else has it, as a mobile node that has just come back.
        if heard.operation == arp::Operation::Request && is_away && heard.sender != heard.target {
            let message = arp::Repr {
                operation: arp::Operation::Reply,
                sender_mac: self.mac,
                sender: heard.target,
                target_mac: heard.sender_mac,
                target: heard.sender,
            };
            out.push(Output::Arp { link, to: heard.sender_mac, message });
        }
    }

    fn expire(&mut self, now: Time, out: &mut Vec<Output>) {
        let expired = |m: &Mobile| m.bindings.iter().any(|b| b.until <= now);
        let homes: Vec<Ipv4Addr> = self.mobiles.iter().filter(|(_, m)| expired(m)).map(|(h, _)| *h).collect();
        for home in homes {
            let Some(mobile) = self.mobiles.get_mut(&home) else { continue };
            let ended = mobile.bindings.iter().filter(|b| b.until <= now);
            out.extend(ended.map(|b| Output::Event(Event::Expired { home, care_of: b.care_of })));
            mobile.bindings.retain(|b| b.until > now);
            self.follow(now, home, true, out);
        }
    }
}

impl Engine for HomeAgent {
    fn input(&mut self, now: Clock, input: Input<'_>, out: &mut Vec<Output>) {
        match input {
            Input::Icmp { link, src, message } => {
                if link == self.link && Discovery::parse(message) == Ok(Discovery::Solicitation) {
                    self.advertiser.solicited(now.at, src, false, out);
                }
            }
            Input::Udp { src, src_port, payload, .. } => {
                self.udp(now, Sender { addr: src, port: src_port }, payload, out);
            }
            Input::Tunnelled { packet, .. } => self.tunnelled(packet, out),
            Input::Outbound(packet) => self.outbound(packet, out),
            Input::Arp { link, message } => self.arp(link, message, out),
            Input::Link { link, state } => {
                if link == self.link
                    && let Some(mac) = state.mac
                {
                    self.mac = mac;
                }
            }
            Input::Timer => {
                self.tell_resumed(now.at, out);
                self.expire(now.at, out);
                self.announce(now.at, out);
                self.advertiser.run_due(now.at, false, out);
            }
        }
    }

    fn next(&self) -> Option<Time> {
        let of_mobiles =
            self.mobiles.values().flat_map(|m| m.bindings.iter().map(|b| b.until).chain([m.announce_at]));
        of_mobiles.chain([self.advertiser.next()]).min().filter(|at| *at != Time::NEVER)
    }
}

/// Whether a mobile node is away, by what an earlier life of this agent knew.
fn resume(mobile: &mut Mobile, known: &KnownMobile, now: Clock) -> bool {
    if let Some(last) = known.identification {
        mobile.guard.resume(last);
    }
    let bindings = known.bindings.iter().filter_map(|b| {
        let until = b.expiry(now)?;
        let KnownBinding { care_of, is_reverse, granted_ntp, lifetime_s } = *b;
        Some(Binding { care_of, until, is_reverse, granted_ntp, lifetime_s })
    });
    mobile.bindings = bindings.take(MAX_BINDINGS).collect();
    !mobile.bindings.is_empty()
}

/// When a lifetime ends.
pub(crate) fn expiry(now: Time, lifetime_s: u16) -> Time {
    if lifetime_s == INFINITE { Time::NEVER } else { now + Span::from_secs(lifetime_s.into()) }
}

/// An ARP message by which all on a link learn where the packets for an address go.
pub(crate) fn gratuitous(link: LinkId, addr: Ipv4Addr, mac: Mac) -> Output {
    let message = arp::Repr {
        operation: arp::Operation::Request,
        sender_mac: mac,
        sender: addr,
        target_mac: Mac([0; 6]),
        target: addr,
    };
    Output::Arp { link, to: Mac([0xff; 6]), message }
}
