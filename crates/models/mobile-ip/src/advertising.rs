//! How agents advertise themselves (section 2.3).

use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};
use wayhop_wire::mobile_ip::{Advertisement, AgentFlags, Discovery, MobilityAgent};

use crate::engine::{LinkId, Output};
use crate::groups::{ALL_ROUTERS, ALL_SYSTEMS, MESH_AGENTS};
use crate::packets;
use crate::rate::Rate;

/// An advertisement that was solicited follows the one before by this at least, on a link.
const APART: Span = Span::from_millis(100);
/// Answers to solicitations in a mesh, a second.
const ANSWERS: u32 = 20;

/// What an agent says of itself on one link.
#[derive(Clone, Debug)]
pub struct AgentAdvertisement {
    /// The link.
    pub link: LinkId,
    /// The agent's address there.
    pub addr: Ipv4Addr,
    /// How many bits the addresses there share.
    pub prefix_len: u8,
    /// Whether it is a mesh, where the agent only answers: a flood each second would be more than most meshes carry.
    pub is_mesh: bool,
    /// How often it advertises unasked, on a link.
    pub every: Span,
    /// For how long an advertisement holds, in seconds: three times as long (section 2.3).
    pub lifetime_s: u16,
    /// The longest lifetime of a registration, in seconds.
    pub registration_lifetime_s: u16,
}

/// It, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Advertiser {
    pub(crate) config: AgentAdvertisement,
    flags: AgentFlags,
    care_of: Vec<u8>,
    sequence: u16,
    next: Time,
    last: Option<Time>,
    answers: Rate,
}

impl Advertiser {
    pub(crate) fn new(
        config: AgentAdvertisement,
        flags: AgentFlags,
        care_of: &[Ipv4Addr],
        now: Time,
    ) -> Self {
        let next = if config.is_mesh { Time::NEVER } else { now };
        let care_of = care_of.iter().flat_map(Ipv4Addr::octets).collect();
        Self { config, flags, care_of, sequence: 0, next, last: None, answers: Rate::per_second(ANSWERS) }
    }

    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// Advertises, if it is time.
    pub(crate) fn run_due(&mut self, now: Time, is_busy: bool, out: &mut Vec<Output>) {
        if self.next <= now {
            self.next = now + self.config.every;
            self.say(now, ALL_SYSTEMS, is_busy, out);
        }
    }

    /// Answers a solicitation: on a link to all (RFC 1256, section 4.3), in a mesh to whom it came from.
    pub(crate) fn solicited(&mut self, now: Time, by: Ipv4Addr, is_busy: bool, out: &mut Vec<Output>) {
        if self.config.is_mesh {
            if self.answers.take(now) && by != self.config.addr {
                self.say(now, by, is_busy, out);
            }
        } else if self.last.is_none_or(|at| now.since(at) >= APART) {
            self.say(now, ALL_SYSTEMS, is_busy, out);
        }
    }

    fn say(&mut self, now: Time, to: Ipv4Addr, is_busy: bool, out: &mut Vec<Output>) {
        self.last = Some(now);
        let flags = if is_busy { self.flags | AgentFlags::BUSY } else { self.flags };
        let c = &self.config;
        let (entry, lengths) = (Advertisement::entry(c.addr, 0), [c.prefix_len]);
        let agent = MobilityAgent::new(self.sequence, c.registration_lifetime_s, flags, &self.care_of);
        // After 0xffff follows 256, so that lower numbers are of an agent that began anew (section 2.3.2).
        self.sequence = self.sequence.checked_add(1).unwrap_or(256);
        let Ok(mut advertisement) =
            Advertisement::new(c.lifetime_s, &entry).and_then(|a| a.with_prefix_lengths(&lengths))
        else {
            return;
        };
        advertisement.agent = agent.ok();
        let message = Discovery::Advertisement(advertisement);
        // On a link, TTL 1 (section 2.1). A mesh has hops.
        let ttl = if c.is_mesh { 64 } else { 1 };
        out.push(Output::Send { link: Some(c.link), packet: packets::discovery(c.addr, to, ttl, &message) });
    }
}

/// The groups that an agent listens to.
impl AgentAdvertisement {
    /// To which group solicitations come on this link.
    pub const fn group(&self) -> Ipv4Addr {
        if self.is_mesh { MESH_AGENTS } else { ALL_ROUTERS }
    }
}
