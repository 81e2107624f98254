//! Streams of applications over the simulated network.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use wayhop_core::{
    Application, ApplicationCx, ApplicationDescription, ApplicationParameters, ConfiguredApplication, NodeId,
    ParameterError, STREAM_ROOM, Span, StreamEnd, StreamId, StreamInput, TimerKey,
};
use wayhop_scenario::{ApplicationPlan, Resolved};
use wayhop_trace::{ApplicationSummary, Summary};

use crate::{run, scenario};

const PORT: u16 = 7;
/// When the client connects again after its stream has ended.
const AGAIN: Span = Span::from_secs(1);

static ECHO: ApplicationDescription = ApplicationDescription {
    name: "echo",
    about: "a server that sends back what it gets, and a client that checks it",
    schema: || Value::Null,
    defaults: Map::new,
    nodes: &[],
    notes: &[],
    read: |_| Err("only for tests".to_owned()),
};

/// A client of a server, or a server.
#[derive(Clone, Debug)]
struct Echo {
    server: Option<SocketAddr>,
    /// Octets that the client sends over each stream.
    octets: usize,
}

impl ApplicationParameters for Echo {
    fn application(&self, _: Option<u32>) -> Box<dyn Application> {
        match self.server {
            Some(server) => Box::new(Client {
                server,
                octets: self.octets,
                number: 0,
                written: 0,
                got: 0,
                counts: [0; 5],
            }),
            None => Box::new(Server),
        }
    }
    fn values(&self) -> Map<String, Value> {
        json!({ "server": self.server, "octets": self.octets }).as_object().cloned().unwrap_or_default()
    }
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }
}

struct Server;

impl Application for Server {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        cx.listen_stream(PORT);
    }
    fn on_timer(&mut self, _: &mut ApplicationCx<'_>, _: TimerKey) {}
    fn on_stream(&mut self, cx: &mut ApplicationCx<'_>, input: StreamInput<'_>) {
        if let StreamInput::Data { stream, data } = input {
            cx.write(stream, data.into_owned());
        }
    }
    fn restart(&mut self) {}
    fn figures(&self, _: &mut dyn FnMut(&'static str, f64)) {}
}

const FIGURES: [&str; 5] = ["connected", "echoed", "finished", "unreachable", "broken"];

struct Client {
    server: SocketAddr,
    octets: usize,
    number: u64,
    written: usize,
    got: usize,
    counts: [u64; 5],
}

/// An octet of the client's that tells streams and places apart.
fn octet(stream: u64, at: usize) -> u8 {
    (at as u64 * 31 + (at as u64 >> 8) + stream * 101) as u8
}

impl Client {
    fn connect(&mut self, cx: &mut ApplicationCx<'_>) {
        self.number += 1;
        (self.written, self.got) = (0, 0);
        cx.connect(self.number, self.server);
    }
    fn write(&mut self, cx: &mut ApplicationCx<'_>, room: usize) {
        let end = self.octets.min(self.written + room);
        let data = (self.written..end).map(|at| octet(self.number, at)).collect();
        self.written = end;
        cx.write(StreamId::Opened(self.number), data);
    }
}

impl Application for Client {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        self.connect(cx);
    }
    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, _: TimerKey) {
        self.connect(cx);
    }
    fn on_stream(&mut self, cx: &mut ApplicationCx<'_>, input: StreamInput<'_>) {
        match input {
            StreamInput::Connected { to, .. } => {
                assert_eq!(to, self.server);
                self.counts[0] += 1;
                self.write(cx, STREAM_ROOM);
            }
            StreamInput::Room { bytes, .. } if self.written < self.octets => self.write(cx, bytes),
            StreamInput::Data { data, .. } => {
                for got in &*data {
                    assert_eq!(*got, octet(self.number, self.got), "octet {}", self.got);
                    self.got += 1;
                }
                self.counts[1] += data.len() as u64;
                if self.got == self.octets {
                    cx.close(StreamId::Opened(self.number));
                    cx.set_timer(TimerKey(0), cx.now() + AGAIN);
                }
            }
            StreamInput::Closed { cause, .. } => {
                self.counts[match cause {
                    StreamEnd::Finished => 2,
                    StreamEnd::Unreachable => 3,
                    StreamEnd::Broken => 4,
                }] += 1;
                cx.set_timer(TimerKey(0), cx.now() + AGAIN);
            }
            StreamInput::Accepted { .. } | StreamInput::Pattern { .. } | StreamInput::Room { .. } => {}
        }
    }
    fn restart(&mut self) {}
    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        FIGURES.iter().zip(self.counts).for_each(|(name, n)| tell(name, n as f64));
    }
}

/// A row of nodes: a client at the first one, a server at the last one.
fn row(nodes: u32, protocol: &str, duration_s: f64, more: &str) -> Resolved {
    scenario(&crate::chain(nodes.into(), 200, protocol, duration_s, more))
}

fn with_echo(mut s: Resolved, octets: usize, port: u16) -> Resolved {
    let last = s.addresses.len() - 1;
    let at = |node: usize, server| ApplicationPlan {
        node: NodeId(node as u32),
        application: ConfiguredApplication {
            description: &ECHO,
            parameters: Arc::new(Echo { server, octets }),
        },
        links: Vec::new(),
    };
    let server = match &s.ipv6 {
        Some(plan) => SocketAddr::new(plan.addresses[last].into(), port),
        None => SocketAddr::new(s.addresses[last].into(), port),
    };
    s.applications = vec![at(0, Some(server)), at(last, None)];
    s
}

/// What the client counted, in the order of [`FIGURES`].
fn client(s: &Summary) -> [u64; 5] {
    let of: &ApplicationSummary = &s.applications[0];
    FIGURES.map(|name| *of.figures.get(name).expect("a figure") as u64)
}

fn echo(s: Resolved, octets: usize) -> (Summary, [u64; 5]) {
    let (summary, audit) = run(&with_echo(s, octets, PORT));
    assert_eq!(audit.defect(), None);
    let counts = client(&summary);
    (summary, counts)
}

#[test]
fn every_octet_comes_back_over_several_hops_and_packets_are_counted_as_those_of_programs() {
    for protocol in ["dsr", "aodv"] {
        let (s, [connected, echoed, finished, unreachable, broken]) =
            echo(row(4, protocol, 60.0, ""), 100_000);
        assert!(connected >= 5, "{protocol}: {connected}");
        assert!((connected - 1) * 100_000 <= echoed && echoed <= connected * 100_000, "{protocol}: {echoed}");
        assert_eq!([finished, unreachable, broken], [0; 3], "{protocol}");
        // Each connection is a conversation each way, from a port of its own.
        let ways = |src, dst| s.flows.iter().filter(|f| (f.src, f.dst) == (src, dst)).count() as u64;
        let expected = connected..=connected + 1;
        assert!(expected.contains(&ways(0, 3)) && expected.contains(&ways(3, 0)), "{protocol}");
        let bytes = |src: u32| -> u64 {
            s.flows.iter().filter(|f| f.src == src).filter_map(|f| f.received_bytes).sum()
        };
        assert!(bytes(0) >= echoed && bytes(3) >= echoed, "{protocol}: retransmissions count, too");
        for f in &s.flows {
            assert_eq!(
                f.sent,
                Some(f.received.unwrap() + f.dropped.unwrap() + f.held.unwrap()),
                "{protocol}"
            );
            assert!(
                f.hops_mean.is_none_or(|hops| (2.9..3.3).contains(&hops)),
                "{protocol}: {:?}",
                f.hops_mean
            );
        }
    }
}

#[test]
fn streams_go_over_ipv6_too() {
    let (summary, [connected, echoed, rest @ ..]) = echo(row(2, "none", 20.0, "nodes.ipv6 = true"), 20_000);
    assert!(connected > 5 && echoed >= (connected - 1) * 20_000, "{connected} {echoed}");
    assert_eq!(rest, [0; 3]);
    assert!(summary.flows.iter().all(|f| f.received > Some(0)), "{:?}", summary.flows);
}

#[test]
fn a_port_at_which_nobody_listens_is_unreachable_after_a_round_trip() {
    let (summary, audit) = run(&with_echo(row(3, "dsr", 30.5, ""), 1_000, PORT + 1));
    assert_eq!(audit.defect(), None);
    // A second from one call to the next, and less than 20 ms for a SYN and a reset over two hops.
    let [connected, echoed, finished, unreachable, broken] = client(&summary);
    assert_eq!([connected, echoed, finished, broken], [0; 4]);
    assert!((30..=31).contains(&unreachable), "{unreachable}");
}

#[test]
fn a_host_that_is_down_is_unreachable_after_ten_seconds() {
    let down = "[[outages]]\nnode = 1\nstart_s = 0\nlength_s = 60\ntables = \"kept\"\n";
    let (_, [connected, _, _, unreachable, _]) = echo(row(2, "dsr", 54.5, down), 1_000);
    // Calls at 0, 11, 22, 33 and 44 s.
    assert_eq!((connected, unreachable), (0, 5));
}

#[test]
fn a_stream_outlives_an_outage_with_memory_and_breaks_where_it_was_forgotten() {
    let outage = |node: u32, tables: &str| {
        format!("[[outages]]\nnode = {node}\nstart_s = 5\nlength_s = 10\ntables = \"{tables}\"\n")
    };
    // Over one hop at 2 Mb/s an echo of 5 MB takes longer than the run.
    let counts = |node: u32, tables: &str| echo(row(2, "dsr", 60.0, &outage(node, tables)), 5_000_000).1;
    for node in 0..2 {
        let [connected, echoed, rest @ ..] = counts(node, "kept");
        assert_eq!((connected, rest), (1, [0; 3]), "node {node}");
        assert!(echoed > 1_500_000, "node {node}: it goes on: {echoed}");
    }
    // The server's host answers the client with a reset, and takes the next call.
    assert_eq!(counts(1, "lost").map(|n| n.min(10)), [2, 10, 0, 0, 1]);
    // A client that loses its memory begins again; the old stream's end is the server's matter.
    assert_eq!(counts(0, "lost").map(|n| n.min(10)), [2, 10, 0, 0, 0]);
}

#[test]
fn the_same_seed_gives_the_same_streams() {
    let hash = || echo(row(3, "aodv", 20.0, ""), 50_000).0.trace_hash;
    assert_eq!(hash(), hash());
}
