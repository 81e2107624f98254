//! Applications in simulation: requests against arithmetic, and what nodes that go down do to them.

use wayhop_trace::{ApplicationSummary, Summary};

use crate::{run, scenario};

/// Three nodes in a row; the first asks the last.
fn row(more: &str) -> (Summary, ApplicationSummary, ApplicationSummary) {
    let text = format!(
        r#"
duration_s = 200
nodes.count = 3
movement = {{ kind = "chain", spacing_m = 200 }}
radio = {{ preset = "wavelan-914-ns2", arp = "none" }}
protocol = {{ name = "none" }}
routes = [
    {{ node = 0, destination = "10.0.0.3/32", via = 1 }},
    {{ node = 1, destination = "10.0.0.3/32", via = 2 }},
    {{ node = 2, destination = "10.0.0.1/32", via = 1 }},
    {{ node = 1, destination = "10.0.0.1/32", via = 0 }},
]
[[applications]]
name = "request"
nodes = [2]
[[applications]]
name = "request"
nodes = [0]
server = 2
{more}
"#
    );
    let (s, audit) = run(&scenario(&text));
    assert_eq!(audit.defect(), None);
    let [server, client] = &s.applications[..] else { panic!("{:?}", s.applications) };
    let (server, client) = (server.clone(), client.clone());
    (s, server, client)
}

fn figure(of: &ApplicationSummary, name: &str) -> f64 {
    *of.figures.get(name).unwrap_or_else(|| panic!("{name}: {of:?}"))
}

#[test]
fn every_request_is_answered_and_packets_are_counted_as_those_of_programs() {
    let (s, server, client) =
        row("think_s = 1\nmax_requests = 100\nrequest_bytes = 64\nanswer_bytes = 1000\n");
    assert_eq!((client.node, client.application.as_str(), server.node), (0, "request", 2));
    for (of, name, expected) in [
        (&client, "requests", 100.0),
        (&client, "answered", 100.0),
        (&client, "failed", 0.0),
        (&client, "retries", 0.0),
        (&server, "requests_served", 100.0),
    ] {
        assert_eq!(figure(of, name), expected, "{name}");
    }
    let flows: Vec<_> =
        s.flows.iter().map(|f| (f.src, f.dst, f.sent, f.received, f.received_bytes)).collect();
    assert_eq!(
        flows,
        [(0, 2, Some(100), Some(100), Some(6_400)), (2, 0, Some(100), Some(100), Some(100_000))]
    );
    // A response is a request and an answer, each over two hops: not less than it takes to send 64 and 1000 bytes with their
    // headers (IP and UDP 28, MAC 34) twice at 2 Mb/s after a preamble of 192 us each, and not twice as much: nobody else sends.
    let airtime_ms = |bytes: f64| 2.0 * (0.192 + (bytes + 62.0) * 8.0 / 2_000.0);
    let least = airtime_ms(64.0) + airtime_ms(1_000.0);
    let mean = figure(&client, "response_mean_ms");
    assert!((least..2.0 * least).contains(&mean), "{mean} ms, at least {least}");
}

#[test]
fn thinking_is_exponential_with_the_mean_that_was_asked_for() {
    let (_, _, client) = row("think_s = 0.1\n");
    // 200 s of a think time of 0.1 s and a response time: within four standard errors of the mean count.
    let cycle = 0.1 + figure(&client, "response_mean_ms") / 1e3;
    let expected = 200.0 / cycle;
    let error = 4.0 * (200.0_f64 * 0.1 * 0.1 / (cycle * cycle * cycle)).sqrt();
    assert!((figure(&client, "requests") - expected).abs() < error, "{expected} +- {error}: {client:?}");
}

#[test]
fn a_server_that_is_down_costs_retries_and_failures() {
    let down = "think_s = 1\ntimeout_s = 0.5\ntries = 3\n[[outages]]\nnode = 2\nstart_s = 50\nlength_s = 100\ntables = \"kept\"\n";
    let (_, server, client) = row(down);
    let [requests, answered, failed, retries] =
        ["requests", "answered", "failed", "retries"].map(|name| figure(&client, name));
    // While it is down, a request takes three timeouts of half a second and a thought of one: 40 in 100 s.
    assert!((30.0..50.0).contains(&failed), "{client:?}");
    assert!((2.0 * failed..2.0 * failed + 3.0).contains(&retries), "{client:?}");
    assert!((0.0..=1.0).contains(&(requests - answered - failed)), "one at most is under way: {client:?}");
    assert!(figure(&server, "requests_served") >= answered);
}

#[test]
fn a_client_that_loses_its_memory_begins_again() {
    let reboot = "think_s = 1\n[[outages]]\nnode = 0\nstart_s = 50\nlength_s = 100\ntables = \"lost\"\n";
    let (_, _, client) = row(reboot);
    let answered = figure(&client, "answered");
    // One a second for 100 s of 200, and none for the other 100.
    assert!((70.0..130.0).contains(&answered), "{client:?}");
    assert!(figure(&client, "failed") <= 1.0, "{client:?}");
}

#[test]
fn the_same_seed_draws_the_same() {
    let hashes: Vec<String> = (0..2).map(|_| row("think_s = 0.3\n").0.trace_hash).collect();
    assert_eq!(hashes[0], hashes[1]);
    let (other, ..) = row("think_s = 0.31\n");
    assert_ne!(other.trace_hash, hashes[0]);
}

/// Four nodes in a row that send beacons; the last is out of range of the others.
fn beacons(protocol: &str, more: &str) -> Summary {
    let text = format!(
        r#"
duration_s = 100
nodes.count = 4
movement = {{ kind = "static", positions = [{{ x = 0, y = 0 }}, {{ x = 200, y = 0 }}, {{ x = 400, y = 0 }}, {{ x = 2000, y = 0 }}] }}
radio.preset = "wavelan-914-ns2"
protocol.name = "{protocol}"
[[applications]]
name = "beacon"
interval_min_s = 2
interval_max_s = 5
{more}
"#
    );
    let (s, audit) = run(&scenario(&text));
    assert_eq!(audit.defect(), None);
    s
}

#[test]
fn beacons_reach_the_neighbours_and_no_further_under_any_protocol() {
    for protocol in ["none", "aodv", "dsr", "dsdv"] {
        let s = beacons(protocol, "");
        assert_eq!(s.applications.len(), 4, "without `nodes` all send");
        let all = |name: &str| s.applications.iter().map(|a| figure(a, name)).collect::<Vec<_>>();
        // 100 s of intervals of 3.5 s on average, after a first one that begins at random: at least 19 and at most 51.
        let sent = all("beacons_sent");
        assert!(sent.iter().all(|n| (19.0..=51.0).contains(n)), "{protocol}: {sent:?}");
        assert_eq!(all("neighbours_found"), [1.0, 2.0, 1.0, 0.0], "{protocol}");
        assert_eq!(all("neighbours_lost"), [0.0; 4], "{protocol}");
        // Each node hears its neighbours' beacons; the ends, which sense each other, may collide now and then.
        let heard = all("beacons_received");
        for (node, reachable) in [sent[1], sent[0] + sent[2], sent[1], 0.0].into_iter().enumerate() {
            assert!(
                (reachable - 4.0..=reachable).contains(&heard[node]),
                "{protocol}: {node}: {heard:?} of {sent:?}"
            );
        }
    }
}

#[test]
fn a_node_that_is_down_is_lost_as_a_neighbour_and_found_again() {
    let s = beacons("none", "[[outages]]\nnode = 1\nstart_s = 40\nlength_s = 30\n");
    let all = |name: &str| s.applications.iter().map(|a| figure(a, name)).collect::<Vec<_>>();
    // The two beside it lose and find it; itself it finds both again only if it lost its memory, which counts no neighbour as lost.
    assert_eq!(all("neighbours_lost")[..1], [1.0]);
    assert_eq!(all("neighbours_lost")[2..], [1.0, 0.0]);
    assert_eq!([0, 2, 3].map(|n| all("neighbours_found")[n]), [2.0, 2.0, 0.0]);
}
