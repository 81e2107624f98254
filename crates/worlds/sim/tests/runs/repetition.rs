//! Same scenario and seed, same run.

use crate::{mobile, run, scenario};

#[test]
fn a_run_repeats_to_the_bit_and_a_seed_changes_it() {
    for protocol in ["dsr", "aodv"] {
        let hash =
            |seed| run(&scenario(&mobile(protocol, "rfc", "wavelan-914-cmu", 30.0, seed))).0.trace_hash;
        let first = hash(1);
        assert_eq!(first, hash(1));
        assert_ne!(first, hash(2));
    }
}

#[test]
fn a_run_in_two_pieces_is_the_same_run() {
    use std::ops::ControlFlow;
    use wayhop_core::Time;
    let s = scenario(&mobile("dsr", "ns2", "wavelan-914-sinr", 20.0, 3));
    let whole = run(&s).0;
    let mut pieces = wayhop_sim::Simulation::new(&s, wayhop_trace::Recorder::hash_only()).unwrap();
    for end in [0.3, 7.0, 7.1, 20.0] {
        assert!(pieces.run_until(Time::from_secs_f64(end), &mut |_| ControlFlow::Continue(())));
    }
    assert_eq!(pieces.finish(&s, 0.0).0, whole);
}

#[test]
fn the_protocol_changes_neither_motion_nor_traffic() {
    let of = |protocol| {
        let s = scenario(&mobile(protocol, "rfc", "wavelan-914-cmu", 30.0, 5));
        (s.tracks.clone(), run(&s).0.flows.iter().map(|f| (f.src, f.dst, f.sent)).collect::<Vec<_>>())
    };
    assert_eq!(of("dsr"), of("aodv"));
}
