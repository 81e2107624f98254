//! Traffic in bursts, and from a file, through a network.

use std::ops::ControlFlow;

use wayhop_sim::Simulation;
use wayhop_trace::{HopEvent, HopKind, Observer, PacketClass, Recorder};

use crate::{run, scenario};

/// The class and the payload of each packet that leaves its source, with its time in milliseconds.
#[derive(Default)]
struct Sent(Vec<(PacketClass, u64, u32)>);

impl Observer for Sent {
    fn hop(&mut self, e: &HopEvent) {
        if e.kind == HopKind::Originate {
            self.0.push((e.class, e.time.as_nanos() / 1_000_000, e.bytes - 28));
        }
    }
}

fn two_nodes(traffic: &str) -> String {
    format!(
        "duration_s = 60\nnodes.count = 2\nmovement = {{ kind = \"chain\", spacing_m = 100 }}\n\
         [[traffic]]\nsrc = 0\ndst = 1\n{traffic}\n"
    )
}

#[test]
fn a_trace_sends_what_its_file_says_and_all_of_it_arrives() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "time_s,octets\n0,8\n0.25,1400\n0.25,64\n7,1\n").unwrap();
    let s =
        scenario(&two_nodes(&format!("kind = \"trace\"\nstart_s = 1\npath = {:?}", path.to_str().unwrap())));
    let mut simulation =
        Simulation::new(&s, Recorder::hash_only().observed_by(Box::<Sent>::default())).unwrap();
    assert!(simulation.run(|_| ControlFlow::Continue(())));
    let (summary, audit, mut recorder) = simulation.finish(&s, 0.0);
    assert_eq!(audit.defect(), None);
    let Sent(sent) = recorder.take_observer().unwrap();
    let expected = [(1_000, 8), (1_250, 1_400), (1_250, 64), (8_000, 1)];
    assert_eq!(sent, expected.map(|(at_ms, octets)| (PacketClass::Trace, at_ms, octets)));
    let flow = &summary.flows[0];
    assert_eq!((flow.kind.as_str(), flow.sent.unwrap(), flow.received.unwrap()), ("trace", 4, 4));
}

#[test]
fn a_flow_in_bursts_has_the_mean_rate_of_its_keys_and_its_packets_arrive() {
    for kind in ["on-off", "pareto"] {
        let keys = format!("kind = \"{kind}\"\nrate_bps = 51_200\non_s = 0.1\noff_s = 0.1");
        let (summary, audit) = run(&scenario(&two_nodes(&keys)));
        assert_eq!(audit.defect(), None);
        let flow = &summary.flows[0];
        assert_eq!(flow.kind, kind);
        assert_eq!(flow.sent.unwrap(), flow.received.unwrap());
        // 100 packets of 64 octets a second for half of 60 s: some 300 bursts.
        assert!((2_000..4_000).contains(&flow.sent.unwrap()), "{kind}: {}", flow.sent.unwrap());
    }
}
