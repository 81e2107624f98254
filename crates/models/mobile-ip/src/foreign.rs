//! The foreign agent (section 3.7): it passes requests on, and is the end of its visitors' tunnels.
//!
//! To its visitors it is a tunnel, too: it gives them what comes for them, and takes what they send in packets of protocol 4
//! (RFC 3024, section 5.2, has that for one direction). In a mesh, which knows the mobile node by its address there and not by its home
//! address, it does so in both.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};
use wayhop_wire::ipv4;
use wayhop_wire::mobile_ip::{
    AgentFlags, AuthKind, Code, Discovery, Extensions, Message, Reply, Request, RequestFlags,
};

use crate::advertising::{Advertiser, AgentAdvertisement};
use crate::engine::{Clock, Engine, Input, LinkId, Output};
use crate::event::Event;
use crate::home::expiry;
use crate::identification::low;
use crate::packets;
use crate::rate::Rate;
use crate::security::{Association, Verdict, seal, verify};

/// Requests that wait for the home agent's reply.
const MAX_PENDING: usize = 64;
/// How many of them one address on a link may have: the mobile node and a few retransmissions.
const MAX_PENDING_OF_ONE: usize = 4;
/// How long a request waits (section 3.7.2.3: at most 7 s where the lifetime of the request does not say less).
const PATIENCE: Span = Span::from_secs(7);
/// Replies that refuse something, and requests passed on, a second.
const REFUSALS: u32 = 10;
const RELAYED: u32 = 50;

/// What a foreign agent is told.
#[derive(Clone, Debug)]
pub struct ForeignConfig {
    /// Its address towards the home agents, which is the care-of address of its visitors.
    pub care_of: Ipv4Addr,
    /// The links that mobile nodes visit.
    pub links: Vec<ForeignLink>,
    /// Keys that it shares with mobile nodes, by home address. A request of one of these without an authenticator is refused.
    pub mobiles: Vec<(Ipv4Addr, Association)>,
    /// Keys that it shares with home agents. A reply of one of these without an authenticator is not believed.
    pub home_agents: Vec<(Ipv4Addr, Association)>,
    /// How many visitors it has at most.
    pub max_visitors: usize,
}

/// A link that mobile nodes visit.
#[derive(Clone, Debug)]
pub struct ForeignLink(pub AgentAdvertisement);

/// A request on its way.
#[derive(Copy, Clone, Debug)]
struct RelayedRequest {
    link: LinkId,
    source: (Ipv4Addr, u16),
    home: Ipv4Addr,
    home_agent: Ipv4Addr,
    lifetime_s: u16,
    /// The whole, for a reply of this agent's own; its lower half names the request in the home agent's.
    identification: u64,
    until: Time,
}

#[derive(Copy, Clone, Debug)]
struct Visitor {
    link: LinkId,
    /// Its address on the link.
    at: Ipv4Addr,
    home_agent: Ipv4Addr,
    until: Time,
}

/// A foreign agent.
#[derive(Debug)]
pub struct ForeignAgent {
    care_of: Ipv4Addr,
    links: BTreeMap<LinkId, Advertiser>,
    mobiles: BTreeMap<Ipv4Addr, Association>,
    home_agents: BTreeMap<Ipv4Addr, Association>,
    max_visitors: usize,
    /// The oldest first.
    pending: Vec<RelayedRequest>,
    visitors: BTreeMap<Ipv4Addr, Visitor>,
    refusals: Rate,
    relayed: Rate,
    id: u16,
}

impl ForeignAgent {
    /// A foreign agent without visitors.
    pub fn new(config: ForeignConfig, now: Clock) -> Self {
        let flags =
            AgentFlags::FOREIGN_AGENT | AgentFlags::REVERSE_TUNNEL | AgentFlags::REGISTRATION_REQUIRED;
        let care_of = [config.care_of];
        let link = |l: ForeignLink| (l.0.link, Advertiser::new(l.0, flags, &care_of, now.at));
        Self {
            care_of: config.care_of,
            links: config.links.into_iter().map(link).collect(),
            mobiles: config.mobiles.into_iter().collect(),
            home_agents: config.home_agents.into_iter().collect(),
            max_visitors: config.max_visitors,
            pending: Vec::new(),
            visitors: BTreeMap::new(),
            refusals: Rate::per_second(REFUSALS),
            relayed: Rate::per_second(RELAYED),
            id: 0,
        }
    }

    /// The mobile nodes that visit, and their addresses on their links.
    pub fn visitors(&self) -> impl Iterator<Item = (Ipv4Addr, Ipv4Addr)> + '_ {
        self.visitors.iter().map(|(home, v)| (*home, v.at))
    }
    /// How many requests wait for a reply.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    fn is_busy(&self) -> bool {
        self.visitors.len() >= self.max_visitors
    }

    fn request(
        &mut self,
        now: Clock,
        link: LinkId,
        source: (Ipv4Addr, u16),
        (request, extensions): (&Request, &Extensions<'_>),
        out: &mut Vec<Output>,
    ) {
        let Some(advertiser) = self.links.get(&link) else { return };
        let p = RelayedRequest {
            link,
            source,
            home: request.home,
            home_agent: request.home_agent,
            lifetime_s: request.lifetime_s,
            identification: request.identification,
            until: now.at + PATIENCE,
        };
        let max_lifetime_s = advertiser.config.registration_lifetime_s;
        let code = self.judge(max_lifetime_s, request, extensions);
        if code.is_accepted() {
            if self.relayed.take(now.at)
                && let Some(passed_on) = extensions.up_to(AuthKind::MobileHome)
            {
                self.pass_on(p, passed_on, out);
            }
            return;
        }
        out.push(Output::Event(Event::Refused { home: request.home, from: source.0, code }));
        if self.refusals.take(now.at) {
            // The longest lifetime that would do (section 3.4 for code 69).
            let lifetime_s = if code == Code::FOREIGN_LIFETIME { max_lifetime_s } else { 0 };
            self.refuse(&p, code, lifetime_s, out);
        }
    }

    /// What a request deserves (section 3.7.2.1; RFC 3024, section 4.2).
    fn judge(&self, max_lifetime_s: u16, request: &Request, extensions: &Extensions<'_>) -> Code {
        let has = |flag| request.flags.has(flag);
        let is_new = !self.visitors.contains_key(&request.home);
        if let Some(shared) = self.mobiles.get(&request.home)
            && verify(extensions, AuthKind::MobileForeign, shared) != Verdict::Right
        {
            Code::FOREIGN_MOBILE_AUTHENTICATION
        } else if extensions.authentication(AuthKind::MobileHome).is_none()
            || !ipv4::is_host(request.home)
            || !ipv4::is_host(request.home_agent)
            || self.is_own(request.home)
            || self.is_own(request.home_agent)
        {
            Code::FOREIGN_POOR_REQUEST
        } else if request.care_of != self.care_of {
            Code::FOREIGN_CARE_OF
        } else if has(RequestFlags::GRE) || has(RequestFlags::MINIMAL_ENCAPSULATION) {
            Code::FOREIGN_ENCAPSULATION
        } else if !has(RequestFlags::REVERSE_TUNNEL) {
            Code::FOREIGN_REVERSE_MANDATORY
        } else if !extensions.asks_for_encapsulating_delivery() {
            Code::FOREIGN_DELIVERY_STYLE
        } else if request.lifetime_s > max_lifetime_s {
            Code::FOREIGN_LIFETIME
        } else if is_new && request.lifetime_s > 0 && self.is_busy() {
            Code::FOREIGN_RESOURCES
        } else {
            Code::ACCEPTED
        }
    }

    fn is_own(&self, addr: Ipv4Addr) -> bool {
        addr == self.care_of || self.links.values().any(|l| l.config.addr == addr)
    }

    /// Passes a request on to the home agent, without what was for this agent (section 3.7.2.2).
    fn pass_on(&mut self, p: RelayedRequest, request: &[u8], out: &mut Vec<Output>) {
        // A stranger who sends many pushes out its own, and only then the oldest of others.
        self.pending.retain(|q| (q.source.0, q.identification) != (p.source.0, p.identification));
        let own = self.pending.iter().filter(|q| q.source.0 == p.source.0).count();
        let of_own = |q: &RelayedRequest| q.source.0 == p.source.0;
        if own >= MAX_PENDING_OF_ONE {
            let first = self.pending.iter().position(of_own);
            first.map(|i| self.pending.remove(i));
        } else if self.pending.len() >= MAX_PENDING {
            self.pending.remove(0);
        }
        self.pending.push(p);
        let mut message = request.to_vec();
        if let Some(shared) = self.home_agents.get(&p.home_agent) {
            seal(&mut message, AuthKind::ForeignHome, shared);
        }
        let port = wayhop_wire::mobile_ip::PORT;
        out.push(Output::Send {
            link: None,
            packet: packets::datagram(self.care_of, p.home_agent, port, &message),
        });
    }

    /// A reply of this agent's own.
    fn refuse(&mut self, p: &RelayedRequest, code: Code, lifetime_s: u16, out: &mut Vec<Output>) {
        let RelayedRequest { home, home_agent, identification, .. } = *p;
        let mut message = vec![0; Reply::LEN];
        Reply { code, lifetime_s, home, home_agent, identification }.emit(&mut message);
        self.tell_mobile(p, message, out);
    }

    /// Gives a mobile node a reply.
    fn tell_mobile(&mut self, p: &RelayedRequest, mut message: Vec<u8>, out: &mut Vec<Output>) {
        let Some(advertiser) = self.links.get(&p.link) else { return };
        if let Some(shared) = self.mobiles.get(&p.home) {
            seal(&mut message, AuthKind::MobileForeign, shared);
        }
        let packet = packets::datagram(advertiser.config.addr, p.source.0, p.source.1, &message);
        out.push(Output::Send { link: Some(p.link), packet });
    }

    /// A reply of a home agent (section 3.7.3).
    fn reply(
        &mut self,
        now: Clock,
        from: Ipv4Addr,
        (reply, extensions): (&Reply, &Extensions<'_>),
        out: &mut Vec<Output>,
    ) {
        let answers = |p: &RelayedRequest| {
            p.home == reply.home && p.home_agent == from && low(p.identification) == low(reply.identification)
        };
        let Some(at) = self.pending.iter().position(answers) else {
            return out
                .push(Output::Event(Event::NotBelieved { from, why: "a reply that nobody waits for" }));
        };
        if let Some(shared) = self.home_agents.get(&from)
            && verify(extensions, AuthKind::ForeignHome, shared) != Verdict::Right
        {
            // The true one may come yet.
            return out.push(Output::Event(Event::NotBelieved { from, why: "its authenticator is wrong" }));
        }
        let p = self.pending.remove(at);
        let Some(passed_on) = extensions.up_to(AuthKind::MobileHome) else {
            return self.refuse(&p, Code::FOREIGN_POOR_REPLY, 0, out);
        };
        if reply.code.is_accepted() {
            self.visit(now.at, &p, reply.lifetime_s.min(p.lifetime_s), out);
        }
        self.tell_mobile(&p, passed_on.to_vec(), out);
    }

    fn visit(&mut self, now: Time, p: &RelayedRequest, lifetime_s: u16, out: &mut Vec<Output>) {
        if lifetime_s == 0 {
            self.visitors.remove(&p.home);
            return;
        }
        // The list may have filled while the reply was under way.
        if self.is_busy() && !self.visitors.contains_key(&p.home) {
            return;
        }
        let visitor = Visitor {
            link: p.link,
            at: p.source.0,
            home_agent: p.home_agent,
            until: expiry(now, lifetime_s),
        };
        self.visitors.insert(p.home, visitor);
        out.push(Output::Event(Event::Visits { home: p.home, at: visitor.at, lifetime_s }));
    }

    /// A packet in a tunnel: of a home agent for a visitor, or of a visitor for its home agent. All others end here: whoever does
    /// not visit must not have its packets go round between agents (section 4.2.2).
    fn tunnelled(&mut self, link: LinkId, packet: &[u8], out: &mut Vec<Output>) {
        let Some((from, to, inner)) = packets::untunnelled(packet) else { return };
        let Some(octets) = packets::forwarded(&inner) else { return };
        if to == self.care_of
            && let Some(v) = self.visitors.get(&inner.dst()).filter(|v| v.home_agent == from)
            && let Some(advertiser) = self.links.get(&v.link)
        {
            let own = advertiser.config.addr;
            // On a link, a mobile node is known by its home address.
            let packet = if v.at == inner.dst() {
                Some(octets)
            } else {
                packets::tunnelled(own, v.at, &mut self.id, &octets)
            };
            out.extend(packet.map(|packet| Output::Send { link: Some(v.link), packet }));
        } else if let Some(advertiser) = self.links.get(&link)
            && to == advertiser.config.addr
            && let Some(v) = self.visitors.get(&inner.src()).filter(|v| v.link == link && v.at == from)
        {
            // The agent's host gets what is for itself; its mesh is nothing that the home agent knows a way to.
            let packet = if self.is_own(inner.dst()) {
                Some(octets)
            } else {
                packets::tunnelled(self.care_of, v.home_agent, &mut self.id, &octets)
            };
            out.extend(packet.map(|packet| Output::Send { link: None, packet }));
        } else {
            out.push(Output::Event(Event::NotBelieved { from, why: "no visitor has this tunnel" }));
        }
    }

    fn expire(&mut self, now: Time, out: &mut Vec<Output>) {
        let care_of = self.care_of;
        self.visitors.retain(|home, v| {
            let is_over = v.until <= now;
            if is_over {
                out.push(Output::Event(Event::Expired { home: *home, care_of }));
            }
            !is_over
        });
        while let Some(p) = self.pending.first().copied().filter(|p| p.until <= now) {
            self.pending.remove(0);
            if self.refusals.take(now) {
                self.refuse(&p, Code::FOREIGN_TIMEOUT, 0, out);
            }
        }
    }
}

impl Engine for ForeignAgent {
    fn input(&mut self, now: Clock, input: Input<'_>, out: &mut Vec<Output>) {
        match input {
            Input::Icmp { link, src, message } => {
                let is_busy = self.is_busy();
                if let Some(advertiser) = self.links.get_mut(&link)
                    && Discovery::parse(message) == Ok(Discovery::Solicitation)
                {
                    advertiser.solicited(now.at, src, is_busy, out);
                }
            }
            Input::Udp { link, src, src_port, payload } => match Message::parse(payload) {
                Ok(Message::Request(r, e)) => self.request(now, link, (src, src_port), (&r, &e), out),
                Ok(Message::Reply(r, e)) => self.reply(now, src, (&r, &e), out),
                Err(_) => {}
            },
            Input::Tunnelled { link, packet } => self.tunnelled(link, packet, out),
            Input::Timer => {
                self.expire(now.at, out);
                let is_busy = self.is_busy();
                self.links.values_mut().for_each(|l| l.run_due(now.at, is_busy, out));
            }
            Input::Outbound(_) | Input::Arp { .. } | Input::Link { .. } => {}
        }
    }

    fn next(&self) -> Option<Time> {
        let links = self.links.values().map(Advertiser::next);
        let visitors = self.visitors.values().map(|v| v.until);
        let pending = self.pending.first().map(|p| p.until);
        links.chain(visitors).chain(pending).min().filter(|at| *at != Time::NEVER)
    }
}
