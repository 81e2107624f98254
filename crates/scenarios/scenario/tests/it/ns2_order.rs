//! Commands that are carried out as they are read, and commands that wait for their time: ns-2
//! itself gives the positions of nodes.

use std::path::Path;

use wayhop_core::Time;
use wayhop_document::Error;
use wayhop_simulator_files::ns2::{Importer, Ns2Scenario};

use crate::ns2::ns2;

fn import(text: &str, count: Option<usize>) -> Result<Ns2Scenario, Error> {
    let mut i = Importer::default();
    i.read(Path::new("m.tcl"), text)?;
    i.finish(count)
}

/// Checks all nodes of a file at several times against ns-2, and gives what was read.
fn as_in_ns2(text: &str) -> Ns2Scenario {
    let ours = import(text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.tcl");
    std::fs::write(&path, text).unwrap();
    let at: Vec<Time> = [0.1, 1.5, 3.5, 6.0, 20.0].map(Time::from_secs_f64).to_vec();
    let nodes = *ours.ids.last().unwrap() as usize + 1;
    let theirs = ns2(nodes, [3000.0, 3000.0], 30.0, &path, None, &at, 0.0);
    for (track, id) in ours.tracks.iter().zip(&ours.ids) {
        for &t in &at {
            let (ours, theirs) = (track.position(t), theirs.positions[&(t.as_nanos(), *id as usize)]);
            assert!(ours.distance(theirs) < 1e-3, "node {id} at {t}: {ours:?}, in ns-2 {theirs:?}\n{text}");
        }
    }
    ours
}

#[test]
fn words_behind_a_coordinate_do_not_take_it_away() {
    // As SUMO's exporters, ns-3's tests and people write them. OTcl ignores the words; some of these are a note.
    for (x, y, skipped) in [
        ("set X_ 140.5\t# SUMO-ID: truck_0", "set Y_ 60.0", 0),
        ("set X_ 140.5 #truck", "set Y_ 60.0 # y", 0),
        ("set X_ 140.5 ;# truck", "set Y_ 60.0;# y", 0),
        ("set X_ 140.5# truck", "set Y_ {60.0}", 0),
        ("set X_ \"140.5\" # truck", "set Y_ 6e1 #", 0),
        ("set X_ 140.5 m", "set Y_ 60.0 m north", 2),
    ] {
        let text = format!(
            "$node_(0) {x}\n$node_(0) {y}\n$node_(1) set X_ 520.0\n$node_(1) {y}\n\
             $ns_ at 2.0 \"$node_(0) setdest 240.5 60.0 10.0\"\n$ns_ at 3.0 {{$node_(1) {x}}}\n"
        );
        let i = as_in_ns2(&text);
        assert_eq!(i.tracks[0].position(Time::ZERO).x, 140.5, "{text}");
        assert!(i.warnings.is_empty(), "{:?}", i.warnings);
        let kinds: Vec<String> = i.skipped[0].kinds().collect();
        match skipped {
            0 => assert!(kinds.is_empty(), "{kinds:?}"),
            _ => assert_eq!(
                kinds,
                ["4 commands with words after a coordinate (lines 1, 2, 4 and 6)"],
                "x and y of both nodes"
            ),
        }
    }
}

#[test]
fn a_coordinate_that_is_not_understood_is_never_passed_over() {
    for (line, message) in [
        ("set x_ 5", "m.tcl:1:15: x_ is not a coordinate of ns-2's nodes; write X_"),
        ("set Y 5", "m.tcl:1:15: Y is not a coordinate of ns-2's nodes; write Y_"),
        ("set X_ five", "m.tcl:1:18: X_: \"five\" is not a number; write a plain decimal number"),
        ("set X_ # 5", "m.tcl:1:18: X_: \"\" is not a number; write a plain decimal number"),
        ("set X_ $width", "m.tcl:1:18: X_: \"$width\" is not a number; write a plain decimal number"),
    ] {
        let text = format!("$node_(0) {line}\n");
        let said = import(&text, None).map(|i| i.skipped[0].kinds().collect::<Vec<_>>());
        match said {
            Err(e) => assert_eq!(e.to_string(), message),
            Ok(kinds) => panic!("{text}: {kinds:?}"),
        }
    }
    let other = "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n$node_(0) set netId_ 7\n$node_(0) set netId_ 8\n";
    let kinds: Vec<String> = import(other, None).unwrap().skipped[0].kinds().collect();
    assert_eq!(kinds, ["2 settings of netId_ of nodes (lines 3 and 4)"]);
}

#[test]
fn coordinates_that_are_set_at_time_0_are_places() {
    for text in [
        "$ns_ at 0.0 \"$node_(0) set X_ 30\"\n$ns_ at 0.0 \"$node_(0) set Y_ 40\"\n$ns_ at 0.0 \"$node_(0) setdest 50 60 2\"\n",
        "$ns_ at 0 {$node_(0) set X_ 30; $node_(0) set Y_ 40}\n$ns_ at 2 {$node_(0) setdest 50 60 2}\n",
        "$node_(0) set X_ 30\n$ns_ at 0.000000 \"$node_(0) set Y_ 40\"\n",
        "$ns_ at 0.0 \"$node_(0) setdest 50 60 2\"\n$node_(0) set X_ 30\n$node_(0) set Y_ 40\n",
        "$ns_ at 5.0 \"$node_(0) setdest 50 60 2\"\n$ns_ at 0.0 \"$node_(0) set Y_ 40\"\n$ns_ at 0.0 \"$node_(0) set X_ 30\"\n",
    ] {
        let i = as_in_ns2(text);
        assert!(i.warnings.is_empty(), "{text}: {:?}", i.warnings);
        let start = i.tracks[0].position(Time::ZERO);
        assert_eq!((start.x, start.y), (30.0, 40.0), "{text}");
    }
    // Those that come later are not where the node begins.
    let late = "$ns_ at 5.0 \"$node_(0) set X_ 30\"\n$ns_ at 5.0 \"$node_(0) set Y_ 40\"\n";
    assert_eq!(as_in_ns2(late).warnings, ["nodes without an initial X_ and Y_ are placed at 0: 1 (0)"]);
}

#[test]
fn a_setdest_before_the_place_goes_where_ns2_goes() {
    for text in [
        "$node_(0) setdest 30 20 2\n$node_(0) set X_ 10\n$node_(0) set Y_ 20\n",
        "$node_(0) set X_ 10\n$node_(0) setdest 30 20 2\n$node_(0) set Y_ 5\n",
        "$ns_ at 0.0 \"$node_(0) setdest 300 400 20\"\n$ns_ at 0.0 \"$node_(0) set X_ 100\"\n$ns_ at 0.0 \"$node_(0) set Y_ 50\"\n",
        "$node_(0) setdest 300 20 9\n$node_(0) set X_ 10\n$node_(0) set Y_ 20\n$ns_ at 2.0 \"$node_(0) setdest 10 400 9\"\n",
        "$node_(0) setdest 500 500 5\n$node_(0) set Y_ 20\n$node_(0) set X_ 600\n",
    ] {
        let i = as_in_ns2(text);
        assert_eq!(i.warnings.len(), 1, "{text}: {:?}", i.warnings);
        assert!(i.warnings[0].contains("continue to that setdest's destination, as in ns-2"), "{text}");
    }
}

#[test]
fn only_the_numbers_that_the_files_name_are_nodes() {
    let place = |id: u32| {
        format!(
            "$node_({id}) set X_ {}\n$node_({id}) set Y_ 10\n$ns_ at 1.0 \"$node_({id}) setdest 9 {} 7\"\n",
            id + 1,
            id + 2
        )
    };
    for ids in [&[1, 3][..], &[6, 7, 8, 9], &[1, 2, 4], &[0, 5, 2], &[10, 20, 30], &[0, 1, 2], &[1, 2, 3]] {
        let text: String = ids.iter().copied().map(place).collect();
        let i = as_in_ns2(&text);
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        assert_eq!(i.ids, sorted);
        let has_gaps = sorted[sorted.len() - 1] - sorted[0] != sorted.len() as u32 - 1;
        assert_eq!(i.warnings.len(), usize::from(has_gaps), "{ids:?}: {:?}", i.warnings);
    }
    let text: String = [2, 4, 7].map(place).concat();
    assert_eq!(
        import(&text, None).unwrap().warnings,
        [
            "the files name 3 nodes from 2 to 7; the other numbers are not nodes: 3, 5, 6 (nodes.count = 7 makes them nodes at 0, 0)"
        ]
    );
    // As many as are named, or all numbers.
    assert_eq!(import(&text, Some(3)).unwrap().ids, [2, 4, 7]);
    assert_eq!(import(&text, Some(7)).unwrap().ids, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(import(&text, Some(9)).unwrap().ids.len(), 9);
    for few in [2, 5] {
        let e = import(&text, Some(few)).unwrap_err().to_string();
        assert!(e.ends_with(" nodes; set nodes.count to 7, or remove it"), "{e}");
    }
}

const FLOW: &str = "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$node_(1) set X_ 3\n$node_(1) set Y_ 4\nset udp_(0) [new Agent/UDP]\n\
    $ns_ attach-agent $node_(0) $udp_(0)\nset null_(0) [new Agent/Null]\n$ns_ attach-agent $node_(1) $null_(0)\n\
    set cbr_(0) [new Application/Traffic/CBR]\n$cbr_(0) attach-agent $udp_(0)\n$ns_ connect $udp_(0) $null_(0)\n\
    $ns_ at 1.0 \"$cbr_(0) start\"\n";

#[test]
fn the_end_of_a_run_is_the_earliest_that_a_line_names() {
    for (lines, end) in [
        ("$ns_ at 30.0 \"$ns_ halt\"\n", Some(30.0)),
        ("$ns_ at 150 \"finish\"\n", Some(150.0)),
        ("$ns_ at 150.01 \"puts \\\"NS EXITING...\\\"; $ns_ halt\"\n$ns_ at 150.0 \"stop\"\n", Some(150.0)),
        ("set val(stop) 25\n$ns_ at $val(stop).5 {finish}\n", Some(25.5)),
        ("$ns at 12 {exit 0}\n$ns_ at 14 \"$ns halt\"\n$ns_ run\n", Some(12.0)),
        ("$ns_ at 12 \"$cbr_(0) stop\"\n$ns_ run\n", None),
    ] {
        let i = import(&format!("{FLOW}{lines}"), None).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(i.end.map(Time::as_secs_f64), end, "{lines}");
    }
    let e = import(&format!("{FLOW}$ns_ at 0.0 \"$ns_ halt\"\n"), None).unwrap_err().to_string();
    assert_eq!(e, "m.tcl:13:14: the run would end at its start; use a later time");
}

#[test]
fn what_is_scheduled_is_not_taken_at_once() {
    for command in [
        "$cbr_(0) set rate_ 64Kb",
        "$udp_(0) set packetSize_ 100",
        "set cbr_(1) [new Application/Traffic/CBR]",
        "set interval 2",
        "$ns_ connect $udp_(0) $null_(0)",
        "$ns_ attach-agent $node_(0) $udp_(0)",
        "$cbr_(0) attach-agent $udp_(0)",
        "Application/Traffic/CBR set rate_ 64Kb",
    ] {
        let at = |t: &str| import(&format!("{FLOW}$ns_ at {t} \"{command}\"\n"), None);
        let e = at("5.0").expect_err(command).to_string();
        assert!(
            e.starts_with("m.tcl:13:14: ") && e.contains(" at 5 s would change the traffic during the run"),
            "{e}"
        );
        assert!(at("0.0").is_ok(), "{command} at 0 holds from the beginning: {:?}", at("0.0").err());
    }
}

#[test]
fn a_start_in_a_line_that_names_a_later_object_counts_once() {
    let text = FLOW
        .replace("$ns_ at 1.0 \"$cbr_(0) start\"", "$ns_ at 1.0 \"$cbr_(0) start; $cbr_(1) start\"")
        + "set cbr_(1) [new Application/Traffic/CBR]\n$cbr_(1) attach-agent $udp_(0)\n$cbr_(1) set rate_ 8Kb\n";
    let i = import(&text, None).unwrap();
    assert_eq!(
        i.flows.iter().map(|f| (f.start.as_secs_f64(), f.stop)).collect::<Vec<_>>(),
        [(1.0, None), (1.0, None)]
    );
}

#[test]
fn nodes_of_sumos_activity_file_come_and_go() {
    let nodes = "$node_(0) set X_ 100.0\n$node_(0) set Y_ 50.0\n$node_(1) set X_ 250.0\n$node_(1) set Y_ 50.0\n$node_(2) set X_ 1\n$node_(2) set Y_ 1\n";
    let read = |activity: &str| {
        let mut i = Importer::default();
        i.read(Path::new("mobility.tcl"), nodes)?;
        i.read(Path::new("activity.tcl"), activity)?;
        i.finish(None)
    };
    let seconds = |t: Time| if t == Time::NEVER { -1.0 } else { t.as_secs_f64() };
    let absent = |activity: &str| -> Vec<(u32, f64, f64)> {
        let i = read(activity).unwrap_or_else(|e| panic!("{e}"));
        i.absences.iter().map(|&(node, from, until)| (node.0, seconds(from), seconds(until))).collect()
    };
    let sumo = "$ns_ at 0.0 \"$g(0) start\"; # SUMO-ID: van\n$ns_ at 30.0 \"$g(0) stop\"; # SUMO-ID: van\n\
        $ns_ at 6.0 \"$g(1) start\"; # SUMO-ID: bus\n$ns_ at 20.0 \"$g(1) stop\"; # SUMO-ID: bus\n";
    assert_eq!(absent(sumo), [(0, 30.0, -1.0), (1, 0.0, 6.0), (1, 20.0, -1.0)]);
    let backwards: Vec<&str> = sumo.lines().rev().collect();
    assert_eq!(absent(&backwards.join("\n")), absent(sumo));
    assert_eq!(absent("$ns_ at 4 {$g(2) start}\n"), [(2, 0.0, 4.0)]);
    assert_eq!(
        absent("$ns at 1 \"$g(1) start\"\n$ns at 2 \"$g(1) stop\"\n$ns at 3 \"$g(1) start\"\n"),
        [(1, 0.0, 1.0), (1, 2.0, 3.0)]
    );
    assert_eq!(absent("$ns at 1 \"$g(1) start; $g(0) start\"\n"), [(0, 0.0, 1.0), (1, 0.0, 1.0)]);
    assert_eq!(
        read("$ns_ at 1.0 \"$g(7) start\"\n").unwrap_err().to_string(),
        "activity.tcl:1:14: node 7 starts or stops but does not exist in the movement; the nodes are 0 to 2: use files of the same run"
    );
    // An object of that name is what the file says it is.
    let object = read(&FLOW.replace("cbr_(0)", "g(0)")).unwrap();
    assert!(object.absences.is_empty() && object.flows.len() == 1);
}
