//! What a user reads when a scenario file is wrong.

use wayhop_scenario::Scenario;

const GOOD: &str = "nodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 200 }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 3\n";

/// A flow that has no `rate_pps`.
const PING: &str = "[[traffic]]\nkind = \"ping\"\nsrc = 1\ndst = 2\n";

fn message(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.toml");
    std::fs::write(&path, text).unwrap();
    let e = Scenario::load(&path, &[]).and_then(|s| s.resolve()).map(|_| ()).unwrap_err();
    e.to_string().replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn the_good_file_is_good() {
    let r = Scenario::from_text(GOOD, &[]).unwrap().resolve().unwrap();
    assert_eq!((r.tracks.len(), r.flows.len()), (4, 1));
}

/// What is written before everything else, and the message from its column in line 1 on.
const BEFORE: &[(&str, &str)] = &[
    ("duration_s = 0", "1: duration_s: 0 is not a duration; give a number of seconds above zero"),
    ("duration_s = -3.5", "1: duration_s: -3.5 is not a duration; give a number of seconds above zero"),
    (
        "radio.preset = \"wavelan-914-cum\"",
        "7: radio.preset: unknown name \"wavelan-914-cum\"; did you mean `wavelan-914-cmu`? (known: wavelan-914-cmu, wavelan-914-ns2, wavelan-914-sinr, wavelan-i, wavelan-i-pcmcia, wavelan-i-isa, 80211b, 80211g, 80211g-54, 80211a-54, meshtest)",
    ),
    ("radio.queue_packet = 5", "7: radio.queue_packet: unknown key; did you mean `queue_packets`?"),
    (
        "radio.data_rate_mbps = 3",
        "7: radio.data_rate_mbps: 3 Mb/s is not one of [1.0, 2.0, 5.5, 11.0]; see docs/reference/scenario.md",
    ),
    (
        "protocol.name = \"olsr\"",
        "10: protocol.name: unknown name \"olsr\"; did you mean `dsr`? (known: dsr, aodv, dsdv, none, controlled)",
    ),
    (
        "protocol.profile = \"das\"",
        "10: protocol.profile: \"das\" is a profile of aodv, not of dsr; choose one of its own (dsr has rfc, ns2, cmu)",
    ),
    (
        "nodes.node = [{ id = 0, card = \"wavelan-i-iso\" }]",
        "25: nodes.node[0].card: unknown name \"wavelan-i-iso\"; did you mean `wavelan-i-isa`? (known: wavelan-914-cmu, \
         wavelan-914-ns2, wavelan-914-sinr, wavelan-i, wavelan-i-pcmcia, wavelan-i-isa, 80211b, 80211g, 80211g-54, 80211a-54, meshtest)",
    ),
    ("protocol.salvag = true", "10: protocol.salvag: unknown key; did you mean `salvage`?"),
    (
        "protocol = { name = \"aodv\", net_diameter = 0 }",
        "29: protocol.net_diameter: net_diameter is 0: give at least 1; change that key, or remove it to use the profile's value",
    ),
    ("captures.nodes = [7]", "19: captures.nodes[0]: there is no node 7; the nodes are 0 to 3"),
    (
        "nodes.node = [{ id = 4 }]",
        "17: nodes.node[0].id: there is no node 4; the scenario has 4 nodes; give 0 to 3",
    ),
    (
        "nodes.node = [{ id = 1 }, { id = 1 }]",
        "29: nodes.node[1].id: nodes.node[0] already describes node 1; merge the two entries",
    ),
    (
        "nodes.node = [{ id = 1, address = \"10.0.0.1\" }]",
        "7: nodes.node: nodes 0 and 1 both have the address 10.0.0.1; give each node its own address (the default of node N is 10.0.0.1 + N)",
    ),
    (
        "nodes.node = [{ id = 1, name = \"3\" }]",
        "7: nodes.node: nodes 1 and 3 are both named \"3\"; give each node its own name",
    ),
];

/// What is written in place of `dst = 3` and after it, and the message; `RANGE` stands for its usual remedy.
const FLOWS: &[(&str, &str)] = &[
    ("dst = 4", "6:1: traffic[0].dst: there is no node 4; the nodes are 0 to 3"),
    ("dst = \"gate\"", "6:1: traffic[0].dst: there is no node named \"gate\"; add the name in nodes.node"),
    ("dst = 0", "6:1: traffic[0].dst: source and destination are the same node; name another node"),
    (
        "dst = 3\n[[commands]]\nkind = \"purge-routes\"\nnodes = [1, 9]",
        "9:1: commands[0].nodes: there is no node 9; the nodes are 0 to 3",
    ),
    (
        "dst = 3\n[[commands]]\nkind = \"purge-routes\"\nevery_s = 0",
        "9:1: commands[0].every_s: 0 is not a number from 0.001 to 31622400RANGE",
    ),
    (
        "dst = 3\nrate_pps = inf",
        "7:1: traffic[0].rate_pps: inf is not a number from 0.000000001 to 1000000RANGE",
    ),
    (
        "dst = 3\nstart_s = 5\nstop_s = 5",
        "8:1: traffic[0].stop_s: 5 is not after start_s = 5; give a later time, or remove the key",
    ),
    (
        "dst = 3\npayload_bytes = 70000",
        "7:1: traffic[0].payload_bytes: 70000 is not a number from 1 to 65507RANGE",
    ),
];

/// What is written in place of the number of nodes and the movement, and the message.
const MOVEMENTS: &[(&str, &str, &str)] = &[
    ("0", "", "s.toml:1:7: nodes.count: the scenario has no nodes; give 1 to 1000000"),
    ("2000000", "", "s.toml:1:7: nodes.count: 2000000 nodes are too many; give 1 to 1000000"),
    (
        "",
        "",
        "s.toml: nodes.count: missing; this scenario's movement does not imply it; set the number of nodes",
    ),
    (
        "4",
        "\"chain\", spacing_m = nan",
        "s.toml:2:30: movement.spacing_m: nan is not a number from 0 to 1000000RANGE",
    ),
    (
        "4",
        "\"chain\", spacing_m = -5",
        "s.toml:2:30: movement.spacing_m: -5 is not a number from 0 to 1000000RANGE",
    ),
    (
        "4",
        "\"random-waypoint\", speed_max_mps = 5",
        "s.toml: area: missing; this kind of movement requires it; add: area = { x_m = 1500, y_m = 300 }",
    ),
    (
        "4",
        "\"static\", positions = [{ x = 1 }]",
        "s.toml:1:7: nodes.count: 4 nodes, but 1 position; remove nodes.count: the positions imply it",
    ),
    (
        "4",
        "\"ns2\", path = \"m.tcl\"",
        "m.tcl: no such file; check the name; paths in a scenario are relative to its folder",
    ),
];

#[test]
fn each_mistake_is_named_by_file_line_key_and_remedy() {
    let before = BEFORE.iter().map(|(text, m)| (format!("{text}\n{GOOD}"), format!("s.toml:1:{m}")));
    let flows = FLOWS.iter().map(|(text, m)| (GOOD.replace("dst = 3", text), format!("s.toml:{m}")));
    let movements = MOVEMENTS.iter().map(|(count, movement, m)| {
        let count = if count.is_empty() { String::new() } else { format!("nodes.count = {count}\n") };
        let movement = if movement.is_empty() { "\"chain\", spacing_m = 200" } else { movement };
        let text = GOOD.replace("nodes.count = 4\n", &count);
        (text.replace("\"chain\", spacing_m = 200", movement), (*m).to_owned())
    });
    let mut wrong = Vec::new();
    for (text, expect) in before.chain(flows).chain(movements) {
        let (got, expect) = (message(&text), expect.replace("RANGE", "; give a number in that range"));
        if got != expect {
            wrong.push(format!("{got}\nnot {expect}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_that_would_run_nowhere_twice_or_without_an_address_are_refused() {
    for (keys, expect) in [
        (
            "nodes = []",
            "nodes: the list is empty; list nodes, or remove `nodes` to run the program on all of them",
        ),
        ("nodes = [1, 1]", "nodes[1]: node 1 is listed twice; remove one of the two"),
        ("node = 1\nnodes = [1]", "nodes: both `node` and `nodes` are given; remove one of the two"),
        ("output = \"a\"", "output: the program writes \"a\" on several nodes; put {node} into the name"),
        (
            "output = \"{address6}\"",
            "command: {address6}: the nodes have no IPv6 addresses; set nodes.ipv6 = true, or use {address}",
        ),
    ] {
        let got = message(&format!("{GOOD}[[programs]]\ncommand = [\"true\"]\n{keys}\n"));
        assert!(got.ends_with(&format!(" programs[0].{expect}")), "{keys}: {got}");
    }
    let text = format!("nodes.ipv6 = true\n{GOOD}[[programs]]\ncommand = [\"ping\", \"{{address6}}\"]\n");
    let r = Scenario::from_text(&text, &[]).unwrap().resolve().unwrap();
    let addresses = &r.ipv6.as_ref().unwrap().addresses;
    assert!(
        r.programs
            .iter()
            .map(|p| &p.command[1])
            .eq(&addresses.iter().map(ToString::to_string).collect::<Vec<_>>())
    );
}

#[test]
fn a_tcp_key_that_would_change_nothing_is_refused_with_what_it_is_for() {
    let other = |of: &str| format!("this key requires {of}; remove it, or set that");
    let elfn = "route_failure = \"elfn\" or \"elfn-half\"";
    for (keys, key, expect) in [
        ("probe_interval_s = 1", "probe_interval_s", other(elfn)),
        ("route_failure = \"tcp-f\"\nprobe_interval_s = 1", "probe_interval_s", other(elfn)),
        (
            "route_failure = \"elfn\"\nroute_failure_timer_s = 3",
            "route_failure_timer_s",
            other("route_failure = \"tcp-f\""),
        ),
        ("delayed_ack = false\ndelayed_ack_s = 0.2", "delayed_ack_s", other("delayed_ack = true")),
        ("on_s = 2", "on_s", other("application = \"on-off\"")),
        ("application = \"on-off\"\nrequest_bytes = 5", "request_bytes", other("application = \"requests\"")),
        ("application = \"requests\"\nbytes = 5", "bytes", other("application = \"ftp\"")),
        ("max_rto_s = 0.5", "max_rto_s", "0.5 s is below min_rto_s, 1 s; give another value".to_owned()),
    ] {
        let text = GOOD.replace("cbr", "tcp") + keys;
        let line = text.lines().count();
        assert_eq!(message(&text), format!("s.toml:{line}:1: traffic[0].{key}: {expect}"));
    }
    for keys in [
        "route_failure = \"elfn-half\"\nprobe_interval_s = 1",
        "route_failure = \"tcp-f\"\nroute_failure_timer_s = 3",
        "profile = \"ns2\"\ndelayed_ack_s = 0.2",
        "application = \"on-off\"\non_s = 2\noff_s = 0",
    ] {
        let text = GOOD.replace("cbr", "tcp") + keys;
        assert!(Scenario::from_text(&text, &[]).unwrap().resolve().is_ok(), "{keys}");
    }
}

#[test]
fn mistakes_of_form_are_named_where_they_are() {
    let mut wrong = Vec::new();
    for (text, expect) in [
        ("nodes.count = 4\nmovment = 3\n", "s.toml:2:1: unknown key `movment`"),
        (&GOOD.replace("dst = 3", "dts = 3"), "s.toml:6:1: unknown key `dts`"),
        (&GOOD.replace("spacing_m", "spacing"), "s.toml:2:30: unknown key `spacing`"),
        (&GOOD.replace("\"cbr\"", "\"cbs\""), "s.toml:4:9: unknown value `cbs`"),
        (
            &format!("{GOOD}rate_pps = 1\n{PING}rate_pps = 2\n"),
            "s.toml:12:1: unknown key `rate_pps`; expected one of `src`, `dst`, `start_s`",
        ),
        (&format!("{GOOD}{PING}").replace("\"ping\"", "\"pin\""), "s.toml:8:9: unknown value `pin`"),
        (&format!("{GOOD}{PING}").replace("dst = 2\n", ""), "s.toml:7:1: the key `dst` is missing"),
        ("nodes.count = 4\n", "s.toml: movement: missing; only real hosts do without it; add: movement = {"),
        ("nodes.count = \n", "s.toml:1:15: "),
        ("nodes.count = 4\nnodes.count = 5\n", "s.toml:2:7: duplicate key"),
        (
            "nodes.count = \"four\"\n",
            "s.toml:1:15: nodes.count: \"four\" is not a whole number from 0 to 4294967295; write a whole number in digits",
        ),
        (&GOOD[..GOOD.len() - 9], "s.toml:"),
    ] {
        let m = message(text);
        if !m.starts_with(expect) {
            wrong.push(format!("{m}\nnot {expect}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(message(&GOOD.replace("dst = 3", "dts = 3")).contains("did you mean `dst`?"));
}

/// What is written in place of `rate_pps = 4`, and the message from its column on.
const WRONG_VALUES: &[(&str, &str)] = &[
    (
        "rate_pps = fifty",
        ":12: `fifty` is not a value; write numbers in digits and strings in quotes: \"fifty\"",
    ),
    ("rate_pps = true5", ":12: `true5` is not a value; write numbers in digits"),
    (
        "rate_pps = 4pps",
        ":12: `4pps` is not a value; write 4 without a unit: the name of the key includes it",
    ),
    ("rate_pps = 4.5 pps # slow", ":12: `4.5 pps` is not a value; write 4.5 without a unit"),
    ("name = True", ":8: `True` is not a value; write true in lower case"),
    ("name = off", ":8: `off` is not a value; write false"),
    ("rate_pps = \"4\"", ":12: traffic[0].rate_pps: \"4\" is not a number; write 4 without quotes"),
    ("rate_pps = \"fast\"", ":12: traffic[0].rate_pps: \"fast\" is not a number; write a number in digits"),
    (
        "payload_bytes = 64.0",
        ":17: traffic[0].payload_bytes: 64.0 is not a whole number from 0 to 4294967295; write 64",
    ),
    ("poisson = \"yes\"", ":1: unknown key `poisson`"),
    ("rate_pps = 1,5", ":13: unexpected key or value, expected newline, `#`; use a decimal point"),
    ("rate_pps = .5", ":12: invalid mantissa, expected digits; write a digit before the point"),
    ("rate_pps = 5.", ":14: invalid fraction, expected digits; write a digit after the point"),
    ("rate_pps = 04", ":12: unexpected leading zero, expected nothing; remove the leading zeros"),
    ("rate_pps == 4", ":11: extra `=`, expected nothing; write a single ="),
    ("rate_pps: 4", ":11: key with no value, expected `=`; write key = value"),
];

#[test]
fn a_value_of_the_wrong_form_is_named_with_its_key_and_what_to_write() {
    let mut wrong = Vec::new();
    for (line, expect) in WRONG_VALUES {
        // The line is the seventh.
        let m = message(&format!("{GOOD}{line}\n"));
        if !m.starts_with(&format!("s.toml:7{expect}")) {
            wrong.push(format!("{m}\nnot s.toml:7{expect}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_wrong_value_of_many_alike_is_found() {
    // A name may be "4", and the third flow's rate may not; serde knows the place of the first flow only.
    let named = "[nodes]\ncount = 4\nnode = [{ id = 0, name = \"4\" }]\n";
    let flow = "[[traffic]]\nkind = \"cbr\"\nsrc = \"4\"\ndst = 3\n";
    let text = format!("movement = {{ kind = \"chain\", spacing_m = 200 }}\n{named}{}", flow.repeat(3));
    let m = message(&format!("{text}rate_pps = \"4\"\n"));
    assert!(m.starts_with("s.toml:17:12: traffic[2].rate_pps: \"4\" is not a number"), "{m}");
    assert!(message(&text.replace("200", "\"200\"")).starts_with("s.toml:1:42: movement.spacing_m: \"200\""));
}

#[test]
fn names_of_protocols_profiles_and_radios_may_be_written_in_capitals() {
    let sets = ["protocol.name=AODV", "protocol.profile=Rfc", "radio.preset=WaveLAN-914-CMU"];
    let s = Scenario::from_text(GOOD, &sets.map(str::to_owned)).unwrap();
    assert_eq!(
        (&*s.protocol.name, s.protocol.profile(), &*s.radio.preset),
        ("aodv", "rfc", "wavelan-914-cmu")
    );
    assert_eq!(s.resolve().unwrap().protocol.name(), "aodv");
    let m = message(&GOOD.replace("[[traffic]]", "protocol.name = \"OLSR\"\n[[traffic]]"));
    assert!(m.contains("protocol.name: unknown name \"OLSR\"; did you mean"), "{m}");
}

#[test]
fn a_range_that_follows_from_other_keys_is_refused_with_the_value_that_makes_it() {
    let with = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        Scenario::from_text(GOOD, &sets).and_then(|s| s.resolve())
    };
    for (range, threshold) in
        [("range_m", "receive_threshold_dbm"), ("carrier_sense_range_m", "carrier_sense_threshold_dbm")]
    {
        let e = with(&[&format!("radio.{range}=200")]).unwrap_err().to_string();
        let follows =
            format!("this is derived from tx_power_dbm, path_loss and {threshold} and cannot be set; set ");
        assert!(e.contains(&format!("radio.{range}")) && e.contains(&follows), "{e}");
        let (_, remedy) = e.split_once("; set ").unwrap();
        let (set, _) = remedy.split_once(" for 200 m").unwrap();
        let r = with(&[&format!("radio.{}", set.replace(' ', ""))]).unwrap();
        let config = &r.interfaces.radios[0].config;
        let made = if range == "range_m" { config.nominal_range_m() } else { config.carrier_sense_range_m() };
        assert_eq!(made, 200.0, "{set}");
    }
}

#[test]
fn a_setting_from_the_command_line_is_named_as_such() {
    let wrong = |set: &str| {
        Scenario::from_text(GOOD, &[set.to_owned()]).and_then(|s| s.resolve()).unwrap_err().to_string()
    };
    let e = wrong("nodes.cuont=3");
    assert!(e.starts_with("--set nodes.cuont=3: unknown key `cuont`; expected one of"), "{e}");
    assert!(e.contains("; did you mean `count`?"), "{e}");
    assert_eq!(
        wrong("radio.tx_power_db=3"),
        "radio.tx_power_db (from the command line): unknown key; did you mean `tx_power_dbm`?"
    );
    assert!(wrong("traffic.9.src=3").contains("there is no element 9 in a list of 1"));
}

#[test]
fn an_absurd_amount_of_motion_is_refused_before_it_is_drawn() {
    let text = "nodes.count = 100000\nduration_s = 1e6\narea = { x_m = 10, y_m = 10 }\n\
        movement = { kind = \"random-waypoint\", speed_min_mps = 10, speed_max_mps = 20 }\n";
    let e = message(text);
    assert!(e.starts_with("s.toml:4:1: movement: the nodes would make about ") && e.contains("trips"), "{e}");
}

#[test]
fn geographic_places_need_an_origin_and_land_around_it() {
    let text = "movement = { kind = \"static\", positions = [{ lat = 40.44, lon = -79.94 }, { lat = 40.441, lon = -79.94 }] }\n";
    assert!(
        message(text)
            .contains("movement.positions[0]: latitude and longitude require an origin; add: origin =")
    );
    let with = format!("origin = {{ lat = 40.44, lon = -79.94, alt = 300 }}\n{text}");
    let r = Scenario::from_text(&with, &[]).unwrap().resolve().unwrap();
    let p = r.tracks[1].position(wayhop_core::Time::ZERO);
    // A thousandth of a degree of latitude is 111.0 m at 40 degrees (the meridian's radius there is 6,362 km).
    assert!(p.x.abs() < 0.01 && (p.y - 111.04).abs() < 0.1, "{p:?}");
    assert!(
        message(&with.replace("lat = 40.441", "lat = 95"))
            .contains("movement.positions[1].lat: 95 is not a number from -90 to 90")
    );
}

#[test]
fn bursts_and_traces_that_make_no_sense_are_named() {
    let wrong = |kind: &str, keys: &str| {
        let text = GOOD.replace("cbr", kind) + keys;
        message(&text).replace("s.toml:7:1: traffic[0].", "")
    };
    for (kind, keys, expect) in [
        (
            "on-off",
            "on_s = 0",
            "on_s: 0 is not a number from 0.000001 to 1000000000; give a number in that range",
        ),
        (
            "pareto",
            "off_s = -1",
            "off_s: -1 is not a number from 0 to 1000000000; give a number in that range",
        ),
        ("pareto", "shape = 1", "shape: 1 is not a number from 1.01 to 100; give a number in that range"),
        (
            "on-off",
            "rate_bps = 1e12",
            "rate_bps: 1000000000000 is not a number from 0.000000512 to 512000000; give a number in that range",
        ),
        (
            "trace",
            "path = \"none.csv\"",
            "none.csv: no such file; check the name; paths in a scenario are relative to its folder",
        ),
    ] {
        assert_eq!(wrong(kind, keys), expect);
    }
    let unknown = wrong("on-off", "shape = 2");
    assert!(unknown.contains("unknown key `shape`"), "{unknown}");
    // The scenario itself is no trace.
    assert_eq!(
        wrong("trace", "path = \"s.toml\""),
        "s.toml:1:1: begins with \"nodes.count = 4\", which is not a header; begin with the line time_s,octets"
    );
    assert!(wrong("trace", "path = \"s.toml\"\nformat = \"ns2\"").starts_with("s.toml: "));
}

#[test]
fn a_trace_is_read_once_and_its_packets_are_limited_over_all_files() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.csv"), "time_s,octets\n0,100\n1.5,200\n").unwrap();
    let text = GOOD.replace("cbr", "trace") + "path = \"t.csv\"\n";
    let both =
        format!("{text}[[traffic]]\nkind = \"trace\"\nsrc = 1\ndst = 2\npath = \"t.csv\"\nstart_s = 2\n");
    std::fs::write(dir.path().join("s.toml"), both).unwrap();
    let r = Scenario::load(&dir.path().join("s.toml"), &[]).and_then(|s| s.resolve()).unwrap();
    let schedules: Vec<_> = r
        .flows
        .iter()
        .map(|f| match &f.kind {
            wayhop_scenario::FlowKind::Trace(schedule) => std::sync::Arc::as_ptr(schedule),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(schedules[0], schedules[1]);
    // Four octets a line: a file within the limit of files may have more packets than fit.
    let many = format!("time_s,octets\n{}", "0,1\n".repeat(10_000_001));
    std::fs::write(dir.path().join("t.csv"), many).unwrap();
    let e =
        Scenario::load(&dir.path().join("s.toml"), &[]).and_then(|s| s.resolve()).unwrap_err().to_string();
    assert!(
        e.ends_with(
            "t.csv:10000002:1: the scenario's traces have more than 10000000 packets; make them shorter"
        ),
        "{e}"
    );
}

#[test]
fn batteries_that_make_no_sense_are_named() {
    let wrong = |keys: &str| message(&format!("{GOOD}{keys}\n"));
    for (keys, expect) in [
        ("[energy]\ntx_w = 1", "s.toml:7:2: energy: initial_j is missing; give its energy in joules"),
        (
            "[energy]\ninitial_j = 0",
            "s.toml:8:1: energy.initial_j: 0 is not a number from 0.000001 to 1000000000; give a number in that range",
        ),
        (
            "[energy]\ninitial_j = 1\nidle_w = -1",
            "s.toml:9:1: energy.idle_w: -1 is not a number from 0 to 1000000000; give a number in that range",
        ),
    ] {
        assert_eq!(wrong(keys), expect);
    }
    let mains = wrong("[[nodes.node]]\nid = 1\nmains = true");
    assert!(mains.ends_with("nodes.node[0].mains: no node has a battery; remove the key"), "{mains}");
    let both = wrong("[[nodes.node]]\nid = 1\nmains = true\nenergy = { initial_j = 1 }");
    assert!(both.contains("a node on mains has no battery"), "{both}");
    let radios = wrong("[energy]\ninitial_j = 1\n[[radios]]\nchannel = 6\npreset = \"80211b\"");
    assert!(radios.contains("batteries require one radio per node"), "{radios}");
}
