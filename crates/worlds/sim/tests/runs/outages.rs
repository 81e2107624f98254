//! Nodes that go down and come back.

use std::ops::ControlFlow;

use wayhop_core::{Span, Time};
use wayhop_scenario::Resolved;
use wayhop_sim::{Audit, Simulation};
use wayhop_trace::{FrameEvent, HopEvent, HopKind, NoteEvent, Observer, Recorder, Summary};

use crate::{mobile, run, scenario};

const PROTOCOLS: [&str; 3] = ["dsr", "aodv", "dsdv"];

/// 0 - 1 - 2, a flow from one end to the other, and what is to go down.
fn chain(protocol: &str, duration_s: f64, flow: &str, rest: &str) -> Resolved {
    scenario(&crate::chain(3, 200, protocol, duration_s, &format!("{flow}\n{rest}")))
}

const FLOW: &str =
    "[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 2\nrate_pps = 4\npayload_bytes = 64\nstart_s = 30";

/// What happened at one node.
#[derive(Default)]
struct Watch {
    node: u32,
    hops: Vec<HopEvent>,
    frames: Vec<Time>,
    notes: Vec<(Time, &'static str, u64)>,
}

impl Observer for Watch {
    fn wants_frames(&self) -> bool {
        true
    }
    fn hop(&mut self, e: &HopEvent) {
        if e.node.0 == self.node {
            self.hops.push(*e);
        }
    }
    fn frame(&mut self, e: &FrameEvent<'_>) {
        if e.node.0 == self.node {
            self.frames.push(e.time);
        }
    }
    fn note(&mut self, e: &NoteEvent) {
        if e.node.0 == self.node && e.note.what.starts_with("node_") {
            self.notes.push((e.time, e.note.what, e.note.value));
        }
    }
}

fn watched(r: &Resolved, node: u32) -> (Summary, Audit, Watch) {
    let watch = Watch { node, ..Watch::default() };
    let recorder = Recorder::hash_only().observed_by(Box::new(watch));
    let mut simulation = Simulation::new(r, recorder).expect("a scenario");
    assert!(simulation.run(|_| ControlFlow::Continue(())));
    let (summary, audit, mut recorder) = simulation.finish(r, 0.0);
    (summary, audit, recorder.take_observer().expect("the watch"))
}

#[test]
fn a_chain_carries_packets_while_its_relay_is_up() {
    // Up for one half of the flow's time. What the source buffers when the relay comes back is delivered late: at most its
    // buffer of 64 packets, 16 s of 120. What is lost is the time until the protocol finds the relay again: 10 s between
    // discoveries (DSR's longest), 15 s between DSDV's updates.
    for protocol in PROTOCOLS {
        let outage = "[[outages]]\nnode = 1\nstart_s = 60\nlength_s = 60\nevery_s = 120\ntables = \"kept\"\n[captures]\nall = true";
        let r = chain(protocol, 990.0, FLOW, outage);
        let (s, audit, watch) = watched(&r, 1);
        assert_eq!(audit.defect(), None, "{protocol}");
        let share = s.totals.received as f64 / s.totals.sent as f64;
        let (least, most) = (0.5 - 15.0 / 120.0, 0.5 + 16.0 / 120.0 + 0.01);
        assert!((least..=most).contains(&share), "{protocol}: {share}");
        assert_eq!((s.outages.len(), s.outages[0].node, s.outages[0].outages), (1, 1, 8), "{protocol}");
        assert!((s.outages[0].down_s - 480.0).abs() < 1e-9, "{protocol}: {:?}", s.outages);
        // A node that is down neither sends nor hears. What is on its way within the node ends in the first moments.
        let is_down = |t: Time| r.outages.iter().any(|o| o.from < t && t < o.until);
        let is_long_down =
            |t: Time| r.outages.iter().any(|o| o.from + Span::from_millis(1) < t && t < o.until);
        assert!(watch.frames.iter().all(|&t| !is_down(t)), "{protocol}");
        assert!(watch.frames.len() > 1_000, "{protocol}");
        assert!(watch.hops.iter().all(|h| h.kind == HopKind::Drop || !is_down(h.time)), "{protocol}");
        assert!(watch.hops.iter().all(|h| !is_long_down(h.time)), "{protocol}");
        let notes = r.outages.iter().flat_map(|o| [(o.from, "node_down", 0), (o.until, "node_up", 0)]);
        assert_eq!(watch.notes, notes.collect::<Vec<_>>(), "{protocol}");
    }
}

/// When packets arrived at the end of the chain.
fn arrivals(r: &Resolved) -> Vec<f64> {
    let (_, audit, watch) = watched(r, 2);
    assert_eq!(audit.defect(), None);
    let delivered = watch.hops.iter().filter(|h| h.kind == HopKind::Deliver);
    delivered.map(|h| h.time.as_secs_f64()).collect()
}

#[test]
fn a_relay_that_lost_its_tables_waits_as_its_specification_asks() {
    // Down from 60 to 61 s. AODV: DELETE_PERIOD, 5 times the 10 s of ACTIVE_ROUTE_TIMEOUT where the
    // link layer reports broken links (RFC 3561 sections 6.13 and 10); the source asks again within
    // 2 s. DSDV: three updates of 15 s missed and one more, and then the next updates. DSR need not
    // wait; its longest time between requests is 10 s (MaxRequestPeriod).
    for (protocol, quiet_s, back_s) in [("dsr", 0.0, 10.5), ("aodv", 50.0, 52.0), ("dsdv", 60.0, 92.0)] {
        let r = chain(protocol, 200.0, FLOW, "[[outages]]\nnode = 1\nstart_s = 60\nlength_s = 1");
        let all = arrivals(&r);
        let within = |from: f64, to: f64| all.iter().filter(|t| (from..to).contains(*t)).count();
        assert!(within(30.0, 60.0) > 100, "{protocol}");
        assert_eq!(within(60.01, 61.0 + quiet_s), 0, "{protocol}");
        let after: Vec<&f64> = all.iter().filter(|t| **t > 61.0).take(8).collect();
        assert!(within(61.0 + quiet_s, 61.0 + back_s) > 0, "{protocol}: {after:?}");
        assert!(within(61.0 + back_s, 200.0) > (4.0 * (139.0 - back_s)) as usize - 4, "{protocol}");
    }
}

#[test]
fn who_says_that_nodes_do_not_wait_is_obeyed() {
    for protocol in ["aodv", "dsdv"] {
        let outage = "[[outages]]\nnode = 1\nstart_s = 60\nlength_s = 1";
        let text = format!("{FLOW}\n{outage}");
        let r = chain(protocol, 120.0, &text, "");
        let eager = chain(protocol, 120.0, "protocol.wait_after_reboot = false", &text);
        let first = |r: &Resolved| arrivals(r).into_iter().find(|t| *t > 61.0).unwrap_or(f64::MAX);
        assert!(first(&eager) + 5.0 < first(&r), "{protocol}");
    }
}

#[test]
fn an_application_on_a_host_that_is_off_sends_nothing() {
    for tables in ["kept", "lost"] {
        // 4 packets a second for 60 s; the source is off for 25 s.
        let flow =
            "[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nrate_pps = 4\nstart_s = 10.1\nstop_s = 70.1";
        let outages = format!(
            "[[outages]]\nnode = 0\nstart_s = 20\nlength_s = 20\ntables = \"{tables}\"\n\
             [[outages]]\nnode = 0\nstart_s = 50\nlength_s = 5\ntables = \"{tables}\""
        );
        let (s, audit) = run(&chain("dsr", 80.0, flow, &outages));
        assert_eq!(audit.defect(), None);
        assert_eq!((s.totals.sent, s.totals.received), (140, 140), "{tables}");
    }
}

#[test]
fn a_dead_battery_is_for_good_and_what_the_node_holds_ends_with_it() {
    for protocol in PROTOCOLS {
        let r = chain(protocol, 120.0, FLOW, "[[outages]]\nnode = 0\nstart_s = 60.05");
        let (s, audit, watch) = watched(&r, 0);
        assert_eq!(audit.defect(), None, "{protocol}");
        assert_eq!(s.totals.sent, 121, "{protocol}");
        assert_eq!(watch.notes, [(Time::from_secs_f64(60.05), "node_down", 1)], "{protocol}");
        assert!((s.outages[0].down_s - 59.95).abs() < 1e-9, "{protocol}");
    }
    // Nobody answers the discovery: the packets wait in the source's buffer until it goes down.
    let r = chain("dsr", 60.0, FLOW, "[[outages]]\nnode = 1\n[[outages]]\nnode = 0\nstart_s = 40.1");
    let (s, audit) = run(&r);
    assert_eq!(audit.defect(), None);
    assert_eq!((s.totals.sent, s.totals.drops["NODE_DOWN"]), (41, 41));
}

#[test]
fn packets_are_accounted_for_while_nodes_come_and_go_at_random() {
    let mut ended = 0;
    for radio in ["wavelan-914-ns2", "wavelan-914-sinr", "wavelan-i", "80211b"] {
        for protocol in PROTOCOLS {
            for tables in ["kept", "lost"] {
                let text = format!(
                    "{}[[outages]]\nmean_up_s = 5\nmean_down_s = 0.5\ntables = \"{tables}\"\n",
                    mobile(protocol, if protocol == "dsdv" { "ns2" } else { "rfc" }, radio, 30.0, 7)
                );
                let r = scenario(&text);
                let (s, audit) = run(&r);
                let name = format!("{radio} {protocol} {tables}");
                assert_eq!(audit.defect(), None, "{name}");
                ended += s.totals.drops.get("NODE_DOWN").copied().unwrap_or(0);
                assert!(s.totals.received > 50, "{name}: {:?}", s.totals);
                assert_eq!(
                    s.outages.iter().map(|o| o.outages).sum::<u64>(),
                    r.outages.len() as u64,
                    "{name}"
                );
            }
        }
    }
    assert!(ended > 100, "{ended} packets ended with their nodes");
}

/// A file of 400 kB from one end of the chain to the other, and an outage from 3 to 8 s.
fn file(node: u32, tables: &str) -> (Summary, Audit) {
    let flow = "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 2\nbytes = 400000\nstart_s = 1";
    let outage = format!("[[outages]]\nnode = {node}\nstart_s = 3\nlength_s = 5\ntables = \"{tables}\"");
    run(&chain("dsr", 300.0, flow, &outage))
}

#[test]
fn a_connection_freezes_with_its_host_and_is_lost_with_a_reboot() {
    for node in [0, 2] {
        let (s, audit) = file(node, "kept");
        assert_eq!(audit.defect(), None);
        let tcp = s.flows[0].tcp.as_ref().expect("a connection");
        assert_eq!(tcp.delivered_bytes, 400_000, "node {node}");
        assert!(tcp.completed_s.expect("whole") > 7.0, "node {node}");

        let (s, audit) = file(node, "lost");
        assert_eq!(audit.defect(), None);
        let tcp = s.flows[0].tcp.as_ref().expect("a connection");
        assert_eq!(tcp.completed_s, None, "node {node}");
        assert!((10_000..390_000).contains(&tcp.delivered_bytes), "node {node}: {tcp:?}");
        // The answer to the first segment that reaches the host again is a reset. Without it the timeout would run out
        // time and again, up to a minute apart, until the run ends.
        assert!(tcp.timeouts <= 6, "node {node}: {tcp:?}");
    }
}

#[test]
fn a_connection_that_should_begin_during_an_outage_begins_after_it() {
    let flow = "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 2\nbytes = 1000\nstart_s = 4";
    let (s, audit) = run(&chain("dsr", 20.0, flow, "[[outages]]\nnode = 0\nstart_s = 3\nlength_s = 5"));
    assert_eq!(audit.defect(), None);
    let completed = s.flows[0].tcp.as_ref().and_then(|t| t.completed_s).expect("whole");
    assert!((4.0..6.0).contains(&completed), "{completed}");
}
