//! Outages of this node: from its scenario, or by commands at the control socket.
//!
//! The node's part is here and does no I/O. The event loop notices the change and makes the kernel follow.

use wayhop_control::ControlError;
use wayhop_core::{Addr, NodeId, Purpose, Span, Time, TraceNote, stream};
use wayhop_node::{Engine, World as _};
use wayhop_scenario::{Outage, Tables};

use crate::config::number::NODE;
use crate::node::host::Host;
use crate::node::power::Rebirth;
use crate::node::transmitters::Transmitters;

impl Host {
    /// Takes the node down now, for some seconds or until [`Host::bring_up`].
    pub(crate) fn take_down(&mut self, for_s: Option<f64>, lose_tables: bool) -> Result<(), ControlError> {
        if self.power.now.is_some() {
            return Err(ControlError::is_down());
        }
        let from = self.now();
        let until = for_s.map_or(Time::NEVER, |s| from + Span::from_secs_f64(s));
        let tables = if lose_tables { Tables::Lost } else { Tables::Kept };
        self.go_down(Outage { node: NodeId(NODE), from, until, tables });
        Ok(())
    }

    /// Ends the outage.
    pub(crate) fn bring_up(&mut self) -> Result<(), ControlError> {
        if self.come_back() { Ok(()) } else { Err(ControlError::is_up()) }
    }

    /// Goes down, and comes back, when it is time.
    pub(crate) fn run_power(&mut self) {
        let now = self.now();
        while self.power.next().is_some_and(|at| at <= now) {
            if self.power.now.is_some() {
                self.come_back();
            } else if let Some(outage) = self.power.given.pop() {
                self.go_down(outage);
            }
        }
    }

    fn go_down(&mut self, outage: Outage) {
        let is_lost = outage.tables == Tables::Lost;
        self.power.now = Some(Outage { from: self.now(), ..outage });
        self.tell_power("node_down", is_lost);
        if is_lost {
            self.call(wayhop_node::Node::lose_tables);
            self.transmitters = Transmitters::default();
        } else {
            self.call(wayhop_node::Node::go_down);
            self.around.withdraw_routes();
        }
    }

    /// Returns whether it was down.
    fn come_back(&mut self) -> bool {
        let Some(outage) = self.power.now.take() else { return false };
        let now = self.now();
        self.power.over.push(outage.length_until(now));
        // Those that should have begun meanwhile do not: the node is down as ordered, and up as ordered.
        self.power.given.truncate(self.power.given.partition_point(|o| o.from >= now));
        let is_lost = outage.tables == Tables::Lost;
        self.tell_power("node_up", is_lost);
        match &mut self.power.rebirth {
            Some(Rebirth { protocol, context, count }) if is_lost => {
                *count += 1;
                // Another life must not draw what the one before drew.
                let number = u64::from(self.node.addr().to_bits()) | *count << 32;
                let engine = Engine::new(
                    protocol.engine_at(*context),
                    stream(context.seed, Purpose::Protocol, number),
                );
                self.parameters = protocol.values().into();
                self.call(|n, w, at| n.reboot(w, at, vec![engine]));
            }
            _ => {
                self.call(wayhop_node::Node::come_back);
                self.around.renew_routes();
            }
        }
        true
    }

    fn tell_power(&mut self, what: &'static str, is_lost: bool) {
        let note = TraceNote { what, about: Addr::UNSPECIFIED, value: u64::from(is_lost) };
        self.call(|_, w, at| w.note(at, note));
    }
}

#[cfg(test)]
mod tests;
