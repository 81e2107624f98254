//! What people may want to know: lines of a log, and rows of the table `events`.

use std::net::Ipv4Addr;

use wayhop_core::{Addr, LinkId, Span};
use wayhop_wire::mobile_ip::Code;

use crate::attachment::Attachment;

/// Something worth a line in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LogEvent {
    /// A home agent made a binding, or made it last longer.
    Bound { home: Ipv4Addr, care_of: Ipv4Addr, lifetime_s: u16 },
    /// A restarted home agent resumed a binding; `left` of it, unless it has no end.
    Resumed { home: Ipv4Addr, care_of: Ipv4Addr, left: Option<Span> },
    /// A mobile node is at home again.
    Returned(Ipv4Addr),
    /// A binding or a visit ended by itself.
    Expired { home: Ipv4Addr, care_of: Ipv4Addr },
    /// An agent refused a request for this mobile node.
    Refused { home: Ipv4Addr, from: Ipv4Addr, code: Code },
    /// A foreign agent has a visitor at this address on the link, or has it for longer.
    Visits { home: Ipv4Addr, at: Ipv4Addr, lifetime_s: u16 },
    /// A mobile node heard of an agent that it did not know.
    Found { link: LinkId, agent: Ipv4Addr },
    /// A mobile node hears no more of an agent.
    Lost { link: LinkId, agent: Ipv4Addr },
    /// A mobile node asks for a binding after `tries` requests; with its home address it `ends` all bindings: it is at home.
    Registers { link: LinkId, care_of: Ipv4Addr, ends: bool, tries: u32 },
    /// A mobile node was denied what it asked for.
    Denied { link: LinkId, code: Code },
    /// A mobile node is attached elsewhere, this long after it had decided to go there.
    Moved { to: Attachment, after: Span },
    /// A message was not believed that says it is from there.
    NotBelieved { from: Ipv4Addr, why: &'static str },
}

impl LogEvent {
    /// Its row of the table `events`: what, about whom, and a figure.
    pub(crate) fn note(&self) -> (&'static str, Addr, u64) {
        match *self {
            Self::Bound { home, lifetime_s, .. } => ("mip_bound", home.into(), lifetime_s.into()),
            Self::Resumed { home, left, .. } => {
                ("mip_resumed", home.into(), left.map_or(u64::MAX, Span::as_nanos))
            }
            Self::Returned(home) => ("mip_returned", home.into(), 0),
            Self::Expired { home, .. } => ("mip_expired", home.into(), 0),
            Self::Refused { home, code, .. } => ("mip_refused", home.into(), code.0.into()),
            Self::Visits { home, lifetime_s, .. } => ("mip_visits", home.into(), lifetime_s.into()),
            Self::Found { agent, .. } => ("mip_agent_found", agent.into(), 0),
            Self::Lost { agent, .. } => ("mip_agent_lost", agent.into(), 0),
            Self::Registers { care_of, tries, .. } => ("mip_registers", care_of.into(), tries.into()),
            Self::Denied { code, .. } => ("mip_denied", Addr::UNSPECIFIED, code.0.into()),
            Self::Moved { to, after } => {
                let (what, about) = match to {
                    Attachment::Nowhere => ("mip_nowhere", Ipv4Addr::UNSPECIFIED),
                    Attachment::Home { .. } => ("mip_at_home", Ipv4Addr::UNSPECIFIED),
                    Attachment::Foreign { care_of, .. } => ("mip_by_foreign_agent", care_of),
                    Attachment::CoLocated { care_of, .. } => ("mip_co_located", care_of),
                };
                (what, about.into(), after.as_nanos())
            }
            Self::NotBelieved { from, .. } => ("mip_not_believed", from.into(), 0),
        }
    }

    /// Whether something is wrong.
    pub(crate) const fn is_warning(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Denied { .. } | Self::NotBelieved { .. })
    }

    /// The event in words, with the links' names.
    pub(crate) fn text(&self, links: &[String]) -> String {
        let name = |link: LinkId| links.get(usize::from(link)).map_or("", String::as_str);
        match self {
            Self::Bound { home, care_of, lifetime_s } => format!("{home} is at {care_of} for {lifetime_s} s"),
            Self::Resumed { home, care_of, left } => {
                let left = left.map_or_else(String::new, |s| format!(" for {:.0} s more", s.as_secs_f64()));
                format!("{home} is still at {care_of}{left}")
            }
            Self::Returned(home) => format!("{home} is at home"),
            Self::Expired { home, care_of } => format!("{home} at {care_of} has expired"),
            Self::Refused { home, from, code } => format!("{home} by {from} is refused: {code}"),
            Self::Visits { home, at, lifetime_s } => format!("{home} visits at {at} for {lifetime_s} s"),
            Self::Found { link, agent } => format!("{}: found the agent {agent}", name(*link)),
            Self::Lost { link, agent } => format!("{}: lost the agent {agent}", name(*link)),
            Self::Registers { link, care_of, ends, tries } => {
                let again = if *tries > 0 { format!(" again ({tries})") } else { String::new() };
                match ends {
                    true => format!("{}: deregisters, being at home{again}", name(*link)),
                    false => format!("{}: registers {care_of}{again}", name(*link)),
                }
            }
            Self::Denied { link, code } => format!("{}: denied: {code}", name(*link)),
            Self::Moved { to, after } => {
                format!("{}, {:.3} s after the decision", place(*to, name), after.as_secs_f64())
            }
            Self::NotBelieved { from, why } => format!("ignoring a message from {from}: {why}"),
        }
    }
}

fn place<'a>(at: Attachment, name: impl Fn(LinkId) -> &'a str) -> String {
    match at {
        Attachment::Nowhere => "attached nowhere".to_owned(),
        Attachment::Home { link } => format!("attached at home by {}", name(link)),
        Attachment::Foreign { link, agent, care_of, .. } => {
            format!("attached by {}, foreign agent {agent}, care-of address {care_of}", name(link))
        }
        Attachment::CoLocated { link, care_of } => {
            format!("attached by {}, co-located care-of address {care_of}", name(link))
        }
    }
}
