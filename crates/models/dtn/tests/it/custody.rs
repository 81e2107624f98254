//! Custody: a bundle in custody is never lost, whatever is killed and when.

use wayhop_core::{BundleEventKind, Purpose, Rng, Span, Time, stream};
use wayhop_dtn::routing::Epidemic;
use wayhop_dtn::{Input, StoreTable};

use crate::basics::along_a_line;
use crate::common::{Layer, Net, NewRouting, request};

#[test]
fn custody_moves_to_the_next_node_and_ends_at_the_destination() {
    for layer in [Layer::Tcpcl, Layer::Ltp, Layer::Udpcl(1_372)] {
        let mut net = Net::new(3, layer, along_a_line(3), &|c| c);
        net.link(0, 1);
        net.send(0, 2, vec![3; 300], true);
        assert_eq!(net.agent(0).statistics().in_custody, 1);
        net.settle(3, 1 << 20);
        assert_eq!(net.agent(0).statistics().bundles, 0, "{layer:?}");
        assert_eq!(net.agent(1).statistics().in_custody, 1);
        net.link(1, 2);
        net.settle(3, 1 << 20);
        assert_eq!(net.agent(1).statistics().bundles, 0);
        assert_eq!(net.inbox(2).len(), 1);
    }
}

#[test]
fn a_custodian_sends_again_when_no_signal_comes() {
    let mut net = Net::new(2, Layer::Udpcl(1_372), along_a_line(2), &|c| c);
    net.link(0, 1);
    net.send(0, 1, vec![3; 300], true);
    // The datagram goes, and its receiver dies before it is read.
    net.kill(1);
    net.boot(1);
    net.link(0, 1);
    net.settle(3, 1 << 20);
    assert_eq!(net.inbox(1).len(), 1);
    assert_eq!(net.agent(0).statistics().bundles, 0);

    net.send(0, 1, vec![4; 300], true);
    net.nodes[1].fuse = Some(0);
    net.exchange(1 << 20);
    net.boot(1);
    net.link(0, 1);
    net.settle(70, 1 << 20);
    assert_eq!(net.inbox(1).len(), 2);
    assert!(net.count(0, BundleEventKind::CustodyTimeout) > 0);
    net.nothing_came_twice();
}

/// A run of random partitions and kills.
struct Storm {
    net: Net,
    rng: Rng,
    /// Links that can be.
    possible: Vec<(usize, usize)>,
    sent: usize,
}

impl Storm {
    fn new(
        seed: u64,
        count: usize,
        layer: Layer,
        routing: Box<NewRouting>,
        possible: Vec<(usize, usize)>,
    ) -> Self {
        let net = Net::new(count, layer, routing, &|mut c| {
            c.custody_timeout = Span::from_secs(20);
            c
        });
        Self { net, rng: stream(seed, Purpose::Outages, 0), possible, sent: 0 }
    }

    /// One more partition: some links stay, some come, some go; some nodes die in the middle of what they do.
    fn partition(&mut self, bundles: usize) {
        for (a, b) in self.possible.clone() {
            if self.rng.below(2) == 0 { self.net.cut(a, b) } else { self.net.link(a, b) }
        }
        let count = self.net.nodes.len() as u64;
        for n in 0..self.net.nodes.len() {
            self.net.boot(n);
        }
        if self.rng.below(3) == 0 {
            let victim = self.rng.below(count) as usize;
            self.net.nodes[victim].fuse = Some(self.rng.below(60));
        }
        for _ in 0..bundles {
            let (from, to) = (self.rng.below(count) as usize, self.rng.below(count) as usize);
            // Most are small; some do not get through in one contact.
            let octets = if self.rng.below(50) == 0 { self.rng.below(60_000) } else { self.rng.below(600) };
            if from != to && self.net.is_up(from) {
                self.net.send(from, to, vec![self.rng.below(256) as u8; octets as usize], true);
                self.sent += 1;
            }
        }
        for _ in 0..3 {
            self.net.exchange(4_000 + self.rng.below(20_000) as usize);
            self.net.pass(Span::from_secs(2));
        }
    }

    /// Partitions, each with `bundles` new ones; in the end none is lost.
    fn run(&mut self, partitions: usize, bundles: usize) {
        (0..partitions).for_each(|_| self.partition(bundles));
        self.heal();
        self.check();
    }

    /// All links stay, all nodes live, until nothing is held any more.
    fn heal(&mut self) {
        for round in 0..400 {
            for n in 0..self.net.nodes.len() {
                self.net.nodes[n].fuse = None;
                self.net.boot(n);
            }
            for (a, b) in self.possible.clone() {
                self.net.link(a, b);
            }
            self.net.settle(5, 1 << 20);
            if self.net.missing().is_empty() && round > 10 {
                return;
            }
        }
    }

    fn check(&self) {
        self.net.nothing_came_twice();
        let missing = self.net.missing();
        assert!(
            missing.is_empty(),
            "{} of {} bundles are lost: {:?}",
            missing.len(),
            self.sent,
            missing.first()
        );
    }
}

/// Five nodes in a line, static routes: one copy of each bundle, custody moves from node to node.
#[test]
fn ten_thousand_bundles_over_a_thousand_partitions_with_kills_lose_and_repeat_nothing() {
    let possible = (0..4).map(|n| (n, n + 1)).collect();
    let mut storm = Storm::new(1, 5, Layer::Tcpcl, along_a_line(5), possible);
    storm.run(1_000, 13);
    assert!(storm.sent > 10_000, "{}", storm.sent);
    let rows = |kind| (0..5).map(|n| storm.net.count(n, kind)).sum::<usize>();
    assert!(rows(BundleEventKind::Fragmented) > 10, "contacts ended in the middle of bundles");
    assert!(rows(BundleEventKind::CustodyTimeout) > 10, "signals were lost");
    // In the end nobody holds anything: no bundle is stuck, no custodian waits.
    for n in 0..5 {
        assert_eq!(storm.net.agent(n).statistics().in_custody, 0, "node {n}");
    }
}

#[test]
fn a_storm_over_ltp_and_one_over_datagrams_lose_and_repeat_nothing() {
    for (seed, layer) in [(2, Layer::Ltp), (3, Layer::Udpcl(1_372))] {
        let possible = (0..3).map(|n| (n, n + 1)).collect();
        Storm::new(seed, 4, layer, along_a_line(4), possible).run(100, 8);
    }
}

/// Copies everywhere, each with custody: more custodians, the same promise.
#[test]
fn a_storm_with_epidemic_routing_loses_and_repeats_nothing() {
    let possible = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b))).collect();
    let routing: Box<NewRouting> = Box::new(|_| Box::new(Epidemic));
    Storm::new(4, 5, Layer::Tcpcl, routing, possible).run(100, 5);
}

#[test]
fn a_node_that_is_killed_between_any_two_steps_delivers_once() {
    // The same run again and again, and the receiver dies one step later each time.
    for fuse in 0..80 {
        let mut net = Net::new(2, Layer::Tcpcl, along_a_line(2), &|c| c);
        net.send(0, 1, vec![9; 2_000], true);
        net.nodes[1].fuse = Some(fuse);
        net.link(0, 1);
        net.settle(3, 700);
        net.kill(1);
        net.boot(1);
        net.link(0, 1);
        net.settle(70, 1 << 20);
        assert_eq!(net.inbox(1).len(), 1, "killed after {fuse} steps");
        assert_eq!(net.agent(0).statistics().in_custody, 0, "killed after {fuse} steps");
    }
}

#[test]
fn nothing_is_given_out_before_it_is_durable() {
    use wayhop_dtn::{Agent, Config, MemoryStore, Output, Request, Store};
    let node = crate::common::eid(0);
    let routing = || Box::new(Epidemic);
    let mut agent = Agent::open(Config::new(node), routing(), MemoryStore::default(), Time::ZERO).unwrap();
    let request = Request { number: 5, custody: true, ..request(0, 1, vec![1]) };
    agent.handle(Time::ZERO, Input::Send(request));
    assert_eq!(agent.output(), None);
    agent.commit().unwrap();
    let sent =
        std::iter::from_fn(|| agent.output()).any(|output| matches!(output, Output::Sent { number: 5, .. }));
    assert!(sent);
    let mut store = agent.into_store();
    store.crash();
    let mut rows = 0;
    store.scan(StoreTable::Bundles, &mut |_, _| rows += 1).unwrap();
    assert_eq!(rows, 1);
}
