//! The same scenario in two worlds gives the same figures. Needs root and /dev/net/tun for the emulation; without root the
//! test says so and passes, but in CI it fails.

use serde_json::Value;

use crate::emulate::skip_without_root;
use crate::{folder, run_in, summary_of};

/// Twenty nodes that wander; what `scenarios/worlds/mobile.toml` is, but shorter.
const MOBILE: &str = r#"
duration_s = 15
nodes.count = 20
area = { x_m = 900, y_m = 400 }
movement = { kind = "random-waypoint", speed_min_mps = 1, speed_max_mps = 10, pause_s = 0, steady_state = true }
[[traffic]]
kind = "cbr-random"
connections = 5
rate_pps = 4
payload_bytes = 64
start_max_s = 3
"#;

/// The seeds that are simulated.
const SEEDS: u64 = 20;
/// The one that is emulated, too: of a network that is not about to fall apart, where microseconds decide what becomes of it.
const EMULATED: usize = 4;
/// Student's t with 19 degrees of freedom, beyond which, to both sides, 0.1 % lie.
const T: f64 = 3.883;

#[test]
fn a_mobile_network_does_in_emulation_what_it_does_in_simulation() {
    skip_without_root!();
    let dir = folder(&[("s.toml", MOBILE)]);
    for protocol in ["dsr", "aodv"] {
        let seed = |n: u64| {
            summary_of(dir.path(), &["s.toml", "--protocol", protocol, "--seed", &n.to_string(), "--no-out"])
        };
        let simulated: Vec<Value> = (1..=SEEDS).map(seed).collect();
        let args = [
            "emulate",
            "s.toml",
            "--protocol",
            protocol,
            "--seed",
            &EMULATED.to_string(),
            "--no-out",
            "--json",
            "--quiet",
        ];
        let emulated = run_in(dir.path(), &args).json();
        for (quantity, most) in [("delivery_ratio", 0.1), ("hops_mean", 0.3)] {
            let of = |s: &Value| s["totals"][quantity].as_f64().expect("a figure");
            let (all, own) = (simulated.iter().map(of).collect::<Vec<_>>(), of(&emulated));
            // Movement and radio have the seed in common, and what differs is the time that hosts take.
            assert!(
                (own - all[EMULATED - 1]).abs() <= most,
                "{protocol} {quantity}: {own} emulated, {} simulated",
                all[EMULATED - 1]
            );
            // The interval in which one more seed's figure would be found.
            let n = all.len() as f64;
            let mean = all.iter().sum::<f64>() / n;
            let deviation = (all.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0)).sqrt();
            let half = T * deviation * (1.0 + 1.0 / n).sqrt();
            assert!(
                (own - mean).abs() <= half.max(most),
                "{protocol} {quantity}: {own} is not within {mean} +- {half}"
            );
        }
        assert_eq!(emulated["flows"].as_array().map(Vec::len), Some(5));
    }
}
