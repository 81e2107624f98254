//! Registration requests, until they are answered, and again before the lifetime ends (section
//! 3.6).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_core::{ApplicationCx, LinkId, Rng, Span, Time};
use wayhop_wire::mobile_ip::{AuthKind, Code, Extension, Extensions, PORT, Reply, Request, RequestFlags};

use crate::attachment::Attachment;
use crate::clock::Clock;
use crate::event::LogEvent;
use crate::home::expiry;
use crate::identification::Maker;
use crate::journal::Journal;
use crate::packets;
use crate::params::mobile_node::MobileNodeParams;
use crate::params::{association, associations};
use crate::security::{Association, ExtensionVerdict, seal, verify};

/// A request that is not answered is made again after this, and then after twice as long, up to the longest (section 3.6.3).
const FIRST_PAUSE: Span = Span::from_secs(1);
const LONGEST_PAUSE: Span = Span::from_secs(32);

/// What is under way, and what was granted.
#[derive(Debug)]
pub(super) struct Registration {
    home: Ipv4Addr,
    home_agent: Ipv4Addr,
    association: Association,
    agents: BTreeMap<Ipv4Addr, Association>,
    lifetime_s: u16,
    reverse_tunnel: bool,
    maker: Maker,
    attempt: Option<Attempt>,
    granted: Option<Grant>,
}

#[derive(Copy, Clone, Debug)]
struct Attempt {
    to: Attachment,
    tries: u32,
    next: Time,
    /// What the last request asked for, in seconds.
    asked_s: u16,
    /// Whether the home agent has set the identification right.
    was_set_right: bool,
}

#[derive(Copy, Clone, Debug)]
struct Grant {
    to: Attachment,
    renew_at: Time,
    until: Time,
}

/// What follows from a reply.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplyAction {
    Nothing,
    Accepted,
    TryAgain,
    TryElsewhere,
}

impl Registration {
    pub(super) fn new(params: &MobileNodeParams, home: Ipv4Addr) -> Self {
        Self {
            home,
            home_agent: params.home_agent,
            association: association(params.spi, &params.key, params.replay),
            agents: associations(&params.foreign_agents),
            lifetime_s: params.lifetime_s,
            reverse_tunnel: params.reverse_tunnel,
            maker: Maker::default(),
            attempt: None,
            granted: None,
        }
    }

    /// It begins: the first identification is one that nobody can know.
    pub(super) fn start(&mut self, rng: &mut Rng) {
        self.maker = Maker::new(self.association.replay, rng);
    }

    /// Asks for a binding there, or at home for the end of all. What was granted elsewhere stays until this is granted.
    pub(super) fn begin(&mut self, now: Time, to: Attachment) {
        if self.granted.is_some_and(|g| g.until <= now) {
            self.granted = None;
        }
        self.attempt = (to != Attachment::Nowhere).then_some(Attempt {
            to,
            tries: 0,
            next: now,
            asked_s: 0,
            was_set_right: false,
        });
    }
    pub(super) fn forget(&mut self) {
        (self.attempt, self.granted) = (None, None);
    }

    /// It has gone there: what was granted elsewhere is of no more use.
    pub(super) fn keep_grant_of(&mut self, to: Attachment) {
        self.granted = self.granted.filter(|g| g.to == to);
    }

    /// Requests without an answer.
    pub(super) fn tries(&self) -> u32 {
        self.attempt.map_or(0, |a| a.tries)
    }
    pub(super) const fn is_under_way(&self) -> bool {
        self.attempt.is_some()
    }
    /// Whether what was granted has ended.
    pub(super) fn is_over(&self, now: Time) -> bool {
        self.granted.is_some_and(|g| g.until <= now)
    }

    /// Whether it is time to ask again for what was granted.
    pub(super) fn is_renewal_due(&self, now: Time) -> bool {
        self.granted.is_some_and(|g| g.renew_at <= now)
    }

    pub(super) fn next(&self) -> Time {
        let attempt = self.attempt.map_or(Time::NEVER, |a| a.next);
        let is_asked = |g: &Grant| self.attempt.is_some_and(|a| a.to == g.to);
        let granted = self.granted.map_or(Time::NEVER, |g| if is_asked(&g) { g.until } else { g.renew_at });
        attempt.min(granted)
    }

    /// Sends a request, if it is time.
    pub(super) fn run_due(
        &mut self,
        (cx, journal): (&mut ApplicationCx<'_>, &mut Journal),
        now: Clock,
        offered_s: u16,
    ) {
        if let Some(g) = self.granted.filter(|g| g.renew_at <= now.at && self.attempt.is_none()) {
            self.begin(now.at, g.to);
        }
        let Some(a) = self.attempt.filter(|a| a.next <= now.at) else { return };
        let asked_s =
            if matches!(a.to, Attachment::Home { .. }) { 0 } else { self.lifetime_s.min(offered_s) };
        let pause = Span::from_nanos(FIRST_PAUSE.as_nanos() << a.tries.min(16)).min(LONGEST_PAUSE);
        self.attempt = Some(Attempt { tries: a.tries.saturating_add(1), next: now.at + pause, asked_s, ..a });
        let identification = self.maker.make(now.ntp, cx.rng());
        if let Some((link, care_of, packet)) = self.request(a.to, asked_s, identification) {
            journal.tell(cx, &LogEvent::Registers { link, care_of, ends: asked_s == 0, tries: a.tries });
            packets::send(cx, Some(link), packet);
        }
    }

    /// A request: by which link, for which care-of address, and its packet.
    fn request(
        &self,
        to: Attachment,
        lifetime_s: u16,
        identification: u64,
    ) -> Option<(LinkId, Ipv4Addr, Vec<u8>)> {
        let t = RequestFlags::REVERSE_TUNNEL;
        let none = RequestFlags::default();
        let (link, flags, care_of, src, dst, agent) = match to {
            Attachment::Nowhere => return None,
            Attachment::Home { link } => (link, none, self.home, self.home, self.home_agent, None),
            Attachment::Foreign { link, agent, care_of, own } => (link, t, care_of, own, agent, Some(agent)),
            Attachment::CoLocated { link, care_of } => {
                let reverse = if self.reverse_tunnel { t } else { none };
                (link, RequestFlags::CO_LOCATED | reverse, care_of, care_of, self.home_agent, None)
            }
        };
        let (home, home_agent) = (self.home, self.home_agent);
        let mut message = vec![0; Request::LEN];
        Request { flags, lifetime_s, home, home_agent, care_of, identification }.emit(&mut message);
        seal(&mut message, AuthKind::MobileHome, &self.association);
        if let Some(agent) = agent {
            // For the foreign agent alone, so behind what is for the home agent (RFC 3024, section 3.3).
            let style = Extension::EncapsulatingDelivery;
            let at = message.len();
            message.resize(at + style.buffer_len(), 0);
            style.emit(&mut message[at..]).ok()?;
            if let Some(shared) = self.agents.get(&agent) {
                seal(&mut message, AuthKind::MobileForeign, shared);
            }
        }
        Some((link, care_of, packets::datagram(src, dst, PORT, &message)))
    }

    /// A reply (section 3.6.2).
    pub(super) fn answer(
        &mut self,
        (cx, journal): (&mut ApplicationCx<'_>, &mut Journal),
        now: Clock,
        (src, target): (Ipv4Addr, Attachment),
        (reply, extensions): (&Reply, &Extensions<'_>),
    ) -> ReplyAction {
        let Some(attempt) = self.attempt.filter(|a| a.to == target) else { return ReplyAction::Nothing };
        if reply.home != self.home
            || !self.maker.is_answered_by(reply.identification, reply.code.is_accepted())
        {
            return ReplyAction::Nothing;
        }
        if let Err(why) = self.believe(src, target, (reply, extensions)) {
            journal.tell(cx, &LogEvent::NotBelieved { from: src, why });
            return ReplyAction::Nothing;
        }
        let has_key = matches!(target, Attachment::Foreign { agent, .. } if self.agents.contains_key(&agent));
        if reply.code.is_foreign_agents() && !has_key && self.granted.is_some_and(|g| g.to == target) {
            // Nothing shows that it is this agent's, by which the home agent has answered.
            let why = "a rejection by the agent in use, which has no key: asking it again";
            journal.tell(cx, &LogEvent::NotBelieved { from: src, why });
            return ReplyAction::Nothing;
        }
        if !reply.code.is_foreign_agents() {
            self.maker.learn(reply.identification, reply.code == Code::HOME_IDENTIFICATION, now.ntp);
        }
        if reply.code.is_accepted() {
            journal.granted += 1;
            self.grant(now.at, attempt, reply.lifetime_s);
            return ReplyAction::Accepted;
        }
        if let Some(link) = target.link() {
            journal.tell(cx, &LogEvent::Denied { link, code: reply.code });
        }
        match reply.code {
            // Once at once; a home agent that says so again and again is not flooded.
            Code::HOME_IDENTIFICATION if !attempt.was_set_right => {
                self.attempt = Some(Attempt { was_set_right: true, next: now.at, ..attempt });
                ReplyAction::TryAgain
            }
            code if code.is_foreign_agents() => ReplyAction::TryElsewhere,
            // The home agent says no: the request is made again, ever more seldom.
            _ => ReplyAction::Nothing,
        }
    }

    /// Whether the authenticators of a reply are right (section 3.6.2.1): the home agent's in all that it says; in what a foreign
    /// agent says, its own, if there is a key.
    fn believe(
        &self,
        src: Ipv4Addr,
        target: Attachment,
        (reply, extensions): (&Reply, &Extensions<'_>),
    ) -> Result<(), &'static str> {
        if let Attachment::Foreign { agent, .. } = target {
            if src != agent {
                return Err("it comes from another agent");
            }
            if let Some(shared) = self.agents.get(&agent)
                && verify(extensions, AuthKind::MobileForeign, shared) != ExtensionVerdict::Right
            {
                return Err("the foreign agent's authenticator is wrong");
            }
            if reply.code.is_foreign_agents() {
                return Ok(());
            }
        }
        match verify(extensions, AuthKind::MobileHome, &self.association) {
            ExtensionVerdict::Right => Ok(()),
            ExtensionVerdict::Missing => Err("it has no authenticator of the home agent"),
            ExtensionVerdict::Wrong => Err("the home agent's authenticator is wrong"),
        }
    }

    fn grant(&mut self, now: Time, attempt: Attempt, lifetime_s: u16) {
        self.attempt = None;
        // A home agent may grant less than was asked for, not more (section 3.6.2.2).
        let lifetime_s = lifetime_s.min(attempt.asked_s);
        self.granted = (lifetime_s > 0).then(|| {
            let until = expiry(now, lifetime_s);
            let half = Span::from_nanos(Span::from_secs(lifetime_s.into()).as_nanos() / 2);
            let renew_at = if until == Time::NEVER { until } else { now + half };
            Grant { to: attempt.to, renew_at, until }
        });
    }
}
