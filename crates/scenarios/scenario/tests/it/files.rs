//! The scenarios of this repository, and every ns-2 file of it, load and resolve.

use std::path::{Path, PathBuf};

use wayhop_core::{NodeId, Time};
use wayhop_scenario::{FlowKind, Resolved, Scenario};

fn repo(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(path)
}

fn load(path: &str, sets: &[&str]) -> Resolved {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Scenario::load(&repo(path), &sets).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_first_scenario_is_what_its_comment_says() {
    let r = load("scenarios/first.toml", &[]);
    assert_eq!((r.name.as_str(), r.tracks.len(), r.flows.len()), ("first", 50, 10));
    assert_eq!(r.duration, Time::from_secs_f64(120.0));
    assert_eq!((r.protocol.name(), r.protocol.profile()), ("dsr", "rfc"));
    assert_eq!(Some(r.protocol.values()), (r.protocol.description().profile)("rfc"));
    assert_eq!(Some(r.radio()), wayhop_radio::RadioConfig::preset("wavelan-914-cmu").as_ref());
    let fastest = r.tracks.iter().map(wayhop_world::Track::max_speed).fold(0.0, f64::max);
    assert!(fastest <= 20.0 && fastest > 10.0, "{fastest}");
    assert_eq!(r.captures.nodes, [NodeId(0)]);
    assert_eq!(r.captures.snap_length, 200);
    assert!(r.warnings.is_empty());
    let mut sources: Vec<_> = r.flows.iter().map(|f| f.src).collect();
    sources.sort_unstable();
    sources.dedup();
    assert_eq!(sources.len(), 10, "sources differ as long as there are nodes enough");
    assert!(r.flows.iter().all(|f| f.src != f.dst && f.start <= Time::from_secs_f64(20.0)));
}

#[test]
fn the_chain_resolves_names() {
    let r = load("scenarios/chain.toml", &[]);
    assert_eq!((r.flows[0].src, r.flows[0].dst), (NodeId(0), NodeId(4)));
    assert!(matches!(r.flows[0].kind, FlowKind::Ping { .. }));
    assert_eq!(r.names, ["left", "1", "2", "3", "right"]);
    assert_eq!(r.captures.nodes.len(), 5);
    assert_eq!(r.tracks[4].position(Time::ZERO).x, 800.0);
    assert_eq!(r.protocol.name(), "aodv");
}

#[test]
fn settings_change_single_keys() {
    let r = load(
        "scenarios/first.toml",
        &["seed=9", "protocol.name=aodv", "radio.data_rate_mbps=1", "traffic.0.connections=3", "area.z_m=40"],
    );
    assert_eq!((r.seed, r.protocol.name(), r.flows.len(), r.area[2]), (9, "aodv", 3, 40.0));
    assert_eq!(r.radio().data_rate_mbps, 1.0);
    let same = load("scenarios/first.toml", &["protocol.name=aodv"]);
    assert_eq!(same.tracks, load("scenarios/first.toml", &[]).tracks, "the protocol does not touch mobility");
}

#[test]
fn the_same_file_and_seed_give_the_same_scenario() {
    let (a, b) = (load("scenarios/first.toml", &[]), load("scenarios/first.toml", &[]));
    assert_eq!((a.tracks, a.flows), (b.tracks, b.flows));
    assert_ne!(load("scenarios/first.toml", &["seed=2"]).tracks, load("scenarios/first.toml", &[]).tracks);
}

#[test]
fn ns2_files_are_read_as_they_are() {
    let sets = ["protocol.name=dsr".to_owned(), "protocol.profile=ns2".to_owned()];
    let (movement, traffic) = (repo("scenarios/ns2/s1.pause0.tcl"), repo("scenarios/ns2/s1.cbr.tcl"));
    let r = Scenario::from_ns2(&movement, Some(&traffic), &sets).unwrap().resolve().unwrap();
    assert_eq!((r.name.as_str(), r.tracks.len(), r.flows.len()), ("s1.pause0", 50, 20));
    // The generator's own comment in the file: base_dur=900.
    assert_eq!(r.duration, Time::from_secs_f64(900.0));
    let goes_on = |warnings: &[String]| warnings.len() == 1 && warnings[0].contains("flows still active");
    assert!(goes_on(&r.warnings), "{:?}", r.warnings);
    let moves = std::fs::read_to_string(&movement).unwrap().lines().filter(|l| l.contains("setdest")).count();
    let legs: usize = r.tracks.iter().map(|t| t.legs().iter().filter(|l| !l.is_rest()).count()).sum();
    assert!(legs.abs_diff(moves) <= 2, "{legs} legs of {moves} moves");
    // From the traffic file: $ns_ attach-agent $node_(40) $udp_(3), to node 22, 4 packets a second of 64 octets.
    let text = std::fs::read_to_string(&traffic).unwrap();
    for (k, f) in r.flows.iter().enumerate() {
        assert!(text.contains(&format!("$ns_ attach-agent $node_({}) $udp_({k})", f.src)));
        assert!(text.contains(&format!("$ns_ attach-agent $node_({}) $sink_({k})", f.dst)));
        assert_eq!((f.payload_bytes, f.max_packets, f.stop), (64, None, None));
        assert!(
            matches!(f.kind, FlowKind::Cbr { interval, jitter: 0.0 } if interval.as_nanos() == 250_000_000)
        );
    }
    for name in ["s1.pause900", "n50"] {
        let traffic = repo(&format!("scenarios/ns2/{}.cbr.tcl", if name == "n50" { "n50" } else { "s1" }));
        let movement = repo(&format!("scenarios/ns2/{name}.tcl"));
        let r = Scenario::from_ns2(&movement, Some(&traffic), &[]).unwrap().resolve().unwrap();
        assert_eq!(r.tracks.len(), 50);
        assert!(goes_on(&r.warnings), "{:?}", r.warnings);
    }
}

#[test]
fn a_protocol_that_cannot_notice_broken_links_over_its_radio_is_warned_of() {
    let warnings = |radio: &str, protocol: &str| {
        let text = format!(
            "nodes.count = 2\nmovement = {{ kind = \"chain\", spacing_m = 100 }}\nduration_s = 1\n\
             radio = {{ preset = \"{radio}\" }}\nprotocol = {{ {protocol} }}\n"
        );
        Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).expect("a scenario").warnings
    };
    for (protocol, remedy) in [
        ("name = \"aodv\"", "protocol.hello = \"while_active\" or protocol.passive_ack = true"),
        ("name = \"dsr\", profile = \"ns2\"", "protocol.maintenance = \"network\""),
    ] {
        assert!(warnings("wavelan-914-cmu", protocol).is_empty(), "this radio acknowledges");
        let given = warnings("wavelan-i", protocol);
        assert!(given.len() == 1 && given[0].ends_with(remedy), "{given:?}");
    }
    for protocol in [
        "name = \"aodv\", hello = \"while_active\"",
        "name = \"aodv\", link_feedback = false, passive_ack = true",
        "name = \"aodv\", profile = \"das\"",
        "name = \"dsr\"",
        "name = \"dsr\", profile = \"cmu\"",
        // Requested explicitly where each packet is to be sent once.
        "name = \"dsr\", maintenance = \"link\"",
        "name = \"dsr\", profile = \"ns2\", maintenance = \"network\"",
    ] {
        assert!(warnings("wavelan-i", protocol).is_empty(), "{protocol}");
    }
}

#[test]
fn over_dsr_the_profile_ns2_makes_tcps_packets_20_octets_longer() {
    let tcp = |f: &FlowKind| match f {
        FlowKind::Tcp(c) => c.padding,
        other => panic!("{other:?}"),
    };
    let written = |protocol: &str, keys: &str| {
        let text = format!(
            "nodes.count = 2\nmovement = {{ kind = \"chain\", spacing_m = 100 }}\nduration_s = 1\n\
             protocol = {{ {protocol} }}\n[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 1\n{keys}\n"
        );
        Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).map(|r| tcp(&r.flows[0].kind))
    };
    let (ns2, aodv, rfc) =
        ("name = \"dsr\", profile = \"ns2\"", "name = \"aodv\", profile = \"ns2\"", "name = \"dsr\"");
    for (protocol, keys, padding) in [
        (ns2, "profile = \"ns2\"", 20),
        (ns2, "profile = \"ns2\"\npadding_bytes = 0", 0),
        (ns2, "", 0),
        (ns2, "padding_bytes = 40", 40),
        (rfc, "profile = \"ns2\"", 0),
        // Its AODV takes care of it.
        (aodv, "profile = \"ns2\"", 0),
    ] {
        assert_eq!(written(protocol, keys).unwrap(), padding, "{protocol} {keys}");
    }
    let said = written(ns2, "padding_bytes = 6").unwrap_err().to_string();
    assert!(said.contains("traffic[0].padding_bytes") && said.contains("a multiple of 4 up to 40"), "{said}");

    let movement = "$node_(0) set X_ 1\n$node_(1) set X_ 2\n";
    let ftp = "set tcp_(0) [$ns_ create-connection TCP/Reno $node_(0) TCPSink $node_(1) 0]\n\
               set ftp_(0) [$tcp_(0) attach-source FTP]\n$ns_ at 1.5 \"$ftp_(0) start\"\n";
    for (protocol, padding) in [("dsr", 20), ("aodv", 0)] {
        let sets = [format!("protocol.name={protocol}"), "protocol.profile=ns2".to_owned()];
        assert_eq!(tcp(&ns2_text_with(movement, ftp, &sets).flows[0].kind), padding, "{protocol}");
    }
}

fn ns2_text(movement: &str, traffic: &str) -> Resolved {
    ns2_text_with(movement, traffic, &["duration_s=100".to_owned()])
}

fn ns2_text_with(movement: &str, traffic: &str, sets: &[String]) -> Resolved {
    let dir = tempfile::tempdir().unwrap();
    let (m, t) = (dir.path().join("m.tcl"), dir.path().join("t.tcl"));
    std::fs::write(&m, movement).unwrap();
    std::fs::write(&t, traffic).unwrap();
    let scenario = Scenario::from_ns2(&m, Some(&t), sets);
    scenario.and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_setdest_leads_out_of_the_topography_and_below_zero_but_is_not_exported() {
    let r = ns2_text(
        "$node_(0) set X_ 10\n$node_(0) set Y_ 20\n$node_(0) set Z_ 0\n\
         $node_(1) set X_ 10\n$node_(1) set Y_ 10\n$node_(1) set Z_ 0\n\
         $ns_ at 1.0 \"$node_(0) setdest 10 99999 10\"\n$ns_ at 1.0 \"$node_(1) setdest -30 10 10\"\n",
        "",
    );
    let place = |i: usize, t| {
        let p = r.tracks[i].position(Time::from_secs_f64(t));
        (p.x.round(), p.y.round())
    };
    assert_eq!((place(0, 21.0), place(1, 9.0)), ((10.0, 220.0), (-30.0, 10.0)));
    let refused = wayhop_scenario::export_ns2(&r, wayhop_simulator_files::ns2::ExportOptions::default());
    assert!(refused.unwrap_err().to_string().contains("node 1"));
}

#[test]
fn a_payload_above_the_agents_packet_size_stays_one_packet_with_a_warning() {
    let agent = |size: &str| {
        ns2_text(
            "$node_(0) set X_ 10\n$node_(1) set X_ 20\n",
            &format!(
                "set udp_(0) [new Agent/UDP]\n{size}$ns_ attach-agent $node_(0) $udp_(0)\nset null_(0) [new Agent/Null]\n\
                 $ns_ attach-agent $node_(1) $null_(0)\nset cbr_(0) [new Application/Traffic/CBR]\n\
                 $cbr_(0) set packetSize_ 1400\n$cbr_(0) set interval_ 0.25\n$cbr_(0) attach-agent $udp_(0)\n\
                 $ns_ connect $udp_(0) $null_(0)\n$ns_ at 1.0 \"$cbr_(0) start\"\n"
            ),
        )
    };
    // Agent/UDP's default is 1000.
    let r = agent("");
    assert_eq!((r.flows.len(), r.flows[0].payload_bytes), (1, 1400));
    assert!(r.warnings.iter().any(|w| w.contains("packetSize_ is 1000")), "{:?}", r.warnings);
    assert!(!agent("$udp_(0) set packetSize_ 1400\n").warnings.iter().any(|w| w.contains("packetSize_")));
}
