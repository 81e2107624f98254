//! The agents of a link: those heard there, and the search for more (section 2.4).

use std::net::Ipv4Addr;

use wayhop_core::{ApplicationCx, LinkId, LinkState, Span, Time};
use wayhop_wire::mobile_ip::{Advertisement, AgentFlags, Discovery};

use crate::groups::{ALL_ROUTERS, MESH_AGENTS};
use crate::packets;
use crate::params::mobile_node::{OwnLink, OwnLinkKind};

/// Agents that are remembered of one link; further ones push out the one that will be forgotten first.
const MAX_AGENTS: usize = 8;
/// The first solicitations are a second apart; then the pause doubles (section 2.4).
const FIRST: u32 = 3;
const PAUSE: Span = Span::from_secs(1);
/// Longest pause on a link, where agents advertise themselves: a minute (section 2.4).
const LONGEST_ON_LINK: Span = Span::from_secs(60);
/// Longest pause in a mesh, where they do not.
const LONGEST_IN_MESH: Span = Span::from_secs(4);

/// An agent that was heard.
#[derive(Copy, Clone, Debug)]
pub(super) struct Agent {
    pub(super) addr: Ipv4Addr,
    /// Its first care-of address; a foreign agent has one.
    pub(super) care_of: Option<Ipv4Addr>,
    pub(super) serves_home: bool,
    pub(super) is_busy: bool,
    sequence: u16,
    pub(super) registration_lifetime_s: u16,
    /// How long each of its advertisements holds.
    lifetime: Span,
    pub(super) until: Time,
    /// In a mesh: when to ask whether it is still there.
    ask_at: Time,
    /// It refused, or did not answer: until then others are better.
    pub(super) avoid_until: Time,
}

/// What an advertisement told.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum AdvertisementNews {
    Known,
    Found,
    /// The agent restarted, and has forgotten its visitors (section 2.4.3).
    BeganAnew,
    Gone,
    /// It contradicts an agent that works: anybody may have sent it.
    Doubtful,
}

/// Agents of a link that no advertisement may push out or change.
#[derive(Copy, Clone, Debug)]
pub(super) struct ProtectedAgents {
    pub(super) home_agent: Ipv4Addr,
    pub(super) in_use: Option<Ipv4Addr>,
    /// The one in use, once the home agent's authenticator has come back by it: it is believed until it is silent or
    /// registrations fail.
    pub(super) proven: Option<Ipv4Addr>,
}

/// A link, and what was heard there.
#[derive(Debug)]
pub(super) struct AgentLink {
    pub(super) id: LinkId,
    pub(super) kind: OwnLinkKind,
    /// Agents that are solicited by their addresses, too: not every mesh floods what is for a group.
    ask: Vec<Ipv4Addr>,
    pub(super) state: LinkState,
    pub(super) agents: Vec<Agent>,
    /// Solicitations sent since something was heard, and when the next is due.
    solicited: u32,
    next: Time,
    /// For a link without agents: until then others are better.
    pub(super) avoid_until: Time,
}

impl AgentLink {
    pub(super) fn new(id: LinkId, config: &OwnLink) -> Self {
        Self {
            id,
            kind: config.kind,
            ask: config.agents.clone(),
            state: LinkState::default(),
            agents: Vec::new(),
            solicited: 0,
            next: Time::NEVER,
            avoid_until: Time::ZERO,
        }
    }

    fn is_mesh(&self) -> bool {
        self.kind == OwnLinkKind::Mesh
    }

    /// The link is so now. Returns whether that is news.
    pub(super) fn set(&mut self, now: Time, state: LinkState) -> bool {
        if self.state == state {
            return false;
        }
        self.state = state;
        self.agents.clear();
        self.avoid_until = Time::ZERO;
        let searches = state.is_up && self.kind != OwnLinkKind::CoLocated;
        self.solicited = 0;
        self.next = if searches { now } else { Time::NEVER };
        true
    }

    /// An advertisement was heard. Returns what it told, if it was an agent's.
    ///
    /// Nothing authenticates it (RFC 5944, section 5.1), so of an agent that is proven it only says that it is there.
    pub(super) fn hear(
        &mut self,
        now: Time,
        src: Ipv4Addr,
        a: &Advertisement<'_>,
        kept: ProtectedAgents,
    ) -> Option<AdvertisementNews> {
        let told = a.agent?;
        // RFC 1256, section 5.2: an advertisement names an address of its sender's.
        if !a.routers().any(|r| r.addr == src) {
            return None;
        }
        let at = self.agents.iter().position(|agent| agent.addr == src);
        let before = at.map(|i| self.agents[i]);
        let serves_home = told.flags.has(AgentFlags::HOME_AGENT);
        let before_care_of = before.and_then(|b| b.care_of);
        let care_of = before_care_of
            .filter(|old| told.care_of().any(|c| c == *old))
            .or_else(|| told.care_of().next())
            .filter(|_| told.flags.has(AgentFlags::FOREIGN_AGENT));
        let is_proven = kept.proven == Some(src);
        let contradicts =
            |b: &Agent| a.lifetime_s == 0 || b.care_of != care_of || b.serves_home != serves_home;
        if is_proven && before.as_ref().is_some_and(contradicts) {
            return Some(AdvertisementNews::Doubtful);
        }
        if a.lifetime_s == 0 {
            at.map(|i| self.agents.remove(i));
            return at.map(|_| AdvertisementNews::Gone);
        }
        // Behind 65535 comes 256: a lower number is that of a restart only below (section 2.3.2).
        let began_anew = before.is_some_and(|b| told.sequence < b.sequence && told.sequence < 256);
        let mut lifetime = Span::from_secs(a.lifetime_s.into());
        let mut registration_lifetime_s = told.registration_lifetime_s;
        let mut until = now + lifetime;
        if let Some(b) = before.filter(|_| is_proven) {
            lifetime = b.lifetime;
            registration_lifetime_s = b.registration_lifetime_s;
            until = b.until.max((now + lifetime).min(until));
        }
        let ask_at =
            if self.is_mesh() { now + Span::from_nanos(lifetime.as_nanos() / 3) } else { Time::NEVER };
        let agent = Agent {
            addr: src,
            care_of,
            serves_home,
            is_busy: told.flags.has(AgentFlags::BUSY),
            sequence: told.sequence,
            registration_lifetime_s,
            lifetime,
            until,
            ask_at,
            avoid_until: before.map_or(Time::ZERO, |b| b.avoid_until),
        };
        match at {
            Some(i) => self.agents[i] = agent,
            None => self.add(agent, kept),
        }
        Some(match (before, began_anew) {
            (_, true) => AdvertisementNews::BeganAnew,
            (Some(_), _) => AdvertisementNews::Known,
            (None, _) => AdvertisementNews::Found,
        })
    }

    /// An agent has answered, as only it or who is behind it can: it is there.
    pub(super) fn confirm(&mut self, now: Time, addr: Ipv4Addr) {
        if let Some(a) = self.agents.iter_mut().find(|a| a.addr == addr) {
            a.until = a.until.max(now + a.lifetime);
        }
    }

    fn add(&mut self, agent: Agent, kept: ProtectedAgents) {
        if self.agents.len() >= MAX_AGENTS {
            let others = self
                .agents
                .iter()
                .enumerate()
                .filter(|(_, a)| Some(a.addr) != kept.in_use && a.addr != kept.home_agent);
            if let Some((i, _)) = others.min_by_key(|(_, a)| a.until) {
                self.agents.remove(i);
            }
        }
        self.agents.push(agent);
    }

    /// Forgets agents that were not heard for as long as they said. Returns them.
    pub(super) fn forget(&mut self, now: Time) -> Vec<Ipv4Addr> {
        let silent: Vec<_> = self.agents.iter().filter(|a| a.until <= now).map(|a| a.addr).collect();
        self.agents.retain(|a| a.until > now);
        if !silent.is_empty() && self.agents.is_empty() {
            self.solicited = 0;
            self.next = now;
        }
        silent
    }

    /// Solicits, if it is time: all, and whom it knows by address, while there is nobody; in a mesh the agent in use, or else the first, to know that it is still there.
    pub(super) fn search(&mut self, cx: &mut ApplicationCx<'_>, own: Ipv4Addr, in_use: Option<Ipv4Addr>) {
        let (now, link) = (cx.now(), self.id);
        let (ttl, group) = if self.is_mesh() { (64, MESH_AGENTS) } else { (1, ALL_ROUTERS) };
        let mut say = |to| {
            packets::send(cx, Some(link), packets::discovery(own, to, ttl, &Discovery::Solicitation));
        };
        // While another link is in use, one is enough: a mesh is flooded only while nobody is known.
        let kept = in_use.or_else(|| self.agents.first().map(|a| a.addr));
        for a in &mut self.agents {
            if a.ask_at <= now {
                a.ask_at = now + PAUSE;
                if Some(a.addr) == kept {
                    say(a.addr);
                }
            }
        }
        if self.next > now {
            return;
        }
        if !self.agents.is_empty() {
            self.next = Time::NEVER;
            return;
        }
        say(group);
        self.ask.iter().for_each(|agent| say(*agent));
        self.solicited = self.solicited.saturating_add(1);
        let longest = if self.kind == OwnLinkKind::Mesh { LONGEST_IN_MESH } else { LONGEST_ON_LINK };
        let doublings = self.solicited.saturating_add(1).saturating_sub(FIRST).min(16);
        let pause = Span::from_nanos(PAUSE.as_nanos() << doublings).min(longest);
        self.next = now + pause;
    }

    /// When there is something to do.
    pub(super) fn next(&self) -> Time {
        let search = if self.agents.is_empty() { self.next } else { Time::NEVER };
        let agents = self.agents.iter().map(|a| a.until.min(a.ask_at));
        agents.chain([search]).min().unwrap_or(Time::NEVER)
    }
}
