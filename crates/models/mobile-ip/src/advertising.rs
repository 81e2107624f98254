//! How agents advertise themselves (section 2.3).

use std::net::Ipv4Addr;

use wayhop_core::{ApplicationCx, LinkId, Span, Time};
use wayhop_wire::mobile_ip::{Advertisement, AgentFlags, Discovery, MobilityAgent};

use crate::groups::ALL_SYSTEMS;
use crate::packets;
use crate::rate::Rate;

/// An advertisement that was solicited follows the one before by this at least, on a link.
const APART: Span = Span::from_millis(100);
/// Answers to solicitations in a mesh, a second.
const ANSWERS: u32 = 20;

/// What an agent says of itself on one link, and when.
#[derive(Clone, Debug)]
pub(crate) struct Advertiser {
    link: LinkId,
    /// The agent's address there; unspecified until it is known.
    pub(crate) addr: Ipv4Addr,
    /// How many bits the addresses there share.
    pub(crate) prefix_len: u8,
    /// Whether it is a mesh, where the agent only answers: a flood each second would be more than most meshes carry.
    is_mesh: bool,
    /// How often it advertises unasked, on a link.
    every: Span,
    /// For how long an advertisement holds, in seconds.
    lifetime_s: u16,
    /// The longest lifetime of a registration, in seconds.
    pub(crate) registration_lifetime_s: u16,
    flags: AgentFlags,
    care_of: Vec<u8>,
    sequence: u16,
    pub(crate) next: Time,
    last: Option<Time>,
    answers: Rate,
}

impl Advertiser {
    pub(crate) fn new(
        link: LinkId,
        is_mesh: bool,
        every: Span,
        registration_lifetime_s: u16,
        flags: AgentFlags,
        care_of: &[Ipv4Addr],
    ) -> Self {
        Self {
            link,
            addr: Ipv4Addr::UNSPECIFIED,
            prefix_len: 32,
            is_mesh,
            every,
            // Three times the pause (section 2.3), in whole seconds.
            lifetime_s: (every.as_millis() * 3).div_ceil(1_000).clamp(1, 9_000) as u16,
            registration_lifetime_s,
            flags,
            care_of: care_of.iter().flat_map(Ipv4Addr::octets).collect(),
            sequence: 0,
            next: if is_mesh { Time::NEVER } else { Time::ZERO },
            last: None,
            answers: Rate::per_second(ANSWERS),
        }
    }

    /// Advertises, if it is time.
    pub(crate) fn run_due(&mut self, cx: &mut ApplicationCx<'_>, is_busy: bool) {
        if self.next <= cx.now() {
            self.next = cx.now() + self.every;
            self.say(cx, ALL_SYSTEMS, is_busy);
        }
    }

    /// Answers a message that is a solicitation: on a link to all (RFC 1256, section 4.3), in a mesh to its sender.
    pub(crate) fn icmp(&mut self, cx: &mut ApplicationCx<'_>, by: Ipv4Addr, message: &[u8], is_busy: bool) {
        if Discovery::parse(message) != Ok(Discovery::Solicitation) {
            return;
        }
        if self.is_mesh {
            if self.answers.take(cx.now()) && by != self.addr {
                self.say(cx, by, is_busy);
            }
        } else if self.last.is_none_or(|at| cx.now().since(at) >= APART) {
            self.say(cx, ALL_SYSTEMS, is_busy);
        }
    }

    fn say(&mut self, cx: &mut ApplicationCx<'_>, to: Ipv4Addr, is_busy: bool) {
        if self.addr.is_unspecified() {
            return;
        }
        self.last = Some(cx.now());
        let flags = if is_busy { self.flags | AgentFlags::BUSY } else { self.flags };
        let (entry, lengths) = (Advertisement::entry(self.addr, 0), [self.prefix_len]);
        let agent = MobilityAgent::new(self.sequence, self.registration_lifetime_s, flags, &self.care_of);
        // After 0xffff follows 256, so that lower numbers show that an agent restarted (section
        // 2.3.2).
        self.sequence = self.sequence.checked_add(1).unwrap_or(256);
        let Ok(mut advertisement) =
            Advertisement::new(self.lifetime_s, &entry).and_then(|a| a.with_prefix_lengths(&lengths))
        else {
            return;
        };
        advertisement.agent = agent.ok();
        let message = Discovery::Advertisement(advertisement);
        // On a link, TTL 1 (section 2.1). A mesh has hops.
        let ttl = if self.is_mesh { 64 } else { 1 };
        packets::send(cx, Some(self.link), packets::discovery(self.addr, to, ttl, &message));
    }
}
