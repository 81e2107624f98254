//! Whether next hops are there, on links that acknowledge nothing (section 6.10): the next hop is heard passing the packet on,
//! in promiscuous mode, or saying anything else; else it is asked for itself.

use std::net::Ipv4Addr;

use wayhop_core::Cx;
use wayhop_wire::aodv::{Message, Rreq};

use crate::engine::ids;
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::neighbours::watch::{NextHopWatch, WatchedHop};
use crate::params::Hello;

impl Engine {
    /// Data goes to a neighbour: it is to be heard from.
    pub(crate) fn watch(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr, destination: Ipv4Addr) {
        let overhears = self.params.passive_ack;
        let list = &self.watch.0;
        if list.len() >= NextHopWatch::LIMIT
            || list.iter().any(|w| w.neighbour == neighbour)
            || !overhears && !self.asks_if_silent(cx, neighbour)
        {
            return;
        }
        // A destination forwards nothing, and without promiscuous mode nobody is heard forwarding: then it has the time of a
        // Hello to say something of its own.
        let is_last = neighbour == destination || !overhears;
        let wait = if is_last { self.params.hello_interval() } else { self.params.next_hop_wait() };
        self.watch.0.push(WatchedHop { neighbour, was_asked: false, due: cx.now() + wait });
        self.set_watch_timer(cx);
    }

    /// Whether nothing else tells that a neighbour is gone: neither its Hellos, which stay away, nor the link layer.
    fn asks_if_silent(&self, cx: &Cx<'_>, neighbour: Ipv4Addr) -> bool {
        self.params.ask_silent_next_hop
            && self.params.hello != Hello::Off
            && !(self.params.link_feedback && cx.link_acknowledges(neighbour))
            && !self.neighbours.greets(neighbour)
    }

    /// Next hops that were not heard in time: each is asked for itself once, and lost if it does not answer.
    pub(crate) fn watch_due(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        while let Some(i) = self.watch.0.iter().position(|w| w.due <= now) {
            let w = self.watch.0.swap_remove(i);
            if w.was_asked {
                cx.note("neighbour_lost", w.neighbour, 0);
                cx.recall(w.neighbour);
                self.link_broken(cx, w.neighbour);
            } else if self.ask_over(cx, w.neighbour, w.neighbour, 1) {
                let due = now + self.params.ring_traversal_time(1);
                self.watch.0.push(WatchedHop { was_asked: true, due, ..w });
            }
        }
        self.set_watch_timer(cx);
    }

    fn set_watch_timer(&self, cx: &mut Cx<'_>) {
        if let Some(first) = self.watch.0.iter().map(|w| w.due).min() {
            cx.set_timer(Timer::Watch.key(), first);
        }
    }

    /// Asks the next hop of a route for the destination, with the route's number: section 6.1 has the destination take it over.
    pub(crate) fn ask_next_hop(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let Some(e) = self.table.get(destination).filter(|_| self.params.ask_lagging_next_hop) else {
            return;
        };
        let next_hop = e.next_hop;
        let ttl = if next_hop == destination { 1 } else { self.params.net_diameter };
        // Half of the requests are left for packets that wait.
        if self.rreq_rate.has_room(cx.now(), self.params.rreq_rate_limit.div_ceil(2)) {
            self.ask_over(cx, next_hop, destination, ttl);
        }
    }

    /// Sends a neighbour a request that only the destination answers; false if no request may leave now.
    fn ask_over(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr, destination: Ipv4Addr, ttl: u8) -> bool {
        if !self.may_ask(cx.now()) || self.rreq_rate.take(cx.now(), self.params.rreq_rate_limit).is_err() {
            return false;
        }
        self.count_request();
        let known = self.table.get(destination).and_then(|e| e.seq);
        let request = Rreq::new((destination, known), self.request_id, (cx.addr(), self.seq));
        let request = Rreq { destination_only: true, ..request };
        let p = self.new_message(cx, &Message::Rreq(request), None, neighbour, ttl);
        Self::unicast(cx, p, neighbour, ids::CONTROL);
        true
    }
}
