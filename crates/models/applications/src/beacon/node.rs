//! A node that sends beacons and lists its neighbours.

use core::net::{IpAddr, SocketAddr};

use wayhop_core::{Application, ApplicationCx, Span, Time, TimerKey};

use super::message::Message;
use super::params::Params;

/// The next beacon is due.
const DUE: TimerKey = TimerKey(0);
/// Neighbours that are told apart, whatever strangers send: by then no more fit into the range of one radio.
const MAX_NEIGHBOURS: usize = 4_096;

#[derive(Debug)]
pub(super) struct BeaconNode {
    interval_min: Span,
    /// By how much an interval may be longer.
    interval_spread: Span,
    lifetime: Span,
    start: Time,
    stop: Option<Time>,
    payload_bytes: u32,
    port: u16,
    neighbours: Vec<Neighbour>,
    sent: u32,
    received: u64,
    found: u32,
    lost: u32,
    /// The sum of the numbers of neighbours at all own beacons.
    neighbours_at_beacons: u64,
}

#[derive(Copy, Clone, Debug)]
struct Neighbour {
    addr: IpAddr,
    /// Of its last beacon.
    number: u32,
    /// When its first beacon came, and the last one.
    since: Time,
    heard: Time,
}

impl BeaconNode {
    pub(super) fn new(params: &Params) -> Self {
        let interval_min = Span::from_secs_f64(params.interval_min_s);
        Self {
            interval_min,
            interval_spread: Span::from_secs_f64(params.interval_max_s).saturating_sub(interval_min),
            lifetime: Span::from_secs_f64(params.lifetime_s()),
            start: Time::from_secs_f64(params.start_s),
            stop: params.stop_s.map(Time::from_secs_f64),
            payload_bytes: params.payload_bytes,
            port: params.port,
            neighbours: Vec::new(),
            sent: 0,
            received: 0,
            found: 0,
            lost: 0,
            neighbours_at_beacons: 0,
        }
    }

    /// Removes neighbours of whom nothing was heard for their lifetime.
    fn expire(&mut self, cx: &mut ApplicationCx<'_>) {
        let (now, lifetime) = (cx.now(), self.lifetime);
        let lost = &mut self.lost;
        self.neighbours.retain(|n| {
            let stays = now.since(n.heard) <= lifetime;
            if !stays {
                *lost += 1;
                cx.note("beacon_neighbour_lost", n.addr, (n.heard + lifetime).since(n.since).as_nanos());
            }
            stays
        });
    }
}

impl Application for BeaconNode {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        cx.listen(self.port);
        // Nodes that start together must not send together.
        let first = cx.rng().jitter(self.interval_min + self.interval_spread);
        cx.set_timer(DUE, cx.now().max(self.start) + first);
    }

    fn on_datagram(&mut self, cx: &mut ApplicationCx<'_>, _: u16, from: SocketAddr, data: &[u8]) {
        // A real host may hear its own broadcasts.
        let Some(beacon) = Message::read(data).filter(|_| from.ip() != cx.addr()) else { return };
        let (addr, now) = (from.ip(), cx.now());
        if let Some(known) = self.neighbours.iter_mut().find(|n| n.addr == addr) {
            if known.number == beacon.number {
                return; // It left by several interfaces of the neighbour.
            }
            (known.number, known.heard) = (beacon.number, now);
        } else if self.neighbours.len() < MAX_NEIGHBOURS {
            self.neighbours.push(Neighbour { addr, number: beacon.number, since: now, heard: now });
            self.found += 1;
            cx.note("beacon_neighbour_found", addr, self.neighbours.len() as u64);
        }
        self.received += 1;
    }

    fn look_ahead(&self) -> u8 {
        self.neighbours.first().map_or(0, |n| n.number as u8)
    }

    /// The neighbours are those as of the last own beacon: nothing else depends on a loss.
    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, _: TimerKey) {
        if self.stop.is_some_and(|stop| cx.now() >= stop) {
            return;
        }
        self.expire(cx);
        let mut data = cx.zeroed(self.payload_bytes as usize);
        Message { number: self.sent }.write(&mut data);
        cx.send_to_neighbours(self.port, data);
        self.sent = self.sent.wrapping_add(1);
        self.neighbours_at_beacons += self.neighbours.len() as u64;
        let interval = self.interval_min + cx.rng().jitter(self.interval_spread);
        cx.set_timer(DUE, cx.now() + interval);
    }

    /// The counts are the run's; the list is the node's.
    fn restart(&mut self) {
        self.neighbours.clear();
    }

    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("beacons_sent", self.sent.into());
        tell("beacons_received", self.received as f64);
        tell("neighbours_found", self.found.into());
        tell("neighbours_lost", self.lost.into());
        if self.sent > 0 {
            tell("neighbours_mean", self.neighbours_at_beacons as f64 / f64::from(self.sent));
        }
    }

    fn sizes(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        tell("beacon_neighbours", self.neighbours.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use wayhop_core::{ApplicationEffect, Purpose, Rng, stream};

    use super::*;

    struct Host {
        node: BeaconNode,
        rng: Rng,
        effects: Vec<ApplicationEffect>,
    }

    impl Host {
        fn new(params: &Params) -> Self {
            let rng = stream(1, Purpose::Applications, 0);
            Self { node: BeaconNode::new(params), rng, effects: Vec::new() }
        }
        fn at(&mut self, s: f64, call: impl FnOnce(&mut BeaconNode, &mut ApplicationCx<'_>)) {
            let own = Ipv4Addr::new(10, 0, 0, 1).into();
            let mut cx = ApplicationCx::new(Time::from_secs_f64(s), own, &mut self.rng, &mut self.effects);
            call(&mut self.node, &mut cx);
        }
        fn hears(&mut self, s: f64, from: u32, data: &[u8]) {
            let from = SocketAddr::from((Ipv4Addr::from_bits(from), 7_072));
            self.at(s, |node, cx| node.on_datagram(cx, 7_072, from, data));
        }
        fn notes(&self) -> Vec<(&str, u64)> {
            let note = |e: &ApplicationEffect| match e {
                ApplicationEffect::Note(n) => Some((n.what, n.value)),
                _ => None,
            };
            self.effects.iter().filter_map(note).collect()
        }
    }

    #[test]
    fn a_neighbour_is_lost_when_its_lifetime_has_passed_without_a_beacon() {
        let mut host = Host::new(&Params { lifetime_s: Some(4.0), ..Params::default() });
        host.hears(1.0, 0x0a00_0002, b"WBCN\0\0\0\0");
        host.hears(3.0, 0x0a00_0002, b"WBCN\0\0\0\x01");
        host.at(7.0, |node, cx| node.on_timer(cx, DUE));
        assert_eq!(host.notes(), [("beacon_neighbour_found", 1)]);
        host.at(7.001, |node, cx| node.on_timer(cx, DUE));
        // A neighbour from 1 s to 3 s + 4 s.
        assert_eq!(host.notes()[1], ("beacon_neighbour_lost", 6_000_000_000));
        assert!(host.node.neighbours.is_empty());
    }

    #[test]
    fn strangers_and_oneself_are_no_neighbours_and_the_list_is_bounded() {
        let mut host = Host::new(&Params::default());
        host.hears(0.0, 0x0a00_0002, b"WBCN");
        host.hears(0.0, 0x0a00_0002, b"HELLO, WORLD");
        host.hears(0.0, 0x0a00_0001, b"WBCN\0\0\0\0");
        assert!(host.node.neighbours.is_empty());
        for stranger in 0..MAX_NEIGHBOURS as u32 + 10 {
            host.hears(0.0, 0x0b00_0000 + stranger, b"WBCN\0\0\0\0");
        }
        assert_eq!(host.node.neighbours.len(), MAX_NEIGHBOURS);
        assert_eq!(host.node.found as usize, MAX_NEIGHBOURS);
    }

    #[test]
    fn a_beacon_that_left_by_two_interfaces_counts_once() {
        let mut host = Host::new(&Params::default());
        for (s, beacon) in [(1.0, b"WBCN\0\0\0\0"), (1.0, b"WBCN\0\0\0\0"), (2.0, b"WBCN\0\0\0\x01")] {
            host.hears(s, 0x0a00_0002, beacon);
        }
        assert_eq!((host.node.received, host.node.found), (2, 1));
    }

    #[test]
    fn intervals_are_uniform_between_their_bounds() {
        let params = Params { interval_min_s: 2.0, interval_max_s: 5.0, ..Params::default() };
        let mut host = Host::new(&params);
        let mut all = Vec::new();
        for _ in 0..10_000 {
            host.effects.clear();
            host.at(0.0, |node, cx| node.on_timer(cx, DUE));
            let due = host.effects.iter().find_map(|e| match e {
                ApplicationEffect::SetTimer(_, due) => Some(due.since(Time::ZERO).as_nanos() as f64 / 1e9),
                _ => None,
            });
            all.push(due.expect("a timer"));
        }
        assert!(all.iter().all(|s| (2.0..5.0).contains(s)));
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / all.len() as f64;
        // A uniform distribution of 3 s: mean 3.5 s, variance 3 * 3 / 12. Four standard errors of the mean, and 5 % of the variance.
        assert!((mean - 3.5).abs() < 4.0 * (0.75_f64 / 1e4).sqrt(), "{mean}");
        assert!((variance / 0.75 - 1.0).abs() < 0.05, "{variance}");
    }
}
