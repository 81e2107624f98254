//! The state of the neighbours that this node sends to: their round-trip times, and when they last
//! confirmed a packet (RFC 4728 sections 8.3 and 8.3.3).

use std::net::Ipv4Addr;

use wayhop_core::{Inspect, Maybe, Span, Time};
use wayhop_link_quality::RttEstimator;

#[derive(Copy, Clone, Debug, Hash)]
pub(crate) struct Neighbour {
    addr: Ipv4Addr,
    pub(crate) rtt: RttEstimator,
    /// When it last confirmed a packet.
    confirmed: Option<Time>,
    used: Time,
}

/// The most neighbours in the table; a new one then replaces the one unused for longest.
const SIZE: usize = 64;

/// A bounded table of them.
#[derive(Clone, Default, Hash)]
pub(crate) struct NeighbourTable(Vec<Neighbour>);

impl NeighbourTable {
    /// The row of a neighbour, a new one if need be.
    pub(crate) fn get(&mut self, addr: Ipv4Addr, now: Time) -> &mut Neighbour {
        let at = self.0.iter().position(|n| n.addr == addr).unwrap_or_else(|| {
            if self.0.len() == SIZE {
                let idle = (0..SIZE).min_by_key(|&i| self.0[i].used).unwrap_or(0);
                self.0.swap_remove(idle);
            }
            self.0.push(Neighbour { addr, rtt: RttEstimator::default(), confirmed: None, used: now });
            self.0.len() - 1
        });
        let n = &mut self.0[at];
        n.used = now;
        n
    }
    /// A neighbour confirmed a packet. By Karn's rule `rtt` is given only when the packet had been sent once.
    pub(crate) fn confirm(&mut self, addr: Ipv4Addr, now: Time, rtt: Option<Span>) {
        let n = self.get(addr, now);
        n.confirmed = Some(now);
        if let Some(rtt) = rtt {
            n.rtt.sample(rtt);
        }
    }
    /// Whether a neighbour confirmed a packet less than `holdoff` ago.
    pub(crate) fn is_fresh(&self, addr: Ipv4Addr, now: Time, holdoff: Span) -> bool {
        let row = self.0.iter().find(|n| n.addr == addr);
        row.and_then(|n| n.confirmed).is_some_and(|at| now.since(at) < holdoff)
    }
    pub(crate) fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        for n in &self.0 {
            let ms = |s: Span| s.as_secs_f64() * 1e3;
            let rtt_ms = Maybe(n.rtt.smoothed().map(ms));
            let deviation_ms = Maybe(rtt_ms.0.map(|_| ms(n.rtt.deviation())));
            let confirmed_s = Maybe(n.confirmed.map(|at| now.since(at).as_secs_f64()));
            out.row(
                "neighbours",
                &[
                    ("neighbour", &n.addr),
                    ("rtt_ms", &rtt_ms),
                    ("deviation_ms", &deviation_ms),
                    ("confirmed_s", &confirmed_s),
                ],
            );
        }
    }
}
