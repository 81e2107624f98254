//! The engine as the explorer sees it.

use std::hash::{Hash as _, Hasher};
use std::net::Ipv4Addr;

use wayhop_core::TimerKey;
use wayhop_testkit::explore::{Explorable, Names, datagram, digest_unnumbered};
use wayhop_wire::aodv::{self, Message};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::routing_table::seq::newer;
use crate::routing_table::{RouteEntry, RouteState};

impl Explorable for Engine {
    const HEARS_SUCCESS: bool = false;
    const IS_EXCHANGEABLE: bool = true;

    fn digest(&self, mut to: &mut dyn Hasher) {
        // Every field is listed, so that adding one forces a decision whether the future depends on it.
        let Self {
            params: _,
            table,
            buffer,
            seen,
            neighbours,
            repairs,
            watch,
            subnets,
            covered,
            outside,
            seq,
            request_id,
            ip_id: _,
            rreq_rate,
            rerr_rate,
            next_check,
            quiet_until,
            lost: _,
            notices: _,
        } = self;
        let mut rows: Vec<&RouteEntry> = table.iter().collect();
        rows.sort_unstable_by_key(|e| e.destination);
        rows.hash(&mut to);
        for w in buffer.iter() {
            digest_unnumbered(w.packet.bytes(), to);
            w.since.hash(&mut to);
        }
        (seen, neighbours, repairs, watch, seq, request_id).hash(&mut to);
        (subnets, covered, outside).hash(&mut to);
        (rreq_rate, rerr_rate, next_check, quiet_until).hash(&mut to);
    }

    fn digest_packet(bytes: &[u8], to: &mut dyn Hasher) {
        digest_unnumbered(bytes, to);
    }

    fn wrong_step(before: &Self, after: &Self) -> Option<&'static str> {
        newer(before.seq, after.seq).then_some("its own number falls")
    }

    fn knowledge(&self, names: Names) -> Vec<(Ipv4Addr, String)> {
        self.table.iter().map(|e| (e.destination, row(e, names))).collect()
    }

    fn describe(packet: &[u8], names: Names) -> String {
        match datagram(packet, aodv::PORT).and_then(|d| Message::parse(d).ok()) {
            Some(Message::Rreq(m)) => {
                let seq = if m.unknown_seq { "unknown".to_owned() } else { m.destination_seq.to_string() };
                format!(
                    "RREQ {} from {} (seq {}) for {} (seq {seq}), {} hops",
                    m.id,
                    names.of(m.originator),
                    m.originator_seq,
                    names.of(m.destination),
                    m.hop_count
                )
            }
            Some(Message::Rrep(m)) => format!(
                "RREP ({}, seq {}, {} hops) to {}",
                names.of(m.destination),
                m.destination_seq,
                m.hop_count,
                names.of(m.originator)
            ),
            Some(Message::Rerr(m)) => {
                let lost: Vec<String> = m
                    .unreachable
                    .iter()
                    .map(|u| format!("{}, seq {}", names.of(u.destination), u.seq))
                    .collect();
                format!("RERR{} ({})", if m.no_delete { " N" } else { "" }, lost.join("; "))
            }
            Some(Message::RrepAck) => "RREP-ACK".to_owned(),
            None => format!("{} octets", packet.len()),
        }
    }

    fn timer(key: TimerKey, names: Names) -> String {
        match Timer::from_key(key) {
            Some(Timer::Check) => "looks for expired routes".to_owned(),
            Some(Timer::Hello) => "Hello is due".to_owned(),
            Some(Timer::Repair) => "repair has failed".to_owned(),
            Some(Timer::Awake) => "the wait after the reboot is over".to_owned(),
            Some(Timer::Watch) => "looks whether next hops passed packets on".to_owned(),
            Some(Timer::Ack) => "RREP-ACK is overdue".to_owned(),
            Some(Timer::Search(to)) => format!("no answer about {}", names.of(to)),
            None => format!("{key:?}"),
        }
    }
}

/// `via B seq 7 hops 2`, or `invalid seq 7`.
fn row(e: &RouteEntry, names: Names) -> String {
    let seq = e.seq.map_or_else(|| "unknown".to_owned(), |s| s.to_string());
    match e.state {
        RouteState::Valid => format!("via {} seq {seq} hops {}", names.of(e.next_hop), e.hops),
        RouteState::Invalid => format!("invalid seq {seq}"),
        RouteState::Repair => format!("under repair seq {seq}"),
    }
}
