use super::*;
use proptest::prelude::*;
use wayhop_core::{NodeId, Position, Span};
use wayhop_transport::tcp::{App, RtoConfig, Variant};
use wayhop_transport::{FlowConfig, FlowKind, Lengths, OnOff};

use super::super::whole::Ns2Scenario;

fn import(text: &str) -> Result<Ns2Scenario> {
    let mut i = Importer::default();
    i.read(Path::new("m.tcl"), text)?;
    i.finish(None)
}

fn message(text: &str) -> String {
    import(text).unwrap_err().to_string()
}

/// Behind the lines that place nodes 0 and 1.
fn with_two(text: &str) -> Result<Ns2Scenario> {
    import(&format!("{TWO_NODES}{text}"))
}

fn refused_with_two(text: &str) -> String {
    with_two(text).unwrap_err().to_string()
}

const TWO_NODES: &str = "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$node_(1) set X_ 3\n$node_(1) set Y_ 4\n";
const FLOW: &str = "set udp_(0) [new Agent/UDP]\n$ns_ attach-agent $node_(0) $udp_(0)\nset null_(0) [new Agent/Null]\n\
    $ns_ attach-agent $node_(1) $null_(0)\nset cbr_(0) [new Application/Traffic/CBR]\n$cbr_(0) set packetSize_ 512\n\
    $cbr_(0) set interval_ 0.25\n$cbr_(0) set random_ 1\n$cbr_(0) set maxpkts_ 10000\n$cbr_(0) attach-agent $udp_(0)\n\
    $ns_ connect $udp_(0) $null_(0)\n$ns_ at 2.5568388786897245 \"$cbr_(0) start\"\n";

#[test]
fn lines_may_stand_in_any_order() {
    let forward = "$node_(0) set X_ 10\n$node_(0) set Y_ 20\n$node_(0) set Z_ 3\n\
        $ns_ at 1.0 \"$node_(0) setdest 40 60 5\"\n$ns_ at 3.0 \"$node_(0) setdest 10 20 5\"\n";
    let backward: Vec<&str> = forward.lines().rev().collect();
    let (a, b) = (import(forward).unwrap(), import(&backward.join("\n")).unwrap());
    assert_eq!(a.tracks, b.tracks);
    assert_eq!(a.tracks[0].position(Time::from_secs_f64(2.0)), Position::new(13.0, 24.0, 3.0));
    assert_eq!(a.last_move, Some(Time::from_secs_f64(3.0)));
}

#[test]
fn ids_from_one_become_indices_from_zero_and_keep_their_names() {
    let text = TWO_NODES.replace("(1)", "(2)").replace("(0)", "(1)");
    let i = import(&text).unwrap();
    assert_eq!((i.tracks.len(), i.ids.as_slice()), (2, [1, 2].as_slice()));
    assert_eq!(i.tracks[0].position(Time::ZERO).x, 1.0);
    let with_flow = text + &FLOW.replace("node_(1)", "node_(2)").replace("node_(0)", "node_(1)");
    let i = import(&with_flow).unwrap();
    assert_eq!((i.flows[0].src, i.flows[0].dst), (NodeId(0), NodeId(1)));
    // Node 0 occurs in the traffic: then ids count from 0, and it is a node that nobody has placed.
    let e = message(&(TWO_NODES.replace("(0)", "(2)") + FLOW));
    let missing = "the flow's source is node 0, which does not exist in the movement; the nodes are 1 to 2";
    assert!(e.contains(missing), "{e}");
}

#[test]
fn cbrgens_lines_make_a_flow() {
    let i = with_two(FLOW).unwrap();
    let f = &i.flows[0];
    assert_eq!((f.src, f.dst, f.payload_bytes, f.max_packets), (NodeId(0), NodeId(1), 512, Some(10_000)));
    assert_eq!((&f.kind, f.stop), (&FlowKind::Cbr { interval: Span::from_millis(250), jitter: 0.5 }, None));
    assert_eq!(f.start, Time::from_nanos(2_556_838_879));
}

#[test]
fn start_and_stop_make_one_flow_for_each_period() {
    let more = "$ns_ at 9 \"$cbr_(0) stop\"\n$ns_ at 20 \"$cbr_(0) start\"\n";
    let i = with_two(&(FLOW.to_owned() + more)).unwrap();
    let s = |f: &FlowConfig| (f.start.as_secs_f64().round(), f.stop.map(Time::as_secs_f64));
    assert_eq!(i.flows.iter().map(s).collect::<Vec<_>>(), [(3.0, Some(9.0)), (20.0, None)]);
}

#[test]
fn interval_and_rate_follow_ns2s_rules() {
    // interval_ sets the rate for the packet size of the moment: 210 octets at first (ns-default.tcl).
    let cases = [
        ("$cbr_(0) set interval_ 0.25\n$cbr_(0) set packetSize_ 420", 0.5),
        ("$cbr_(0) set packetSize_ 420\n$cbr_(0) set interval_ 250ms", 0.25),
        ("$cbr_(0) set rate_ 64Kb\n$cbr_(0) set packetSize_ 1000", 0.125),
        ("", 210.0 * 8.0 / 448e3),
    ];
    for (lines, interval) in cases {
        let start = FLOW.find("$cbr_(0) set packetSize_").unwrap();
        let end = FLOW.find("$cbr_(0) attach-agent").unwrap();
        let text = format!("{TWO_NODES}{}{lines}\n{}", &FLOW[..start], &FLOW[end..]);
        let i = import(&text).unwrap();
        assert_eq!(i.flows[0].kind.mean_interval(), Span::from_secs_f64(interval), "{lines}");
    }
}

/// What `cbrgen -type tcp` and its like write for a connection from node 0 to node 1.
#[test]
fn lines_of_bursts_make_flows_with_ns2s_defaults() {
    let agents = "set udp [new Agent/UDP]\n$ns_ attach-agent $node_(0) $udp\nset null [new Agent/Null]\n\
        $ns_ attach-agent $node_(1) $null\n$ns_ connect $udp $null\n$ns_ at 1.0 \"$e start\"\n";
    let flow = |class: &str, settings: &str| {
        let new = format!("set e [new Application/Traffic/{class}]\n{settings}");
        with_two(&format!("{new}{agents}$e attach-agent $udp\n")).map(|i| i.flows[0].clone())
    };
    // Those of tcl/lib/ns-default.tcl: 210 octets at 64 kb/s, half a second on and off, a shape of 1.5.
    let half = Span::from_millis(500);
    let bursts = |lengths| OnOff { interval: Span::from_micros(26_250), on: half, off: half, lengths };
    let exponential = flow("Exponential", "").unwrap();
    assert_eq!(exponential.kind, FlowKind::OnOff(bursts(Lengths::Exponential)));
    assert_eq!((exponential.payload_bytes, exponential.start), (210, Time::from_secs_f64(1.0)));
    let pareto = flow("Pareto", "").unwrap();
    assert_eq!(pareto.kind, FlowKind::OnOff(bursts(Lengths::Pareto { shape: 1.5 })));
    let settings =
        "$e set packetSize_ 100\n$e set burst_time_ 250ms\n$e set idle_time_ 2\n$e set rate_ 80Kb\n";
    let (interval, on, off) = (Span::from_millis(10), Span::from_millis(250), Span::from_secs(2));
    let set = flow("Pareto", &format!("{settings}$e set shape_ 1.25\n")).unwrap();
    let lengths = Lengths::Pareto { shape: 1.25 };
    assert_eq!(set.kind, FlowKind::OnOff(OnOff { interval, on, off, lengths }));
    for (class, setting, words) in [
        ("Pareto", "shape_ 1", "shape_: 1 has no finite mean"),
        ("Exponential", "shape_ 1.5", "shape_ is not a supported variable"),
        ("Exponential", "burst_time_ 0", "burst_time_: 0 is not a time above zero"),
        ("Exponential", "interval_ 1", "use packetSize_, rate_, burst_time_, idle_time_"),
        ("CBR", "burst_time_ 1", "use packetSize_, interval_, rate_, random_, maxpkts_"),
    ] {
        let message = flow(class, &format!("$e set {setting}\n")).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
}

const FTP: &str = "set tcp_(0) [$ns_ create-connection  TCP/Reno $node_(0) TCPSink/DelAck $node_(1) 0]\n\
    $tcp_(0) set window_ 32\n$tcp_(0) set packetSize_ 512\nset ftp_(0) [$tcp_(0) attach-source FTP]\n\
    $ns_ at 1.5 \"$ftp_(0) start\"\n";

#[test]
fn ftp_lines_make_connections() {
    let i = with_two(FTP).unwrap();
    let f = &i.flows[0];
    assert_eq!((f.src, f.dst, f.start, f.stop), (NodeId(0), NodeId(1), Time::from_secs_f64(1.5), None));
    let FlowKind::Tcp(c) = f.kind else { panic!("{:?}", f.kind) };
    assert_eq!((c.variant, c.window_segments, c.segment_bytes), (Variant::Reno, 32, 512));
    assert_eq!((c.delayed_ack, c.app), (Some(Span::from_millis(100)), App::Bulk { bytes: None }));
    assert_eq!(c.rto, RtoConfig::ns2());

    // The same in single steps, with a sized transfer and one that is stopped.
    let long = "set t [new Agent/TCP/Newreno]\nset s [new Agent/TCPSink]\nset f [new Application/FTP]\n\
        $ns_ attach-agent $node_(1) $t\n$ns_ attach-agent $node_(0) $s\n$ns_ connect $t $s\n$f attach-agent $t\n\
        $t set rtxcur_init_ 6.0\n$t set tcpTick_ 0.1\n\
        $ns_ at 2 \"$f produce 10\"\n$ns_ at 20 \"$f start\"\n$ns_ at 30 \"$f stop\"\n";
    let i = with_two(long).unwrap();
    let seen = i.flows.iter().map(|f| {
        let FlowKind::Tcp(c) = f.kind else { panic!("{:?}", f.kind) };
        assert_eq!((f.src, c.variant, c.rto.initial), (NodeId(1), Variant::NewReno, Span::from_secs(6)));
        (f.start.as_secs_f64(), f.stop.map(Time::as_secs_f64), c.app)
    });
    let sized = App::Bulk { bytes: Some(10_000) };
    let expected = [(2.0, None, sized), (20.0, Some(30.0), App::Bulk { bytes: None })];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
}

#[test]
fn variables_other_spellings_and_harmless_lines_are_read() {
    let text = "set val(x) 500 ;# width\nset speed 4\nset god_ [God instance]\nputs \"loading\"\n\
        $node_(0) set X_ $val(x)\n$node_(0) set Y_ 1\n$node_(0) random-motion 0\n$ns_ initial_node_pos $node_(0) 20\n\
        $ns at 2.0 \"$node_(0) setdest 100 1 $speed\"\n$ns_ at 9.0 \"$node_(0) reset\"\n$ns_ at 10.0 \"finish\"\n\
        set n(1) [$ns_ node]\n$n(1) set X_ 7\n$n1 set Y_ 8\n\
        $ns_ at 3.0 {$n(1) setdest 9 8 1.0; $node_(0) \\\n  setdest 500 1 1}\n";
    let i = import(text).unwrap();
    assert_eq!(i.tracks.len(), 2);
    assert_eq!(i.tracks[0].position(Time::from_secs_f64(3.0)).x, 496.0);
    assert_eq!(i.tracks[1].position(Time::from_secs_f64(4.0)), Position::new(8.0, 8.0, 0.0));
}

#[test]
fn objects_may_be_used_before_the_line_that_creates_them() {
    let mut lines: Vec<&str> = FLOW.lines().collect();
    let start = lines.pop().unwrap();
    lines.insert(0, start);
    let i = with_two(&lines.join("\n")).unwrap();
    assert_eq!(i.flows.len(), 1);
    let e = refused_with_two("\n$ns_ at 1 \"$cbr_(7) start\"");
    assert!(e.contains("m.tcl:6:12: $cbr_(7) is not set anywhere; create it with: set NAME [new CLASS]"));
}

#[test]
fn wrong_lines_are_named_by_place_and_remedy() {
    let [decimal, zero] = ["write a plain decimal number", "use zero or more"];
    let number = "write $node_(N) with N from 0 to 1000000";
    let script = "for a whole script, let ns-2 record it: wayhop import ns2 --script FILE --out NAME.toml";
    let remove = "remove the line; see docs/reference/scenario.md for the supported commands";
    let close =
        "close it; if the file ends in the middle of a line, it is truncated: download or write it again";
    let classes = "use Application/Traffic/CBR, Exponential or Pareto, or Application/FTP";
    let variants = "use Agent/TCP (Tahoe), or its Reno, Newreno, Sack1 or Vegas";
    let settings = "use packetSize_, window_, maxcwnd_, windowInit_, tcpTick_, minrto_, maxrto_, rtxcur_init_, \
                    singledup_, syn_";
    let cases = [
        ("$node_(0) set X_ NaN", ":1:18: X_: NaN is not a finite number", decimal),
        ("$node_(0) set X_ 1e300", ":1:18: X_: 1e300 is beyond 1e9", decimal),
        ("\n\n  $node_(0) set X_ ten", ":3:20: X_: \"ten\" is not a number", decimal),
        ("$ns_ at 1.0 \"$node_(0) setdest 1 2 -3\"", ":1:36: setdest speed: -3 is negative", zero),
        ("$ns_ at -1 \"$node_(0) setdest 1 2 3\"", ":1:9: time: -1 is negative", zero),
        ("$node_(-1) set X_ 5", ":1:1: $node_(-1) names no node", number),
        ("$node_(5000000000) set X_ 5", ":1:1: $node_(5000000000) names no node", number),
        (
            "for {set i 0} {$i < 3} {incr i} { x }",
            ":1:1: \"for\" needs a Tcl interpreter, and scenario files are not executed",
            script,
        ),
        ("$node_(0) fly 3", ":1:1: \"$node_(0) fly 3\" is not a line of a movement or traffic file", remove),
        ("$ns_ at 1.0 \"$node_(0) setdest 1 2", ":1:13: the \" that opens here is never closed", close),
        ("# nothing here", ": has no nodes", "write lines such as: $node_(0) set X_ 10.0"),
        (
            "set e [new Application/Traffic/Trace]",
            ":1:7: Application/Traffic/Trace is not supported",
            classes,
        ),
        ("set tcp [new Agent/TCP/Fack]", ":1:9: Agent/TCP/Fack is not supported", variants),
        (
            "set tcp [new Agent/TCP/Reno]\n$tcp set timestamps_ 1",
            ":2:22: timestamps_ 1 is not a supported TCP setting",
            settings,
        ),
    ];
    for (text, problem, remedy) in cases {
        assert_eq!(message(text), format!("m.tcl{problem}; {remedy}"));
    }
}

#[test]
fn a_destination_that_does_not_exist_is_reported_where_its_flow_begins() {
    let e = refused_with_two(&FLOW.replace("node_(1)", "node_(2)"));
    let missing =
        "the flow's destination is node 2, which does not exist in the movement; the nodes are 0 to 1";
    let remedy = "correct the number (cbrgen may name one node too many), or add the node";
    assert_eq!(e, format!("m.tcl:9:1: {missing}: {remedy}"));
}

#[test]
fn half_made_flows_are_reported() {
    for (without, reason) in [
        ("$cbr_(0) attach-agent $udp_(0)", "cbr_(0) starts but has no agent"),
        ("$ns_ connect $udp_(0) $null_(0)", "udp_(0), the agent of cbr_(0), is not connected"),
        ("$ns_ attach-agent $node_(0) $udp_(0)", "udp_(0), the agent of cbr_(0), is on no node"),
        ("$ns_ attach-agent $node_(1) $null_(0)", "null_(0), the sink of cbr_(0), is on no node"),
    ] {
        let e = refused_with_two(&FLOW.replace(without, ""));
        assert!(e.starts_with(&format!("m.tcl:9:1: {reason}; add: ")), "{e}");
    }
    let fast = FLOW.replace("interval_ 0.25", "interval_ 1e-9");
    let reason = "cbr_(0) sends more than a million packets a second";
    let remedy = "use a lower rate_ or a longer interval_";
    assert_eq!(refused_with_two(&fast), format!("m.tcl:9:1: {reason}; {remedy}"));
    let silent = FLOW.replace("$ns_ at 2.5568388786897245 \"$cbr_(0) start\"", "");
    let i = with_two(&silent).unwrap();
    assert_eq!(i.warnings, ["cbr_(0) (line 9) never starts and makes no traffic"]);
}

#[test]
fn odd_things_are_warned_of() {
    let text = "$node_(1) set X_ 5\n$node_(0) set X_ 1\n$node_(0) set Y_ 1\n\
        $ns_ at 1 \"$node_(0) setdest 50 50 2\"\n$ns_ at 2 \"$node_(0) set X_ 12.0\"";
    let warnings = [
        "nodes without an initial X_ and Y_ are placed at 0: 1 (1)",
        "nodes whose coordinate is set after a setdest continue to that setdest's destination, as in ns-2: 1 (0)",
    ];
    assert_eq!(import(text).unwrap().warnings, warnings);
}

#[test]
fn god_lines_are_compared_with_the_geometry() {
    // Nodes 200 m apart in a line: 0 - 1 - 2; node 2 leaves node 1's range (250 m) after 50 m at 10 m/s, at 5 s.
    let nodes = "$node_(0) set X_ 10\n$node_(0) set Y_ 10\n$node_(1) set X_ 210\n$node_(1) set Y_ 10\n\
        $node_(2) set X_ 410\n$node_(2) set Y_ 10\n$ns_ at 0.0 \"$node_(2) setdest 610 10 10\"\n";
    let right = "$god_ set-dist 0 1 1\n$god_ set-dist 0 2 2\n$god_ set-dist 1 2 1\n\
        $ns_ at 5.000000000000 \"$god_ set-dist 0 2 16777215\"\n$ns_ at 5.000000000000 \"$god_ set-dist 1 2 16777215\"\n";
    assert_eq!(import(&(nodes.to_owned() + right)).unwrap().warnings, [""; 0]);
    let wrong = right
        .replace("0 2 2", "0 2 3")
        .replace("at 5.000000000000 \"$god_ set-dist 1", "at 5.1 \"$god_ set-dist 1");
    let early = "$ns_ at 4.9 \"$god_ set-dist 0 2 16777215\"\n$god_ set-dist 0 9 1\n";
    let warning = "3 of 7 $god_ set-dist lines differ from the geometry of the movement with links of 250 m: \
                   at 0 s nodes 0 and 2: 3 hops in the file, 2 hops by the movement; at 0 s nodes 0 and 9: no such \
                   node; at 4.9 s nodes 0 and 2: no path in the file, 2 hops by the movement";
    assert_eq!(import(&(nodes.to_owned() + &wrong + early)).unwrap().warnings, [warning]);
}

fn mutated(seed_text: &'static str) -> impl Strategy<Value = String> {
    let edits = prop::collection::vec(
        (any::<prop::sample::Index>(), 0u8..4, any::<u8>(), any::<prop::sample::Index>()),
        1..8,
    );
    edits.prop_map(move |edits| {
        let mut bytes = seed_text.as_bytes().to_vec();
        for (at, what, byte, other) in edits {
            let i = at.index(bytes.len().max(1));
            match what {
                0 if i < bytes.len() => bytes[i] = byte,
                1 => bytes.truncate(i),
                2 => bytes.insert(i.min(bytes.len()), byte),
                _ => {
                    let j = other.index(bytes.len().max(1));
                    let piece = bytes[i.min(j)..i.max(j)].to_vec();
                    bytes.splice(i..i, piece);
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

const SAMPLE: &str = "set god_ [God instance]\n$node_(0) set X_ 1.5\n$node_(0) set Y_ 2\n$node_(1) set X_ 3\n\
    $node_(1) set Y_ 4\n$god_ set-dist 0 1 1\n$ns_ at 2.0 \"$god_ set-dist 0 1 16777215\"\n\
    $ns_ at 1.0 \"$node_(0) setdest 400.0 90.0 7.5\"\n$ns_ at 5.0 \"$node_(1) set X_ 12.0\"\n\
    set udp_(0) [new Agent/UDP]\n$ns_ attach-agent $node_(0) $udp_(0)\nset null_(0) [new Agent/Null]\n\
    $ns_ attach-agent $node_(1) $null_(0)\nset cbr_(0) [new Application/Traffic/CBR]\n$cbr_(0) set packetSize_ 512\n\
    $cbr_(0) set interval_ 0.25\n$cbr_(0) attach-agent $udp_(0)\n$ns_ connect $udp_(0) $null_(0)\n\
    $ns_ at 2.5 \"$cbr_(0) start\"\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_files_load_or_are_refused(text in mutated(SAMPLE)) {
        if let Ok(i) = import(&text) {
            prop_assert!(i.tracks.iter().all(|t| t.position(Time::from_secs_f64(7.7)).x.is_finite()));
            prop_assert!(i.flows.iter().all(|f| f.src.index() < i.tracks.len() && f.dst.index() < i.tracks.len()));
        }
    }

    #[test]
    fn any_text_is_refused_or_read(text in "\\PC{0,200}") {
        let _ = import(&text);
    }
}
