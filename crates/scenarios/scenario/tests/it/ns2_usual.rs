//! Other content that is common in ns-2 files, besides the output of `setdest` and `cbrgen`.

use std::path::Path;

use wayhop_core::Time;
use wayhop_document::Error;
use wayhop_scenario::{FlowKind, Scenario};
use wayhop_simulator_files::ns2::{Importer, Ns2Scenario};

const NODES: &str = "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$node_(1) set X_ 3\n$node_(1) set Y_ 4\n";
const CBR: &str = "set udp_(0) [new Agent/UDP]\n$ns_ attach-agent $node_(0) $udp_(0)\nset null_(0) [new Agent/Null]\n\
    $ns_ attach-agent $node_(1) $null_(0)\nset cbr_(0) [new Application/Traffic/CBR]\n$cbr_(0) set interval_ 0.25\n\
    $cbr_(0) attach-agent $udp_(0)\n$ns_ connect $udp_(0) $null_(0)\n$ns_ at 1.0 \"$cbr_(0) start\"\n";
const FTP: &str = "set tcp [new Agent/TCP/Reno]\nset sink [new Agent/TCPSink]\n$ns_ attach-agent $node_(0) $tcp\n\
    $ns_ attach-agent $node_(1) $sink\n$ns_ connect $tcp $sink\nset ftp [new Application/FTP]\n$ftp attach-agent $tcp\n\
    $ns_ at 1.0 \"$ftp start\"\n$ns_ at 9.0 \"$ftp stop\"\n";

fn import(text: &str) -> Result<Ns2Scenario, Error> {
    let mut i = Importer::default();
    i.read(Path::new("t.tcl"), text)?;
    i.finish(None)
}

fn jitter(i: &Ns2Scenario) -> f64 {
    match i.flows[0].kind {
        FlowKind::Cbr { jitter, .. } => jitter,
        ref other => panic!("{other:?}"),
    }
}

fn segment(i: &Ns2Scenario) -> u32 {
    match &i.flows[0].kind {
        FlowKind::Tcp(c) => c.segment_bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn random_takes_words_as_ns2_does() {
    // What ns-2.35 has in random_ after `$cbr set random_ WORD`: its whole number, and 0 for any word.
    for (word, expected, warned) in
        [("1", 0.5, 0), ("0", 0.0, 0), ("false", 0.0, 0), ("off", 0.0, 0), ("true", 0.0, 1), ("on", 0.0, 1)]
    {
        let i = import(&format!("{NODES}{CBR}$cbr_(0) set random_ {word}\n")).unwrap();
        assert_eq!((jitter(&i), i.warnings.len()), (expected, warned), "{word}: {:?}", i.warnings);
    }
    let i = import(&format!("{NODES}{CBR}$cbr_(0) set random_ true\n")).unwrap();
    assert_eq!(i.warnings, ["random_ true (line 14) counts as 0, as in ns-2: write 1 for random intervals"]);
}

#[test]
fn defaults_of_a_class_are_those_of_its_later_objects() {
    // As ns-2.35 prints them: the nearest class decides, whatever the order of the lines.
    let set = "Agent/TCP/Reno set packetSize_ 666\nAgent/TCP set packetSize_ 777\nAgent/TCP set window_ 7\n";
    let late = "Agent/TCP/Reno set packetSize_ 888\n";
    assert_eq!(segment(&import(&format!("{NODES}{set}{FTP}{late}")).unwrap()), 666);
    let newreno = FTP.replace("Reno", "Newreno");
    let i = import(&format!("{NODES}{set}{newreno}")).unwrap();
    assert_eq!(segment(&i), 777);
    let FlowKind::Tcp(c) = &i.flows[0].kind else { panic!() };
    assert_eq!(c.window_segments, 7);
    assert_eq!(segment(&import(&format!("{NODES}{set}{FTP}$tcp set packetSize_ 99\n")).unwrap()), 99);
    let cbr = import(&format!("{NODES}Application/Traffic/CBR set packetSize_ 100\n{CBR}")).unwrap();
    assert_eq!(cbr.flows[0].payload_bytes, 100);
}

#[test]
fn a_class_default_that_ns2_has_no_use_for_is_remarked_on() {
    let plain = import(&format!("{NODES}{CBR}")).unwrap();
    let i = import(&format!("{NODES}Application/Traffic/CBR set interval_ 0.5\n{CBR}")).unwrap();
    assert_eq!(i.flows[0].kind, plain.flows[0].kind);
    assert_eq!(
        i.warnings,
        [
            "Application/Traffic/CBR set interval_ 0.5 (line 5) changes nothing, as in ns-2: set it for each object, or \
             rate_ for the class"
        ]
    );
    let radio = import(&format!("{NODES}Phy/WirelessPhy set Pt_ 0.28\n")).unwrap_err();
    assert_eq!(
        radio.to_string(),
        "t.tcl:5:1: Phy/WirelessPhy is configured by the scenario, not by movement or traffic files; remove the line; set \
         the radio with --radio or in the scenario's [radio]"
    );
}

#[test]
fn a_trailing_run_ftp_and_line_ends_of_windows_are_read() {
    let text = format!("{NODES}{FTP}$ns_ run\n");
    let unix = import(&text).unwrap();
    assert_eq!((unix.flows.len(), unix.flows[0].stop.map(Time::as_secs_f64)), (1, Some(9.0)));
    let windows = import(&text.replace('\n', "\r\n")).unwrap();
    assert_eq!((windows.flows, windows.tracks), (unix.flows, unix.tracks));
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("m.tcl"), format!("\u{feff}{NODES}")).unwrap();
    std::fs::write(path("t.tcl"), format!("\u{feff}{CBR}")).unwrap();
    let scenario = Scenario::from_ns2(&path("m.tcl"), Some(&path("t.tcl")), &[]).unwrap();
    assert_eq!(scenario.resolve().unwrap().flows.len(), 1);
    let toml = "\u{feff}nodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 200 }\n";
    std::fs::write(path("s.toml"), toml).unwrap();
    assert_eq!(Scenario::load(&path("s.toml"), &[]).unwrap().resolve().unwrap().tracks.len(), 2);
    std::fs::write(path("wide.toml"), [0xff, 0xfe, b'n', 0]).unwrap();
    let e = Scenario::load(&path("wide.toml"), &[]).unwrap_err().to_string();
    assert!(e.ends_with("wide.toml: is UTF-16 text; save the file as UTF-8"), "{e}");
}

#[test]
fn all_that_is_wrong_with_a_file_is_said_at_once() {
    let text = format!(
        "{NODES}$node_(0) fly 3\nset e [new Application/Telnet]\n$e attach-agent $udp\n$node_(1) set X_ ten\n"
    );
    let e = import(&text).unwrap_err();
    assert_eq!(
        e.lines(),
        [
            "t.tcl:5:1: \"$node_(0) fly 3\" is not a line of a movement or traffic file; remove the line; see \
             docs/reference/scenario.md for the supported commands",
            "t.tcl:6:7: Application/Telnet is not supported; use Application/Traffic/CBR, Exponential or Pareto, or Application/FTP",
            "t.tcl:7:17: $udp is not set anywhere; create it with: set NAME [new CLASS]",
            "t.tcl:8:18: X_: \"ten\" is not a number; write a plain decimal number",
        ]
    );
    assert!(e.to_string().ends_with("for the supported commands (and 3 more problems)"), "{e}");

    let many = import(&"$node_(1) fly\n$node_(2) fly\n".repeat(25)).unwrap_err();
    assert_eq!(many.lines().len(), 21);
    assert_eq!(many.lines()[20], "and 30 more");

    // Flows, too, and each of them.
    let text = format!("{NODES}{CBR}").replace("$node_(1) $null", "$node_(7) $null");
    let second = CBR.replace("(0)", "(1)").replace("$node_(1) $null", "$node_(8) $null");
    let lines = import(&(text + &second)).unwrap_err().lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[1].starts_with("t.tcl:18:1: the flow's destination is node 8, which"), "{}", lines[1]);
}
