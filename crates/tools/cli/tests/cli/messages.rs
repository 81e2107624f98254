//! Wrong input: one message that names file, line, key and remedy, and exit status 2.

use std::fs::{self, File};
use std::process::Command;

use crate::{data, folder, run_in};

/// The message that refuses this scenario, without `wayhop: `.
fn refused(file: &str, text: &[u8]) -> String {
    let dir = folder(&[]);
    fs::write(dir.path().join(file), text).expect("a file");
    let args: &[&str] =
        if file == "s.toml" { &["run", file] } else { &["run", "--movement", file, "--duration", "5"] };
    let message = run_in(dir.path(), args).failure(2);
    assert!(!dir.path().join("runs").exists(), "a refused scenario leaves nothing behind");
    assert_eq!(message.lines().count(), 1, "{message}");
    message.trim_end().strip_prefix("wayhop: ").expect("the name of the program").to_owned()
}

const CHAIN: &str = "nodes.count = 3\nduration_s = 2\nmovement = { kind = \"chain\", spacing_m = 200 }\n";
const WAYPOINT: &str = "nodes.count = 2\nduration_s = 2\narea = { x_m = 100, y_m = 100 }\n";

/// Each scenario is refused at this place, with these words.
fn assert_refused(cases: &[(String, &str, [&str; 2])]) {
    for (text, place, pieces) in cases {
        let message = refused("s.toml", text.as_bytes());
        assert!(message.starts_with(place), "{place}\n{message}\n{text}");
        assert!(pieces.iter().all(|p| message.contains(p)), "{pieces:?}\n{message}");
    }
}

#[test]
fn wrong_traffic_and_programs_are_refused_at_their_line() {
    let cbr = "[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\n";
    assert_refused(&[
        (format!("{CHAIN}{cbr}dst = 2\n"), "s.toml:8:1: ", ["duplicate key", "keep one of them"]),
        (
            format!("{CHAIN}[[traffic]]\nkind = \"ping\"\nsrc = 1\ndst = 7\n"),
            "s.toml:7:1: traffic[0].dst: ",
            ["no node 7", "the nodes are 0 to 2"],
        ),
        (
            format!("{CHAIN}[[traffic]]\nkind = \"ping\"\nsrc = \"zork\"\ndst = 1\n"),
            "s.toml:6:1: traffic[0].src: ",
            ["no node named \"zork\"", "add the name"],
        ),
        (
            format!("{CHAIN}[[traffic]]\nkind = \"ping\"\nsrc = 1\ndst = 1\n"),
            "s.toml:7:1: traffic[0].dst: ",
            ["are the same node", "name another"],
        ),
        (
            CHAIN.to_owned() + &"[[programs]]\nnode = 0\ncommand = [\"true\"]\noutput = \"a\"\n".repeat(2),
            "s.toml:11:1: programs[1].output: ",
            ["programs 0 and 1 both write \"a\"", "its own file"],
        ),
        (
            format!("{CHAIN}[[traffic]]\nkind = \"cbrr\"\nsrc = 1\ndst = 2\n"),
            "s.toml:5:9: ",
            ["unknown value `cbrr`", "did you mean `cbr`?"],
        ),
        (
            format!("{CHAIN}{cbr}rate_pps = 1e12\n"),
            "s.toml:8:1: traffic[0].rate_pps: ",
            ["1000000000000 is not a number from", "range"],
        ),
        (
            format!("{CHAIN}{cbr}rate_pps = inf\n"),
            "s.toml:8:1: traffic[0].rate_pps: ",
            ["inf is not a number", "range"],
        ),
        (
            format!("{CHAIN}{cbr}payload_bytes = 70000\n"),
            "s.toml:8:1: traffic[0].payload_bytes: ",
            ["70000", "to 65507"],
        ),
        (format!("{CHAIN}{cbr}start_s = -5\n"), "s.toml:8:1: traffic[0].start_s: ", ["-5", "from 0"]),
    ]);
}

#[test]
fn wrong_keys_of_radio_protocol_and_captures_are_refused_at_their_line() {
    assert_refused(&[
        (
            format!("{CHAIN}duraton = 3\n"),
            "s.toml:4:1: ",
            ["unknown key `duraton`", "did you mean `duration_s`?"],
        ),
        (
            format!("{CHAIN}radio.tx_power_db = 20\n"),
            "s.toml:4:7: radio.tx_power_db: ",
            ["unknown key", "did you mean `tx_power_dbm`?"],
        ),
        (
            format!("{CHAIN}radio.tx_power_dbm = nan\n"),
            "s.toml:4:7: radio.tx_power_dbm: ",
            ["nan is not finite", "such as"],
        ),
        (
            format!("{CHAIN}radio.preset = \"wavelan\"\n"),
            "s.toml:4:7: radio.preset: ",
            ["\"wavelan\"", "did you mean `wavelan-i`?"],
        ),
        (
            format!("{CHAIN}protocol.name = \"dsrr\"\n"),
            "s.toml:4:10: protocol.name: ",
            ["\"dsrr\"", "did you mean `dsr`?"],
        ),
        (
            format!("{CHAIN}protocol.profile = \"ns3\"\n"),
            "s.toml:4:10: protocol.profile: ",
            ["\"ns3\"", "did you mean `ns2`?"],
        ),
        (
            format!("{CHAIN}captures.nodes = [9]\n"),
            "s.toml:4:19: captures.nodes[0]: ",
            ["no node 9", "0 to 2"],
        ),
    ]);
}

#[test]
fn wrong_nodes_are_refused_at_their_line() {
    assert_refused(&[
        (
            format!("{CHAIN}[[nodes.node]]\nid = 9\n"),
            "s.toml:5:1: nodes.node[0].id: ",
            ["no node 9", "0 to 2"],
        ),
        (
            format!("{CHAIN}[[nodes.node]]\nid = 0\n[[nodes.node]]\nid = 0\n"),
            "s.toml:7:1: nodes.node[1].id: ",
            ["node 0", "merge"],
        ),
        (
            format!("{CHAIN}[[nodes.node]]\nid = 0\nname = \"a\"\n[[nodes.node]]\nid = 1\nname = \"a\"\n"),
            "s.toml:4:9: nodes.node: ",
            ["both named \"a\"", "its own name"],
        ),
        (
            format!("{CHAIN}[[nodes.node]]\nid = 0\naddress = \"10.0.0.2\"\n"),
            "s.toml:4:9: nodes.node: ",
            ["both have the address 10.0.0.2", "its own address"],
        ),
        (
            format!("{CHAIN}[[nodes.node]]\nid = 0\naddress = \"255.255.255.255\"\n"),
            "s.toml:6:1: nodes.node[0].address: ",
            ["cannot be", "unicast"],
        ),
        (
            format!("{CHAIN}[[nodes.node]]\nid = 0\nname = \"\\u001b[31m\"\n"),
            "s.toml:6:1: nodes.node[0].name: ",
            ["control characters", "remove them"],
        ),
        (CHAIN.replace("= 3", "= 0"), "s.toml:1:7: nodes.count: ", ["has no nodes", "give 1 to"]),
        (CHAIN.replace("= 3", "= 100000000"), "s.toml:1:7: nodes.count: ", ["too many", "give 1 to"]),
        (
            CHAIN.replace("= 3", "= \"two\""),
            "s.toml:1:15: ",
            ["\"two\" is not a whole number", "from 0 to 4294967295"],
        ),
    ]);
}

#[test]
fn wrong_times_and_movement_are_refused_at_their_line() {
    let walk = |speeds: &str| format!("{WAYPOINT}movement = {{ kind = \"random-waypoint\", {speeds} }}\n");
    assert_refused(&[
        (CHAIN.replace("= 2\n", "= 0\n"), "s.toml:2:1: duration_s: ", ["is not a duration", "above zero"]),
        (CHAIN.replace("= 2\n", "= -1\n"), "s.toml:2:1: duration_s: ", ["is not a duration", "above zero"]),
        (CHAIN.replace("= 2\n", "= nan\n"), "s.toml:2:1: duration_s: ", ["nan", "range"]),
        (CHAIN.replace("= 2\n", "= 1e300\n"), "s.toml:2:1: duration_s: ", ["1e300 is not a number", "range"]),
        (CHAIN.replace("200", "nan"), "s.toml:3:30: movement.spacing_m: ", ["nan", "range"]),
        (
            walk("speed_min_mps = -1, speed_max_mps = 20"),
            "s.toml:4:40: movement.speed_min_mps: ",
            ["-1 is not", "range"],
        ),
        (
            walk("speed_min_mps = 30, speed_max_mps = 20"),
            "s.toml:4:60: movement.speed_max_mps: ",
            ["below speed_min_mps", "swap"],
        ),
        (
            "name = \"x\" = 3\n".to_owned(),
            "s.toml:1:12: ",
            ["expected newline", "write one key with one value per line"],
        ),
        (CHAIN[..70].to_owned(), "s.toml:3:", ["", "correct the line"]),
        (String::new(), "s.toml: movement: ", ["missing; only real hosts do without it", "add: movement ="]),
    ]);
}

#[test]
fn wrong_ns2_files_are_refused_at_their_line() {
    for (text, place, piece) in [
        ("$node_(0) set X_ nan\n", "m.tcl:1:18: X_: ", "nan is not a finite number"),
        ("$node_(0) set X_ 1e999\n", "m.tcl:1:18: X_: ", "not a finite number"),
        ("$ns_ at 0.5 \"$node_(1) setdest 8 3 -1.9\"\n", "m.tcl:1:", "-1.9 is negative; use zero or more"),
        ("$ns_ at -3 \"$node_(1) setdest 8 3 1\"\n", "m.tcl:1:", "-3"),
        (
            "$ns_ at 0.5 \"$node_(1) setdst 8 3 1\"\n",
            "m.tcl:1:",
            "is not a line of a movement or traffic file",
        ),
        ("$ns_ at 0.5 \"$node_(1) setdest 8", "m.tcl:1:", "never closed"),
        ("$node_(4000000000) set X_ 1\n", "m.tcl:1:", "4000000000"),
        ("exec rm -rf /\n", "m.tcl:1:1: ", "is not a line of a movement or traffic file"),
        ("", "m.tcl: ", "has no nodes; write lines such as"),
        ("\0\0\0\0\0\0\0\0", "m.tcl:1:1: ", "\\0"),
    ] {
        let message = refused("m.tcl", text.as_bytes());
        assert!(message.starts_with(place) && message.contains(piece), "{place} {piece}\n{message}");
    }
}

#[test]
fn a_flow_to_a_node_that_does_not_exist_is_refused_as_cbrgen_makes_them() {
    let dir = folder(&[]);
    let cbr = fs::read_to_string(data("line.cbr.tcl")).expect("a file").replace("node_(3)", "node_(4)");
    fs::write(dir.path().join("t.tcl"), cbr).expect("a file");
    let message =
        run_in(dir.path(), &["run", "--movement", &data("line.tcl"), "--traffic", "t.tcl"]).failure(2);
    assert!(message.starts_with("wayhop: t.tcl:5:1: ") && message.contains("node 4"), "{message}");
}

#[test]
fn what_is_no_text_is_refused() {
    for name in ["s.toml", "m.tcl"] {
        let message = refused(name, b"name = \"\xff\xfe\"\n");
        assert!(message.starts_with(&format!("{name}:1:9: is not UTF-8 text; check")), "{message}");
        // The head of an ELF file.
        let message = refused(name, b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0\x01\0\0\0\xd0\x1d");
        assert!(message.starts_with(&format!("{name}:1:")), "{message}");
        assert!(!message.contains(char::is_control), "{message:?}");
    }
}

#[test]
fn a_missing_file_and_a_folder_are_refused_by_name() {
    let dir = folder(&[]);
    for (args, expected) in [
        (&["run", "none.toml"][..], "wayhop: none.toml: no such file; check the name"),
        (&["run", "--movement", "none.tcl"], "wayhop: none.tcl: no such file; check the name"),
        (
            &["run", "m.tcl"],
            "wayhop: m.tcl: ns-2 files are not scenario files; give this file with --movement",
        ),
        (&["run", "."], "wayhop: .: is a folder; give a file in it"),
        (&["run", "--movement", "."], "wayhop: .: is a folder; give a file in it"),
        (&["export", "ns2", "none.toml"], "wayhop: none.toml: no such file"),
        (&["import", "ns2", "--movement", "none.tcl"], "wayhop: none.tcl: no such file"),
        (&["export", "csv", ".", "packets"], "wayhop: .: not a run directory"),
        (&["decode", "none.pcap"], "wayhop: cannot read none.pcap: No such file"),
        (&["decode", "."], "wayhop: .: "),
    ] {
        let message = run_in(dir.path(), args).failure(2);
        assert!(message.starts_with(expected), "{args:?}: {message}");
    }
}

#[test]
fn what_is_no_capture_is_refused() {
    let dir = folder(&[]);
    let walk = data("walk.toml");
    let message = run_in(dir.path(), &["decode", &walk]).failure(2);
    assert!(message.contains("neither a pcap nor a pcapng file"), "{message}");
    // A capture that was cut in the middle of a block: what is before the cut is printed.
    run_in(dir.path(), &["run", &walk, "--captures", "--out", "r", "--quiet"]).ok();
    let whole = fs::read(dir.path().join("r/captures/1.pcapng")).expect("a capture");
    fs::write(dir.path().join("cut.pcapng"), &whole[..whole.len() - 7]).expect("a file");
    let ran = run_in(dir.path(), &["decode", "cut.pcapng"]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.out.lines().count() > 10);
    assert!(ran.err.starts_with("wayhop: cut.pcapng: at byte "), "{}", ran.err);
}

#[test]
fn an_unknown_table_is_answered_with_those_that_there_are() {
    let dir = folder(&[]);
    run_in(dir.path(), &["run", &data("walk.toml"), "--duration", "1", "--out", "r", "--quiet"]).ok();
    let message = run_in(dir.path(), &["export", "csv", "r", "packet"]).failure(2);
    assert!(message.contains("no table `packet`; the tables are packets, positions"), "{message}");
}

#[test]
fn files_that_are_too_large_are_refused_before_they_are_read() {
    let dir = folder(&[]);
    for (name, args) in
        [("big.toml", &["run", "big.toml"][..]), ("big.tcl", &["run", "--movement", "big.tcl"])]
    {
        // A hole of a gigabyte.
        File::create(dir.path().join(name)).and_then(|f| f.set_len(1 << 30)).expect("a file");
        let message = run_in(dir.path(), args).failure(2);
        assert!(message.contains(&format!("{name}: has 1073741824 bytes; the limit is")), "{message}");
    }
    let bomb = "head -c 300000000 /dev/zero | gzip -1 > bomb.tcl.gz";
    assert!(
        Command::new("sh").args(["-c", bomb]).current_dir(dir.path()).status().expect("a shell").success()
    );
    let message = run_in(dir.path(), &["run", "--movement", "bomb.tcl.gz"]).failure(2);
    assert!(message.contains("bomb.tcl.gz: has more than"), "{message}");
}

#[test]
fn what_the_command_line_sets_is_not_blamed_on_the_file() {
    let dir = folder(&[]);
    let walk = data("walk.toml");
    for (args, expected) in [
        (
            &["--protocol", "dsrr"][..],
            "protocol.name (from the command line): unknown name \"dsrr\"; did you mean `dsr`?",
        ),
        (
            &["--profile", "rcf"],
            "protocol.profile (from the command line): \"rcf\" is not a profile of any protocol; did you mean `rfc`?",
        ),
        (
            &["--radio", "80211n"],
            "radio.preset (from the command line): unknown name \"80211n\"; did you mean `80211b`?",
        ),
        (&["--duration", "1e300"], "duration_s (from the command line): 1e300 is not a number from 0 to"),
        (
            &["--set", "traffic.0.rate_pps=-1"],
            "traffic[0].rate_pps (from the command line): -1 is not a number",
        ),
        (
            &["--set", "radio.tx_power_db=1"],
            "radio.tx_power_db (from the command line): unknown key; did you mean `tx_power_dbm`?",
        ),
        (&["--seed", "3", "--set", "foo=1"], "--set foo=1: unknown key `foo`"),
        (&["--set", "foo"], "--set foo: the setting has no =; write --set path.key=value"),
        (&["--set", "="], "--set =: the path has an empty name"),
        (&["--set", "nodes.count=-3"], "--set nodes.count=-3: -3 is not a whole number from 0 to 4294967295"),
        (&["--set", "seed.x=1"], "--set seed.x=1: "),
    ] {
        let message = run_in(dir.path(), &[&["run", &walk], args].concat()).failure(2);
        assert!(message.starts_with(&format!("wayhop: {expected}")), "{args:?}: {message}");
        assert!(!message.contains("walk.toml"), "{message}");
    }
}

#[test]
fn a_node_without_what_it_needs_says_which_option_gives_it() {
    let dir = folder(&[("empty.toml", "")]);
    let refused = |args: &[&str]| run_in(dir.path(), &[&["node"], args].concat()).failure(2);
    let node = ["--interface", "eth0", "--address", "10.0.0.1/16"];
    for (args, message) in [
        (&[][..], "interface is missing: give --interface wlan0, or set it in a configuration file"),
        (&node[..2], "address is missing: give --address 10.0.0.3/16, or set it in a configuration file"),
        (&["empty.toml"], "empty.toml:1:1: the key `interface` is missing; add interface"),
        (&["empty.toml", "--interface", "eth0"], "empty.toml: the key `address` is missing; add address"),
        (&["none.toml"], "none.toml: no such file; check the name\n"),
        (&[&node[..], &["--set", "bogus=1"]].concat(), "--set bogus=1: unknown key `bogus`"),
        (
            &[&node[..], &["--set", "gpsd=nowhere"]].concat(),
            "gpsd (from the command line): \"nowhere\" is not a host and port",
        ),
        (&["--interface", "a b", "--address", "10.0.0.1/16"], "give 1 to 15 characters without spaces"),
    ] {
        let said = refused(args);
        assert!(said.contains(message), "{args:?}: {said}");
    }
}
