//! The foreign agent (section 3.7): it passes requests on, and is the end of its visitors' tunnels.
//!
//! It also tunnels between itself and its visitors, in packets of protocol 4 (RFC 3024, section
//! 5.2, has that for one direction). In a mesh, which knows the mobile node by its address there
//! and not by its home address, it does so in both.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};

use wayhop_core::{
    Application, ApplicationCx, ApplicationParameters as _, LinkId, NetworkInput, Span, Time, TimerKey,
};
use wayhop_wire::ipv4;
use wayhop_wire::mobile_ip::{AgentFlags, AuthKind, Code, Extensions, Message, Reply, Request, RequestFlags};

use crate::advertising::Advertiser;
use crate::alarm::Alarm;
use crate::event::LogEvent;
use crate::home::expiry;
use crate::identification::low;
use crate::journal::Journal;
use crate::packets;
use crate::params::associations;
use crate::params::foreign_agent::ForeignAgentParams;
use crate::rate::Rate;
use crate::security::{Association, ExtensionVerdict, seal, verify};

/// Requests that wait for the home agent's reply.
const MAX_PENDING: usize = 64;
/// How many of them one address on a link may have: the mobile node and a few retransmissions.
const MAX_PENDING_OF_ONE: usize = 4;
/// How long a request waits (section 3.7.2.3: at most 7 s where the lifetime of the request does not say less).
const PATIENCE: Span = Span::from_secs(7);
/// Replies that refuse something, and requests passed on, a second.
const REFUSALS: u32 = 10;
const RELAYED: u32 = 50;

/// A request on its way.
#[derive(Copy, Clone, Debug)]
struct RelayedRequest {
    link: LinkId,
    source: SocketAddrV4,
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
    alarm: Alarm,
    journal: Journal,
    params: ForeignAgentParams,
}

impl ForeignAgent {
    /// A foreign agent without visitors.
    pub fn new(params: ForeignAgentParams) -> Self {
        let flags =
            AgentFlags::FOREIGN_AGENT | AgentFlags::REVERSE_TUNNEL | AgentFlags::REGISTRATION_REQUIRED;
        let every = Span::from_millis(params.advertise_every_ms);
        let link = |(link, is_mesh)| {
            (link, Advertiser::new(link, is_mesh, every, params.lifetime_s, flags, &[params.care_of]))
        };
        Self {
            care_of: params.care_of,
            links: (0..).zip(params.links.iter().map(|l| l.mesh)).map(link).collect(),
            mobiles: associations(&params.mobiles),
            home_agents: associations(&params.home_agents),
            max_visitors: params.max_visitors.into(),
            pending: Vec::new(),
            visitors: BTreeMap::new(),
            refusals: Rate::per_second(REFUSALS),
            relayed: Rate::per_second(RELAYED),
            id: 0,
            alarm: Alarm::new(),
            journal: Journal::new(params.links()),
            params,
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
        cx: &mut ApplicationCx<'_>,
        link: LinkId,
        source: SocketAddrV4,
        (request, extensions): (&Request, &Extensions<'_>),
    ) {
        let Some(advertiser) = self.links.get(&link) else { return };
        let Request { home, home_agent, lifetime_s, identification, .. } = *request;
        let until = cx.now() + PATIENCE;
        let p = RelayedRequest { link, source, home, home_agent, lifetime_s, identification, until };
        let max_lifetime_s = advertiser.registration_lifetime_s;
        let code = self.judge(max_lifetime_s, request, extensions);
        if code.is_accepted() {
            if self.relayed.take(cx.now())
                && let Some(passed_on) = extensions.up_to(AuthKind::MobileHome)
            {
                self.pass_on(cx, p, passed_on);
            }
            return;
        }
        self.journal.tell(cx, &LogEvent::Refused { home: request.home, from: *source.ip(), code });
        if self.refusals.take(cx.now()) {
            // The longest lifetime that would do (section 3.4 for code 69).
            let lifetime_s = if code == Code::FOREIGN_LIFETIME { max_lifetime_s } else { 0 };
            self.refuse(cx, &p, code, lifetime_s);
        }
    }

    /// What a request deserves (section 3.7.2.1; RFC 3024, section 4.2).
    fn judge(&self, max_lifetime_s: u16, request: &Request, extensions: &Extensions<'_>) -> Code {
        let has = |flag| request.flags.has(flag);
        let is_new = !self.visitors.contains_key(&request.home);
        if let Some(shared) = self.mobiles.get(&request.home)
            && verify(extensions, AuthKind::MobileForeign, shared) != ExtensionVerdict::Right
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
        addr == self.care_of || self.links.values().any(|l| l.addr == addr)
    }

    /// Passes a request on to the home agent, without what was for this agent (section 3.7.2.2).
    fn pass_on(&mut self, cx: &mut ApplicationCx<'_>, p: RelayedRequest, request: &[u8]) {
        // A stranger who sends many pushes out its own, and only then the oldest of others.
        let is_own = |q: &RelayedRequest| q.source.ip() == p.source.ip();
        self.pending.retain(|q| !is_own(q) || q.identification != p.identification);
        if self.pending.iter().filter(|q| is_own(q)).count() >= MAX_PENDING_OF_ONE {
            let first = self.pending.iter().position(is_own);
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
        packets::send(cx, None, packets::datagram(self.care_of, p.home_agent, port, &message));
    }

    /// A reply of this agent's own.
    fn refuse(&self, cx: &mut ApplicationCx<'_>, p: &RelayedRequest, code: Code, lifetime_s: u16) {
        let RelayedRequest { home, home_agent, identification, .. } = *p;
        let mut message = vec![0; Reply::LEN];
        Reply { code, lifetime_s, home, home_agent, identification }.emit(&mut message);
        self.tell_mobile(cx, p, message);
    }

    /// Gives a mobile node a reply.
    fn tell_mobile(&self, cx: &mut ApplicationCx<'_>, p: &RelayedRequest, mut message: Vec<u8>) {
        let Some(advertiser) = self.links.get(&p.link) else { return };
        if let Some(shared) = self.mobiles.get(&p.home) {
            seal(&mut message, AuthKind::MobileForeign, shared);
        }
        let packet = packets::datagram(advertiser.addr, *p.source.ip(), p.source.port(), &message);
        packets::send(cx, Some(p.link), packet);
    }

    /// A reply of a home agent (section 3.7.3).
    fn reply(
        &mut self,
        cx: &mut ApplicationCx<'_>,
        from: Ipv4Addr,
        (reply, extensions): (&Reply, &Extensions<'_>),
    ) {
        let answers = |p: &RelayedRequest| {
            p.home == reply.home && p.home_agent == from && low(p.identification) == low(reply.identification)
        };
        let Some(at) = self.pending.iter().position(answers) else {
            let why = "an unexpected reply";
            return self.journal.tell(cx, &LogEvent::NotBelieved { from, why });
        };
        if let Some(shared) = self.home_agents.get(&from)
            && verify(extensions, AuthKind::ForeignHome, shared) != ExtensionVerdict::Right
        {
            // The true one may come yet.
            let why = "its authenticator is wrong";
            return self.journal.tell(cx, &LogEvent::NotBelieved { from, why });
        }
        let p = self.pending.remove(at);
        let Some(passed_on) = extensions.up_to(AuthKind::MobileHome) else {
            return self.refuse(cx, &p, Code::FOREIGN_POOR_REPLY, 0);
        };
        if reply.code.is_accepted() {
            self.visit(cx, &p, reply.lifetime_s.min(p.lifetime_s));
        }
        self.tell_mobile(cx, &p, passed_on.to_vec());
    }

    fn visit(&mut self, cx: &mut ApplicationCx<'_>, p: &RelayedRequest, lifetime_s: u16) {
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
            at: *p.source.ip(),
            home_agent: p.home_agent,
            until: expiry(cx.now(), lifetime_s),
        };
        self.visitors.insert(p.home, visitor);
        self.journal.tell(cx, &LogEvent::Visits { home: p.home, at: visitor.at, lifetime_s });
    }

    /// A packet in a tunnel: of a home agent for a visitor, or of a visitor for its home agent. All
    /// others are dropped: packets of non-visitors must not loop between agents (section 4.2.2).
    fn tunnelled(&mut self, cx: &mut ApplicationCx<'_>, link: LinkId, packet: &[u8]) {
        let Some((from, to, inner)) = packets::untunnelled(packet) else { return };
        let Some(octets) = packets::forwarded(&inner) else { return };
        if to == self.care_of
            && let Some(v) = self.visitors.get(&inner.dst()).filter(|v| v.home_agent == from)
            && let Some(advertiser) = self.links.get(&v.link)
        {
            let own = advertiser.addr;
            // On a link, a mobile node is known by its home address.
            let packet = if v.at == inner.dst() {
                Some(octets)
            } else {
                packets::tunnelled(own, v.at, &mut self.id, &octets)
            };
            self.journal.untunnelled += 1;
            packets::send(cx, Some(v.link), packet);
        } else if let Some(advertiser) = self.links.get(&link)
            && to == advertiser.addr
            && let Some(v) = self.visitors.get(&inner.src()).filter(|v| v.link == link && v.at == from)
        {
            // The agent's host gets what is for itself; its mesh is nothing that the home agent knows a way to.
            let packet = if self.is_own(inner.dst()) {
                Some(octets)
            } else {
                packets::tunnelled(self.care_of, v.home_agent, &mut self.id, &octets)
            };
            self.journal.tunnelled += 1;
            packets::send(cx, None, packet);
        } else {
            self.journal.tell(cx, &LogEvent::NotBelieved { from, why: "no visitor has this tunnel" });
        }
    }

    fn expire(&mut self, cx: &mut ApplicationCx<'_>) {
        let (now, care_of, journal) = (cx.now(), self.care_of, &mut self.journal);
        self.visitors.retain(|home, v| {
            let is_over = v.until <= now;
            if is_over {
                journal.tell(cx, &LogEvent::Expired { home: *home, care_of });
            }
            !is_over
        });
        while let Some(p) = self.pending.first().copied().filter(|p| p.until <= now) {
            self.pending.remove(0);
            if self.refusals.take(now) {
                self.refuse(cx, &p, Code::FOREIGN_TIMEOUT, 0);
            }
        }
    }

    fn datagram(&mut self, cx: &mut ApplicationCx<'_>, link: LinkId, from: SocketAddrV4, data: &[u8]) {
        match Message::parse(data) {
            Ok(Message::Request(r, e)) => self.request(cx, link, from, (&r, &e)),
            Ok(Message::Reply(r, e)) => self.reply(cx, *from.ip(), (&r, &e)),
            Err(_) => {}
        }
    }

    fn next(&self) -> Time {
        let links = self.links.values().map(|l| l.next);
        let visitors = self.visitors.values().map(|v| v.until);
        let pending = self.pending.first().map(|p| p.until);
        links.chain(visitors).chain(pending).min().unwrap_or(Time::NEVER)
    }
}

impl Application for ForeignAgent {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        self.alarm.set(cx, cx.now());
    }

    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, _: TimerKey) {
        self.alarm.fired();
        self.expire(cx);
        let is_busy = self.is_busy();
        self.links.values_mut().for_each(|l| l.run_due(cx, is_busy));
        self.alarm.set(cx, self.next());
    }

    fn on_network(&mut self, cx: &mut ApplicationCx<'_>, input: NetworkInput<'_>) {
        match input {
            NetworkInput::Link { link, state } => {
                if let Some(l) = self.links.get_mut(&link)
                    && let Some(addr) = state.addr
                {
                    l.addr = addr;
                }
            }
            NetworkInput::Icmp { link, src, message } => {
                let is_busy = self.is_busy();
                if let Some(advertiser) = self.links.get_mut(&link) {
                    advertiser.icmp(cx, src, &message, is_busy);
                }
            }

            NetworkInput::Datagram { link, from, data } => self.datagram(cx, link, from, &data),
            NetworkInput::Tunnelled { link, packet } => self.tunnelled(cx, link, &packet),
            NetworkInput::TimeOfDay(_)
            | NetworkInput::Recall(_)
            | NetworkInput::Outbound(_)
            | NetworkInput::Arp { .. } => {}
        }
        self.alarm.set(cx, self.next());
    }

    /// It has forgotten its visitors; what was counted is the run's.
    fn restart(&mut self) {
        let journal = std::mem::take(&mut self.journal);
        *self = Self { journal, ..Self::new(self.params.clone()) };
    }

    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        self.journal.figures(tell);
    }
}
