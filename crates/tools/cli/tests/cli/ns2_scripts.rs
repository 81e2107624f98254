//! Whole ns-2 scripts: ns-2 itself gives their packet counts and the final positions of their nodes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use wayhop_core::Time;
use wayhop_scenario::Scenario;

use crate::{folder, run_in, summary_of, wayhop};

const THREE: &str = include_str!("../data/three.tcl");
/// What the scripts have in common: a simulator `ns` with `n` nodes, a trace of what agents send, and a `finish` that notes places.
const HEAD: &str = "set ns [new Simulator]\nset tf [open t.tr w]\n$ns trace-all $tf\nset topo [new Topography]\n\
    $topo load_flatgrid 900 600\nset god [create-god $n]\n$ns node-config -adhocRouting $routing -llType LL -macType Mac/802_11 \\\n\
    -ifqType $queue -ifqLen 50 -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround \\\n\
    -phyType Phy/WirelessPhy -channelType Channel/WirelessChannel -topoInstance $topo \\\n\
    -agentTrace ON -routerTrace OFF -macTrace OFF\n\
    for {set i 0} {$i < $n} {incr i} { set mobile($i) [$ns node]; $mobile($i) random-motion 0 }\n\
    proc place {i x y} { global mobile; $mobile($i) set X_ $x; $mobile($i) set Y_ $y; $mobile($i) set Z_ 0 }\n\
    proc cbr {from to} {\n  global ns mobile\n  set udp [new Agent/UDP]\n  set null [new Agent/Null]\n\
    \x20 $ns attach-agent $mobile($from) $udp\n  $ns attach-agent $mobile($to) $null\n  $ns connect $udp $null\n\
    \x20 set cbr [new Application/Traffic/CBR]\n  $cbr set packetSize_ 200\n  $cbr set interval_ 0.4\n  $cbr attach-agent $udp\n\
    \x20 return $cbr\n}\n\
    proc finish {} {\n  global ns tf mobile n\n  set f [open places w]\n  for {set i 0} {$i < $n} {incr i} {\n\
    \x20   $mobile($i) log-movement\n    puts $f \"[$mobile($i) set X_] [$mobile($i) set Y_]\"\n  }\n  close $f\n  $ns flush-trace\n\
    \x20 close $tf\n  exec true nam out.nam &\n  exit 0\n}\n";

/// Routing, queue, number of nodes, the script's own part, and its files.
type Script = (&'static str, &'static str, usize, &'static str, &'static [(&'static str, &'static str)]);

const SCRIPTS: [Script; 5] = [
    // Drawn moves, flows in a loop.
    (
        "AODV",
        "Queue/DropTail/PriQueue",
        6,
        "set r [new RNG]\n$r seed 7\nfor {set i 0} {$i < $n} {incr i} {\n  place $i [expr 100 + 90 * $i] [expr 100 + 10 * $i]\n\
         \x20 $ns at [expr 2.0 + $i] \"$mobile($i) setdest [$r uniform 10 890] [$r uniform 10 590] [$r uniform 1 9]\"\n\
         \x20 if {$i > 0} { $ns at [expr 1.0 + 0.1 * $i] \"[cbr 0 $i] start\" }\n}\n$ns at 25.0 \"finish\"\n$ns run\n",
        &[],
    ),
    // A procedure that makes its flow when its time has come, and one that calls itself.
    (
        "DSDV",
        "Queue/DropTail/PriQueue",
        3,
        "proc later {from to stop} {\n  global ns\n  set cbr [cbr $from $to]\n  $cbr start\n  $ns at $stop \"$cbr stop\"\n}\n\
         proc record {} {\n  global ns\n  $ns at [expr [$ns now] + 0.5] \"record\"\n}\n\
         foreach i {0 1 2} { place $i [expr 150 * ($i + 1)] 80 }\n$ns at 0.0 \"record\"\n$ns at 3.0 \"later 0 1 9.05\"\n\
         $ns at 4.0 \"later 2 1 7.05\"\n$ns at 5.0 \"$mobile(1) setdest 320 200 5.0\"\n$ns at 20.0 {finish}\n$ns run\n",
        &[],
    ),
    // setdest's and cbrgen's files, by names from the script's folder, and a stop just after the end.
    (
        "DSR",
        "CMUPriQueue",
        2,
        "set opt(stop) 18.0\nset node_(0) $mobile(0); set node_(1) $mobile(1); set ns_ $ns\nsource files/moves\nsource files/traffic\n\
         for {set i 0} {$i < $n} {incr i} { $ns_ initial_node_pos $node_($i) 20; $ns_ at $opt(stop) \"$node_($i) reset\" }\n\
         $ns_ at $opt(stop) \"finish\"\n$ns_ at $opt(stop).0001 \"puts {NS EXITING...}; $ns_ halt\"\n$ns_ run\n",
        &[
            (
                "files/moves",
                "$node_(0) set X_ 50\n$node_(0) set Y_ 60\n$node_(1) set X_ 200\n$node_(1) set Y_ 60 # second\n\
                 $ns_ at 6.0 \"$node_(1) setdest 260 140 10.0\"\n",
            ),
            (
                "files/traffic",
                "set udp_(0) [new Agent/UDP]\n$ns_ attach-agent $node_(0) $udp_(0)\nset null_(0) [new Agent/Null]\n\
                 $ns_ attach-agent $node_(1) $null_(0)\nset cbr_(0) [new Application/Traffic/CBR]\n$cbr_(0) set packetSize_ 512\n\
                 $cbr_(0) set interval_ 0.25\n$cbr_(0) set maxpkts_ 30\n$cbr_(0) attach-agent $udp_(0)\n\
                 $ns_ connect $udp_(0) $null_(0)\n$ns_ at 1.5 \"$cbr_(0) start\"\n",
            ),
        ],
    ),
    // The same source twice, defaults of a class, a jump.
    (
        "AODV",
        "Queue/DropTail",
        2,
        "Agent/UDP set packetSize_ 1500\nplace 0 100 100\nplace 1 220 100\nset a [cbr 0 1]\n$a set rate_ 16Kb\n\
         $ns at 2.0 \"$a start\"\n$ns at 5.02 \"$a stop\"\n$ns at 10.0 \"$a start\"\n$ns at 12.02 \"$a stop\"\n\
         $ns at 8.0 \"$mobile(1) set Y_ 180\"\n$ns at 15.0 \"finish\"\n$ns run\n",
        &[],
    ),
    // Variables in arrays, a schedule in braces, a run from a procedure.
    (
        "AODV",
        "Queue/DropTail/PriQueue",
        4,
        "array set at {0 {10 10} 1 {160 10} 2 {310 10} 3 {460 10}}\nforeach {i p} [array get at] { eval place $i $p }\n\
         set flows {{0 3 1.0 6.1} {3 0 2.0 7.1}}\nforeach f $flows {\n  set c [cbr [lindex $f 0] [lindex $f 1]]\n\
         \x20 $ns at [lindex $f 2] [list $c start]\n  $ns at [lindex $f 3] [list $c stop]\n}\n\
         proc go {} { global ns mobile; $ns at 3.0 {$mobile(0) setdest 400 300 12}; $ns at 14.5 finish; $ns run }\ngo\n",
        &[],
    ),
];

#[test]
fn a_scripts_scenario_sends_what_ns2_sends_and_its_nodes_go_where_ns2s_go() {
    for (routing, queue, nodes, own, files) in SCRIPTS {
        let script = format!("set n {nodes}\nset routing {routing}\nset queue {queue}\n{HEAD}{own}");
        let dir = folder(&[("s.tcl", &script)]);
        let at = dir.path();
        for (name, text) in files {
            fs::create_dir_all(at.join(name).parent().unwrap()).unwrap();
            fs::write(at.join(name), text).unwrap();
        }
        run_in(at, &["import", "ns2", "--script", "s.tcl", "--out", "made.toml"]).ok();
        assert!(!at.join("places").exists() && !at.join("t.tr").exists(), "what it writes is not for here");
        let ns = Command::new("ns")
            .arg("s.tcl")
            .current_dir(at)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(ns.expect("ns-2 is the oracle of this test: apt-get install ns2").success(), "{script}");
        let trace = fs::read_to_string(at.join("t.tr")).unwrap();
        let theirs = trace
            .lines()
            .filter(|l| l.starts_with("s ") && l.contains(" AGT ") && l.contains(" cbr "))
            .count() as i64;
        let ours = summary_of(at, &["made.toml", "--no-out"]);
        let sent = ours["totals"]["sent"].as_i64().unwrap();
        // What is sent at the end of the run or at a stop depends on the last nanosecond.
        assert!(theirs > 10 && (sent - theirs).abs() <= 1, "{sent} sent, {theirs} by ns-2: {own}");
        let made = Scenario::load(&at.join("made.toml"), &[]).unwrap();
        let resolved = made.resolve().unwrap();
        assert_eq!((resolved.tracks.len(), resolved.area[0]), (nodes, 900.0));
        assert_eq!(made.protocol.name, routing.to_lowercase());
        let places = fs::read_to_string(at.join("places")).unwrap();
        for (track, place) in resolved.tracks.iter().zip(places.lines()) {
            let (x, y) = place.split_once(' ').unwrap();
            let p = track.position(resolved.duration);
            let apart = (p.x - x.parse::<f64>().unwrap()).abs() + (p.y - y.parse::<f64>().unwrap()).abs();
            assert!(apart < 0.01, "{p:?}, {place} in ns-2: {own}");
        }
        let ended: f64 = made.resolve().unwrap().duration.as_secs_f64();
        assert!(own.contains(&format!("{ended:?}")), "{ended}: {own}");
    }
}

#[test]
fn three_radios_in_a_row_are_a_scenario() {
    let dir = folder(&[("three.tcl", THREE)]);
    let at = dir.path();
    run_in(at, &["import", "ns2", "--script", "three.tcl", "--strict", "--out", "three.toml"]).ok();
    let scenario = Scenario::load(&at.join("three.toml"), &[]).unwrap().resolve().unwrap();
    assert_eq!((scenario.tracks.len(), scenario.duration), (3, Time::from_secs_f64(40.0)));
    assert_eq!(scenario.tracks[2].position(Time::ZERO).x, 450.0);
    // As ns-2: 76 packets arrive. Here, one more is sent as the run ends.
    let totals = summary_of(at, &["three.toml", "--no-out"])["totals"].clone();
    assert_eq!((totals["sent"].as_u64(), totals["received"].as_u64()), (Some(77), Some(76)));
    let text = fs::read_to_string(at.join("three.toml")).unwrap();
    for key in [
        "name = \"aodv\"",
        "profile = \"ns2\"",
        "data_rate_mbps = 1.0",
        "path = \"three.movement.tcl\"",
        "x_m = 700",
    ] {
        assert!(text.contains(key), "{key}: {text}");
    }
}

#[test]
fn a_script_that_cannot_be_taken_names_the_one_way_that_works() {
    let dir = folder(&[
        ("three.tcl", THREE),
        ("wrong.tcl", "set ns [new Simulator]\nset x [new Agent/landmark]\n"),
        (
            "wired.tcl",
            "set ns [new Simulator]\nset a [$ns node]\nset b [$ns node]\n$ns duplex-link $a $b 1Mb 1ms DropTail\n$ns run\n",
        ),
    ]);
    let at = dir.path();
    let import = |name: &str| run_in(at, &["import", "ns2", "--script", name, "--out", "x.toml"]).failure(2);
    assert!(
        import("wrong.tcl").starts_with("wayhop: wrong.tcl:2: the script fails in ns-2: "),
        "{}",
        import("wrong.tcl")
    );
    assert_eq!(
        import("wired.tcl"),
        "wayhop: wired.tcl: the script creates no mobile nodes; use a wireless script\n"
    );
    assert!(import("none.tcl").starts_with("wayhop: cannot read none.tcl ("));
    assert_eq!(
        run_in(at, &["run", "--movement", "three.tcl", "--protocol", "aodv", "--no-out"]).failure(2),
        "wayhop: three.tcl: is a whole ns-2 script, and Tcl is not executed here; convert it to a scenario (requires ns-2's \
         program ns): wayhop import ns2 --script three.tcl --out NAME.toml\n"
    );
    let without_ns = wayhop()
        .args(["import", "ns2", "--script", "three.tcl", "--out", "x.toml"])
        .current_dir(at)
        .env("PATH", Path::new("/nowhere"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&without_ns.stderr).into_owned();
    assert!(said.contains("its program `ns` is not installed: apt-get install ns2; or save"), "{said}");
    assert!(!at.join("x.toml").exists());
}
