//! Nodes whose kernels do the routing: what the kernel sends crosses the emulated radio frame by frame, and routing daemons
//! run as they are. Needs root and Debian's babeld, bird2 and frr.

use std::path::Path;

use serde_json::Value;
use wayhop_testkit::tshark;

use crate::emulate::skip_without_root;
use crate::ns3_libraries::{VERSIONS, build};
use crate::why::table;
use crate::{folder, run_in};

/// Nodes in a line, each in range of its neighbours only, without a routing protocol.
fn line(nodes: u32, more: &str) -> String {
    format!(
        "protocol.name = \"none\"\nnodes.count = {nodes}\nmovement = {{ kind = \"chain\", spacing_m = 200 }}\n{more}"
    )
}

/// Four nodes in a ring; from 45 s on the first two do not hear each other, and the ring is a line.
const RING: &str = r#"
protocol.name = "none"
duration_s = 240
nodes = { count = 4, ipv6 = true }
movement = { kind = "static", positions = [[0, 0], [200, 0], [200, 200], [0, 200]] }
path_losses = [{ nodes = [0, 1], db = [[45, 200]] }]
"#;

/// Runs a shell's command in node 0, into the run directory `run`; gives what it printed and the summary.
fn emulated(dir: &Path, more: &[&str], script: &str) -> (String, Value) {
    let args = [&["emulate", "s.toml", "--out", "run", "--json", "--quiet"], more].concat();
    let out = run_in(dir, &[&args[..], &["--node", "0", "--", "sh", "-c", script]].concat()).ok();
    let at = out.find("{\"wayhop\"").expect("a summary");
    (out[..at].to_owned(), serde_json::from_str(out[at..].trim()).expect("one JSON object"))
}

#[test]
fn kernels_find_their_neighbours_by_arp_and_neighbour_discovery_and_groups_reach_all_in_range() {
    skip_without_root!();
    let dir = folder(&[("s.toml", &line(3, "duration_s = 60\n[captures]\nall = true\n"))]);
    let script = "sleep 1; ping -c 3 -i 0.5 mesh-1; ping -c 3 -i 0.3 -I mesh0 fe80::aff:fe00:2; \
                  ping -c 3 -i 0.3 ff02::1%mesh0; ping -c 1 -W 4 mesh-2; ip -6 neigh; ip link show mesh0";
    let (said, summary) = emulated(dir.path(), &[], script);
    // The neighbour answers; the node behind it is out of range, and this one's kernel says so.
    for line in [
        "3 packets transmitted, 3 received",
        "from fe80::aff:fe00:2%mesh0: icmp_seq=1",
        "1 packets transmitted, 0 received",
        "Destination Host Unreachable",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let answers = said.matches("bytes from fe80::aff:fe00:2%mesh0").count();
    assert!(answers >= 5, "three to itself, and to the group: {said}");
    assert!(said.contains("02:00:0a:00:00:01"), "{said}");
    assert!(!said.contains("fe80::aff:fe00:3"), "only neighbours hear a group: {said}");
    assert!(summary["totals"]["received"].as_u64().is_some_and(|n| n >= 12), "{summary}");

    let rows = table(dir.path(), "run", "packets");
    let of =
        |class: &str, event: &str| rows.iter().filter(|r| r["class"] == class && r["event"] == event).count();
    // Address resolution is sent and received, and nothing else.
    assert!(of("arp", "send") >= 5 && of("arp", "receive") >= 5, "{rows:?}");
    assert_eq!(of("arp", "originate") + of("arp", "deliver"), 0);
    let lost = |r: &&crate::why::Row| r["event"] == "drop";
    assert_eq!(rows.iter().filter(lost).count(), 0, "no frame for a node that is there was lost");
    captures_have_the_frames(dir.path());
}

/// tshark reads each node's frames: ARP, neighbour discovery with the right checksums, and groups at their link addresses.
fn captures_have_the_frames(dir: &Path) {
    let mut seen = std::collections::BTreeSet::new();
    for node in 0..3 {
        let capture = dir.join(format!("run/captures/{node}.pcapng"));
        assert_eq!(tshark::complaints(&capture), Ok(vec![]), "node {node}");
        let fields = ["_ws.col.Protocol", "icmpv6.type", "icmpv6.checksum.status", "wlan.ra"];
        for row in tshark::fields(&capture, "arp or ipv6", &fields).expect("tshark") {
            assert!(row[2].is_empty() || row[2] == "1", "a right checksum: {row:?}");
            let group = if row[3].starts_with("33:33:") { "group" } else { "" };
            seen.insert((row[0].clone(), row[1].clone(), group));
        }
    }
    for what in
        [("ARP", "", ""), ("ICMPv6", "135", "group"), ("ICMPv6", "136", ""), ("ICMPv6", "128", "group")]
    {
        assert!(seen.contains(&(what.0.to_owned(), what.1.to_owned(), what.2)), "{what:?} in {seen:?}");
    }
}

#[test]
fn a_packet_that_a_kernel_forwards_keeps_its_number_and_one_that_it_does_not_is_lost_there() {
    skip_without_root!();
    let routes = "duration_s = 60\nroutes = [{ node = 0, destination = 3, via = 1 }, { node = 1, destination = 3, via = 2 }, \
                  { node = 3, destination = 0, via = 2 }, { node = 2, destination = 0, via = 1 }]\n";
    let dir = folder(&[("s.toml", &line(4, routes))]);
    let (said, summary) = emulated(dir.path(), &[], "sleep 1; ping -c 5 -i 0.5 mesh-3");
    assert!(said.contains("5 received") && said.contains("ttl=62"), "{said}");
    let flows = summary["flows"].as_array().expect("flows");
    let there = flows.iter().find(|f| f["dst"] == 3).expect("the requests' flow");
    assert_eq!((there["sent"].as_u64(), there["received"].as_u64()), (Some(5), Some(5)), "{there}");
    assert_eq!(there["hops_mean"].as_f64(), Some(3.0), "{there}");

    let rows = table(dir.path(), "run", "packets");
    let first =
        rows.iter().find(|r| r["event"] == "originate" && r["destination"] == "10.0.0.4").expect("a packet");
    let life = rows.iter().filter(|r| r["packet"] == first["packet"]);
    let events: Vec<&str> = life.map(|r| r["event"].as_str()).filter(|e| *e != "transmit").collect();
    let way = ["originate", "send", "receive", "forward", "receive", "forward", "receive", "deliver"];
    assert_eq!(events, way, "{first:?}");

    // Without its second route the relay's kernel asks for an address that nobody has.
    let text = line(4, &routes.replace("{ node = 1, destination = 3, via = 2 }, ", ""));
    std::fs::write(dir.path().join("s.toml"), text).expect("a file");
    let (_, summary) = emulated(dir.path(), &[], "sleep 1; ping -c 3 -i 0.3 mesh-3; sleep 8");
    let flows = summary["flows"].as_array().expect("flows");
    let there = flows.iter().find(|f| f["dst"] == 3).expect("the requests' flow");
    assert_eq!((there["received"].as_u64(), there["dropped"].as_u64()), (Some(0), Some(3)), "{there}");
    let why = run_in(dir.path(), &["why", "run"]).ok();
    assert!(why.contains("NO_ROUTE"), "{why}");
}

/// The programs of a scenario of `scenarios/daemons`.
fn programs_of(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../scenarios/daemons/{name}.toml"));
    let text = std::fs::read_to_string(&path).expect("the scenario");
    let begin = text.find("[[programs]]").expect("programs");
    let end = text.find("[[traffic]]").expect("traffic");
    let folder = path.parent().expect("a folder").display().to_string();
    text[begin..end].replace("{scenario}", &folder)
}

/// Scenarios with routing daemons, and their programs.
fn daemons() -> [(&'static str, String); 5] {
    ["babeld", "bird", "frr", "ospfd", "bird-ospf"].map(|name| (name, programs_of(name)))
}

#[test]
fn babeld_finds_routes_over_three_hops_and_others_when_a_link_breaks() {
    heals(&daemons()[0]);
}

#[test]
fn bird_finds_routes_over_three_hops_and_others_when_a_link_breaks() {
    heals(&daemons()[1]);
}

#[test]
fn frr_finds_routes_over_three_hops_and_others_when_a_link_breaks() {
    heals(&daemons()[2]);
}

#[test]
fn ospfd_finds_routes_over_three_hops_and_others_when_a_link_breaks() {
    heals(&daemons()[3]);
}

#[test]
fn bird_with_ospf_finds_routes_over_three_hops_and_others_when_a_link_breaks() {
    heals(&daemons()[4]);
}

/// The ends of a link that breaks ping each other by the three other links soon after: the other end's route back may
/// heal later than this one's.
fn heals((name, programs): &(&str, String)) {
    skip_without_root!();
    let text = RING.to_owned() + programs;
    let dir = folder(&[("s.toml", &text)]);
    // FRRouting's Babel and BIRD's OSPF are for IPv6 here.
    let (family, opposite, other, next_hop) = match *name {
        "frr" | "bird-ospf" => ("-6", "fd00:77::3", "fd00:77::2", "fe80::aff:fe00:4"),
        _ => ("-4", "10.0.0.3", "10.0.0.2", "10.0.0.4"),
    };
    let script = format!(
        "until ip route get {opposite} | grep -q via; do sleep 0.5; done; sleep 45; \
         until ip route get {other} | grep -q 'via {next_hop}'; do sleep 0.5; done; \
         until ping {family} -c 1 -W 1 {other} >/dev/null; do sleep 0.5; done; \
         ping {family} -c 10 -i 0.3 {other}"
    );
    let (said, summary) = emulated(dir.path(), &["--trust"], &script);
    assert!(said.contains("ttl=62"), "{name}: {said}");
    let received: u32 = said
        .split(" packets transmitted, ")
        .nth(1)
        .and_then(|s| s.split(' ').next()?.parse().ok())
        .expect("a count");
    assert!(received >= 8, "{name}: {said}");
    // Its messages are routing packets, of these classes.
    assert!(summary["totals"]["routing_packets"].as_u64().is_some_and(|n| n > 20), "{name}: {summary}");
    let classes: &[&str] = if name.contains("ospf") { &["ospf"] } else { &["hello", "update"] };
    let rows = table(dir.path(), "run", "packets");
    for class in classes {
        assert!(rows.iter().any(|r| r["class"] == *class && r["event"] == "receive"), "{name}: no {class}");
    }
    let exits = summary["program_exits"].as_array().map_or(&[][..], Vec::as_slice);
    assert!(exits.iter().all(|e| e["exit"] == 0 && e["restarts"].is_null()), "{name}: {exits:?}");
}

/// OLSR and Babel write routes for the same addresses into the same tables; then OLSR ends on all nodes.
#[test]
fn a_mesh_moves_from_olsr_to_babel_without_a_lost_packet() {
    skip_without_root!();
    build(VERSIONS[0], "all");
    let mut programs = programs_of("migration");
    for (there, here) in [
        ("$((240 + 4 * {node}))", "50"),
        ("$((60 + 3 * {node}))", "5"),
        (" wayhop node ", concat!(" ", env!("CARGO_BIN_EXE_wayhop"), " node ")),
    ] {
        assert!(programs.contains(there), "{there}");
        programs = programs.replace(there, here);
    }
    let traffic = "[[traffic]]\nkind = \"ping\"\nsrc = 0\ndst = 3\nstart_s = 35\n";
    let dir = folder(&[("s.toml", &line(4, &format!("duration_s = 90\n{programs}{traffic}")))]);
    // Protocol 119 is that of `wayhop node`, 42 Babel's.
    let script = "sleep 40; ip route show proto 119; echo THEN; sleep 20; ip route show proto 119; echo BABEL; \
                  ip route show proto 42; sleep 8";
    let (said, summary) = emulated(dir.path(), &["--trust"], script);
    let (before, after) = said.split_once("THEN").expect("a line");
    let (olsr, babel) = after.split_once("BABEL").expect("a line");
    assert!(before.contains("10.0.0.4 via 10.0.0.2") && babel.contains("10.0.0.4 via 10.0.0.2"), "{said}");
    assert_eq!(olsr.trim(), "", "{said}");
    let flow = &summary["flows"][0];
    assert!(flow["received"].as_u64().is_some_and(|n| n >= 25), "{flow}");
    assert_eq!(flow["dropped"], 0, "{flow}");
    // One may be on its way at the end.
    assert!(flow["held"].as_u64().is_some_and(|n| n <= 1), "{flow}");
}

#[test]
fn a_program_is_started_again_when_it_fails_and_its_output_goes_on() {
    skip_without_root!();
    let program = |restart: &str, status: u32| {
        format!(
            "[[programs]]\nnodes = [0, 2]\ncommand = [\"sh\", \"-c\", \"echo {{node}} {{name}} {{address}} {{interface}} {{scenario}}; exit {status}\"]\n\
             output = \"{restart}-{status}-{{node}}.txt\"\nrestart = \"{restart}\"\n"
        )
    };
    let programs = [("never", 1), ("on-failure", 1), ("on-failure", 0), ("always", 0)];
    let programs: String = programs.iter().map(|(restart, status)| program(restart, *status)).collect();
    let dir = folder(&[("s.toml", &line(3, &format!("duration_s = 6\n{programs}")))]);
    // Programs failed, and the command says so.
    let ran = run_in(dir.path(), &["emulate", "s.toml", "--out", "run", "--json", "--quiet"]);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    let out = ran.out;
    let summary: Value =
        serde_json::from_str(out[out.find("{\"wayhop\"").expect("a summary")..].trim()).expect("JSON");
    let lines = |file: &str| {
        let text = std::fs::read_to_string(dir.path().join("run/programs").join(file)).expect(file);
        assert!(text.lines().all(|l| l == text.lines().next().unwrap_or("")), "{text}");
        text
    };
    // The scenario's file was named without its folder.
    let folder = dir.path().canonicalize().expect("a folder");
    assert_eq!(lines("never-1-0.txt"), format!("0 0 10.0.0.1 mesh0 {}/\n", folder.display()));
    assert_eq!(lines("on-failure-0-2.txt"), format!("2 2 10.0.0.3 mesh0 {}/\n", folder.display()));
    for file in ["on-failure-1-0.txt", "on-failure-1-2.txt", "always-0-2.txt"] {
        // A second apart, for six seconds; a busy machine starts fewer.
        assert!((2..=6).contains(&lines(file).lines().count()), "{file}");
    }
    let restarts: Vec<u64> = summary["program_exits"]
        .as_array()
        .expect("exits")
        .iter()
        .filter_map(|e| e["restarts"].as_u64())
        .collect();
    assert_eq!(restarts.len(), 4, "{summary}");
    assert!(restarts.iter().all(|n| (1..=6).contains(n)), "{restarts:?}");
}
