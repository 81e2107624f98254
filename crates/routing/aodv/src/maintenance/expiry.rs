//! Routes end: they become invalid, and are forgotten later (sections 6.10 and 6.11).

use std::net::Ipv4Addr;

use wayhop_core::Cx;

use crate::engine::state::Engine;
use crate::routing_table::RouteState;

impl Engine {
    /// Marks a route invalid, keeps what is to be remembered of it, and takes it from the host.
    pub(crate) fn invalidate(
        &mut self,
        cx: &mut Cx<'_>,
        destination: Ipv4Addr,
        number: impl FnOnce(Option<u32>) -> Option<u32>,
    ) {
        let delete = cx.now() + self.params.delete_period();
        let Some(e) = self.table.get_mut(destination) else { return };
        let (prefix, was_valid) = (e.prefix, e.is_valid());
        if was_valid {
            cx.note("route_broken", destination, e.hops.into());
        }
        e.seq = number(e.seq);
        e.state = RouteState::Invalid;
        if e.hops == u8::MAX {
            e.hops = e.last_hops.unwrap_or(0);
        } else {
            e.last_hops = Some(e.hops);
        }
        e.expires = delete;
        if was_valid {
            self.publish(cx, destination, prefix);
        }
        self.check_after(cx, delete);
    }

    /// Routes not used for their lifetime become invalid; invalid ones not needed for theirs are forgotten.
    pub(crate) fn expire_routes(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        for i in (0..self.table.len()).rev() {
            let e = self.table.at(i);
            let destination = e.destination;
            if e.expires >= now {
                continue;
            }
            match e.state {
                RouteState::Valid => self.expire(cx, destination),
                RouteState::Invalid if !e.search().is_on() && !self.buffer.waits_for(destination) => {
                    self.forget(cx, destination);
                }
                _ => {}
            }
        }
    }

    /// Ends a route without a word to its users.
    fn expire(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        self.invalidate(cx, destination, |seq| seq.map(|s| s.wrapping_add(1)));
        if let Some(e) = self.table.get_mut(destination).filter(|_| !self.params.keep_precursors) {
            e.clear_precursors();
        }
    }

    /// Ends the route to a destination, or all, as if their lifetimes had ended: their numbers stay, for without them
    /// routes could loop.
    pub(crate) fn purge(&mut self, cx: &mut Cx<'_>, destination: Option<Ipv4Addr>) {
        for i in 0..self.table.len() {
            let e = self.table.at(i);
            let meant = destination.is_none_or(|d| d == e.destination);
            if meant && e.is_valid() {
                let destination = e.destination;
                self.expire(cx, destination);
            }
        }
    }
}
