//! Profiles, and the valid values of a scenario.

use serde_json::{Value, json};
use wayhop_aodv::{Hello, Params};

use crate::support::{line, ms, secs};

#[test]
fn the_profiles_are_known_by_name_and_survive_a_round_trip() {
    for name in ["rfc", "ns2", "das"] {
        let p = Params::profile(name).unwrap();
        let text = serde_json::to_string(&p).unwrap();
        assert_eq!(serde_json::from_str::<Params>(&text).unwrap(), p);
    }
    assert_eq!(Params::profile("rfc"), Some(Params::default()));
    assert_eq!(Params::profile("olsr"), None);
    let unknown = serde_json::from_str::<Params>(r#"{"ttl_stat": 3}"#).unwrap_err().to_string();
    assert!(unknown.contains("ttl_stat"), "{unknown}");
    let one = serde_json::from_str::<Params>(r#"{"ttl_start": 3}"#).unwrap();
    assert_eq!(one, Params { ttl_start: 3, ..Params::rfc() });
}

#[test]
fn profiles_pass_their_own_check_and_contradictions_are_named() {
    for name in ["rfc", "ns2", "das"] {
        assert_eq!(Params::profile(name).unwrap().check(), Ok(()), "{name}");
    }
    let refused = |change: fn(&mut Params)| {
        let mut p = Params::rfc();
        change(&mut p);
        p.check().unwrap_err()
    };
    assert!(refused(|p| p.ttl_increment = 0).contains("ttl_increment"));
    assert!(refused(|p| p.link_feedback = false).contains("link_feedback"));
    let short = refused(|p| {
        p.hello = Hello::Always;
        p.active_route_timeout_ms = 2_000;
    });
    assert!(short.contains("active_route_timeout_ms (2000)"), "{short}");
}

#[test]
fn lifetimes_that_contradict_section_10_are_refused() {
    let refused = |change: fn(&mut Params)| {
        let mut p = Params::rfc();
        change(&mut p);
        p.check().unwrap_err()
    };
    // 2 * PATH_DISCOVERY_TIME = 2 * 2 * 2 * 40 * 35 ms.
    let short = refused(|p| p.my_route_timeout_ms = 11_199);
    assert!(short.contains("my_route_timeout_ms (11199)") && short.contains("11200"), "{short}");
    // Section 6.5: "within at least the last PATH_DISCOVERY_TIME".
    let short = refused(|p| p.request_memory_ms = 5_599);
    assert!(short.contains("request_memory_ms (5599)") && short.contains("5600"), "{short}");
    let short = refused(|p| p.delete_period_ms = Some(9_999));
    assert!(short.contains("delete_period_ms (9999)") && short.contains("10000"), "{short}");
    let short = refused(|p| {
        *p = Params::das();
        p.allowed_hello_loss = 2;
        p.delete_period_ms = Some(1_999);
    });
    assert!(short.contains("delete_period_ms (1999)"), "{short}");
}

#[test]
fn hellos_ask_for_a_first_ring_of_two() {
    // Section 10.
    assert!(Params::das().ttl_start >= 2);
    assert_eq!(Params::rfc().ttl_start, 1);
}

#[test]
fn derived_constants_are_those_of_section_10() {
    let p = Params::rfc();
    assert_eq!(p.net_traversal_time(), ms(2_800));
    assert_eq!(p.ring_traversal_time(1), ms(240));
    assert_eq!(p.next_hop_wait(), ms(50));
    assert_eq!(p.max_repair_ttl(), 10);
    // PATH_DISCOVERY_TIME = 2 * NET_TRAVERSAL_TIME; MY_ROUTE_TIMEOUT at least twice that.
    assert_eq!(p.request_memory_ms, 5_600);
    assert!(p.my_route_timeout_ms >= 2 * 5_600 && Params::das().my_route_timeout_ms >= 2 * 5_600);
    // DELETE_PERIOD = 5 * max(ACTIVE_ROUTE_TIMEOUT, HELLO_INTERVAL).
    assert_eq!(p.delete_period_ms, Some(5 * p.active_route_timeout_ms));
    assert_eq!(Params::das().delete_period_ms, Some(15_000));
}

#[test]
fn no_single_value_makes_the_engine_panic_or_hang() {
    for profile in ["rfc", "ns2", "das"] {
        let base = serde_json::to_value(Params::profile(profile).unwrap()).unwrap();
        let keys: Vec<String> = base.as_object().unwrap().keys().cloned().collect();
        for key in keys {
            let extremes: Vec<Value> = match base[&key] {
                Value::Number(_) | Value::Null => {
                    vec![json!(0), json!(255), json!(u32::MAX), json!(u64::MAX)]
                }
                Value::Bool(b) => vec![json!(!b)],
                _ => vec![],
            };
            for value in extremes {
                let mut changed = base.clone();
                changed[&key] = value;
                let Ok(p) = serde_json::from_value::<Params>(changed) else { continue };
                let mut net = line(4, &p);
                net.send_every(secs(0.5), ms(200), 20, 0, 3, 1);
                net.down_at(secs(2.0), 2, 3);
                net.send_at(secs(3.0), 3, 9, 2);
                net.run_until(secs(20.0));
                net.assert_conserved();
            }
        }
    }
}
