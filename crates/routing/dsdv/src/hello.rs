//! Hellos: updates that say nothing but that their sender is there.
//!
//! Where the link layer acknowledges, the first lost packet shows that a neighbour is gone. Where
//! it does not, as on Ethernet, only silence does: three missing periodic updates take 45 s, and
//! the kernel's neighbour entry stays valid as long as traffic seems to succeed. So on such links
//! nodes send Hellos between updates, and a neighbour that does is lost after a short silence. A
//! Hello is an ordinary update, without news to a node that does not use Hellos.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Span, Time};
use wayhop_wire::dsdv::{self, Update};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::forwarding::output::jitter;
use crate::gateway::exits::exit_of;
use crate::params::Params;
use crate::routing_table::RouteEntry;
use crate::routing_table::seq::lost;

impl Params {
    /// How long after the last message that was heard of it a neighbour is lost.
    pub(crate) fn silence(&self, neighbour: &RouteEntry) -> Span {
        match self.hello_interval_ms {
            Some(ms) if neighbour.sends_hellos => Span::from_millis(ms) * u64::from(self.allowed_hello_loss),
            _ => self.neighbour_timeout(),
        }
    }
}

impl Engine {
    /// Begins to send Hellos if a link of this node's needs them.
    pub(crate) fn begin_hellos(&mut self, cx: &mut Cx<'_>) {
        if self.next_hello == Time::NEVER {
            self.plan_hello(cx, cx.now());
        }
    }

    /// Plans the Hello that follows what was sent at `last`.
    fn plan_hello(&mut self, cx: &mut Cx<'_>, last: Time) {
        self.next_hello = Time::NEVER;
        let Some(ms) = self.params.hello_interval_ms.filter(|_| !cx.all_links_acknowledge()) else { return };
        // Nodes do not stay in step.
        let early = jitter(cx, ms / 10);
        self.next_hello = (last + Span::from_millis(ms).saturating_sub(early)).max(cx.now());
        cx.set_timer(Timer::Hello.key(), self.next_hello);
    }

    /// A Hello is due, unless an update took its place.
    pub(crate) fn hello_due(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        let interval = Span::from_millis(self.params.hello_interval_ms.unwrap_or_default());
        // An update since then counts, unless it is as old as the earliest Hello.
        let last = self.last_sent.filter(|&sent| now < sent + interval.mul_f64(0.9));
        if last.is_none() && !self.is_quiet(now) && !cx.all_links_acknowledge() {
            self.entries.clear();
            self.tell_self(cx.addr());
            self.send_entries(cx);
        }
        self.plan_hello(cx, last.unwrap_or(now));
    }

    /// This node itself, and its exit, as they were told last.
    pub(crate) fn tell_self(&mut self, own: Ipv4Addr) {
        self.entries.push(dsdv::UpdateEntry { destination: own, hop_count: 1, seq: self.seq });
        self.entries.extend(self.exits.told(own, self.seq));
    }

    /// Whether an update contains only its sender, with the number known for it, or known until it
    /// was lost. Only Hellos look like this.
    pub(crate) fn is_hello(&self, source: Ipv4Addr, update: &Update<'_>) -> bool {
        let Some(known) = self.table.get(source) else { return false };
        let is_known =
            |e: dsdv::UpdateEntry| e.destination == source && [e.seq, lost(e.seq)].contains(&known.seq);
        let is_own = |e: dsdv::UpdateEntry| e.destination == source || e.destination == exit_of(source);
        update.iter().next().is_some_and(is_known) && update.iter().all(is_own)
    }

    /// A neighbour that was lost is there again and does not know that it was: tells it, for it to raise its number.
    pub(crate) fn answer_hello(&mut self, now: Time, source: Ipv4Addr) {
        if let Some(e) = self.table.get_mut(source).filter(|e| !e.is_valid()) {
            e.tell_soon(now);
        }
    }
}
