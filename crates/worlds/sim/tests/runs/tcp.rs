//! TCP connections over the simulated network.

use std::ops::ControlFlow;

use wayhop_scenario::Resolved;
use wayhop_sim::Simulation;
use wayhop_trace::{Observer, Recorder, Summary, TcpEvent};

use crate::{run, scenario};

/// A row of nodes, and flows.
fn chain(hops: u32, protocol: &str, flows: &str) -> String {
    crate::chain(u64::from(hops) + 1, 200, protocol, 30.0, flows)
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
                (f.goodput_bps.expect("a time") - 1.6e6 / completed).abs() < 1.0,
                "{protocol} {variant}: {}",
                f.goodput_bps.expect("a time")
            );
            // 137 segments, and what was sent again.
            assert!(
                f.sent.unwrap() >= 137 && f.sent.unwrap() == 137 + tcp.retransmissions,
                "{protocol} {variant}: {}",
                f.sent.unwrap()
            );
            assert!(f.received.unwrap() >= 137 && f.received.unwrap() <= f.sent.unwrap());
            let hops = f.hops_mean.expect("an arrival");
            assert!((2.9..3.2).contains(&hops), "{protocol} {variant}: {hops}");
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
    assert!(first.flows.iter().all(|f| f.goodput_bps > Some(1_000.0)), "{:?}", first.flows);
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

#[test]
fn a_flow_that_is_over_before_anybody_answered_has_sent_no_data() {
    let flow = "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 1\nstop_s = 5\n\
                [[outages]]\nnode = 1\nstart_s = 0\nlength_s = 60\ntables = \"kept\"";
    let (summary, audit) = run(&scenario(&chain(1, "aodv", flow)));
    assert_eq!(audit.defect(), None);
    let f = &summary.flows[0];
    assert_eq!((f.sent, f.tcp.as_ref().expect("a TCP flow").timeouts), (Some(0), 0));
}

#[test]
fn a_flow_that_stops_while_an_answer_comes_takes_the_answer_and_asks_no_more() {
    let flow = "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 1\nstop_s = 5\n\
                application = \"requests\"\nresponse_bytes = 500000\nthink_s = 0";
    let (summary, audit) = run(&scenario(&chain(1, "aodv", flow)));
    assert_eq!(audit.defect(), None);
    let tcp = summary.flows[0].tcp.as_ref().expect("a TCP flow");
    // An answer takes between 2 and 4 s at 2 Mb/s.
    assert_eq!((tcp.answers, tcp.delivered_bytes, tcp.timeouts), (Some(2), 1_000_400, 0));
}

#[test]
fn a_flow_whose_time_is_over_when_its_node_is_back_sends_only_the_end_of_its_stream() {
    let flow = "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 1\nstart_s = 2\nstop_s = 4\n\
                [[outages]]\nnode = 0\nstart_s = 0\nlength_s = 10\ntables = \"kept\"";
    let (summary, audit) = run(&scenario(&chain(1, "aodv", flow)));
    assert_eq!(audit.defect(), None);
    let f = &summary.flows[0];
    assert_eq!((f.sent, f.tcp.as_ref().expect("a TCP flow").delivered_bytes), (Some(1), 0));
}

/// Sees what happens at TCP senders.
#[derive(Default)]
struct Watch(Vec<TcpEvent>);

impl Observer for Watch {
    fn tcp(&mut self, e: &TcpEvent) {
        self.0.push(*e);
    }
}

/// Node 1 stands between 0 and 2, which is out of their reach from `leave` to `back`.
fn absent(protocol: &str, leave: f64, back: f64, duration: f64, flow: &str) -> Resolved {
    let dir = tempfile::tempdir().expect("a folder");
    let movement = dir.path().join("m.tcl");
    // 1000 m away within a fifth of a second, and as fast back.
    let text = format!(
        "$node_(0) set X_ 1.0\n$node_(0) set Y_ 1.0\n$node_(1) set X_ 200.0\n$node_(1) set Y_ 1.0\n\
         $node_(2) set X_ 400.0\n$node_(2) set Y_ 1.0\n\
         $ns_ at {leave} \"$node_(2) setdest 1400.0 1.0 5000.0\"\n$ns_ at {back} \"$node_(2) setdest 400.0 1.0 5000.0\"\n"
    );
    std::fs::write(&movement, text).expect("a file");
    scenario(&format!(
        r#"
duration_s = {duration}
movement = {{ kind = "ns2", path = "{}" }}
protocol = {{ name = "{protocol}" }}
[[traffic]]
kind = "tcp"
src = 0
dst = 2
{flow}
"#,
        movement.display()
    ))
}

/// What the sender did, and how the run ended.
fn watched(s: &Resolved) -> (Vec<TcpEvent>, Summary) {
    let recorder = Recorder::hash_only().observed_by(Box::new(Watch::default()));
    let mut sim = Simulation::new(s, recorder).expect("a scenario");
    assert!(sim.run(|_| ControlFlow::Continue(())));
    let (summary, audit, mut recorder) = sim.finish(s, 0.0);
    assert_eq!(audit.defect(), None);
    (recorder.take_observer::<Watch>().expect("the observer").0, summary)
}

#[test]
fn the_published_failure_is_probed_at_6_18_42_and_90_seconds() {
    for protocol in ["dsr", "aodv"] {
        // The timeout is six seconds when the route breaks, and it is gone for two minutes (Holland and Vaidya 1999).
        let s = absent(protocol, 10.0, 130.0, 250.0, "profile = \"ns2\"\nmin_rto_s = 6\nmax_rto_s = 200");
        let (events, summary) = watched(&s);
        let timeouts: Vec<f64> = events
            .iter()
            .filter(|e| e.event == "timeout" && e.time.as_secs_f64() > 10.0)
            .map(|e| e.time.as_secs_f64())
            .collect();
        // The timer was armed when the last acknowledgement came.
        let armed = timeouts[0] - 6.0;
        assert!((9.5..10.5).contains(&armed), "{protocol}: {armed}");
        let after: Vec<f64> = timeouts.iter().take(4).map(|t| (t - armed).round()).collect();
        assert_eq!(after, [6.0, 18.0, 42.0, 90.0], "{protocol}");
        let resent = events.iter().filter(|e| e.event == "resend").map(|e| e.time.as_secs_f64());
        let resent: Vec<f64> =
            resent.filter(|t| *t > armed + 1.0 && *t < 115.0).map(|t| (t - armed).round()).collect();
        assert_eq!(resent, [6.0, 18.0, 42.0, 90.0], "{protocol}: one segment at each, and none besides");
        let tcp = summary.flows[0].tcp.as_ref().expect("a TCP flow");
        assert!(tcp.delivered_bytes > 1_000_000, "{protocol}: it goes on when the route is there again");
    }
}

#[test]
fn elfn_probes_through_the_failure_and_its_timer_never_runs_out() {
    for protocol in ["dsr", "aodv"] {
        let run =
            |how: &str| watched(&absent(protocol, 10.0, 40.0, 70.0, &format!("profile = \"ns2\"\n{how}")));
        let (reno, plain) = run("");
        let (elfn, with) = run("route_failure = \"elfn\"");
        let count = |events: &[TcpEvent], what: &str| events.iter().filter(|e| e.event == what).count();
        assert_eq!(count(&reno, "notice"), 0);
        assert!(count(&elfn, "notice") >= 1, "{protocol}: the notice reaches the sender");
        // One every two seconds while the route is gone, and until the routing protocol has found it again.
        let probes = elfn.iter().filter(|e| e.event == "probe" && e.time.as_secs_f64() < 40.0).count();
        assert!((13..=15).contains(&probes), "{protocol}: {probes}");
        let tcp = |s: &Summary| s.flows[0].tcp.clone().expect("a TCP flow");
        assert_eq!(tcp(&with).timeouts, 0, "{protocol}: its timer never ran out");
        assert!(tcp(&plain).timeouts >= 4, "{protocol}");
        assert!(tcp(&with).delivered_bytes > 1_000_000, "{protocol}: it goes on");
    }
}

#[test]
fn every_mechanism_lives_through_a_failure_and_goes_on() {
    for protocol in ["dsr", "aodv"] {
        for how in [
            "route_failure = \"elfn-half\"",
            "route_failure = \"tcp-f\"",
            "route_failure = \"rfc6069\"",
            "fixed_rto = true",
            "window_per_hop = 0.25",
            "pacing_bps = 2e6",
        ] {
            let flow = format!("profile = \"ns2\"\n{how}");
            let (events, summary) = watched(&absent(protocol, 10.0, 20.0, 80.0, &flow));
            let late = events.iter().filter(|e| e.event == "ack" && e.time.as_secs_f64() > 60.0).count();
            assert!(late > 50, "{protocol} {how}: {late}");
            assert!(summary.flows[0].goodput_bps > Some(20_000.0), "{protocol} {how}");
        }
    }
}
