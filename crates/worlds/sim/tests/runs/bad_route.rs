//! The bad direct route of CMU-CS-99-116 section 9.2 (Figures 15 and 16) in the whole simulator.

use wayhop_scenario::Scenario;

use crate::run;

/// How many packets arrive in three runs of `scenarios/cmu/abc.toml` with these settings.
fn received(settings: &[&str]) -> u64 {
    (1..=3).map(|seed| received_with(seed, settings)).sum()
}

fn received_with(seed: u64, settings: &[&str]) -> u64 {
    let text = include_str!("../../../../../scenarios/cmu/abc.toml");
    let mut settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    settings.push(format!("seed={seed}"));
    let scenario = Scenario::from_text(text, &settings).and_then(|s| s.resolve()).expect("a scenario");
    let (summary, audit) = run(&scenario);
    assert_eq!(audit.defect(), None);
    summary.totals.received
}

#[test]
fn a_remembered_bad_route_is_worth_as_much_as_perfect_routing() {
    let none = received(&[]);
    // The direct link loses 5 dB more, and is never there; the paper took it away by a filter.
    let perfect = received(&["radio.site.pair=[{nodes=[0,2],loss_db=5}]"]);
    assert!(perfect * 100 > none * 115, "{none} packets, {perfect} with perfect routing");
    for setting in [
        "protocol.bad_links=timed",
        "protocol.bad_links=until-moved",
        "protocol.bad_links=probability",
        "protocol.metric=etx",
    ] {
        let n = received(&[setting]);
        assert!(n * 100 > perfect * 90, "{setting}: {n} of {perfect}; {none} without");
    }
}
