//! Nodes that neither send nor hear anything: what they cost, and that they begin as others do. And what nodes cost that
//! hear their neighbours.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::sync::Arc;

use wayhop_core::{
    Cx, Effect, Input, Inspect, Interface, NodeId, Packet, PacketMeta, Pool, Protocol, Purpose, Time, stream,
};
use wayhop_node::OnDemand;
use wayhop_sim::Simulation;
use wayhop_trace::Recorder;

use crate::{chain, scenario};

/// A run of nodes that are too far apart to hear each other.
fn lonely(protocol: &str, nodes: u32) -> String {
    format!(
        r#"
duration_s = 0.001
nodes.count = {nodes}
movement = {{ kind = "grid", spacing_m = 1000 }}
protocol = {{ name = "{protocol}" }}
"#
    )
}

/// A run in which each node hears a Hello per second from each of its 22 neighbours, but for those at the edge.
fn greeting(nodes: u32) -> String {
    let side_m = (9_000.0 * f64::from(nodes)).sqrt();
    format!(
        r#"
duration_s = 4
nodes.count = {nodes}
area = {{ x_m = {side_m}, y_m = {side_m} }}
movement = {{ kind = "random-waypoint", speed_min_mps = 1, speed_max_mps = 20 }}
protocol = {{ name = "aodv", hello = "always" }}
"#
    )
}

/// The most octets that are in use at one time in a run.
fn octets(text: &str) -> u64 {
    let used = allocation_counter::measure(|| {
        let s = scenario(text);
        let mut simulation = Simulation::new(&s, Recorder::hash_only()).expect("a scenario");
        assert!(simulation.run(|_| ControlFlow::Continue(())));
    });
    used.bytes_max
}

/// What each further node costs. The allocator's own share is not in it: `bench/memory.py` sees it.
fn octets_a_node(run: impl Fn(u32) -> String) -> u64 {
    let (few, many) = (1_000, 2_000);
    (octets(&run(many)) - octets(&run(few))) / u64::from(many - few)
}

#[test]
fn an_idle_node_costs_a_few_hundred_octets() {
    // DSDV is never idle: it sets a timer for its first update.
    for (protocol, limit) in [("aodv", 370), ("dsr", 370), ("dsdv", 970)] {
        let cost = octets_a_node(|nodes| lonely(protocol, nodes));
        assert!(cost <= limit, "{protocol}: {cost}");
    }
}

#[test]
fn a_node_that_hears_22_neighbours_costs_a_few_kilobytes() {
    let cost = octets_a_node(greeting);
    assert!(cost <= 6_500, "{cost}");
}

/// What a protocol shows of its tables.
#[derive(Default)]
struct Shown(Vec<String>);

impl Inspect for Shown {
    fn row(&mut self, table: &'static str, fields: &[(&'static str, &dyn Display)]) {
        let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name} {value}")).collect();
        self.0.push(format!("{table}: {}", fields.join(", ")));
    }
    fn held(&mut self, place: &'static str, p: &Packet) {
        self.0.push(format!("{place}: {:?}", p.bytes()));
    }
}

/// An empty UDP datagram from node 3 to node 9.
fn datagram() -> Vec<u8> {
    let ip = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0];
    let udp = [0, 7, 0, 7, 0, 8, 0, 0];
    let [from, to] = [3, 9].map(|n| NodeId(n).default_addr().octets());
    [&ip[..], &from, &to, &udp].concat()
}

/// All that can be seen of a protocol that starts, is given a datagram, and whose first timers fire: its effects, its
/// tables, and how many random numbers it drew.
fn life(mut protocol: impl Protocol) -> Vec<String> {
    let (mut rng, mut pool, mut next_id) = (stream(5, Purpose::Protocol, 3), Pool::new(), 1_000);
    let interface = Interface { queued: 2, acknowledges: true };
    let mut seen = vec![format!("{:?} {:?}", protocol.interests(), protocol.data_plane())];
    let mut give = |protocol: &mut dyn Protocol, at: Time, input: Input<'_>, pool: &mut Pool| {
        let mut effects = Vec::new();
        let addr = NodeId(3).default_addr();
        let mut cx = Cx::new(at, addr, interface, &mut rng, pool, &mut next_id, &mut effects);
        protocol.on_input(&mut cx, input);
        seen.push(serde_json::to_string(&effects).expect("effects serialise"));
        let mut shown = Shown::default();
        protocol.inspect(at, &mut shown);
        seen.extend(shown.0);
        effects
    };
    let begin = Time::from_secs_f64(2.5);
    let mut effects = give(&mut protocol, begin, Input::Start, &mut pool);
    let packet = pool.packet(&datagram(), PacketMeta::default());
    effects.extend(give(&mut protocol, Time::from_secs_f64(3.0), Input::Outbound(packet), &mut pool));
    for effect in &effects {
        if let Effect::SetTimer(key, at) = effect {
            give(&mut protocol, *at, Input::Timer(*key), &mut pool);
        }
    }
    seen.push(format!("{:?} {next_id}", rng.bits()));
    seen
}

#[test]
fn a_protocol_that_is_made_on_demand_does_what_one_does_that_was_made_at_once() {
    for protocol in ["dsr", "aodv", "dsdv"] {
        for profile in ["rfc", "ns2"] {
            let text = chain(10, 200, protocol, 1.0, &format!("protocol.profile = \"{profile}\""));
            let configured = scenario(&text).protocol;
            let on_demand = life(OnDemand::new(Arc::new(configured.clone())));
            assert_eq!(on_demand, life(configured.engine()), "{protocol}, {profile}");
        }
    }
}

/// From 4,096 nodes and waiting events on, memory is looked at ahead: of nodes that are idle, of applications, and of receivers.
#[test]
fn a_large_network_delivers_what_its_applications_send() {
    let text = greeting(4_500).replace("duration_s = 4", "duration_s = 1")
        + "[[applications]]\nname = \"beacon\"\ninterval_min_s = 0.5\ninterval_max_s = 1\n";
    for protocol in ["aodv\", hello = \"always", "aodv", "none"] {
        let s = scenario(&text.replace("aodv\", hello = \"always", protocol));
        let (summary, audit) = crate::run(&s);
        assert_eq!(audit.defect(), None);
        let heard = |a: &wayhop_trace::ApplicationSummary| a.figures["beacons_received"];
        let heard: f64 = summary.applications.iter().map(heard).sum();
        // Each sends once or twice in the second, to about 22 others.
        assert!(heard > 4_500.0 * 10.0, "{protocol}: {heard} beacons");
    }
}
