//! The home agent (section 3.8): bindings, and the tunnels that follow from them.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};

use serde_json::Value;
use wayhop_core::{
    Addr, Application, ApplicationCx, ApplicationParameters as _, LinkId, Mac, NetworkEffect, NetworkInput,
    Prefix, Rng, Span, Time, TimerKey,
};
use wayhop_wire::mobile_ip::{
    AgentFlags, AuthKind, Code, Extensions, INFINITE, Message, Reply, Request, RequestFlags,
};
use wayhop_wire::{arp, ipv4};

use crate::advertising::Advertiser;
use crate::alarm::Alarm;
use crate::clock::{Clock, DayClock};
use crate::event::LogEvent;
use crate::identification::Guard;
use crate::journal::Journal;
use crate::memory::{KnownBinding, KnownMobile};
use crate::packets;
use crate::params::home_agent::HomeAgentParams;
use crate::params::{Peer, associations};
use crate::rate::Rate;
use crate::security::{Association, ExtensionVerdict, seal, verify};

/// Replies that refuse something, a second: strangers must not make a home agent a source of traffic.
const REFUSALS: u32 = 10;
/// Bindings of one mobile node at a time (section 3.8.3.1: the agent's choice).
const MAX_BINDINGS: usize = 4;
/// How often the home link is told by ARP where a mobile node's packets go now, a second apart: one may be lost (section 4.6).
const ANNOUNCEMENTS: u32 = 3;
const BETWEEN_ANNOUNCEMENTS: Span = Span::from_secs(1);

/// The link with the home network.
const HOME_LINK: LinkId = 0;

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
    known: KnownBinding,
    until: Time,
}

/// A home agent.
#[derive(Debug)]
pub struct HomeAgent {
    addr: Ipv4Addr,
    /// The link address of its interface on the home network, once it is known.
    mac: Option<Mac>,
    mobiles: BTreeMap<Ipv4Addr, Mobile>,
    foreign_agents: BTreeMap<Ipv4Addr, Association>,
    advertiser: Advertiser,
    refusals: Rate,
    /// Who was away when an earlier life of this agent ended, until the host has heard of it.
    resumed: Vec<Ipv4Addr>,
    id: u16,
    clock: DayClock,
    alarm: Alarm,
    journal: Journal,
    params: HomeAgentParams,
}

impl HomeAgent {
    /// A home agent that knows of no bindings.
    pub fn new(params: HomeAgentParams) -> Self {
        let mobile = |peer: &Peer| Mobile {
            guard: Guard::default(),
            association: peer.association(),
            bindings: Vec::new(),
            mac: None,
            announcements: 0,
            announce_at: Time::NEVER,
        };
        // Parameters are checked before anything is made of them.
        let (addr, net) =
            params.home().unwrap_or((Ipv4Addr::UNSPECIFIED, Prefix::around(Addr::UNSPECIFIED, 32)));
        let flags = AgentFlags::HOME_AGENT | AgentFlags::REVERSE_TUNNEL;
        let every = Span::from_millis(params.advertise_every_ms);
        let mut advertiser = Advertiser::new(HOME_LINK, false, every, params.lifetime_s, flags, &[]);
        (advertiser.addr, advertiser.prefix_len) = (addr, net.len);
        Self {
            addr,
            mac: None,
            mobiles: params.mobiles.iter().map(|p| (p.address, mobile(p))).collect(),
            foreign_agents: associations(&params.foreign_agents),
            advertiser,
            refusals: Rate::per_second(REFUSALS),
            resumed: Vec::new(),
            id: 0,
            clock: DayClock::default(),
            alarm: Alarm::new(),
            journal: Journal::new(params.links()),
            params,
        }
    }

    /// Where a mobile node is: its care-of addresses.
    pub fn bindings(&self, home: Ipv4Addr) -> impl Iterator<Item = Ipv4Addr> + '_ {
        self.mobiles.get(&home).into_iter().flat_map(|m| m.bindings.iter().map(|b| b.known.care_of))
    }

    fn datagram(&mut self, cx: &mut ApplicationCx<'_>, from: SocketAddrV4, data: &[u8]) {
        let now = self.clock.now(cx.now());
        let Ok(Message::Request(request, extensions)) = Message::parse(data) else { return };
        let code = self.judge((now, cx.rng()), *from.ip(), &request, &extensions);
        // Only a request whose authenticator is right has used its identification.
        let was_new = code.is_accepted() || code.0 > Code::HOME_IDENTIFICATION.0;
        if !code.is_accepted() {
            self.journal.tell(cx, &LogEvent::Refused { home: request.home, from: *from.ip(), code });
            if was_new {
                self.remember(cx, request.home);
            }
            if self.refusals.take(now.at) {
                self.reply(cx, from, &request, (code, 0, was_new));
            }
            return;
        }
        let lifetime_s = match request.lifetime_s {
            0 => 0,
            asked => asked.min(self.params.lifetime_s),
        };
        self.bind(cx, &request, lifetime_s);
        self.remember(cx, request.home);
        self.reply(cx, from, &request, (code, lifetime_s, true));
    }

    /// What a request deserves (section 3.8.2.1).
    fn judge(
        &mut self,
        (now, rng): (Clock, &mut Rng),
        from: Ipv4Addr,
        request: &Request,
        extensions: &Extensions<'_>,
    ) -> Code {
        let Some(mobile) = self.mobiles.get_mut(&request.home) else { return Code::HOME_PROHIBITED };
        if verify(extensions, AuthKind::MobileHome, &mobile.association) != ExtensionVerdict::Right {
            return Code::HOME_MOBILE_AUTHENTICATION;
        }
        if let Some(shared) = self.foreign_agents.get(&from)
            && verify(extensions, AuthKind::ForeignHome, shared) != ExtensionVerdict::Right
        {
            return Code::HOME_FOREIGN_AUTHENTICATION;
        }
        if !mobile.guard.accept(request.identification, now.ntp, rng) {
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
            && mobile.bindings.iter().all(|b| b.known.care_of != request.care_of)
        {
            Code::HOME_TOO_MANY
        } else {
            Code::ACCEPTED
        }
    }

    /// Does what an accepted request asks for (section 3.8.2.2).
    fn bind(&mut self, cx: &mut ApplicationCx<'_>, request: &Request, lifetime_s: u16) {
        let now = self.clock.now(cx.now());
        let (home, care_of) = (request.home, request.care_of);
        let Some(mobile) = self.mobiles.get_mut(&home) else { return };
        let was_away = !mobile.bindings.is_empty();
        if lifetime_s == 0 {
            mobile.bindings.retain(|b| care_of != home && b.known.care_of != care_of);
        } else {
            let keeps = request.flags.has(RequestFlags::SIMULTANEOUS);
            mobile.bindings.retain(|b| keeps && b.known.care_of != care_of);
            let is_reverse = request.flags.has(RequestFlags::REVERSE_TUNNEL);
            let known = KnownBinding { care_of, is_reverse, granted_ntp: now.ntp, lifetime_s };
            mobile.bindings.push(Binding { known, until: expiry(now.at, lifetime_s) });
            self.journal.tell(cx, &LogEvent::Bound { home, care_of, lifetime_s });
        }
        self.follow(cx, home, was_away);
    }

    /// Before anything is answered: an identification that is forgotten could be used again.
    fn remember(&self, cx: &mut ApplicationCx<'_>, home: Ipv4Addr) {
        let Some(m) = self.mobiles.get(&home) else { return };
        let identification = m.guard.last_accepted();
        let bindings = m.bindings.iter().map(|b| b.known).collect();
        let known = KnownMobile { home, identification, bindings };
        if let Ok(value) = serde_json::to_value(known) {
            cx.network(NetworkEffect::Remember(home, value));
        }
    }

    /// The home link and the host hear of the bindings that an earlier life of this agent made.
    fn tell_resumed(&mut self, cx: &mut ApplicationCx<'_>) {
        for home in std::mem::take(&mut self.resumed) {
            let Some(mobile) = self.mobiles.get(&home) else { continue };
            for b in &mobile.bindings {
                let left = (b.until != Time::NEVER).then(|| b.until.since(cx.now()));
                self.journal.tell(cx, &LogEvent::Resumed { home, care_of: b.known.care_of, left });
            }
            self.follow(cx, home, false);
        }
    }

    /// The home link and the host follow when a mobile node left or came back.
    fn follow(&mut self, cx: &mut ApplicationCx<'_>, home: Ipv4Addr, was_away: bool) {
        let Some(mobile) = self.mobiles.get_mut(&home) else { return };
        let is_away = !mobile.bindings.is_empty();
        if is_away == was_away {
            return;
        }
        if is_away {
            cx.network(NetworkEffect::Intercept(home));
        } else {
            cx.network(NetworkEffect::Release(home));
            self.journal.tell(cx, &LogEvent::Returned(home));
        }
        mobile.announcements = ANNOUNCEMENTS;
        mobile.announce_at = cx.now();
        self.announce(cx);
    }

    /// Tells the home link by ARP, without being asked, where a mobile node's packets go (section 4.6).
    fn announce(&mut self, cx: &mut ApplicationCx<'_>) {
        let now = cx.now();
        for (home, mobile) in &mut self.mobiles {
            if mobile.announce_at > now {
                continue;
            }
            mobile.announcements = mobile.announcements.saturating_sub(1);
            mobile.announce_at =
                if mobile.announcements == 0 { Time::NEVER } else { now + BETWEEN_ANNOUNCEMENTS };
            // Of one that came back the agent may have heard nothing yet: it speaks for itself.
            let mac = if mobile.bindings.is_empty() { mobile.mac } else { self.mac };
            if let Some(mac) = mac {
                gratuitous(cx, HOME_LINK, *home, mac);
            }
        }
    }

    fn reply(
        &self,
        cx: &mut ApplicationCx<'_>,
        to: SocketAddrV4,
        request: &Request,
        (code, lifetime_s, was_new): (Code, u16, bool),
    ) {
        let now = self.clock.now(cx.now());
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
        if let Some(shared) = self.foreign_agents.get(to.ip()) {
            seal(&mut message, AuthKind::ForeignHome, shared);
        }
        // At home, the reply must not go into the tunnel's interface.
        let link = (*to.ip() == request.home).then_some(HOME_LINK);
        packets::send(cx, link, packets::datagram(self.addr, *to.ip(), to.port(), &message));
    }

    /// A packet for a mobile node that is away, by the host's own route: into all of its tunnels.
    fn outbound(&mut self, cx: &mut ApplicationCx<'_>, packet: &[u8]) {
        let Some((_, dst)) = ipv4::ends(packet) else { return };
        let Some(mobile) = self.mobiles.get(&dst) else { return };
        for b in &mobile.bindings {
            let outer = packets::tunnelled(self.addr, b.known.care_of, &mut self.id, packet);
            self.journal.tunnelled += 1;
            packets::send(cx, None, outer);
        }
    }

    /// A packet of a mobile node by its reverse tunnel (RFC 3024, section 4.3): only from where it is.
    fn tunnelled(&mut self, cx: &mut ApplicationCx<'_>, packet: &[u8]) {
        let Some((from, to, inner)) = packets::untunnelled(packet) else { return };
        let is_bound = |m: &Mobile| m.bindings.iter().any(|b| b.known.is_reverse && b.known.care_of == from);
        if to == self.addr && self.mobiles.get(&inner.src()).is_some_and(is_bound) {
            self.journal.untunnelled += 1;
            if let Some(packet) = packets::forwarded(&inner) {
                cx.network(NetworkEffect::Deliver(packet));
            }
        } else {
            self.journal.tell(cx, &LogEvent::NotBelieved { from, why: "no binding has this tunnel" });
        }
    }

    /// ARP on the home link: the agent answers for who is away, and remembers the others (section 4.6).
    fn arp(&mut self, cx: &mut ApplicationCx<'_>, heard: arp::Repr) {
        let Some(own) = self.mac else { return };
        if let Some(m) = self.mobiles.get_mut(&heard.sender)
            && heard.sender_mac != own
        {
            m.mac = Some(heard.sender_mac);
        }
        let is_away = self.mobiles.get(&heard.target).is_some_and(|m| !m.bindings.is_empty());
        // Who asks for its own address looks whether somebody else has it, as a mobile node that has just come back.
        if heard.operation == arp::Operation::Request && is_away && heard.sender != heard.target {
            answer_arp(cx, HOME_LINK, own, heard);
        }
    }

    fn expire(&mut self, cx: &mut ApplicationCx<'_>) {
        let now = cx.now();
        let expired = |m: &Mobile| m.bindings.iter().any(|b| b.until <= now);
        let homes: Vec<Ipv4Addr> = self.mobiles.iter().filter(|(_, m)| expired(m)).map(|(h, _)| *h).collect();
        for home in homes {
            let Some(mobile) = self.mobiles.get_mut(&home) else { continue };
            let ended = mobile.bindings.iter().filter(|b| b.until <= now);
            for b in ended {
                self.journal.tell(cx, &LogEvent::Expired { home, care_of: b.known.care_of });
            }
            mobile.bindings.retain(|b| b.until > now);
            self.follow(cx, home, true);
        }
    }

    /// It is this time of day. When it begins, no request from before counts.
    fn set_clock(&mut self, cx: &mut ApplicationCx<'_>, unix_ns: u64) {
        if self.clock.set(cx.now(), unix_ns) {
            let ntp = self.clock.now(cx.now()).ntp;
            for m in self.mobiles.values_mut() {
                m.guard = Guard::new(m.association.replay, ntp, cx.rng());
            }
        }
    }

    /// What an earlier life of this agent knew. Of mobile nodes that it has no more it means nothing.
    fn recall(&mut self, now: Clock, value: Value) {
        let Ok(known) = serde_json::from_value::<KnownMobile>(value) else { return };
        if let Some(mobile) = self.mobiles.get_mut(&known.home)
            && resume(mobile, &known, now)
        {
            self.resumed.push(known.home);
        }
    }

    fn next(&self) -> Time {
        let of_mobiles =
            self.mobiles.values().flat_map(|m| m.bindings.iter().map(|b| b.until).chain([m.announce_at]));
        let begins = if self.resumed.is_empty() { Time::NEVER } else { Time::ZERO };
        of_mobiles.chain([self.advertiser.next, begins]).min().unwrap_or(Time::NEVER)
    }
}

impl Application for HomeAgent {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        self.alarm.set(cx, cx.now());
    }

    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, _: TimerKey) {
        self.alarm.fired();
        self.tell_resumed(cx);
        self.expire(cx);
        self.announce(cx);
        self.advertiser.run_due(cx, false);
        self.alarm.set(cx, self.next());
    }

    fn on_network(&mut self, cx: &mut ApplicationCx<'_>, input: NetworkInput<'_>) {
        match input {
            NetworkInput::Link { link: HOME_LINK, state } => self.mac = state.mac.or(self.mac),
            NetworkInput::TimeOfDay(unix_ns) => self.set_clock(cx, unix_ns),
            NetworkInput::Recall(value) => self.recall(self.clock.now(cx.now()), value),
            NetworkInput::Icmp { link: HOME_LINK, src, message } => {
                self.advertiser.icmp(cx, src, &message, false);
            }
            NetworkInput::Datagram { from, data, .. } => self.datagram(cx, from, &data),
            NetworkInput::Tunnelled { packet, .. } => self.tunnelled(cx, &packet),
            NetworkInput::Outbound(packet) => self.outbound(cx, &packet),
            NetworkInput::Arp { link: HOME_LINK, message } => {
                if let Ok(heard) = arp::Repr::parse(&message) {
                    self.arp(cx, heard);
                }
            }
            NetworkInput::Link { .. } | NetworkInput::Icmp { .. } | NetworkInput::Arp { .. } => {}
        }
        self.alarm.set(cx, self.next());
    }

    /// What was counted is the run's; the host has kept what has to be known ([`NetworkEffect::Remember`]).
    fn restart(&mut self) {
        let journal = std::mem::take(&mut self.journal);
        *self = Self { journal, ..Self::new(self.params.clone()) };
    }

    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        self.journal.figures(tell);
    }
}

/// Whether a mobile node is away, by what an earlier life of this agent knew.
fn resume(mobile: &mut Mobile, known: &KnownMobile, now: Clock) -> bool {
    if let Some(last) = known.identification {
        mobile.guard.resume(last);
    }
    let bindings = known.bindings.iter().filter_map(|b| Some(Binding { known: *b, until: b.expiry(now)? }));
    mobile.bindings = bindings.take(MAX_BINDINGS).collect();
    !mobile.bindings.is_empty()
}

/// When a lifetime ends.
pub(crate) fn expiry(now: Time, lifetime_s: u16) -> Time {
    if lifetime_s == INFINITE { Time::NEVER } else { now + Span::from_secs(lifetime_s.into()) }
}

/// An ARP message by which all on a link learn where the packets for an address go.
pub(crate) fn gratuitous(cx: &mut ApplicationCx<'_>, link: LinkId, addr: Ipv4Addr, mac: Mac) {
    send_arp(cx, link, Mac::BROADCAST, arp::Repr::request(mac, addr, addr));
}

/// Answers who asks by ARP for an address: packets for it go to `mac`.
pub(crate) fn answer_arp(cx: &mut ApplicationCx<'_>, link: LinkId, mac: Mac, asked: arp::Repr) {
    send_arp(cx, link, asked.sender_mac, asked.reply(mac));
}

fn send_arp(cx: &mut ApplicationCx<'_>, link: LinkId, to: Mac, message: arp::Repr) {
    let mut octets = vec![0; message.buffer_len()];
    message.emit(&mut octets);
    cx.network(NetworkEffect::Arp { link, to, message: octets });
}
