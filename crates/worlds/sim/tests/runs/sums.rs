//! What was sent is received, dropped or held: in every flow, in the totals, and by reason.

use proptest::prelude::*;
use wayhop_trace::Summary;

use crate::{run, scenario};

/// Fails unless the sums hold.
fn check(s: &Summary) {
    let sum =
        |sent: u64, [received, dropped, held]: [u64; 3]| assert_eq!(sent, received + dropped + held, "{s:?}");
    for f in &s.flows {
        sum(f.sent.unwrap(), [f.received.unwrap(), f.dropped.expect("known"), f.held.expect("known")]);
        assert_eq!(f.latency_ms.is_some(), f.received.unwrap() > 0, "{f:?}");
        assert_eq!(
            (f.hops_mean.is_some(), f.delivery_ratio.is_some()),
            (f.received.unwrap() > 0, f.sent.unwrap() > 0),
            "{f:?}"
        );
    }
    let t = &s.totals;
    sum(t.sent, [t.received, t.dropped.expect("known"), t.held.expect("known")]);
    assert_eq!(t.dropped, Some(t.drops.values().sum()), "{t:?}");
    let received = |pings: bool| s.flows.iter().any(|f| f.received > Some(0) && (f.kind == "ping") == pings);
    assert_eq!(
        (t.latency_ms.is_some(), t.round_trip_ms.is_some()),
        (received(false), received(true)),
        "{s:?}"
    );
}

fn flow() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        Just("kind = \"cbr\"\ndst = 1\nrate_pps = 40"),
        Just("kind = \"poisson\"\ndst = 1\nrate_pps = 40\nstart_s = 0.3"),
        Just("kind = \"ping\"\ndst = 1\ninterval_s = 0.05"),
        Just("kind = \"cbr\"\ndst = \"all\"\nrate_pps = 20"),
        Just("kind = \"tcp\"\ndst = 1\napplication = \"ftp\""),
        Just("kind = \"tcp\"\ndst = 1\napplication = \"requests\""),
        Just("kind = \"cbr\"\ndst = 1\nstart_s = 90"),
    ];
    kind.prop_map(|k| format!("[[traffic]]\nsrc = 0\n{k}\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn what_was_sent_is_received_or_dropped_or_held(
        (nodes, spacing_m, duration_s) in (2_u32..6, 60_u32..400, 0.05_f64..4.0),
        protocol in prop_oneof![Just("dsr"), Just("aodv"), Just("dsdv")],
        radio in prop_oneof![Just("wavelan-914-cmu"), Just("wavelan-i"), Just("80211b")],
        flows in proptest::collection::vec(flow(), 0..4),
        seed in 0_u64..1_000,
    ) {
        let text = format!(
            "seed = {seed}\nduration_s = {duration_s}\nnodes.count = {nodes}\n\
             movement = {{ kind = \"chain\", spacing_m = {spacing_m} }}\nradio.preset = \"{radio}\"\n\
             protocol.name = \"{protocol}\"\n{}",
            flows.concat()
        );
        let (summary, audit) = run(&scenario(&text));
        prop_assert_eq!(audit.defect(), None);
        check(&summary);
    }
}

#[test]
fn packets_under_way_at_the_end_are_held_and_no_figure_is_of_nothing() {
    // Out of reach, and the run ends before a search is given up.
    let text = "duration_s = 5\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 5000 }\n\
        [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nrate_pps = 4\n\
        [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nstart_s = 80\n";
    let (s, _) = run(&scenario(text));
    check(&s);
    assert!(s.totals.held > Some(0), "{:?}", s.totals);
    assert_eq!((s.totals.latency_ms, s.totals.hops_mean, s.totals.delivery_ratio), (None, None, Some(0.0)));
    let later = &s.flows[1];
    assert_eq!((later.delivery_ratio, later.goodput_bps, later.latency_ms), (None, None, None));
    let json = serde_json::to_value(&s).expect("JSON");
    for (of, keys) in [
        (&json["totals"], &["latency_ms", "round_trip_ms", "hops_mean"][..]),
        (&json["flows"][0], &["latency_ms", "hops_mean"]),
        (&json["flows"][1], &["delivery_ratio", "goodput_bps", "latency_ms", "hops_mean"]),
    ] {
        for key in keys {
            assert!(of.get(key).is_some_and(serde_json::Value::is_null), "{key}: {of}");
        }
    }
}
