//! Two nodes as applications, on a host that carries everything between them at once: beacons, datagrams and streams.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use proptest::prelude::*;
use serde_json::{Value, json};
use wayhop_core::{
    Application as _, ApplicationCx, ApplicationEffect, ApplicationInput, Ending, ProgramEffect,
    ProgramInput, ProgramMessage, Purpose, Rng, Span, StreamEffect, StreamEnd, StreamId, StreamInput, Time,
    TimerKey, stream,
};
use wayhop_dtn::MemoryStore;
use wayhop_dtn::node::{BundleSeries, ContactRecord, Layer, Node, Record, Settings, Source};

/// A node, and what its host keeps for it.
struct Host {
    node: Node<MemoryStore>,
    rng: Rng,
    timers: BTreeMap<TimerKey, Time>,
    /// The other end's name of each stream.
    streams: BTreeMap<StreamId, StreamId>,
    /// What programs were told.
    told: Vec<ProgramMessage>,
    contacts: Vec<ContactRecord>,
}

/// Two of them.
struct Pair {
    hosts: [Host; 2],
    now: Time,
    due: VecDeque<(usize, ApplicationInput<'static>)>,
    next_stream: u64,
}

fn addr(host: usize) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, host as u8 + 1).into()
}

fn settings(host: usize, layer: Layer) -> Settings {
    let mut s = Settings::new(format!("dtn://n{host}/").parse().expect("an endpoint"));
    (s.layer, s.listens) = (layer, vec![layer]);
    s.agent.dtn_time_at_zero_ms = Some(1);
    // Two engines of LTP have two numbers.
    s.engine = host as u64 + 1;
    s
}

impl Pair {
    fn new(settings: [Settings; 2]) -> Self {
        let host = |s: Settings| Host {
            rng: stream(s.life, Purpose::Bundles, 0),
            node: Node::new(s, MemoryStore::default()),
            timers: BTreeMap::new(),
            streams: BTreeMap::new(),
            told: Vec::new(),
            contacts: Vec::new(),
        };
        let hosts = settings.map(host);
        let mut pair = Self { hosts, now: Time::ZERO, due: VecDeque::new(), next_stream: 0 };
        pair.tell(0, ApplicationInput::Start);
        pair.tell(1, ApplicationInput::Start);
        pair
    }

    /// Gives a node an input, and carries what follows.
    fn tell(&mut self, host: usize, input: ApplicationInput<'static>) {
        self.due.push_back((host, input));
        while let Some((host, input)) = self.due.pop_front() {
            let h = &mut self.hosts[host];
            let mut effects = Vec::new();
            h.node.on_input(&mut ApplicationCx::new(self.now, addr(host), &mut h.rng, &mut effects), input);
            for effect in effects {
                self.carry(host, effect);
            }
        }
    }

    fn carry(&mut self, host: usize, effect: ApplicationEffect) {
        let (other, h) = (1 - host, &mut self.hosts[host]);
        match effect {
            ApplicationEffect::Send(d) if d.to.ip() == Ipv4Addr::BROADCAST || d.to.ip() == addr(other) => {
                let from = SocketAddr::new(addr(host), d.port);
                let data = Cow::Owned(d.data);
                self.due.push_back((other, ApplicationInput::Datagram { port: d.to.port(), from, data }));
            }
            ApplicationEffect::SetTimer(key, at) => drop(h.timers.insert(key, at)),
            ApplicationEffect::ClearTimer(key) => drop(h.timers.remove(&key)),
            ApplicationEffect::Program(
                ProgramEffect::Answer { message, .. } | ProgramEffect::Tell { message, .. },
            ) => {
                h.told.push(message);
            }
            ApplicationEffect::Row(row) => {
                if let Some(Record::Contact(c)) = row.downcast() {
                    h.contacts.push(c.clone());
                }
            }
            ApplicationEffect::Stream(effect) => self.carry_stream(host, effect),
            ApplicationEffect::Fail(why) => panic!("{why}"),
            _ => {}
        }
    }

    fn carry_stream(&mut self, host: usize, effect: StreamEffect) {
        let other = 1 - host;
        match effect {
            StreamEffect::Listen(_) | StreamEffect::WritePattern { .. } => {}
            StreamEffect::Connect { stream, to } => {
                self.next_stream += 1;
                let theirs = StreamId::Accepted(self.next_stream);
                self.hosts[host].streams.insert(stream, theirs);
                self.hosts[other].streams.insert(theirs, stream);
                let from = SocketAddr::new(addr(host), 9);
                let accepted = StreamInput::Accepted { stream: theirs, port: to.port(), from };
                self.due.push_back((other, ApplicationInput::Stream(accepted)));
                self.due.push_back((host, ApplicationInput::Stream(StreamInput::Connected { stream, to })));
            }
            StreamEffect::Write { stream, data } => {
                let Some(theirs) = self.hosts[host].streams.get(&stream) else { return };
                let room = StreamInput::Room { stream, bytes: data.len() };
                let data = StreamInput::Data { stream: *theirs, data: Cow::Owned(data) };
                self.due.push_back((other, ApplicationInput::Stream(data)));
                self.due.push_back((host, ApplicationInput::Stream(room)));
            }
            StreamEffect::Close(stream) => {
                let Some(theirs) = self.hosts[host].streams.remove(&stream) else { return };
                let closed = StreamInput::Closed { stream: theirs, cause: StreamEnd::Finished };
                self.due.push_back((other, ApplicationInput::Stream(closed)));
            }
        }
    }

    /// Lets time pass.
    fn pass(&mut self, seconds: u64) {
        let end = self.now + Span::from_secs(seconds);
        let next = |pair: &Self| {
            let all = pair.hosts.iter().enumerate();
            all.flat_map(|(i, h)| h.timers.iter().map(move |(key, at)| (*at, i, *key))).min()
        };
        while let Some((at, host, key)) = next(self).filter(|(at, ..)| *at <= end) {
            self.now = self.now.max(at);
            self.hosts[host].timers.remove(&key);
            self.tell(host, ApplicationInput::Timer(key));
        }
        self.now = end;
    }

    /// A program's command, and what it is told then.
    fn command(&mut self, host: usize, head: &Value, data: &[u8]) -> Vec<ProgramMessage> {
        let head = head.as_object().cloned().expect("an object");
        let message = ProgramMessage { head, data: data.to_vec() };
        self.tell(host, ApplicationInput::Program(ProgramInput::Command { program: 7, message }));
        std::mem::take(&mut self.hosts[host].told)
    }
}

#[test]
fn a_programs_bundle_reaches_the_other_nodes_program_by_each_layer() {
    for layer in [Layer::Tcpcl, Layer::Ltp, Layer::Udpcl] {
        let mut pair = Pair::new([settings(0, layer), settings(1, layer)]);
        let there = json!({"wayhop": 1, "id": 1, "do": "register", "endpoint": "inbox"});
        assert_eq!(pair.command(1, &there, b"")[0].head["ok"], "dtn://n1/inbox", "{layer:?}");
        pair.pass(3);
        let send = json!({"wayhop": 1, "id": 2, "do": "send", "destination": "dtn://n1/inbox"});
        let sent = pair.command(0, &send, b"hello");
        assert_eq!(sent[0].head["ok"]["bytes"], 5, "{layer:?}: {sent:?}");
        pair.pass(3);
        let told = std::mem::take(&mut pair.hosts[1].told);
        assert_eq!(told.len(), 1, "{layer:?}: {told:?}");
        assert_eq!(
            (told[0].head["delivery"]["source"].as_str(), &told[0].data[..]),
            (Some("dtn://n0/"), &b"hello"[..])
        );
        // At their end both write down the contact, and what it carried.
        pair.tell(0, ApplicationInput::End(Ending::InOrder));
        pair.tell(1, ApplicationInput::End(Ending::InOrder));
        let carried: Vec<_> = pair
            .hosts
            .iter()
            .map(|h| h.contacts.iter().map(|c| (c.sent, c.received)).collect::<Vec<_>>())
            .collect();
        assert_eq!(carried, [[(1, 0)], [(0, 1)]], "{layer:?}");
    }
}

#[test]
fn a_node_without_memory_keeps_its_bundles_and_makes_none_for_the_time_it_was_down() {
    let mut own = settings(0, Layer::Ltp);
    let s = Span::from_secs;
    let series = BundleSeries {
        start: s(1),
        stop: None,
        size_bytes: 9,
        interval: s(1),
        lifetime: s(900),
        custody: false,
        max_bundles: None,
    };
    let end = |text: &str| text.parse().expect("an endpoint");
    own.sources = vec![Source { from: end("dtn://n0/x"), to: end("dtn://far/x"), series }];
    let mut pair = Pair::new([own, settings(1, Layer::Udpcl)]);
    let held = |pair: &Pair| {
        let mut bundles = 0;
        pair.hosts[0].node.sizes(&mut |what, n| {
            if what == "bundles" {
                bundles = n;
            }
        });
        bundles
    };
    pair.pass(5);
    assert_eq!(held(&pair), 5);
    pair.tell(0, ApplicationInput::End(Ending::AtOnce));
    pair.tell(0, ApplicationInput::Restart);
    pair.hosts[0].timers.clear();
    pair.now += s(10);
    assert_eq!(held(&pair), 5, "on its disk");
    pair.tell(0, ApplicationInput::Start);
    pair.pass(0);
    // One is due now, at 15 s; those at 6 to 14 s are left out.
    assert_eq!(held(&pair), 6);
    // The same after a sleep.
    pair.now += s(4);
    pair.tell(0, ApplicationInput::Resume);
    pair.pass(0);
    assert_eq!(held(&pair), 7);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn whatever_comes_a_node_goes_on(pieces in proptest::collection::vec((0..6_u8, any::<Vec<u8>>()), 0..30)) {
        let mut pair = Pair::new([settings(0, Layer::Tcpcl), settings(1, Layer::Tcpcl)]);
        for (kind, octets) in pieces {
            let from = SocketAddr::new(addr(1), 9);
            let stream = StreamId::Accepted(1 << 40);
            let data = Cow::Owned(octets);
            match kind {
                0 => pair.tell(0, ApplicationInput::Datagram { port: 4_551, from, data }),
                1 => pair.tell(0, ApplicationInput::Datagram { port: 4_556, from, data }),
                2 => pair.tell(0, ApplicationInput::Datagram { port: 1_113, from, data }),
                3 => pair.tell(0, ApplicationInput::Stream(StreamInput::Accepted { stream, port: 4_556, from })),
                4 => pair.tell(0, ApplicationInput::Stream(StreamInput::Data { stream, data })),
                _ => pair.pass(1),
            }
        }
        let hello = json!({"wayhop": 1, "id": 1, "do": "hello"});
        let told = pair.command(0, &hello, b"");
        prop_assert_eq!(&told[0].head["ok"]["node"], "dtn://n0/");
    }
}
