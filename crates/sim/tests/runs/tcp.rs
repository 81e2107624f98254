//! TCP connections over the simulated network.

use std::ops::ControlFlow;

use wayhop_sim::Simulation;
use wayhop_trace::Recorder;

use crate::{run, scenario};

/// A row of nodes, and flows.
fn chain(hops: u32, protocol: &str, flows: &str) -> String {
    format!(
        r#"
duration_s = 30
nodes.count = {}
movement = {{ kind = "chain", spacing_m = 200 }}
protocol = {{ name = "{protocol}" }}
{flows}
"#,
        hops + 1
    )
}

#[test]
fn a_file_arrives_over_a_chain_and_every_segment_is_accounted_for() {
    for protocol in ["dsr", "aodv"] {
        for variant in ["tahoe", "reno", "newreno", "sack", "vegas", "westwood"] {
            let flow = format!(
                "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 3\nvariant = \"{variant}\"\nbytes = 200000\nstart_s = 1"
            );
            let (summary, audit) = run(&scenario(&chain(3, protocol, &flow)));
            assert_eq!(audit.defect(), None, "{protocol} {variant}");
            let f = &summary.flows[0];
            let tcp = f.tcp.as_ref().expect("a TCP flow");
            assert_eq!((f.kind.as_str(), tcp.delivered_bytes), ("tcp", 200_000), "{protocol} {variant}");
            let completed = tcp.completed_s.expect("it has arrived");
            assert!(
                (f.goodput_bps - 1.6e6 / completed).abs() < 1.0,
                "{protocol} {variant}: {}",
                f.goodput_bps
            );
            // 137 segments, and what was sent again.
            assert!(f.sent >= 137 && f.sent == 137 + tcp.retransmissions, "{protocol} {variant}: {}", f.sent);
            assert!(f.received >= 137 && f.received <= f.sent);
            assert!((2.9..3.2).contains(&f.hops_mean), "{protocol} {variant}: {}", f.hops_mean);
        }
    }
}

#[test]
fn runs_with_connections_repeat_bit_by_bit() {
    let flows = r#"
[[traffic]]
kind = "tcp"
src = 0
dst = 4
profile = "ns2"
[[traffic]]
kind = "tcp"
src = 4
dst = 1
application = "requests"
[[traffic]]
kind = "tcp"
src = 2
dst = 0
application = "on-off"
variant = "sack"
stop_s = 20
"#;
    let s = scenario(&chain(4, "dsr", flows));
    let (first, audit) = run(&s);
    assert_eq!(audit.defect(), None);
    let (second, _) = run(&s);
    assert_eq!(first, second);
    assert!(first.flows.iter().all(|f| f.goodput_bps > 1_000.0), "{:?}", first.flows);
    assert!(first.flows[1].tcp.as_ref().and_then(|t| t.answers).is_some_and(|n| n > 3));
}

#[test]
fn a_flow_that_stops_ends_its_connection() {
    let flow = "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 1\nstop_s = 5";
    let s = scenario(&chain(1, "aodv", flow));
    let mut sim = Simulation::new(&s, Recorder::hash_only()).expect("a scenario");
    assert!(sim.run(|_| ControlFlow::Continue(())));
    let events = {
        let (summary, audit, _) = sim.finish(&s, 0.0);
        assert_eq!(audit.defect(), None);
        assert_eq!(audit.ends.held, 0, "everything that was sent has arrived");
        summary.events
    };
    // Five seconds of traffic, and then silence: AODV sends nothing by itself.
    let full = run(&scenario(&chain(1, "aodv", &flow.replace("stop_s = 5", "stop_s = 10")))).0.events;
    assert!(events * 3 < full * 2, "{events} of {full}");
}
