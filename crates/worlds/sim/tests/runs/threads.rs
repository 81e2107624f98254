//! Threads that handle the receivers of broadcasts: the same run with any number.

use std::ops::ControlFlow;

use wayhop_core::{Span, Time};
use wayhop_scenario::Resolved;
use wayhop_sim::{PacketEndings, Simulation};
use wayhop_trace::{HopEvent, NoteEvent, Observer, Recorder, Summary};

use crate::{cbr, scenario};

/// The rows of a run.
#[derive(Default, PartialEq)]
struct Rows {
    hops: Vec<HopEvent>,
    notes: Vec<NoteEvent>,
}

impl Observer for Rows {
    fn hop(&mut self, e: &HopEvent) {
        // NaN, where there is no signal, does not equal itself.
        self.hops.push(HopEvent { signal_dbm: if e.signal_dbm.is_nan() { 0.0 } else { e.signal_dbm }, ..*e });
    }
    fn note(&mut self, e: &NoteEvent) {
        self.notes.push(*e);
    }
}

/// What a run is, and the number of broadcasts that its threads handled.
fn with_threads(scenario: &Resolved, others: usize) -> (Summary, PacketEndings, u64, Box<Rows>, u64) {
    let recorder = Recorder::hash_only().observed_by(Box::<Rows>::default());
    let mut simulation = Simulation::new(scenario, recorder).expect("a scenario");
    simulation.use_threads(others).expect("threads");
    assert!(simulation.run(|_| ControlFlow::Continue(())));
    let tasks = simulation.broadcasts_by_threads();
    let (summary, audit, mut recorder) = simulation.finish(scenario, 0.0);
    assert_eq!(audit.defect(), None);
    let rows = Box::new(recorder.take_observer::<Rows>().expect("it was given"));
    (summary, audit.ends, audit.buffers_in_use, rows, tasks)
}

fn assert_same(scenario: &Resolved, others: &[usize], what: &str) {
    let (summary, ends, buffers, rows, none) = with_threads(scenario, 0);
    assert_eq!(none, 0);
    for &others in others {
        let with = with_threads(scenario, others);
        assert_eq!(
            (&with.0, &with.1, with.2),
            (&summary, &ends, buffers),
            "{what}, {others} threads besides"
        );
        assert!(with.3 == rows, "{what}, {others} threads besides: the rows differ");
        assert!(with.4 > 100, "{what}: threads handled {} broadcasts", with.4);
    }
}

#[test]
fn a_run_with_threads_in_pieces_is_the_same_run() {
    let s = strip(20, HELLO, &flows(1_000));
    let (summary, ends, _, rows, _) = with_threads(&s, 0);
    let recorder = Recorder::hash_only().observed_by(Box::<Rows>::default());
    let mut simulation = Simulation::new(&s, recorder).expect("a scenario");
    simulation.use_threads(1).expect("threads");
    for ms in [1, 400, 401, 900] {
        let end = Time::ZERO + Span::from_millis(ms);
        assert!(simulation.run_until(end, &mut |_| ControlFlow::Continue(())));
    }
    // Broken off now and then, too.
    while !simulation.run(|_| ControlFlow::Break(())) {}
    let (again, audit, mut recorder) = simulation.finish(&s, 0.0);
    assert_eq!((again, audit.ends), (summary, ends));
    assert!(recorder.take_observer::<Rows>().expect("it was given") == *rows);
}

/// A strip of some kilometres: what happens at one end does not matter at the other.
fn strip(km: u32, protocol: &str, rest: &str) -> Resolved {
    let nodes = km * 50;
    scenario(&format!(
        "duration_s = 1.5\nnodes.count = {nodes}\narea = {{ x_m = {}, y_m = 540 }}\n\
         movement = {{ kind = \"random-waypoint\", speed_min_mps = 1, speed_max_mps = 20 }}\n\
         protocol = {{ name = {protocol} }}\n{rest}\n",
        km * 1_000
    ))
}

/// Flows between nodes anywhere, so that requests are flooded.
fn flows(nodes: u64) -> String {
    (0..nodes - 10).step_by(23).map(|i| cbr(i, i + 7, 256, 4.0, "start_s = 0.2")).collect()
}

const HELLO: &str = "\"aodv\", hello = \"always\"";

#[test]
fn a_run_is_the_same_with_one_two_three_and_eight_threads() {
    assert_same(&strip(20, HELLO, &flows(1_000)), &[1, 2, 7], "hellos and flows");
}

#[test]
fn protocols_and_radios_are_the_same_with_two_threads() {
    for protocol in ["\"aodv\"", "\"dsr\"", "\"dsdv\""] {
        assert_same(&strip(14, protocol, &flows(700)), &[1], protocol);
    }
    for preset in ["wavelan-914-ns2", "wavelan-914-sinr", "wavelan-i", "80211b", "80211g-54", "80211a-54"] {
        let radio = format!("radio = {{ preset = \"{preset}\" }}\n{}", flows(700));
        assert_same(&strip(14, HELLO, &radio), &[1], preset);
    }
}
