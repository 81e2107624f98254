//! Where engines report events, and count them.

use wayhop_core::{ApplicationCx, LinkNeeds, NetworkEffect};

use crate::event::LogEvent;

/// What happened so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    /// The names of the links, by number.
    links: Vec<String>,
    /// Requests that were granted: made into a binding, or by which a visit began; own ones.
    pub(crate) granted: u64,
    /// Requests of others that this agent refused.
    refused: u64,
    /// Own requests that an agent refused.
    denied: u64,
    /// Messages and packets in tunnels that were not believed.
    not_believed: u64,
    /// Packets put into tunnels, and taken out of them.
    pub(crate) tunnelled: u64,
    pub(crate) untunnelled: u64,
}

impl Journal {
    pub(crate) fn new(links: Vec<LinkNeeds>) -> Self {
        Self { links: links.into_iter().map(|l| l.interface).collect(), ..Self::default() }
    }

    /// Reports an event, and counts it.
    pub(crate) fn tell(&mut self, cx: &mut ApplicationCx<'_>, event: &LogEvent) {
        match event {
            LogEvent::Bound { .. } | LogEvent::Visits { .. } => self.granted += 1,
            LogEvent::Refused { .. } => self.refused += 1,
            LogEvent::Denied { .. } => self.denied += 1,
            LogEvent::NotBelieved { .. } => self.not_believed += 1,
            _ => {}
        }
        let (what, about, value) = event.note();
        cx.note(what, about, value);
        cx.network(NetworkEffect::Log { is_warning: event.is_warning(), text: event.text(&self.links) });
    }

    pub(crate) fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        for (name, count) in [
            ("registrations", self.granted),
            ("refused", self.refused),
            ("denied", self.denied),
            ("not_believed", self.not_believed),
            ("packets_tunnelled", self.tunnelled),
            ("packets_untunnelled", self.untunnelled),
        ] {
            tell(name, count as f64);
        }
    }
}
