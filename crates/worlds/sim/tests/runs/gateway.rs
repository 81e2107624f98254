//! Gateways: flows between the mesh and hosts outside, through one or two gateways, working or failing.

use std::ops::ControlFlow;

use wayhop_core::{DropReason, Time};
use wayhop_sim::{Audit, Simulation};
use wayhop_trace::{HopEvent, HopKind, Observer, Recorder, Summary};

use crate::{run, scenario};

const KEYS: &str = "[security]\nkeys = [{ id = 1, key = \"000102030405060708090a0b0c0d0e0f\" }]\n";
const PROTOCOLS: [&str; 3] = ["dsr", "aodv", "dsdv"];

/// When data packets were delivered, and where.
#[derive(Default)]
struct Deliveries(Vec<(f64, u32, u32)>);

impl Observer for Deliveries {
    fn hop(&mut self, e: &HopEvent) {
        if let (HopKind::Deliver, Some(tag)) = (e.kind, e.flow) {
            self.0.push((e.time.since(Time::ZERO).as_secs_f64(), e.node.0, tag.flow));
        }
    }
}

fn watch(text: &str) -> (Summary, Audit, Vec<(f64, u32, u32)>) {
    let scenario = scenario(text);
    let recorder = Recorder::hash_only().observed_by(Box::<Deliveries>::default());
    let mut simulation = Simulation::new(&scenario, recorder).expect("a scenario");
    assert!(simulation.run(|_| ControlFlow::Continue(())));
    let (summary, audit, mut recorder) = simulation.finish(&scenario, 0.0);
    let seen: Deliveries = recorder.take_observer().expect("it was given");
    (summary, audit, seen.0)
}

/// 0 - 1 - 2; node 2 is a gateway to host 3.
fn chain(protocol: &str, rest: &str) -> String {
    format!(
        "duration_s = 130\nnodes.count = 4\nmovement = {{ kind = \"chain\", spacing_m = 200 }}\nradio.nodes = [0, 1, 2]\n\
         protocol.name = \"{protocol}\"\nwires = [{{ nodes = [2, 3] }}]\ngateways = [{{ node = 2 }}]\n{rest}"
    )
}

fn cbr(src: u32, dst: u32, more: &str) -> String {
    format!(
        "[[traffic]]\nkind = \"cbr\"\nsrc = {src}\ndst = {dst}\nrate_pps = 10\npayload_bytes = 256\n{more}\n"
    )
}

#[test]
fn packets_leave_and_come_in_by_a_gateway_with_each_protocol() {
    for protocol in PROTOCOLS {
        // One flow begins inside, the other outside; neither has the other's route to use at first.
        let flows =
            [cbr(0, 3, "start_s = 40\nstop_s = 80"), cbr(3, 0, "start_s = 85\nstop_s = 125")].concat();
        let (s, audit) = run(&scenario(&chain(protocol, &flows)));
        assert_eq!(audit.defect(), None, "{protocol}");
        for f in &s.flows {
            assert!(
                f.sent.unwrap() >= 400 && f.sent.unwrap() - f.received.unwrap() <= 1,
                "{protocol}: {f:?}"
            );
            // Two hops in the mesh, and the one on the wire.
            assert_eq!(f.hops_mean, Some(3.0), "{protocol}");
        }
    }
}

#[test]
fn a_gateways_own_packets_and_pings_to_the_outside_pass() {
    for protocol in PROTOCOLS {
        let ping = "[[traffic]]\nkind = \"ping\"\nsrc = 0\ndst = 3\nstart_s = 40\ninterval_s = 0.5\n";
        let flows = [ping.to_owned(), cbr(2, 3, "start_s = 40")].concat();
        let (s, audit) = run(&scenario(&chain(protocol, &flows)));
        assert_eq!(audit.defect(), None, "{protocol}");
        assert!(s.flows.iter().all(|f| f.delivery_ratio.unwrap() > 0.99), "{protocol}: {:?}", s.flows);
        assert_eq!(s.flows[1].hops_mean, Some(1.0), "{protocol}");
    }
}

#[test]
fn a_tcp_connection_to_the_outside_carries_a_file() {
    for protocol in PROTOCOLS {
        let tcp = "[[traffic]]\nkind = \"tcp\"\nsrc = 3\ndst = 0\nstart_s = 40\nbytes = 1000000\n";
        let (s, audit) = run(&scenario(&chain(protocol, tcp)));
        assert_eq!(audit.defect(), None, "{protocol}");
        assert_eq!(s.flows[0].tcp.as_ref().unwrap().delivered_bytes, 1_000_000, "{protocol}");
    }
}

#[test]
fn an_address_of_the_mesh_that_nobody_has_any_more_is_not_sought_outside() {
    for protocol in PROTOCOLS {
        let down = "[[outages]]\nnode = 0\nstart_s = 30\n";
        let (s, audit) =
            run(&scenario(&chain(protocol, &[cbr(1, 0, "start_s = 60"), down.to_owned()].concat())));
        assert_eq!((audit.defect(), s.flows[0].received.unwrap()), (None, 0), "{protocol}");
        let (held, dropped) = (s.totals.held.unwrap(), s.totals.dropped.unwrap());
        assert_eq!(held + dropped, s.totals.sent, "{protocol}");
    }
}

/// Gateway 1 beside node 0, gateway 4 behind nodes 2 and 3; both lead to host 5 by one wire each.
fn two(protocol: &str, rest: &str) -> String {
    let places = ["0, y = 0", "0, y = 200", "200, y = 0", "400, y = 0", "600, y = 0", "0, y = 5000"];
    let places: Vec<String> = places.iter().map(|p| format!("{{ x = {p} }}")).collect();
    format!(
        "duration_s = 200\nmovement = {{ kind = \"static\", positions = [{}] }}\nradio.nodes = [0, 1, 2, 3, 4]\n\
         protocol.name = \"{protocol}\"\ngateways = [{{ node = 1 }}, {{ node = 4 }}]\n{rest}",
        places.join(", ")
    )
}

/// How long after `failure` node 0's packets arrive again, and how many hops they take then.
fn recovery(text: &str, failure: f64) -> f64 {
    let (_, audit, delivered) = watch(text);
    assert_eq!(audit.defect(), None);
    let before = delivered.iter().filter(|d| d.0 < failure).count();
    assert!(before as f64 > 9.0 * (failure - 60.0), "{before} before the failure");
    let mut after = delivered.iter().map(|d| d.0).filter(|t| *t > failure + 0.05);
    after.next().expect("it recovers") - failure
}

#[test]
fn when_the_nearest_gateway_or_its_uplink_fails_the_other_one_takes_over() {
    let flow = cbr(0, 5, "start_s = 60");
    for protocol in PROTOCOLS {
        let (s, ..) =
            watch(&two(protocol, &format!("wires = [{{ nodes = [1, 5] }}, {{ nodes = [4, 5] }}]\n{flow}")));
        assert_eq!(s.flows[0].hops_mean, Some(2.0), "{protocol}: the nearest gateway is taken");
        let wires = "wires = [{ nodes = [1, 5], cuts = [{ start_s = 100 }] }, { nodes = [4, 5] }]\n";
        let cut = recovery(&two(protocol, &format!("{wires}{flow}")), 100.0);
        let wires = "wires = [{ nodes = [1, 5] }, { nodes = [4, 5] }]\n";
        let down = "[[outages]]\nnode = 1\nstart_s = 100\n";
        let silent = recovery(&two(protocol, &format!("{wires}{flow}{down}")), 100.0);
        // DSR and AODV ask again at once. DSDV announces a cut in an update (a second apart at
        // least); a silent neighbour is found by the first packet that it does not acknowledge, and
        // the other exit is known.
        assert!(cut < 3.0 && silent < 3.0, "{protocol}: {cut} s after a cut, {silent} s after silence");
    }
}

#[test]
fn what_comes_back_takes_the_gateway_by_which_the_last_packet_left() {
    let ping = "[[traffic]]\nkind = \"ping\"\nsrc = 0\ndst = 5\nstart_s = 60\ninterval_s = 0.2\n";
    for protocol in PROTOCOLS {
        let wires = "wires = [{ nodes = [1, 5] }, { nodes = [4, 5] }]\n";
        let down = "[[outages]]\nnode = 1\nstart_s = 100\n";
        let (s, audit, delivered) = watch(&two(protocol, &format!("{wires}{ping}{down}")));
        assert_eq!(audit.defect(), None, "{protocol}");
        let answers = delivered.iter().filter(|d| d.1 == 0 && d.0 > 110.0).count();
        assert!(answers > 400, "{protocol}: {answers} answers by the other gateway, {:?}", s.flows[0]);
    }
}

#[test]
fn a_false_gateway_draws_what_is_for_the_outside_unless_nodes_have_keys() {
    // 0 - 1 - 2; node 2 is a gateway to host 3; node 4 hears 0 and 1, and claims to lead
    // everywhere.
    let places = ["0, y = 0", "200, y = 0", "400, y = 0", "0, y = 5000", "100, y = 150"];
    let places: Vec<String> = places.iter().map(|p| format!("{{ x = {p} }}")).collect();
    for protocol in PROTOCOLS {
        let taken = |insider: bool, keys: &str| {
            let text = format!(
                "duration_s = 130\nmovement = {{ kind = \"static\", positions = [{}] }}\nradio.nodes = [0, 1, 2, 4]\n\
                 protocol.name = \"{protocol}\"\nwires = [{{ nodes = [2, 3] }}]\ngateways = [{{ node = 2 }}]\n{}\
                 [[attacks]]\nkind = \"black-hole\"\nnode = 4\ninsider = {insider}\n{keys}",
                places.join(", "),
                cbr(0, 3, "start_s = 60"),
            );
            let (s, audit) = run(&scenario(&text));
            assert_eq!(audit.defect(), None, "{protocol}");
            (audit.ends.dropped[DropReason::Attack as usize], s.flows[0].delivery_ratio.unwrap())
        };
        let (kept, _) = taken(false, "");
        assert!(kept > 100, "{protocol}: without keys it draws packets: {kept}");
        let (kept, ratio) = taken(false, KEYS);
        assert!(kept == 0 && ratio > 0.97, "{protocol}: {kept}, {ratio}");
        let (kept, _) = taken(true, KEYS);
        assert!(kept > 100, "{protocol}: an insider has the keys: {kept}");
    }
}

#[test]
fn a_run_with_gateways_is_the_same_again() {
    for protocol in PROTOCOLS {
        let hash = || run(&scenario(&chain(protocol, &cbr(0, 3, "start_s = 40")))).0.trace_hash;
        assert_eq!(hash(), hash(), "{protocol}");
    }
}
