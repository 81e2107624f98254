//! Scenario files: read or refused, and what is read resolves or is refused; all of its values have an origin.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_protocols::supervise_by;
use wayhop_scenario::{Movement, Scenario, Traffic};

fuzz_target!(|text: &str| {
    // Nor does it run what the machine has: libraries and Python modules are refused.
    supervise_by(|_| Err("the fuzzer loads none".to_owned()));
    let Ok(mut scenario) = Scenario::from_text(text, &[]) else { return };
    // Files of the machine that fuzzes are none of its business, and a large scenario takes its time rightly.
    let reads_files = matches!(scenario.movement, Some(Movement::Ns2 { .. }))
        || scenario.traffic.iter().any(|t| matches!(t, Traffic::Ns2(_)));
    let is_large = scenario.nodes.count.is_some_and(|c| c > 50)
        || scenario.traffic.iter().any(|t| matches!(t, Traffic::CbrRandom(c) if c.connections > 1_000));
    if reads_files || is_large {
        return;
    }
    scenario.duration_s = scenario.duration_s.map(|s| s.min(1.0)).or(Some(1.0));
    if let Ok(r) = scenario.resolve() {
        assert!(!r.tracks.is_empty());
        assert_eq!((r.names.len(), r.addresses.len()), (r.tracks.len(), r.tracks.len()));
        for flow in &r.flows {
            flow.check().expect("a flow that can be sent");
        }
        let values = scenario.in_force(&r).expect("values that can be written");
        assert!(values.iter().any(|v| v.key == "radio.tx_power_dbm"));
    }
});
