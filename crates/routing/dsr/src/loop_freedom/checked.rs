//! The engine as the explorer sees it.

use core::any::Any;
use std::hash::{Hash, Hasher};
use std::net::Ipv4Addr;

use wayhop_core::{Time, TimerKey};
use wayhop_testkit::addr;
use wayhop_testkit::explore::{Explorable, Names};
use wayhop_wire::dsr::{DsrOption, RouteErrorKind};
use wayhop_wire::ipv4;

use crate::cache::path::Path;
use crate::cache::{LinkCache, PathCache, Purpose, RouteCache};
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::forwarding::view::View;

fn feed_cache(cache: &dyn RouteCache, mut to: &mut dyn Hasher) {
    let any: &dyn Any = cache;
    if let Some(c) = any.downcast_ref::<PathCache>() {
        c.hash(&mut to);
    } else if let Some(c) = any.downcast_ref::<LinkCache>() {
        c.hash(&mut to);
    } else {
        panic!("a Route Cache that nobody has shown to the explorer");
    }
}

impl Explorable for Engine {
    const HEARS_SUCCESS: bool = true;
    // Reports are told apart by `next_tx_id`, which is not fed.
    const IS_EXCHANGEABLE: bool = false;

    fn digest(&self, mut to: &mut dyn Hasher) {
        // Every field is listed, so that adding one forces a decision whether the future depends on it.
        let Self {
            params: _,
            // Off here.
            watchdog: _,
            ratings: _,
            cache,
            requests,
            buffer,
            held_replies,
            grat,
            blacklist,
            unidirectional_requests,
            told,
            heard,
            broken,
            checking,
            flows,
            links,
            rexmt,
            rexmt_timer,
            rexmt_phase,
            next_ack_id,
            neighbours,
            seen,
            fix,
            ars,
            outside,
            scratch: _,
            entries: _,
            next_request_id,
            next_ip_id,
            next_tx_id: _,
        } = self;
        feed_cache(&**cache, to);
        outside.hash(&mut to);
        for h in buffer.iter() {
            h.packet.bytes().hash(&mut to);
            (h.destination, h.state, h.since).hash(&mut to);
        }
        held_replies.digest(&mut to);
        for (from, p, until) in unidirectional_requests {
            p.bytes().hash(&mut to);
            (from, until).hash(&mut to);
        }
        for w in rexmt.iter() {
            w.packet.bytes().hash(&mut to);
            (w.what, w.next_hop, w.hops, w.ask_id, w.silent, w.limit).hash(&mut to);
            // Not `tx`: what is in flight of a packet that waits here is its last transmission, for the timer of the one before has
            // run out, and time passes only while nothing is in flight.
            (w.attempts, w.sent, w.aired, w.timer, w.deadline).hash(&mut to);
        }
        links.digest(&mut to);
        assert!(fix.is_none(), "positions are not explored");
        (requests, grat, blacklist, told, heard, broken, checking).hash(&mut to);
        (flows, rexmt_timer, rexmt_phase, next_ack_id, neighbours, seen).hash(&mut to);
        (ars, next_request_id, next_ip_id).hash(&mut to);
    }

    fn digest_packet(bytes: &[u8], to: &mut dyn Hasher) {
        to.write(bytes);
    }

    fn name(bytes: &[u8]) -> Option<u64> {
        let ip = ipv4::Packet::new_checked(bytes).ok()?;
        Some(u64::from(ip.src().to_bits()) << 16 | u64::from(ip.id()))
    }

    fn knowledge(&self, names: Names) -> Vec<(Ipv4Addr, String)> {
        let mut cache = self.cache.clone();
        let mut way = Path::EMPTY;
        (0..names.0)
            .map(addr)
            .filter_map(|to| {
                let known = cache.find(to, Purpose::Check, Time::ZERO, &mut way);
                known.then(|| (to, format!("by {}", listed(way.nodes().iter().copied(), names))))
            })
            .collect()
    }

    fn describe(bytes: &[u8], names: Names) -> String {
        let Ok(v) = View::new(bytes) else { return format!("{} octets", bytes.len()) };
        let ends = format!("({} to {})", names.of(v.ip.src()), names.of(v.ip.dst()));
        let mut words = Vec::new();
        for o in v.dsr.options() {
            match o {
                Ok(DsrOption::RouteRequest(r)) => words.push(format!(
                    "RREQ from {} for {} over [{}]",
                    names.of(v.ip.src()),
                    names.of(r.target),
                    listed(r.addresses.iter(), names)
                )),
                Ok(DsrOption::RouteReply(r)) => words.push(format!(
                    "RREP {ends}: {}",
                    listed([v.destination()].into_iter().chain(r.addresses.iter()), names)
                )),
                Ok(DsrOption::RouteError(e)) => {
                    let RouteErrorKind::NodeUnreachable(next) = e.kind else { continue };
                    words.push(format!("RERR {ends}: {}-{} broken", names.of(e.source), names.of(next)));
                }
                Ok(DsrOption::SourceRoute(s)) => {
                    if !v.is_control() {
                        words.push(format!("data {ends}"));
                    }
                    let first = (s.salvage == 0).then_some(v.ip.src());
                    let all = first.into_iter().chain(s.addresses.iter()).chain([v.ip.dst()]);
                    words.push(format!("by {}, {} left", listed(all, names), s.segments_left));
                    if s.salvage > 0 {
                        words.push(format!("salvaged {} times", s.salvage));
                    }
                }
                Ok(DsrOption::AckRequest { id, .. }) => words.push(format!("asks for ACK {id}")),
                Ok(DsrOption::Ack { id, .. }) => words.push(format!("ACK {id}")),
                _ => {}
            }
        }
        words.join(", ")
    }

    fn timer(key: TimerKey, names: Names) -> String {
        match Timer::from_key(key) {
            Some(Timer::Discovery(to)) => format!("no answer about {}", names.of(to)),
            Some(t) => format!("{t:?}"),
            None => format!("{key:?}"),
        }
    }
}

/// `A B C`.
fn listed(nodes: impl Iterator<Item = Ipv4Addr>, names: Names) -> String {
    nodes.map(|a| names.of(a)).collect::<Vec<_>>().join(" ")
}
