//! Parameters that change while a node runs.

use serde_json::{Value, json};
use wayhop_core::{Command, DropReason, Refused};
use wayhop_dsr::Params;
use wayhop_testkit::Net;

use crate::common::{at, isolated, net, profile};

/// Reconfigures node 0 with the profile `rfc` and these changes.
fn set(net: &mut Net, changes: &Value) -> Result<(), Refused> {
    set_from(net, &profile("rfc"), changes)
}

fn set_from(net: &mut Net, params: &Params, changes: &Value) -> Result<(), Refused> {
    let mut values = serde_json::to_value(params).expect("JSON");
    for (key, value) in changes.as_object().expect("an object") {
        values[key] = value.clone();
    }
    net.command(0, &Command::SetParameters { json: values.to_string() })
}

fn waiting(net: &Net) -> usize {
    net.inspect(0).table("send_buffer").count()
}

#[test]
fn a_shorter_send_buffer_timeout_holds_for_the_packets_that_wait_already() {
    let mut net = net(2, &profile("rfc"));
    net.send_at(at(1.0), 0, 1, 1);
    net.run_until(at(4.0));
    assert_eq!(waiting(&net), 1, "section 9 lets it wait for 30 s");
    set(&mut net, &json!({"send_buffer_timeout_s": 5})).expect("it can change");
    net.run_until(at(5.9));
    assert_eq!(waiting(&net), 1);
    net.run_until(at(6.1));
    assert_eq!(waiting(&net), 0);
    assert!(net.drops().iter().any(|(_, reason)| *reason == DropReason::BufferTimeout));
    net.assert_conserved();
}

#[test]
fn a_smaller_send_buffer_drops_the_oldest_at_once() {
    let mut net = net(3, &profile("rfc"));
    for k in 0..5 {
        net.send_at(at(1.0 + 0.01 * f64::from(k)), 0, 2, 1);
    }
    net.run_until(at(1.2));
    set(&mut net, &json!({"send_buffer_packets": 2})).expect("it can change");
    assert_eq!(waiting(&net), 2);
    net.up(0, 1);
    net.up(1, 2);
    net.run_until(at(10.0));
    assert_eq!(net.delivered(1), [3, 4], "the newest are left");
    net.assert_conserved();
}

#[test]
fn packets_that_wait_are_seen_to_when_the_kind_of_look_changes() {
    let mut net = net(2, &profile("rfc"));
    net.send_at(at(1.0), 0, 1, 1);
    net.run_until(at(2.0));
    let periodic =
        json!({"send_buffer_check_min_ms": 30, "send_buffer_check_max_ms": 60, "send_buffer_timeout_s": 3});
    set(&mut net, &periodic).expect("it can change");
    net.run_until(at(4.2));
    assert_eq!(waiting(&net), 0, "the look every 30 to 60 ms finds that 3 s are over");
    net.send_at(at(5.0), 0, 1, 2);
    net.run_until(at(5.5));
    set(&mut net, &json!({"send_buffer_timeout_s": 3})).expect("and back");
    net.run_until(at(8.1));
    assert_eq!(waiting(&net), 0);
    net.assert_conserved();
}

#[test]
fn what_is_taken_over_at_the_start_is_refused_by_key_and_nothing_changes() {
    let mut net = isolated(2, &profile("rfc"));
    for (key, value) in [
        ("route_cache", json!("link")),
        ("cache_primary_routes", json!(1)),
        ("snoop_overheard", json!(false)),
        ("flow_timeout_s", json!(7)),
    ] {
        let refused =
            set(&mut net, &json!({key: value, "send_buffer_timeout_s": 1})).expect_err(key).to_string();
        assert!(refused.starts_with(key) && refused.contains("restart"), "{refused}");
    }
    net.send_at(at(2.0), 0, 1, 1);
    net.run_until(at(4.0));
    assert_eq!(waiting(&net), 1, "the timeout is that of before");
}

#[test]
fn values_out_of_range_and_texts_that_are_no_parameters_are_refused() {
    let mut net = isolated(1, &profile("rfc"));
    let refused = set(&mut net, &json!({"max_salvage_count": 99})).expect_err("4 bits").to_string();
    assert!(refused.contains("max_salvage_count cannot be 99; the nearest valid value is 15"), "{refused}");
    for text in ["", "[]", "{}", "{\"control_ttl\": 9}", "{\"no_such_key\": 1}"] {
        let order = Command::SetParameters { json: text.to_owned() };
        let refused = net.command(0, &order).expect_err(text).to_string();
        assert!(refused.starts_with("not parameters of DSR"), "{refused}");
    }
    let range = "a whole number from 0 to 255";
    for (key, value, wanted) in
        [("control_ttl", "256", range), ("control_ttl", "-1", range), ("salvage", "1", "true or false")]
    {
        let order = Command::SetParameters { json: format!("{{\"{key}\": {value}}}") };
        let refused = net.command(0, &order).expect_err(key).to_string();
        assert!(
            refused.starts_with(&format!("{key} cannot be {value}: {value} is not {wanted}")),
            "{refused}"
        );
    }
}

#[test]
fn a_node_with_etx_takes_what_etx_forces_as_unchanged() {
    let params: Params = serde_json::from_value(json!({"metric": "etx"})).expect("parameters");
    let mut net = isolated(1, &params);
    set_from(&mut net, &params, &json!({"control_ttl": 12})).expect("route_cache says path, as it was given");
}
