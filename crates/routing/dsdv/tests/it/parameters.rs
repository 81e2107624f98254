//! Profiles, and the valid values of a scenario.

use wayhop_dsdv::Params;

#[test]
fn the_profiles_are_known_by_name_pass_their_check_and_survive_a_round_trip() {
    for name in ["rfc", "ns2"] {
        let p = Params::profile(name).unwrap();
        assert_eq!(p.check(), Ok(()), "{name}");
        let text = serde_json::to_string(&p).unwrap();
        assert_eq!(serde_json::from_str::<Params>(&text).unwrap(), p);
    }
    assert_eq!(Params::profile("rfc"), Some(Params::default()));
    assert_eq!(Params::profile("das"), None);
    let unknown = serde_json::from_str::<Params>(r#"{"settling": 3}"#).unwrap_err().to_string();
    assert!(unknown.contains("settling"), "{unknown}");
}

#[test]
fn the_default_has_the_constants_of_ns_3_37() {
    let p = Params::default();
    assert_eq!((p.periodic_update_ms, p.settling_ms, p.allowed_missed_updates), (15_000, 5_000, 3));
    assert_eq!((p.buffer_packets, p.buffer_per_destination, p.buffer_timeout_ms), (500, 5, Some(30_000)));
    assert!(!p.weighted_settling);
    assert_eq!(p.neighbour_timeout().as_millis(), 45_000);
    // (1500 - 28) / 12.
    assert_eq!(p.entries_per_packet(), 122);
}

#[test]
fn contradictions_are_named() {
    let refused = |change: fn(&mut Params)| {
        let mut p = Params::rfc();
        change(&mut p);
        p.check().unwrap_err()
    };
    for (change, key) in [
        ((|p| p.periodic_update_ms = 0) as fn(&mut Params), "periodic_update_ms is 0"),
        (|p| p.allowed_missed_updates = 0, "allowed_missed_updates is 0"),
        (|p| p.buffer_packets = 0, "buffer_packets is 0"),
        (|p| p.buffer_per_destination = 0, "buffer_per_destination is 0"),
        (|p| p.max_routes = 0, "max_routes is 0"),
        (|p| p.periodic_jitter_ms = 15_000, "periodic_jitter_ms (15000)"),
        (|p| p.mtu_bytes = 39, "mtu_bytes is 39: give at least 40"),
        (|p| p.settling_weight_per_mille = 1_001, "settling_weight_per_mille is 1001"),
        (|p| p.delete_period_ms = Some(44_999), "delete_period_ms (44999)"),
    ] {
        let text = refused(change);
        assert!(text.contains(key), "{text}");
    }
}
