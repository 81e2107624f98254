//! The engine as the explorer sees it.

use std::hash::{Hash as _, Hasher};
use std::net::Ipv4Addr;

use wayhop_core::TimerKey;
use wayhop_testkit::explore::{Explorable, Names, datagram, digest_unnumbered};
use wayhop_wire::dsdv::{PORT, Update, UpdateEntry};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::routing_table::seq::newer;

impl Explorable for Engine {
    const HEARS_SUCCESS: bool = false;
    const IS_EXCHANGEABLE: bool = true;

    fn digest(&self, mut to: &mut dyn Hasher) {
        // Every field is listed, so that adding one forces a decision whether the future depends on it.
        let Self {
            params: _,
            table,
            buffer,
            exits,
            seq,
            ip_id: _,
            notices: _,
            last_update,
            last_sent,
            next_hello,
            next_full,
            next_trigger,
            next_check,
            quiet_until,
            entries: _,
        } = self;
        for (destination, e) in table.iter() {
            (destination, e).hash(&mut to);
        }
        for w in buffer.iter() {
            digest_unnumbered(w.packet.bytes(), to);
            w.since.hash(&mut to);
        }
        (exits, seq, last_update, last_sent, next_hello).hash(&mut to);
        (next_full, next_trigger, next_check, quiet_until).hash(&mut to);
    }

    fn digest_packet(bytes: &[u8], to: &mut dyn Hasher) {
        digest_unnumbered(bytes, to);
    }

    fn wrong_step(before: &Self, after: &Self) -> Option<&'static str> {
        if newer(before.seq, after.seq) {
            return Some("its own number falls");
        }
        let falls = |(a, e): (Ipv4Addr, &crate::routing_table::RouteEntry)| {
            after.table.get(a).is_some_and(|later| newer(e.seq, later.seq))
        };
        before.table.iter().any(falls).then_some("a number in its table falls")
    }

    fn knowledge(&self, names: Names) -> Vec<(Ipv4Addr, String)> {
        let text = |e: &crate::routing_table::RouteEntry| {
            if e.is_valid() {
                format!("via {} seq {} hops {}", names.of(e.next_hop), e.seq, e.hops)
            } else {
                format!("lost seq {}", e.seq)
            }
        };
        self.table.iter().map(|(a, e)| (a, text(e))).collect()
    }

    fn describe(packet: &[u8], names: Names) -> String {
        let update = datagram(packet, PORT).and_then(|d| Update::parse(d).ok());
        let Some(update) = update else { return format!("{} octets", packet.len()) };
        let text = |e: UpdateEntry| {
            let way = if e.is_unreachable() { "lost".to_owned() } else { format!("{} hops", e.hop_count) };
            format!("{}, seq {}, {way}", names.of(e.destination), e.seq)
        };
        let all: Vec<String> = update.iter().map(text).collect();
        format!("update ({})", all.join("; "))
    }

    fn timer(key: TimerKey, _: Names) -> String {
        match Timer::from_key(key) {
            Some(Timer::Full) => "a full update is due",
            Some(Timer::Trigger) => "a route asks for an update",
            Some(Timer::Check) => "looks for silent neighbours and what is to be forgotten",
            Some(Timer::Awake) => "the wait after the reboot is over",
            Some(Timer::Hello) => "a Hello is due",
            None => "an unknown timer",
        }
        .to_owned()
    }
}
