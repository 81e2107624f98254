use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::Scenario;

const BASE: &str = "duration_s = 100\nnodes.count = 10\nmovement = { kind = \"chain\", spacing_m = 200 }\n\
                    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 9\n\
                    [[nodes.node]]\nid = 3\nname = \"mallory\"\n";

/// With an attack whose table begins at the name of its kind.
fn resolved(base: &str, attack: &str) -> Result<crate::Resolved> {
    Scenario::from_text(&format!("{base}[[attacks]]\nkind = \"{attack}"), &[])?.resolve()
}

fn refused(base: &str, attack: &str) -> String {
    resolved(base, attack).expect_err(attack).to_string()
}

#[test]
fn nodes_are_named_numbered_or_drawn() {
    let r = resolved(BASE, "black-hole\"\nnodes = [5, \"mallory\"]\nat_s = 2").unwrap();
    assert_eq!(r.attacks.iter().map(|a| a.node.0).collect::<Vec<_>>(), [3, 5]);
    let is_plain =
        |a: &Attack| (a.from, a.until, a.insider) == (Time::from_secs_f64(2.0), Time::NEVER, false);
    assert!(r.attacks.iter().all(is_plain));
    let drawn = |share: f64, seed: u64| {
        let attack = format!("black-hole\"\nnodes_share = {share}\ninsider = true");
        let r = resolved(&format!("seed = {seed}\n{BASE}"), &attack).unwrap();
        assert!(r.attacks.iter().all(|a| a.insider && !matches!(a.node.0, 0 | 9)));
        r.attacks.iter().map(|a| a.node.0).collect::<Vec<_>>()
    };
    let (few, many) = (drawn(0.2, 1), drawn(0.5, 1));
    assert_eq!((few.len(), many.len()), (2, 5));
    assert!(few.iter().all(|n| many.contains(n)), "a larger share has the nodes of a smaller one");
    assert!((2..20).any(|seed| drawn(0.2, seed) != few), "other seeds, other nodes");
}

#[test]
fn wrong_input_is_refused_with_the_key_and_a_remedy() {
    for (attacks, words) in [
        ("blackhole\"\nnode = 3", "did you mean `black-hole`?"),
        ("black-hole\"\nnod = 3", "did you mean `node`?"),
        ("black-hole\"\nnode = 10", "there is no node 10"),
        ("black-hole\"\nnode = \"malory\"", "did you mean \"mallory\"?"),
        ("black-hole\"", "the attacking node is missing"),
        ("black-hole\"\nnode = 1\nnodes = [2]", "node, nodes and nodes_share exclude each other"),
        ("black-hole\"\nnodes = [2, 2]", "is listed twice"),
        ("black-hole\"\nnodes_share = 0.9", "only 8 have no flow"),
        ("black-hole\"\nnodes_share = 1.5", "not a number from 0 to 1"),
        ("black-hole\"\nnode = 1\nat_s = -1", "attacks[0].at_s"),
        ("black-hole\"\nnode = 1\nat_s = 5\nuntil_s = 5", "is not after at_s"),
        ("black-hole\"\nnode = 1\nshare = 0.5", "black-hole has no share"),
        ("grey-hole\"\nnode = 1", "the packets to drop are missing"),
        ("grey-hole\"\nnode = 1\non_s = 1", "needs both on_s and off_s"),
        ("grey-hole\"\nnode = 1\nshare = 0.5\nsource = 0", "exclude each other"),
        ("wormhole\"\nnodes = [1]", "two nodes, not 1"),
        ("wormhole\"\nnodes = [0, 3]", "node 0 has a flow"),
        ("wormhole\"\nnodes = [1, 3]\ninsider = true", "wormhole has no insider"),
        ("jamming\"\nnode = 3\npower_dbm = 90", "attacks[0].power_dbm"),
        ("jamming\"\nnode = 3\nduty = 0.5", "does not apply to this mode"),
        ("request-flood\"\nnode = 3\nrate_pps = 0", "attacks[0].rate_pps"),
        ("sybil\"\nnode = 3\nidentities = 65", "attacks[0].identities"),
        (
            "replay\"\nnode = 3\n[[attacks]]\nkind = \"sybil\"\nnodes = [2, 3]",
            "already attacks in attacks[0]",
        ),
    ] {
        let told = refused(BASE, attacks);
        assert!(told.contains(words), "{attacks}\n{told}");
    }
    let told = refused(&format!("protocol = {{ name = \"none\" }}\n{BASE}"), "replay\"\nnode = 3");
    assert!(told.contains("has no messages to forge or replay"), "{told}");
}

#[test]
fn an_attack_after_the_end_is_warned_of() {
    let r = resolved(BASE, "replay\"\nnode = 3\nat_s = 100").unwrap();
    assert!(r.warnings.iter().any(|w| w.contains("attacks[0] begins at 100 s")), "{:?}", r.warnings);
}

#[test]
fn sybil_nodes_have_addresses_of_their_own() {
    let r = resolved(BASE, "sybil\"\nnodes = [2, 3]\nidentities = 64").unwrap();
    let mut all = Vec::new();
    for a in &r.attacks {
        let Action::Engine(b) = &a.what else { panic!("no engine") };
        all.extend(&b.identities);
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!((count, all.len()), (128, 128));
    assert!(all.iter().all(|a| !r.addresses.contains(a)));
}

proptest! {
    /// Whatever the table says, it is taken or refused, and what is taken is written and read as the same.
    #[test]
    fn a_table_is_read_or_refused(
        kind in prop::sample::select(vec![
            "black-hole", "grey-hole", "wormhole", "replay", "forged-reply", "forged-error", "request-flood", "jamming", "sybil", "x",
        ]),
        keys in prop::collection::vec((prop::sample::select(vec![
            "node", "nodes", "nodes_share", "at_s", "until_s", "insider", "attract", "hops", "ahead", "share", "on_s", "off_s",
            "source", "destination", "delay_us", "delay_s", "every_s", "rate_pps", "addresses", "identities", "mode", "duty",
            "burst_us", "reaction_us", "power_dbm",
        ]), prop::sample::select(vec![
            "0", "1", "-1", "0.5", "1e300", "nan", "inf", "true", "\"own\"", "\"random\"", "\"reactive\"", "[1, 2]", "[]", "99999999999",
        ])), 0..6),
    ) {
        let mut text = format!("[[attacks]]\nkind = \"{kind}\"\n");
        let mut seen = std::collections::BTreeSet::new();
        for (key, value) in keys {
            if seen.insert(key) {
                let _ = writeln!(text, "{key} = {value}");
            }
        }
        if let Ok(s) = Scenario::from_text(&format!("{BASE}{text}"), &[]) {
            for a in &s.attacks {
                // As text: a NaN is not equal to itself.
                let written = toml::to_string(a).unwrap();
                let again: Attacks = toml::from_str(&written).unwrap();
                prop_assert_eq!(toml::to_string(&again).unwrap(), written);
            }
            drop(s.resolve());
        }
    }
}
