//! Parameters that change while a node runs.

use serde_json::{Value, json};
use wayhop_aodv::Params;
use wayhop_core::{Command, Refused};
use wayhop_testkit::Net;

use crate::support::{Kind, held, line, net, rreqs, said, secs};

fn set(net: &mut Net, node: usize, changes: &Value) -> Result<(), Refused> {
    let mut values = serde_json::to_value(Params::rfc()).expect("JSON");
    for (key, value) in changes.as_object().expect("an object") {
        values[key] = value.clone();
    }
    net.command(node, &Command::SetParameters { json: values.to_string() })
}

#[test]
fn the_next_search_goes_by_the_new_values() {
    let mut net = line(2, &Params::rfc());
    net.run_until(secs(1.0));
    set(&mut net, 0, &json!({"ttl_start": 7})).expect("it can change");
    net.send_at(secs(2.0), 0, 1, 1);
    net.run_until(secs(3.0));
    let first = &rreqs(&net, 0)[0].0;
    assert_eq!(first.ip.ttl, 7);
}

#[test]
fn hellos_begin_when_they_are_switched_on_and_end_when_off() {
    let hellos = |net: &Net| said(net, 0).iter().filter(|s| matches!(s.what, Kind::Rrep(_))).count();
    let mut net = line(2, &Params { hello: wayhop_aodv::Hello::Off, link_feedback: true, ..Params::rfc() });
    let off = json!({"hello": "off", "link_feedback": true});
    let on = json!({"hello": "always", "link_feedback": true});
    net.run_until(secs(5.0));
    assert_eq!(hellos(&net), 0);
    set(&mut net, 0, &on).expect("it can change");
    net.run_until(secs(10.5));
    // HELLO_INTERVAL is 1 s (section 10), and the first comes within one.
    let sent = hellos(&net);
    assert!((4..=6).contains(&sent), "{sent}");
    set(&mut net, 0, &off).expect("it can change");
    net.run_until(secs(20.0));
    assert_eq!(hellos(&net), sent);
}

#[test]
fn a_smaller_buffer_drops_the_oldest_at_once() {
    let mut net = net(2, &Params::rfc());
    for k in 0..5 {
        net.send_at(secs(1.0 + 0.01 * f64::from(k)), 0, 1, 1);
    }
    net.run_until(secs(1.1));
    assert_eq!(held(&net, 0), 5);
    set(&mut net, 0, &json!({"buffer_packets": 2})).expect("it can change");
    assert_eq!(held(&net, 0), 2);
    net.assert_conserved();
}

#[test]
fn contradictions_fixed_keys_and_garbage_are_refused_with_the_key_and_nothing_changes() {
    let mut net = line(2, &Params::rfc());
    net.run_until(secs(1.0));
    for (changes, part) in [
        (json!({"ttl_start": 0}), "ttl_start is 0"),
        (json!({"own_number": "even", "ttl_start": 7}), "own_number cannot change at run time"),
        (json!({"no_such_key": 1}), "not parameters of AODV"),
        (json!({"ttl_start": "seven"}), "ttl_start cannot be \"seven\": \"seven\" is not a whole number"),
        (json!({"hello_interval_ms": -1}), "hello_interval_ms cannot be -1: -1 is not a whole number"),
    ] {
        let refused = set(&mut net, 0, &changes).expect_err(part).to_string();
        assert!(refused.contains(part), "{refused}");
    }
    net.send_at(secs(2.0), 0, 1, 1);
    net.run_until(secs(3.0));
    assert_eq!(rreqs(&net, 0)[0].0.ip.ttl, Params::rfc().ttl_start);
}
