//! `wayhop node` among nodes of ns-3: the frames of their captures (captures/ns3) arrive over a wire, at the
//! recorded times; the kernel's routes must then be those that RFC 3561 requires, derived by hand in the
//! comments, and tshark shows that the node's answers are right. The same captures are played to the engine
//! alone, number by number, in crates/routing/aodv/tests/it/ns3.rs.
//!
//! Needs root, network namespaces, and ip, nft, python3 and tshark (`.ci/install test`). Without root the tests are skipped
//! with a message; in CI they fail.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::mesh::{Background, Mesh, skip_without_root};

const WIRE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ns3_wire.py");

/// A node that replaces one of ns-3's.
struct Place {
    mesh: Mesh,
    own: u8,
    capture: String,
    _recorder: Background,
    recorded: PathBuf,
}

impl Place {
    fn new(capture: &str, own: u8) -> Self {
        let mut mesh = Mesh::line(2);
        let address = format!("address=10.1.1.{own}/24");
        // As a node whose clock says nothing, so that the numbers of its messages are known.
        mesh.start(0, "aodv", &[&address, "protocol.first_number=0"]);
        let recorded = mesh.folder().join("recorded.pcap");
        let recorder = mesh.spawn(1, &["python3", WIRE, "record", recorded.to_str().unwrap()]);
        mesh.until("the wire is there", Duration::from_secs(20), |_| recorded.exists());
        let path: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "..", "..", "..", "captures", "ns3", capture].iter().collect();
        Self { mesh, own, capture: path.to_str().unwrap().to_owned(), _recorder: recorder, recorded }
    }

    /// Plays the capture between these times, seconds.
    fn play(&self, from: &str, to: &str) -> Background {
        self.mesh.spawn(1, &["python3", WIRE, "play", &self.capture, &self.own.to_string(), from, to])
    }

    /// The kernel's routes: destination and next hop by their last octets.
    fn routes(&self) -> Vec<(u8, u8)> {
        let last = |a: &str| a.strip_prefix("10.1.1.").unwrap().parse().unwrap();
        let text = self.mesh.ip(0, "-4 route show proto 119");
        let mut routes: Vec<(u8, u8)> = text
            .lines()
            .map(|l| l.split(' ').collect::<Vec<_>>())
            .map(|w| (last(w[0]), last(w[2])))
            .collect();
        routes.sort_unstable();
        routes
    }

    fn until_routes(&self, expected: &[(u8, u8)]) {
        let what = format!("the routes are {expected:?}");
        self.mesh.until(&what, Duration::from_secs(20), |_| self.routes() == expected);
    }

    /// What the node sent, as tshark shows it.
    fn sent(&self, filter: &str, fields: &[&str]) -> Vec<String> {
        let mut tshark = Command::new("tshark");
        tshark.args([
            "-r",
            self.recorded.to_str().unwrap(),
            "-Y",
            filter,
            "-T",
            "fields",
            "-E",
            "separator= ",
        ]);
        for f in fields {
            tshark.args(["-e", f]);
        }
        let shown = tshark.output().unwrap();
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        String::from_utf8_lossy(&shown.stdout).lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_node_amid_ns3s_chain_has_the_kernels_routes_and_says_what_rfc_3561_asks() {
    skip_without_root!();
    let place = Place::new("ns3-chain-1.pcap", 2);
    let playing = place.play("0", "4.5");
    // 10.1.1.1 asks for 10.1.1.5, 10.1.1.3 answers: a route back to the first, one to the second, and by it to 10.1.1.5
    // (sections 6.5 and 6.7).
    place.until_routes(&[(1, 1), (3, 3), (5, 3)]);
    assert!(playing.wait());
    // The last Hello of 10.1.1.3 came at 3.25 s. After ALLOWED_HELLO_LOSS * HELLO_INTERVAL = 2 s of silence the link is
    // broken, and both routes over it go (6.9, 6.11); 10.1.1.1 said a Hello at 4.24 s.
    place.mesh.until("the link is broken", Duration::from_secs(20), |_| {
        !place.routes().iter().any(|(_, via)| *via == 3)
    });
    // Three more requests of 10.1.1.1 for 10.1.1.5.
    assert!(place.play("4.9", "9.5").wait());
    place.until_routes(&[(1, 1)]);

    let request =
        ["ip.ttl", "aodv.hopcount", "aodv.rreq_id", "aodv.orig_ip", "aodv.orig_seqno", "aodv.dest_ip"];
    let numbers = ["aodv.flags.rreq_unknown", "aodv.dest_seqno", "eth.dst", "ip.src"];
    let passed = place.sent("aodv.type == 1", &[&request[..], &numbers].concat());
    // The request of 0 s has TTL 1 and ends here. Each other one goes on once, with the TTL one less and one hop more (6.5);
    // first with U, as nobody knew a number of 10.1.1.5; after the break with the number that it was raised to, 1 (6.11 i),
    // where ns-3's own node says 0.
    let broadcast = "ff:ff:ff:ff:ff:ff 10.1.1.2";
    assert_eq!(
        passed,
        [
            format!("2 1 2 10.1.1.1 2 10.1.1.5 1 0 {broadcast}"),
            format!("5 1 3 10.1.1.1 3 10.1.1.5 0 1 {broadcast}"),
            format!("34 1 4 10.1.1.1 4 10.1.1.5 0 1 {broadcast}"),
            format!("34 1 5 10.1.1.1 5 10.1.1.5 0 1 {broadcast}"),
        ]
    );
    // The reply goes on to the one who asked, with one hop more and its number and lifetime as they came (6.7).
    let reply = [
        "ip.dst",
        "eth.dst",
        "aodv.hopcount",
        "aodv.dest_ip",
        "aodv.dest_seqno",
        "aodv.orig_ip",
        "aodv.lifetime",
    ];
    let replies = place.sent("aodv.type == 2 && !(aodv.dest_ip == 10.1.1.2)", &reply);
    assert_eq!(replies, ["10.1.1.1 02:00:0a:01:01:01 3 10.1.1.5 0 10.1.1.1 2826"]);
    // The kernel forwards the pings and their answers, with the TTL one less.
    let pings = ["icmp.type", "icmp.seq", "ip.ttl", "eth.dst"];
    let forwarded = place.sent("icmp", &pings);
    for seq in 1..4 {
        assert!(forwarded.contains(&format!("8 {seq} 63 02:00:0a:01:01:03")), "{forwarded:?}");
        assert!(forwarded.contains(&format!("0 {seq} 61 02:00:0a:01:01:01")), "{forwarded:?}");
    }
    // The precursor hears of both lost destinations, with raised numbers (6.11).
    let errors = place.sent("aodv.type == 3", &["eth.dst", "ip.ttl", "aodv.destcount"]);
    assert_eq!(errors, ["02:00:0a:01:01:01 1 2"]);
    let lost = place.sent("aodv.type == 3", &["aodv.unreach_dest_ip", "aodv.dest_seqno"]);
    assert!(["10.1.1.3,10.1.1.5 1,1", "10.1.1.5,10.1.1.3 1,1"].contains(&&*lost[0]), "{lost:?}");
    // Its own Hellos (6.9).
    let hellos = place
        .sent("aodv.type == 2 && aodv.dest_ip == 10.1.1.2", &["ip.ttl", "aodv.hopcount", "aodv.lifetime"]);
    assert!(hellos.len() >= 5 && hellos.iter().all(|h| h == "1 0 2000"), "{hellos:?}");
    assert_eq!(place.sent("_ws.malformed", &["frame.number"]), Vec::<String>::new());
}

#[test]
fn a_node_that_ns3s_nodes_ask_for_answers_with_its_own_reply() {
    skip_without_root!();
    // What 10.1.1.2 says in the first capture, to one who is 10.1.1.5: a Hello, and the request of 10.1.1.1 for it.
    let mut place = Place::new("ns3-chain-0.pcap", 5);
    place.own = 1;
    assert!(place.play("0", "0.26").wait());
    place.until_routes(&[(1, 2), (2, 2)]);
    let reply = [
        "ip.dst",
        "eth.dst",
        "aodv.hopcount",
        "aodv.dest_ip",
        "aodv.dest_seqno",
        "aodv.orig_ip",
        "aodv.lifetime",
    ];
    // Section 6.6.1: hop count 0, and MY_ROUTE_TIMEOUT, which section 10 has at twice PATH_DISCOVERY_TIME at least, and that at
    // twice 2.8 s; the number is the node's own, which is still 0, as the request (flag U) names none.
    let replies = || place.sent("aodv.type == 2 && aodv.orig_ip == 10.1.1.1", &reply);
    place.mesh.until("the reply is sent", Duration::from_secs(10), |_| !replies().is_empty());
    assert_eq!(replies(), ["10.1.1.2 02:00:0a:01:01:02 0 10.1.1.5 0 10.1.1.1 11200"]);
}

#[test]
fn a_node_acknowledges_a_reply_of_ns3_that_asks_for_it() {
    skip_without_root!();
    let place = Place::new("ns3-chain-2.pcap", 3);
    let playing = place.play("0", "3.3");
    // 10.1.1.1 over 10.1.1.2 asks for 10.1.1.5, and 10.1.1.4 answers for it.
    place.until_routes(&[(1, 2), (2, 2), (4, 4), (5, 4)]);
    assert!(playing.wait());
    // Flag A of that reply (6.7, 6.8); IP, UDP, and two octets.
    let acks = place.sent("aodv.type == 4", &["ip.dst", "eth.dst", "ip.len"]);
    assert_eq!(acks, ["10.1.1.4 02:00:0a:01:01:04 30"]);
    assert_eq!(place.sent("_ws.malformed", &["frame.number"]), Vec::<String>::new());
}
