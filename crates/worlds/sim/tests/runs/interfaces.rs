//! Nodes with several interfaces: radios on channels of their own, and wires.

use std::ops::ControlFlow;

use wayhop_core::{IfaceId, Time};
use wayhop_sim::Simulation;
use wayhop_trace::{HopEvent, HopKind, Observer, Recorder, Summary};

use crate::scenario;

const PROTOCOLS: [&str; 3] = ["dsr", "aodv", "dsdv"];

/// What happened to data packets.
#[derive(Default)]
struct Seen {
    /// When packets were delivered, seconds.
    delivered: Vec<f64>,
    /// When, at which node and by which interface they were put on a medium.
    sent: Vec<(f64, u32, IfaceId)>,
    /// At which node and by which interface the routing protocol's own packets were.
    routing: Vec<(u32, IfaceId)>,
}

impl Observer for Seen {
    fn hop(&mut self, e: &HopEvent) {
        let t = e.time.since(Time::ZERO).as_secs_f64();
        match e.kind {
            HopKind::Deliver => self.delivered.push(t),
            HopKind::Transmit if e.flow.is_some() => self.sent.push((t, e.node.0, e.iface)),
            HopKind::Transmit => self.routing.push((e.node.0, e.iface)),
            _ => {}
        }
    }
}

/// Runs a scenario to its end; every packet is accounted for.
fn watch(text: &str) -> (Summary, Seen) {
    let scenario = scenario(text);
    let recorder = Recorder::hash_only().observed_by(Box::<Seen>::default());
    let mut simulation = Simulation::new(&scenario, recorder).expect("a scenario");
    assert!(simulation.run(|_| ControlFlow::Continue(())));
    let (summary, audit, mut recorder) = simulation.finish(&scenario, 0.0);
    assert_eq!(audit.defect(), None, "{text}");
    (summary, recorder.take_observer().expect("it was given"))
}

/// A saturated flow.
fn saturated(src: u32, dst: u32) -> String {
    format!(
        "[[traffic]]\nkind = \"cbr\"\nsrc = {src}\ndst = {dst}\npayload_bytes = 1472\nrate_pps = 1000\nstart_s = 1\n"
    )
}

/// IEEE 802.11b with 11 Mb/s for all frames, so that a node two hops of 450 m away (2.5 dB above the noise) understands
/// nothing, and a carrier sense that hears it all the same.
const B: &str = "preset = \"80211b\"\nbasic_rate_mbps = 11\ncarrier_sense_threshold_dbm = -95\n";

/// What one saturated sender of 1500-octet packets carries with [`B`], b/s: DIFS 50, mean backoff 15.5 slots of 20, DATA 192
/// and 1536 octets, SIFS 10, ACK 192 and 14 octets, and two flights of 450 m; 1472 octets of payload. Rates are 11 Mb/s.
const ONE_HOP_BPS: f64 = 1472.0 * 8.0
    / (50e-6 + 310e-6 + 192e-6 + 1536.0 * 8.0 / 11e6 + 10e-6 + 192e-6 + 14.0 * 8.0 / 11e6 + 3e-6);

fn chain(protocol: &str, nodes: u32, radios: &str) -> f64 {
    let text = format!(
        "duration_s = 21\nnodes.count = {nodes}\nmovement = {{ kind = \"chain\", spacing_m = 450 }}\n\
         protocol.name = \"{protocol}\"\n{radios}\n{}",
        saturated(0, nodes - 1)
    );
    watch(&text).0.flows[0].goodput_bps.unwrap()
}

#[test]
fn a_relay_with_two_radios_carries_what_one_hop_does_and_with_one_radio_half_of_it() {
    for protocol in ["aodv", "dsr"] {
        // DSR's source route makes packets 12 octets longer: 0.5 %.
        let one_hop = chain(protocol, 2, &format!("[radio]\nchannel = 1\n{B}"));
        assert!(
            (one_hop / ONE_HOP_BPS - 1.0).abs() < 0.015,
            "{protocol}: {one_hop} b/s, arithmetic {ONE_HOP_BPS}"
        );
        let shared = chain(protocol, 3, &format!("[radio]\nchannel = 1\n{B}"));
        // Two senders wait out their backoffs together: a little more than half each.
        assert!((0.45..0.56).contains(&(shared / ONE_HOP_BPS)), "{protocol}: {shared} b/s on one channel");
        let two =
            format!("[radio]\nchannel = 1\nnodes = [0, 1]\n{B}[[radios]]\nchannel = 6\nnodes = [1, 2]\n{B}");
        let apart = chain(protocol, 3, &two);
        assert!(
            (apart / ONE_HOP_BPS - 1.0).abs() < 0.015,
            "{protocol}: {apart} b/s, arithmetic {ONE_HOP_BPS}"
        );
    }
}

#[test]
fn neighbours_on_channels_apart_do_not_meet_and_on_one_channel_they_share_it() {
    let pairs = |radios: String| -> Vec<f64> {
        let places = [(0, 0), (450, 0), (0, 10), (450, 10)].map(|(x, y)| format!("{{ x = {x}, y = {y} }}"));
        let text = format!(
            "duration_s = 21\nmovement = {{ kind = \"static\", positions = [{}] }}\nprotocol.name = \"aodv\"\n{radios}\n{}{}",
            places.join(", "),
            saturated(0, 1),
            saturated(2, 3)
        );
        watch(&text).0.flows.iter().map(|f| f.goodput_bps.unwrap() / ONE_HOP_BPS).collect()
    };
    let apart =
        format!("[radio]\nchannel = 1\nnodes = [0, 1]\n{B}[[radios]]\nchannel = 6\nnodes = [2, 3]\n{B}");
    let apart = pairs(apart);
    assert!(apart.iter().all(|share| (share - 1.0).abs() < 0.015), "{apart:?}");
    let shared = pairs(format!("[radio]\nchannel = 1\n{B}"));
    assert!(shared.iter().all(|share| (0.45..0.58).contains(share)), "{shared:?}");
    let sum: f64 = shared.iter().sum();
    assert!((0.97..1.12).contains(&sum), "{shared:?}");
}

/// Two pairs of nodes 5 km apart, and a flow from the one to the other.
fn partitions(protocol: &str, wires: &str) -> (Summary, Seen) {
    watch(&format!(
        "duration_s = 200\nprotocol.name = \"{protocol}\"\n\
         movement = {{ kind = \"static\", positions = [{{ x = 0, y = 0 }}, {{ x = 200, y = 0 }}, {{ x = 5000, y = 0 }}, \
         {{ x = 5200, y = 0 }}] }}\n{wires}\n\
         [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 3\npayload_bytes = 256\nrate_pps = 4\nstart_s = 60\nstop_s = 190\n"
    ))
}

#[test]
fn a_wire_heals_a_partition_until_it_is_cut() {
    let wire = "[[wires]]\nname = \"backbone\"\nnodes = [1, 2]\n";
    for protocol in PROTOCOLS {
        let (none, _) = partitions(protocol, "");
        assert_eq!(none.flows[0].received.unwrap(), 0, "{protocol} without a wire");
        let (whole, _) = partitions(protocol, wire);
        assert!(whole.flows[0].delivery_ratio.unwrap() > 0.99, "{protocol}: {:?}", whole.flows[0]);
        assert_eq!(whole.flows[0].hops_mean, Some(3.0), "{protocol}");
        let cut = format!("{wire}cuts = [{{ start_s = 100, length_s = 30 }}]\n");
        let (_, seen) = partitions(protocol, &cut);
        let between = |a: f64, b: f64| seen.delivered.iter().filter(|t| (a..b).contains(t)).count();
        assert!(between(60.0, 100.0) >= 155, "{protocol}: {} before the cut", between(60.0, 100.0));
        assert_eq!(between(100.01, 130.0), 0, "{protocol} during the cut");
        // DSDV hears of the way back with the next periodic update (15 s), the others ask again within 10 s.
        assert!(between(150.0, 190.0) >= 155, "{protocol}: {} after the cut", between(150.0, 190.0));
    }
}

#[test]
fn dsr_acknowledges_itself_what_a_wire_carries_and_nothing_that_a_radio_does() {
    let (summary, seen) = partitions("dsr", "[[wires]]\nname = \"backbone\"\nnodes = [1, 2]\n");
    let packets = summary.flows[0].received.unwrap() as usize;
    assert!(packets > 500, "{packets}");
    let by = |node, iface| seen.routing.iter().filter(|s| **s == (node, IfaceId(iface))).count();
    // Node 2 acknowledges to node 1 over the wire at least every second packet: they come each 250 ms, and within 250 ms of
    // a confirmation (MaintHoldoffTime) none is asked for. Nodes 1 and 3 send on their radios requests and replies only.
    assert!(2 * by(2, 1) >= packets, "{} over the wire", by(2, 1));
    assert!(by(1, 0) < 20 && by(3, 0) < 20, "{} and {} on the radio", by(1, 0), by(3, 0));
}

#[test]
fn a_neighbour_on_a_radio_and_a_wire_is_reached_by_the_wire_and_without_it_by_the_radio() {
    let text = |protocol: &str| {
        format!(
            "duration_s = 120\nprotocol.name = \"{protocol}\"\nnodes.count = 2\n\
             movement = {{ kind = \"chain\", spacing_m = 200 }}\n\
             [[wires]]\nnodes = [0, 1]\ncuts = [{{ start_s = 80 }}]\n\
             [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\npayload_bytes = 256\nrate_pps = 10\nstart_s = 40\n"
        )
    };
    for protocol in PROTOCOLS {
        let (summary, seen) = watch(&text(protocol));
        let flow = &summary.flows[0];
        // One or two are lost with the wire, or wait for the next periodic update.
        assert!(flow.sent.unwrap() - flow.received.unwrap() <= 2, "{protocol}: {flow:?}");
        let by = |iface: u8, from: f64, to: f64| {
            seen.sent.iter().filter(|(t, _, i)| (from..to).contains(t) && *i == IfaceId(iface)).count()
        };
        assert_eq!((by(0, 41.0, 80.0), by(1, 80.0, 120.0)), (0, 0), "{protocol}");
        assert!(by(1, 40.0, 80.0) >= 399 && by(0, 80.0, 120.0) >= 390, "{protocol}");
    }
}

#[test]
fn a_wire_carries_at_its_rate_after_its_delay_and_loses_its_share() {
    let text = |wire: &str, flow: &str| {
        format!(
            "duration_s = 31\nprotocol.name = \"aodv\"\nmovement = {{ kind = \"static\", positions = \
             [{{ x = 0, y = 0 }}, {{ x = 9000, y = 0 }}] }}\n[[wires]]\nnodes = [0, 1]\n{wire}\n\
             [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nstart_s = 1\n{flow}\n"
        )
    };
    // 10 Mb/s: a packet of 1500 octets and 38 of frame take 1230.4 us.
    let (full, _) = watch(&text("rate_mbps = 10", "payload_bytes = 1472\nrate_pps = 2000"));
    let expect = 1472.0 * 8.0 / 1230.4e-6;
    let got = full.flows[0].goodput_bps.unwrap();
    assert!((got / expect - 1.0).abs() < 0.002, "{got} b/s, expected {expect}");
    // One packet alone: 1230.4 us and 2 ms of delay.
    let (idle, _) = watch(&text("rate_mbps = 10\ndelay_us = 2000", "payload_bytes = 1472\nrate_pps = 20"));
    let latency_ms = idle.flows[0].latency_ms.unwrap().p50;
    assert!((latency_ms / 3.2304 - 1.0).abs() < 0.01, "{latency_ms} ms");
    // 2950 packets, each lost with probability 0.1: 0.9 with a standard deviation of 0.0055.
    let (lossy, _) = watch(&text("loss = 0.1", "payload_bytes = 64\nrate_pps = 100\nstop_s = 30.5"));
    let ratio = lossy.flows[0].delivery_ratio.unwrap();
    assert!((ratio - 0.9).abs() < 0.025, "{ratio}");
    assert_eq!(
        lossy.totals.drops["LOST_ON_AIR"],
        lossy.flows[0].sent.unwrap() - lossy.flows[0].received.unwrap()
    );
}

#[test]
fn a_switch_joins_more_than_two_and_a_broadcast_reaches_all_of_them_once() {
    let places: Vec<String> = (0..4).map(|i| format!("{{ x = {}, y = 0 }}", 5000 * i)).collect();
    let text = format!(
        "duration_s = 20\nprotocol.name = \"dsr\"\nmovement = {{ kind = \"static\", positions = [{}] }}\n\
         [[wires]]\nnodes = [0, 1, 2, 3]\n\
         [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 3\nstop_s = 19\n[[traffic]]\nkind = \"ping\"\nsrc = 1\ndst = 2\n\
         stop_s = 19\n[[traffic]]\nkind = \"cbr\"\nsrc = 2\ndst = \"all\"\nstop_s = 19\n",
        places.join(", ")
    );
    let (summary, _) = watch(&text);
    for f in &summary.flows {
        assert!(f.delivery_ratio.unwrap() > 0.98, "{f:?}");
        assert_eq!(f.hops_mean, Some(1.0), "{f:?}");
    }
}

#[test]
fn an_interface_that_is_stalled_sends_nothing_and_the_others_go_on() {
    let text = "duration_s = 30\nprotocol.name = \"aodv\"\nmovement = { kind = \"static\", positions = [{ x = 0, y = 0 }, \
                { x = 200, y = 0 }, { x = 9000, y = 0 }] }\n[[wires]]\nname = \"eth\"\nnodes = [0, 2]\n\
                [[stalls]]\nnode = 0\ninterface = \"eth\"\nstart_s = 10\nlength_s = 10\n\
                [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\n[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 2\n";
    let (_, seen) = watch(text);
    let by = |iface: u8, from: f64, to: f64| {
        seen.sent.iter().filter(|(t, _, i)| (from..to).contains(t) && *i == IfaceId(iface)).count()
    };
    assert_eq!(by(1, 10.01, 19.99), 0);
    assert!(by(0, 10.0, 20.0) >= 39 && by(1, 1.0, 10.0) >= 35 && by(1, 20.0, 21.0) >= 35);
}

#[test]
fn a_run_with_radios_and_wires_repeats() {
    let more = "[[radios]]\npreset = \"80211g\"\nchannel = 11\nnodes = [0, 1, 2, 3]\n\
                [[wires]]\nnodes = [5, 9, 12]\nloss = 0.05\n";
    for protocol in PROTOCOLS {
        let radio = "80211b\", channel = 1, name = \"wlan0";
        let text = format!("{}\n{more}", super::mobile(protocol, "ns2", radio, 20.0, 3));
        let (first, second) = (watch(&text).0, watch(&text).0);
        assert_eq!(first.trace_hash, second.trace_hash, "{protocol}");
        assert!(first.totals.received > 500, "{protocol}: {:?}", first.totals);
    }
}

/// What the slow hop carries, b/s: as [`ONE_HOP_BPS`] at 2 Mb/s, with two nodes in the source route (RFC 4728, section 6.7: 12 octets,
/// behind a header of 4).
const SLOW_HOP_BPS: f64 = 1472.0 * 8.0
    / (50e-6 + 310e-6 + 192e-6 + (1536.0 + 16.0) * 8.0 / 2e6 + 10e-6 + 192e-6 + 14.0 * 8.0 / 2e6 + 6e-6);

#[test]
fn dsr_mixes_fast_and_slow_radios_in_one_route_which_carries_what_its_slow_hop_does() {
    let (summary, seen) = watch(include_str!("../../../../../scenarios/short-and-long.toml"));
    let flow = &summary.flows[0];
    // A request may get through to `far`, 1350 m away, once, and the packet that follows it there, too.
    let hops = flow.hops_mean.unwrap();
    assert!((hops - 3.0).abs() < 0.001, "{hops} hops");
    let few = |n: usize| n < 10;
    // Numbers of interfaces are a node's own: `fast` is 0 at each, `slow` 1.
    let by = |node, iface| seen.sent.iter().filter(|s| (s.1, s.2) == (node, IfaceId(iface))).count();
    let most = flow.received.unwrap() as usize - 10;
    assert!(by(0, 0) >= most && by(1, 1) >= most && by(2, 0) >= most, "fast, slow, fast");
    // The source hears `near` on both, and takes the faster one for all but the first packets.
    assert!(few(by(0, 1)) && few(by(1, 0)), "{} and {}", by(0, 1), by(1, 0));
    let goodput = flow.goodput_bps.unwrap();
    assert!((goodput / SLOW_HOP_BPS - 1.0).abs() < 0.015, "{goodput} b/s, arithmetic {SLOW_HOP_BPS}");
}

#[test]
fn below_what_its_slow_hop_carries_a_mixed_route_loses_nothing_and_without_the_slow_radio_there_is_none() {
    let text = include_str!("../../../../../scenarios/short-and-long.toml");
    // Short broadcasts of the fast radio cross the gap now and then, and long packets never: whatever the seed, the slow one carries them.
    let below =
        text.replace("rate_pps = 300", "rate_pps = 100").replace("duration_s = 31", "duration_s = 12");
    for (seed, protocol) in (1..=4).flat_map(|seed| [(seed, "dsr"), (seed, "aodv")]) {
        let of_protocol = below.replace("\"dsr\"", &format!("\"{protocol}\""));
        let (summary, _) = watch(&format!("seed = {seed}\n{of_protocol}"));
        let flow = &summary.flows[0];
        assert!(
            flow.sent.unwrap() >= 1_090 && flow.sent.unwrap() - flow.received.unwrap() <= 1,
            "{protocol}, seed {seed}: {flow:?}"
        );
    }
    let cut = text.find("# Long range").unwrap()..text.find("[[traffic]]").unwrap();
    let mut without = text.to_owned();
    without.replace_range(cut, "");
    assert_eq!(watch(&without).0.flows[0].received.unwrap(), 0);
}
