//! Whole runs: against ns-2, against arithmetic, and against themselves.

mod acknowledgements;
mod agreement;
mod allocation;
mod applications;
mod attacks;
mod bad_route;
mod cards;
mod chain;
mod cmu;
mod conservation;
mod energy;
mod external;
mod foreign;
mod gateway;
mod idle;
mod interfaces;
mod ipv6;
mod kernels;
mod keys;
mod killed;
mod link_addresses;
mod mobile_ip;
mod orders;
mod outages;
mod repetition;
mod stall;
mod streams;
mod sums;
mod tcp;
mod threads;
mod to_all;
mod traffic;

use std::ops::ControlFlow;

use wayhop_scenario::{Resolved, Scenario};
use wayhop_sim::{Audit, Simulation};
use wayhop_trace::{Recorder, Summary};

/// The scenario of this TOML text.
fn scenario(text: &str) -> Resolved {
    Scenario::from_text(text, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Runs a scenario to its end.
fn run(scenario: &Resolved) -> (Summary, Audit) {
    let mut simulation = Simulation::new(scenario, Recorder::hash_only()).expect("a scenario");
    assert!(simulation.run(|_| ControlFlow::Continue(())));
    let (summary, audit, _) = simulation.finish(scenario, 0.0);
    (summary, audit)
}

/// A chain of nodes, `spacing_m` apart, with this protocol; `rest` is the rest of the scenario.
fn chain(nodes: u64, spacing_m: u64, protocol: &str, duration_s: f64, rest: &str) -> String {
    format!(
        "duration_s = {duration_s}\nnodes.count = {nodes}\n\
         movement = {{ kind = \"chain\", spacing_m = {spacing_m} }}\nprotocol.name = \"{protocol}\"\n{rest}\n"
    )
}

/// A flow of constant rate from one node to another; `rest` are further keys.
fn cbr(src: u64, dst: u64, payload_bytes: u64, rate_pps: f64, rest: &str) -> String {
    format!(
        "[[traffic]]\nkind = \"cbr\"\nsrc = {src}\ndst = {dst}\npayload_bytes = {payload_bytes}\n\
         rate_pps = {rate_pps}\n{rest}\n"
    )
}

/// 50 nodes under way at up to 20 m/s in 1500 m x 300 m, and 20 flows.
fn mobile(protocol: &str, profile: &str, radio: &str, duration_s: f64, seed: u64) -> String {
    format!(
        r#"
seed = {seed}
duration_s = {duration_s}
nodes.count = 50
area = {{ x_m = 1500, y_m = 300 }}
movement = {{ kind = "random-waypoint", speed_max_mps = 20 }}
radio = {{ preset = "{radio}" }}
protocol = {{ name = "{protocol}", profile = "{profile}" }}
[[traffic]]
kind = "cbr-random"
connections = 20
payload_bytes = 64
rate_pps = 4
start_max_s = 5
[[traffic]]
kind = "ping"
src = 3
dst = 44
[[traffic]]
kind = "poisson"
src = 7
dst = 21
payload_bytes = 512
rate_pps = 10
"#
    )
}
