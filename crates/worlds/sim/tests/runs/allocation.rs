//! The steady state allocates (next to) nothing.

use std::ops::ControlFlow;

use wayhop_core::Time;
use wayhop_sim::Simulation;
use wayhop_trace::Recorder;

use crate::{cbr, scenario};

/// Allocations between the 50th and the 60th second of a run.
fn warm_allocations(text: &str) -> u64 {
    let s = scenario(text);
    let mut simulation = Simulation::new(&s, Recorder::hash_only()).unwrap();
    let go = |simulation: &mut Simulation, to: f64| {
        assert!(simulation.run_until(Time::from_secs_f64(to), &mut |_| ControlFlow::Continue(())));
    };
    go(&mut simulation, 50.0);
    allocation_counter::measure(|| go(&mut simulation, 60.0)).count_total
}

/// A chain of four hops with 100 packets a second; `interfaces` are its radios and wires.
fn chain(protocol: &str, interfaces: &str) -> String {
    let flow = cbr(0, 4, 64, 100.0, "");
    crate::chain(5, 200, protocol, 100.0, &format!("{interfaces}\n{flow}"))
}

#[test]
fn a_warm_simulation_forwards_without_allocating() {
    for protocol in ["dsr", "aodv"] {
        let counted = warm_allocations(&chain(protocol, ""));
        // 1000 packets over four hops in these ten seconds. What remains is the growth of the ledger, an octet a packet,
        // which doubles its memory now and then, and a delay's new bucket.
        assert!(counted < 10, "{protocol}: {counted}");
    }
}

#[test]
fn radios_and_wires_beside_each_other_allocate_as_little() {
    let interfaces = r#"
radio = { nodes = [0, 1, 2] }
[[radios]]
preset = "wavelan-914-cmu"
frequency_mhz = 950
nodes = [2, 3]
[[wires]]
nodes = [3, 4]
"#;
    for protocol in ["dsr", "aodv"] {
        let counted = warm_allocations(&chain(protocol, interfaces));
        assert!(counted < 20, "{protocol}: {counted}");
    }
}

#[test]
fn a_warm_tcp_connection_runs_without_allocating() {
    for protocol in ["dsr", "aodv"] {
        for variant in ["reno", "sack", "vegas"] {
            let flow = format!("[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 2\nvariant = \"{variant}\"");
            let counted = warm_allocations(&crate::chain(3, 200, protocol, 100.0, &flow));
            // Some 500 segments and their acknowledgements over two hops.
            assert!(counted < 10, "{protocol}, {variant}: {counted}");
        }
    }
}
