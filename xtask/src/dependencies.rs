//! Which crate may depend on which.
//!
//! The rule that matters: a protocol sees the seam and the packet formats, never the simulator, the radio or another
//! protocol. So one protocol source runs in every world. And nothing but the registry sees a protocol.

use crate::crates::{Crate, Edge};

/// Each crate with the names of all it may depend on. A crate that is missing here is a finding, so that a new one is placed on
/// purpose.
const MAY_DEPEND_ON: &[(&str, &str)] = &[
    ("core", ""),
    ("wire", "core"),
    // Authentication of routing messages, of whatever protocol. No I/O.
    ("auth", "core wire"),
    // The network layer of one node: it knows no protocol by name.
    ("node", "auth core wire"),
    // Logs of what went into engines, of whatever protocol.
    ("replay", "core wire node"),
    ("link-quality", "core wire"),
    // Protocols and applications in shared libraries: the registries load them.
    ("foreign", "core"),
    // Home agents, foreign agents and mobile nodes, beside any routing protocol. No I/O.
    ("mobile-ip", "core wire"),
    // The registry: the one crate that knows every protocol, and may depend on all of those that it lists.
    ("protocols", "core foreign wire"),
    // Attackers: engines around a node's own, which speak in whatever protocol's words.
    ("attack", "core wire"),
    ("radio", "core wire"),
    // The attenuator solver and its drivers: path losses in, settings out.
    ("matrix", "core"),
    ("world", "core"),
    ("transport", "core wire"),
    // It records and reads the packets of every protocol, and depends on none: a classifier is handed to it.
    ("trace", "core wire"),
    ("testkit", "core wire node replay"),
    // Talking to running nodes: it knows the seam's words, and no world.
    ("control", "core trace"),
    // Applications and their registry, which loads those of libraries: they know the seam.
    ("applications", "core foreign mobile-ip"),
    // Delay-tolerant networking without I/O: bundles, an agent, convergence layers, routing, and the node: an application.
    ("dtn", "core"),
    // What all readers of configurations share: TOML with places, overrides, origins and errors. It knows no model.
    ("document", "core"),
    // Files of ns-2 and BonnMotion, read as tracks and flows. It knows no scenario.
    ("simulator-files", "core document world transport"),
    // It holds the parameter types of the models that it configures, and asks the registry for those of protocols.
    (
        "scenario",
        "applications auth core attack protocols world radio transport dtn document simulator-files",
    ),
    ("sim", "auth core wire node attack protocols replay radio world transport trace scenario dtn"),
    // The configuration, the store and the programs of a bundle agent on a real host.
    ("bundle-agent", "core dtn control document"),
    // Giving up rights: it knows the kernel only.
    ("confine", ""),
    // The parts of a node that face the kernel.
    ("linux", "core wire"),
    // What the worlds on one machine share: namespaces, programs, the runs under way.
    ("netns", "confine core linux transport trace control"),
    // Numbers and figures for readers; it knows no paper and no model.
    ("report", "core"),
    // What the geometry allowed, for people and summaries: analysis, which no model and no protocol sees.
    ("topology", "core document world transport trace scenario report"),
    // The same nodes and medium on the real clock.
    ("emu", "netns core wire transport trace scenario sim control"),
    // Applications over the kernel's sockets.
    ("application-host", "applications control core linux replay"),
    // One node on a real interface. It has no radio model: its radio is real. Of the world it has the globe.
    (
        "daemon",
        "application-host auth linux confine core document wire mobile-ip node replay world protocols trace \
         scenario control",
    ),
    // Many nodes on one wire. It starts daemons as users do, by the command.
    ("lab", "application-host linux netns core wire protocols transport trace scenario control world"),
    // What a GNSS reference station says, through a mesh: a program that uses it.
    ("corrections", "wire"),
    // Hosts of a field run, over ssh. It starts daemons by the command, elsewhere.
    ("fleet", "core document control"),
    // What runs' tables say, as figures; and figures as PNG and PDF.
    ("figures", "core trace report"),
    // Assembles runs, in simulated time, on the real clock and with daemons, and makes many at a time.
    (
        "runs",
        "application-host applications core netns protocols transport trace scenario sim emu linux lab dtn",
    ),
    // Papers' experiments: it runs runs, and measures real nodes.
    ("reproduce", "core wire matrix protocols trace scenario control linux netns report topology runs"),
    // The simulator inside a Python process.
    ("runtime", "core document protocols trace scenario sim"),
    // Matrices of runs.
    ("sweep", "core document protocols trace scenario report topology runs"),
    // Scenarios of what other tools and field runs recorded.
    ("import", "core document radio simulator-files wire trace world"),
    // Runs of field nodes, united: it reads and writes run directories.
    ("merge", "core trace world"),
    // The page that replays and follows runs, and its server: it reads run directories and control sockets.
    (
        "studio",
        "core document simulator-files wire control protocols topology trace transport scenario world",
    ),
    (
        "cli",
        "application-host applications core document dtn simulator-files wire protocols replay world radio \
         import matrix merge trace scenario bundle-agent confine netns report figures reproduce topology \
         studio sweep control linux daemon corrections fleet lab runs",
    ),
    ("xtask", "protocols scenario sweep bundle-agent cli daemon testkit"),
];

/// What each protocol of the registry may depend on.
const PROTOCOLS_MAY_DEPEND_ON: &[&str] = &["core", "wire", "link-quality"];

/// What tests may use besides: keys, for networks that have them.
const TESTS_MAY_USE: &[&str] = &["auth", "testkit"];

/// What the tests of single crates may use besides: packets of real protocols, namespaces, and what reads the scenarios that they write.
const TESTS_OF_ONE_MAY_USE: &[(&str, &str)] =
    &[("trace", "protocols"), ("linux", "netns"), ("import", "protocols"), ("import", "scenario")];

/// One line for each dependency that the direction forbids.
pub(crate) fn findings(crates: &[Crate]) -> Vec<String> {
    let mut findings = Vec::new();
    for owner in crates {
        let Some(allowed) = allowed(&owner.name) else {
            findings.push(format!(
                "crate {}: not in the table of allowed dependencies; give it its place in xtask/src/dependencies.rs, or list \
                 a protocol in crates/routing/protocols/src/lib.rs",
                owner.name
            ));
            continue;
        };
        findings.extend(owner.edges.iter().filter(|edge| !is_allowed(&owner.name, &allowed, edge)).map(
            |edge| {
                let kind = if edge.dev { "tests may not use" } else { "may not depend on" };
                format!("crate {}: {kind} {}; it may use: {}", owner.name, edge.to, allowed.join(", "))
            },
        ));
    }
    findings
}

/// What a crate may depend on; `None` for one without a place.
fn allowed(owner: &str) -> Option<Vec<&'static str>> {
    if wayhop_protocols::names().any(|name| name == owner) {
        return Some(PROTOCOLS_MAY_DEPEND_ON.to_vec());
    }
    let (_, allowed) = MAY_DEPEND_ON.iter().find(|(name, _)| *name == owner)?;
    let mut allowed: Vec<&str> = allowed.split_whitespace().collect();
    if owner == "protocols" {
        allowed.extend(wayhop_protocols::names());
    }
    Some(allowed)
}

fn is_allowed(owner: &str, allowed: &[&str], edge: &Edge) -> bool {
    let to = edge.to.as_str();
    // The testkit uses core's types, and wire's tests need its tshark; core's tests need nothing of it.
    let in_tests = edge.dev
        && (TESTS_MAY_USE.contains(&to) && owner != "core" || TESTS_OF_ONE_MAY_USE.contains(&(owner, to)));
    allowed.contains(&to) || in_tests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_with(name: &str, to: &str, dev: bool) -> Vec<Crate> {
        vec![Crate { name: name.into(), storey: "x".into(), edges: vec![Edge { to: to.into(), dev }] }]
    }

    #[test]
    fn a_protocol_that_uses_another_protocol_is_found() {
        let found = findings(&crate_with("dsr", "aodv", false));
        assert_eq!(found, ["crate dsr: may not depend on aodv; it may use: core, wire, link-quality"]);
    }

    #[test]
    fn every_forbidden_direction_is_found() {
        for (owner, to) in [
            ("dsr", "sim"),
            ("aodv", "radio"),
            ("radio", "dsr"),
            ("core", "wire"),
            ("wire", "trace"),
            ("scenario", "sim"),
            ("sim", "cli"),
            ("testkit", "sim"),
            ("world", "radio"),
            ("sim", "dsr"),
            ("scenario", "aodv"),
            ("wire", "protocols"),
        ] {
            assert_eq!(findings(&crate_with(owner, to, false)).len(), 1, "{owner} -> {to}");
            assert_eq!(findings(&crate_with(owner, to, true)).len(), 1, "{owner} -> {to} in tests");
        }
    }

    #[test]
    fn tests_of_a_protocol_may_use_the_testkit_but_its_code_may_not() {
        assert!(findings(&crate_with("dsr", "testkit", true)).is_empty());
        assert_eq!(findings(&crate_with("dsr", "testkit", false)).len(), 1);
    }

    #[test]
    fn traces_are_read_without_a_protocol_and_tested_with_those_of_the_registry() {
        assert!(findings(&crate_with("trace", "protocols", true)).is_empty());
        assert_eq!(findings(&crate_with("trace", "protocols", false)).len(), 1);
    }

    #[test]
    fn a_crate_without_a_place_in_the_table_is_found() {
        let found = findings(&[Crate { name: "gateway".into(), storey: "x".into(), edges: vec![] }]);
        assert!(found[0].starts_with("crate gateway: not in the table"), "{found:?}");
    }

    #[test]
    fn the_table_itself_has_no_circle() {
        for (position, (owner, allowed)) in MAY_DEPEND_ON.iter().enumerate() {
            for to in allowed.split_whitespace() {
                let seen = MAY_DEPEND_ON.iter().position(|(name, _)| *name == to);
                // xtask may use the two crates above it in the table; everything else looks upwards.
                assert!(seen.is_some_and(|seen| seen < position), "{owner} -> {to}");
            }
        }
    }
}
