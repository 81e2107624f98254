//! Parameters that change while a node runs.

use serde_json::{Value, json};
use wayhop_core::{Command, Refused};
use wayhop_dsdv::Params;
use wayhop_testkit::Net;

use crate::support::{alone, held, regular, said, secs};

fn set(net: &mut Net, changes: &Value) -> Result<(), Refused> {
    let mut values = serde_json::to_value(regular(&Params::rfc())).expect("JSON");
    for (key, value) in changes.as_object().expect("an object") {
        values[key] = value.clone();
    }
    net.command(0, &Command::SetParameters { json: values.to_string() })
}

#[test]
fn a_shorter_period_counts_from_now_and_a_longer_one_from_the_next_update() {
    let mut net = alone(&regular(&Params::rfc()));
    set(&mut net, &json!({"periodic_update_ms": 4_000})).expect("it can change");
    net.run_until(secs(10.0));
    set(&mut net, &json!({"periodic_update_ms": 20_000})).expect("it can change");
    net.run_until(secs(40.0));
    let at: Vec<f64> = said(&net, 0).iter().map(|s| s.at.as_secs_f64()).collect();
    assert_eq!(at, [0.0, 5.0, 9.0, 13.0, 33.0]);
}

#[test]
fn smaller_buffers_drop_the_oldest_at_once() {
    let mut net = alone(&regular(&Params::rfc()));
    for _ in 0..5 {
        net.send_at(secs(1.0), 0, 50, 1);
        net.send_at(secs(1.0), 0, 51, 1);
    }
    net.run_until(secs(1.1));
    set(&mut net, &json!({"buffer_per_destination": 3})).expect("it can change");
    assert_eq!(held(&net, 0), 6);
    set(&mut net, &json!({"buffer_packets": 2})).expect("it can change");
    assert_eq!(held(&net, 0), 2);
    net.assert_conserved();
}

#[test]
fn contradictions_fixed_keys_and_garbage_are_refused_with_the_key_and_nothing_changes() {
    let mut net = alone(&regular(&Params::rfc()));
    for (changes, part) in [
        (json!({"max_routes": 0}), "max_routes is 0"),
        (json!({"wait_after_reboot": true}), "wait_after_reboot cannot change at run time"),
        (json!({"buffer_timeout_ms": 7}), "buffer_timeout_ms cannot change at run time"),
        (json!({"no_such_key": 1}), "not parameters of DSDV"),
        (json!({"settle": "some"}), "settle cannot be \"some\""),
        (json!({"periodic_update_ms": 3_000, "mtu_bytes": 1}), "mtu_bytes is 1"),
    ] {
        let refused = set(&mut net, &changes).expect_err(part).to_string();
        assert!(refused.contains(part), "{refused}");
    }
    net.run_until(secs(14.0));
    assert_eq!(said(&net, 0).len(), 1, "the period is as it was");
}
