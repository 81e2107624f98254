//! The mobile node (sections 2.4 and 3.6): its location, its link, and its registrations.

mod agents;
mod registration;

use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, Application, ApplicationCx, ApplicationParameters as _, HomeRoute, LinkId, LinkState,
    NetworkEffect, NetworkInput, Prefix, Span, Time, TimerKey,
};
use wayhop_wire::mobile_ip::{Discovery, Message};
use wayhop_wire::{arp, ipv4};

use self::agents::{AdvertisementNews, Agent, AgentLink, ProtectedAgents};
use self::registration::{Registration, ReplyAction};
use crate::alarm::Alarm;
use crate::attachment::Attachment;
use crate::clock::DayClock;
use crate::event::LogEvent;
use crate::home::{answer_arp, gratuitous};
use crate::journal::Journal;
use crate::packets;
use crate::params::mobile_node::{MobileNodeParams, OwnLinkKind};

/// For how long a place that refused, or did not answer, is the last choice.
const AVOIDED: Span = Span::from_secs(30);
/// After this many unanswered requests another place is tried.
const ENOUGH_TRIES: u32 = 3;
/// A doubtful advertisement has the agent in use asked, at most this often (section 3.6: about one registration a second).
const BETWEEN_DOUBTS: Span = Span::from_secs(1);

/// A mobile node.
#[derive(Debug)]
pub struct MobileNode {
    home: Ipv4Addr,
    network: Prefix,
    home_agent: Ipv4Addr,
    keyed_agents: Vec<Ipv4Addr>,
    /// The one that it likes best first.
    links: Vec<AgentLink>,
    registration: Registration,
    /// Where it is to be attached, and since when.
    target: Attachment,
    decided: Time,
    /// Where its packets go now, and where they went before: some come by the old tunnel yet.
    current: Attachment,
    before: Attachment,
    /// Whether the home agent has answered there.
    is_confirmed: bool,
    /// When a doubtful advertisement may have the agent in use asked again.
    doubt_at: Time,
    id: u16,
    clock: DayClock,
    alarm: Alarm,
    journal: Journal,
    /// How often it was attached elsewhere.
    moves: u64,
    params: MobileNodeParams,
}

impl MobileNode {
    /// A mobile node that has heard nothing yet.
    pub fn new(params: MobileNodeParams) -> Self {
        // Parameters are checked before anything is made of them.
        let (home, network) =
            params.home().unwrap_or((Ipv4Addr::UNSPECIFIED, Prefix::around(Addr::UNSPECIFIED, 32)));
        Self {
            home,
            network,
            home_agent: params.home_agent,
            keyed_agents: params.foreign_agents.iter().map(|p| p.address).collect(),
            links: (0..).zip(&params.links).map(|(i, l)| AgentLink::new(i, l)).collect(),
            registration: Registration::new(&params, home),
            target: Attachment::Nowhere,
            decided: Time::ZERO,
            current: Attachment::Nowhere,
            before: Attachment::Nowhere,
            is_confirmed: false,
            doubt_at: Time::ZERO,
            id: 0,
            clock: DayClock::default(),
            alarm: Alarm::new(),
            journal: Journal::new(params.links()),
            moves: 0,
            params,
        }
    }

    /// How many agents it remembers, on all links.
    pub fn agents(&self) -> usize {
        self.links.iter().map(|l| l.agents.len()).sum()
    }

    fn link(&mut self, link: LinkId) -> Option<&mut AgentLink> {
        self.links.iter_mut().find(|l| l.id == link)
    }

    /// An ICMP message, which may be an advertisement.
    fn icmp(&mut self, cx: &mut ApplicationCx<'_>, link: LinkId, src: Ipv4Addr, message: &[u8]) {
        let now = cx.now();
        let Ok(Discovery::Advertisement(a)) = Discovery::parse(message) else { return };
        if src == self.home || !ipv4::is_host(src) {
            return;
        }
        if src != self.home_agent && self.params.only_known_agents && !self.keyed_agents.contains(&src) {
            let why = "unknown agent";
            return self.journal.tell(cx, &LogEvent::NotBelieved { from: src, why });
        }
        let in_use = self.agent_in_use(link);
        let proven = self.agent_of(self.current, link).filter(|_| self.is_confirmed);
        let kept = ProtectedAgents { home_agent: self.home_agent, in_use, proven };
        let Some(l) = self.link(link).filter(|l| l.state.is_up && l.kind != OwnLinkKind::CoLocated) else {
            return;
        };
        match l.hear(now, src, &a, kept) {
            Some(AdvertisementNews::Found) => self.journal.tell(cx, &LogEvent::Found { link, agent: src }),
            Some(AdvertisementNews::BeganAnew) if in_use == Some(src) => self.ask_in_use(now),
            Some(AdvertisementNews::Doubtful) => {
                let why = "it contradicts the agent in use, which is kept if it answers a request";
                self.journal.tell(cx, &LogEvent::NotBelieved { from: src, why });
                self.ask_in_use(now);
            }
            Some(AdvertisementNews::Gone) => self.journal.tell(cx, &LogEvent::Lost { link, agent: src }),
            _ => {}
        }
        self.decide(cx);
    }

    /// Registers again by the agent in use: only it can bring the home agent's authenticator back.
    fn ask_in_use(&mut self, now: Time) {
        if !self.registration.is_under_way() && self.doubt_at <= now {
            self.doubt_at = now + BETWEEN_DOUBTS;
            self.registration.begin(now, self.target);
        }
    }

    /// The agent that the mobile node wants to have, or has, on this link.
    fn agent_in_use(&self, link: LinkId) -> Option<Ipv4Addr> {
        [self.target, self.current].into_iter().find_map(|a| self.agent_of(a, link))
    }
    const fn agent_of(&self, at: Attachment, link: LinkId) -> Option<Ipv4Addr> {
        match at {
            Attachment::Home { link: l } if l == link => Some(self.home_agent),
            Attachment::Foreign { link: l, agent, .. } if l == link => Some(agent),
            _ => None,
        }
    }

    /// Whether packets come and go where it is: the home agent has answered there, and the place is as it was.
    fn works(&self, now: Time) -> bool {
        let Some(l) = self.current.link().and_then(|link| self.links.iter().find(|l| l.id == link)) else {
            return false;
        };
        let is_there = match self.current {
            Attachment::Nowhere => false,
            Attachment::CoLocated { care_of, .. } => l.state.addr == Some(care_of) && l.avoid_until <= now,
            Attachment::Home { .. } | Attachment::Foreign { .. } => {
                let agent = self.agent_of(self.current, l.id);
                l.agents.iter().any(|a| Some(a.addr) == agent && a.until > now && a.avoid_until <= now)
            }
        };
        self.is_confirmed && l.state.is_up && is_there
    }

    /// The best place that a link offers; of places that are avoided only if that is wanted.
    fn place(&self, now: Time, l: &AgentLink, avoided_too: bool) -> Option<Attachment> {
        if !l.state.is_up {
            return None;
        }
        let link = l.id;
        let good = |until: Time| avoided_too || until <= now;
        if l.kind == OwnLinkKind::CoLocated {
            let care_of = l.state.addr.filter(|_| good(l.avoid_until))?;
            return Some(Attachment::CoLocated { link, care_of });
        }
        let usable = || l.agents.iter().filter(|a| good(a.avoid_until));
        if l.kind == OwnLinkKind::Link && usable().any(|a| a.serves_home && a.addr == self.home_agent) {
            return Some(Attachment::Home { link });
        }
        let own = if l.kind == OwnLinkKind::Mesh { l.state.addr? } else { self.home };
        let in_use = self.agent_in_use(link);
        // One whose list is full takes those again that it has already.
        let foreign = usable().filter(|a| !a.is_busy || in_use == Some(a.addr));
        // A registration for no time would end the one that there is.
        let foreign = foreign.filter(|a| a.registration_lifetime_s > 0);
        let foreign = foreign.filter_map(|a| Some((a, a.care_of?)));
        let worth = |a: &Agent| (in_use == Some(a.addr), self.keyed_agents.contains(&a.addr), a.until);
        let (agent, care_of) = foreign.max_by_key(|(a, _)| worth(a))?;
        Some(Attachment::Foreign { link, agent: agent.addr, care_of, own })
    }

    /// Chooses the best place (section 4.2 of Maltz and others has the order), and goes there if it is another one.
    fn decide(&mut self, cx: &mut ApplicationCx<'_>) {
        let now = cx.now();
        let works = self.works(now);
        let best = |avoided_too| self.links.iter().find_map(|l| self.place(now, l, avoided_too));
        // What is granted is renewed before another place is tried, which may never answer.
        let best = if works && self.registration.is_renewal_due(now) {
            self.current
        } else {
            best(false).or_else(|| best(true)).unwrap_or_default()
        };
        if best != self.target {
            self.target = best;
            self.decided = now;
            match best {
                Attachment::Nowhere => {
                    self.registration.forget();
                    self.attach(cx);
                }
                // At home the routes come first: the home agent's answer is for a node at home (section 3.6.2.2). But
                // while another place works, only that answer shows that this is home.
                Attachment::Home { .. } if !works => {
                    self.registration.begin(now, best);
                    self.attach(cx);
                }
                _ => self.registration.begin(now, best),
            }
        }
        self.register(cx);
    }

    /// Sends a request, if it is time.
    fn register(&mut self, cx: &mut ApplicationCx<'_>) {
        let max_lifetime_s = self.offered_lifetime_s();
        let now = self.clock.now(cx.now());
        self.registration.run_due((cx, &mut self.journal), now, max_lifetime_s);
        if self.registration.tries() > ENOUGH_TRIES && !self.is_avoided(now.at) {
            self.avoid(now.at);
            self.decide(cx);
        }
    }

    /// The longest lifetime that the agent in use offers.
    fn offered_lifetime_s(&self) -> u16 {
        let Attachment::Foreign { link, agent, .. } = self.target else { return u16::MAX };
        let agents = self.links.iter().filter(|l| l.id == link).flat_map(|l| &l.agents);
        agents.filter(|a| a.addr == agent).map(|a| a.registration_lifetime_s).next().unwrap_or(u16::MAX)
    }

    /// Until when the target is the last choice.
    fn avoidance(&mut self) -> Option<&mut Time> {
        let link = self.target.link()?;
        let agent = self.agent_in_use(link);
        let l = self.link(link)?;
        match agent {
            None => Some(&mut l.avoid_until),
            Some(addr) => l.agents.iter_mut().find(|a| a.addr == addr).map(|a| &mut a.avoid_until),
        }
    }
    fn is_avoided(&mut self, now: Time) -> bool {
        self.avoidance().is_none_or(|until| *until > now)
    }
    fn avoid(&mut self, now: Time) {
        if self.target == self.current {
            // What it advertises next counts again.
            self.is_confirmed = false;
        }
        if let Some(until) = self.avoidance() {
            *until = now + AVOIDED;
        }
    }

    /// Packets go by the target from now on.
    fn attach(&mut self, cx: &mut ApplicationCx<'_>) {
        if self.current == self.target {
            return;
        }
        self.before = std::mem::replace(&mut self.current, self.target);
        self.is_confirmed = false;
        self.registration.keep_grant_of(self.current);
        self.tell_host(cx);
        self.moves += 1;
        let after = cx.now().since(self.decided);
        self.journal.tell(cx, &LogEvent::Moved { to: self.current, after });
        if let Attachment::Home { link } = self.current
            && let Some(mac) = self.link(link).and_then(|l| l.state.mac)
        {
            // Corrects neighbours that map the address to the home agent (section 4.6).
            gratuitous(cx, link, self.home, mac);
        }
    }

    fn datagram(&mut self, cx: &mut ApplicationCx<'_>, src: Ipv4Addr, data: &[u8]) {
        let Ok(Message::Reply(reply, extensions)) = Message::parse(data) else { return };
        let now = self.clock.now(cx.now());
        let at = (src, self.target);
        let answer = self.registration.answer((cx, &mut self.journal), now, at, (&reply, &extensions));
        match answer {
            ReplyAction::Accepted => {
                self.attach(cx);
                self.is_confirmed = true;
                if let Some(link) = self.current.link()
                    && let Some(agent) = self.agent_of(self.current, link)
                    && let Some(l) = self.link(link)
                {
                    l.confirm(now.at, agent);
                }
                // What waited for this registration.
                self.decide(cx);
            }
            ReplyAction::TryElsewhere => {
                self.avoid(now.at);
                self.decide(cx);
            }
            ReplyAction::TryAgain => self.register(cx),
            ReplyAction::Nothing => {}
        }
    }

    /// A packet in a tunnel: only by that of now, or the last one.
    fn tunnelled(&mut self, cx: &mut ApplicationCx<'_>, packet: &[u8]) {
        let Some((from, to, inner)) = packets::untunnelled(packet) else { return };
        let is_ours = |a: Attachment| match a {
            Attachment::Foreign { agent, own, .. } => (from, to) == (agent, own),
            Attachment::CoLocated { care_of, .. } => (from, to) == (self.home_agent, care_of),
            Attachment::Nowhere | Attachment::Home { .. } => false,
        };
        if inner.dst() == self.home && (is_ours(self.current) || is_ours(self.before)) {
            self.journal.untunnelled += 1;
            cx.network(NetworkEffect::Deliver(inner.start(usize::from(u16::MAX)).to_vec()));
        } else {
            self.journal.tell(cx, &LogEvent::NotBelieved { from, why: "not a tunnel of this node" });
        }
    }

    /// Until it is attached at home, the kernel does not answer there for the home address (section 4.6): the home agent, which
    /// is asked whether this is home, must find it.
    fn arp(&self, cx: &mut ApplicationCx<'_>, link: LinkId, heard: arp::Repr) {
        let at = Attachment::Home { link };
        let asks = heard.operation == arp::Operation::Request
            && (heard.sender, heard.target) == (self.home_agent, self.home);
        let mac = self.links.iter().find(|l| l.id == link).and_then(|l| l.state.mac);
        let Some(mac) = mac.filter(|_| asks && self.target == at && self.current != at) else { return };
        answer_arp(cx, link, mac, heard);
    }

    /// A packet of a program.
    fn outbound(&mut self, cx: &mut ApplicationCx<'_>, packet: &[u8]) {
        if ipv4::ends(packet).is_none_or(|(src, _)| src != self.home) {
            return;
        }
        let (link, tunnel) = match self.current {
            // At home, the routes are another interface's; nowhere, there is no way.
            Attachment::Nowhere | Attachment::Home { .. } => return,
            Attachment::Foreign { link, agent, own, .. } => (link, Some((own, agent))),
            Attachment::CoLocated { link, care_of } => {
                (link, self.params.reverse_tunnel.then_some((care_of, self.home_agent)))
            }
        };
        let packet = match tunnel {
            Some((from, to)) => {
                self.journal.tunnelled += 1;
                packets::tunnelled(from, to, &mut self.id, packet)
            }
            None => Some(packet.to_vec()),
        };
        packets::send(cx, Some(link), packet);
    }

    fn run_due(&mut self, cx: &mut ApplicationCx<'_>) {
        let now = cx.now();
        for i in 0..self.links.len() {
            let link = self.links[i].id;
            let (in_use, home) = (self.agent_in_use(link), self.home);
            let l = &mut self.links[i];
            for agent in l.forget(now) {
                self.journal.tell(cx, &LogEvent::Lost { link, agent });
            }
            // In a mesh the home address means nothing.
            let own = if l.kind == OwnLinkKind::Mesh { l.state.addr } else { Some(home) };
            if let Some(own) = own {
                l.search(cx, own, in_use);
            }
        }
        if self.registration.is_over(now) {
            self.registration.begin(now, self.target);
            if self.current != self.target || !matches!(self.target, Attachment::Home { .. }) {
                self.detach(cx);
            }
        }
        self.decide(cx);
    }

    /// Packets go nowhere until it is attached again.
    fn detach(&mut self, cx: &mut ApplicationCx<'_>) {
        self.before = std::mem::take(&mut self.current);
        self.is_confirmed = false;
        self.tell_host(cx);
    }

    /// The host has its home address, and its routes, where the mobile node is attached.
    fn tell_host(&self, cx: &mut ApplicationCx<'_>) {
        let is_link = |l: &&AgentLink| Some(l.id) == self.current.link() && l.kind == OwnLinkKind::Link;
        cx.network(NetworkEffect::Attach(HomeRoute {
            addr: self.home,
            network: self.network,
            router: self.params.router.unwrap_or(self.home_agent),
            link: self.links.iter().find(is_link).map(|l| l.id),
            is_home: matches!(self.current, Attachment::Home { .. }),
        }));
    }

    fn set_link(&mut self, cx: &mut ApplicationCx<'_>, link: LinkId, state: LinkState) {
        if self.link(link).is_some_and(|l| l.set(cx.now(), state)) {
            self.run_due(cx);
        }
        // The kernel's routes by it went with it, and its address if another interface takes its place: if it is back before another place
        // has answered, it is attached there as at first.
        if !state.is_up && self.current.link() == Some(link) {
            self.detach(cx);
        }
    }

    fn next(&self) -> Time {
        let links = self.links.iter().filter(|l| l.state.is_up).map(AgentLink::next);
        links.chain([self.registration.next()]).min().unwrap_or(Time::NEVER)
    }
}

impl Application for MobileNode {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        self.registration.start(cx.rng());
        self.alarm.set(cx, cx.now());
    }

    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, _: TimerKey) {
        self.alarm.fired();
        self.run_due(cx);
        self.alarm.set(cx, self.next());
    }

    fn on_network(&mut self, cx: &mut ApplicationCx<'_>, input: NetworkInput<'_>) {
        match input {
            NetworkInput::Link { link, state } => self.set_link(cx, link, state),
            NetworkInput::TimeOfDay(unix_ns) => drop(self.clock.set(cx.now(), unix_ns)),
            NetworkInput::Icmp { link, src, message } => self.icmp(cx, link, src, &message),
            NetworkInput::Datagram { from, data, .. } => self.datagram(cx, *from.ip(), &data),
            NetworkInput::Tunnelled { packet, .. } => self.tunnelled(cx, &packet),
            NetworkInput::Outbound(packet) => self.outbound(cx, &packet),
            NetworkInput::Arp { link, message } => {
                if let Ok(heard) = arp::Repr::parse(&message) {
                    self.arp(cx, link, heard);
                }
            }
            NetworkInput::Recall(_) => {}
        }
        self.alarm.set(cx, self.next());
    }

    /// It knows no place any more; what was counted is the run's.
    fn restart(&mut self) {
        let (journal, moves) = (std::mem::take(&mut self.journal), self.moves);
        *self = Self { journal, moves, ..Self::new(self.params.clone()) };
    }

    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        self.journal.figures(tell);
        tell("moves", self.moves as f64);
    }
}
