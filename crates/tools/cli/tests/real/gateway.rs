//! Gateways on real hosts: `wayhop node` with [gateway], a network outside with real servers, and
//! the state of the host afterwards. Needs curl, dig, dnsmasq, iperf3, nft and Python.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

const SECONDS_60: Duration = Duration::from_secs(60);
/// A server on the Internet.
const SERVER: &str = "198.51.100.1";
const USES: &str = "outside=[\"0.0.0.0/0\"]";
const LEADS: &str = "gateway.uplink=eth0";

/// Hosts 0, 1 and 2 in a line, and behind host 2, on its interface eth0, host 3: 192.0.2.2, and [`SERVER`] besides.
fn hosts() -> Mesh {
    let mesh = Mesh::line(4);
    mesh.ip(3, "link set eth1 down");
    mesh.cable((2, "eth0", "192.0.2.1/24"), (3, "eth0", "192.0.2.2/24"));
    mesh.ip(3, &format!("address add {SERVER}/32 dev lo"));
    mesh.ip(2, "route add default via 192.0.2.2");
    mesh
}

fn start(mesh: &mut Mesh, protocol: &str, gateway: &[&str]) {
    mesh.start(0, protocol, &[USES]);
    mesh.start(1, protocol, &[USES]);
    mesh.start(2, protocol, gateway);
}

/// All that a gateway changes at its host, the uplink too.
fn state(mesh: &Mesh, i: usize) -> String {
    mesh.host_state(i) + &mesh.run(i, "sysctl net.ipv4.conf.eth0").1
}

/// A page, and a log of who asked for it.
fn web_server(mesh: &Mesh, host: usize, folder: &Path) -> impl Drop + use<> {
    fs::write(folder.join("page"), "from the Internet").unwrap();
    let script =
        format!("cd {} && exec python3 -u -m http.server --bind {SERVER} 80 >log 2>&1", folder.display());
    mesh.start_program(host, &["sh", "-c", &script])
}

fn curl(mesh: &Mesh, i: usize, more: &str) -> String {
    let (ok, said) =
        mesh.run(i, &format!("curl -sS --connect-timeout 5 --max-time 20{more} http://{SERVER}/page"));
    if ok { said } else { String::new() }
}

fn until_page(mesh: &Mesh, i: usize) {
    mesh.until("a page comes", SECONDS_60, |m| curl(m, i, "") == "from the Internet");
}

#[test]
fn programs_use_web_names_and_iperf3_of_the_internet_by_a_translating_gateway() {
    skip_without_root!();
    for protocol in ["dsr", "aodv", "dsdv"] {
        let mut mesh = hosts();
        let before = state(&mesh, 2);
        let folder = tempfile::tempdir().unwrap();
        let _web = web_server(&mesh, 3, folder.path());
        let dns = format!(
            "--no-daemon --no-resolv --no-hosts --conf-file=/dev/null --pid-file= --user=root --listen-address={SERVER} \
             --bind-interfaces --address=/www.example/203.0.113.7"
        );
        let _dns = mesh.start_program(3, &[&["dnsmasq"][..], &dns.split(' ').collect::<Vec<_>>()].concat());
        let _iperf = mesh.start_program(3, &["iperf3", "-s", "-B", SERVER, "--logfile", "/dev/null"]);
        start(&mut mesh, protocol, &[LEADS]);
        until_page(&mesh, 0);
        // The neighbour of the gateway, and the gateway itself.
        until_page(&mesh, 1);
        until_page(&mesh, 2);
        let asked = fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(asked.lines().filter(|l| l.contains("GET")).all(|l| l.starts_with("192.0.2.1 ")), "{asked}");
        mesh.until("a name is found", SECONDS_60, |m| {
            m.run(0, &format!("dig +short +tries=1 +time=5 @{SERVER} www.example")).1.trim() == "203.0.113.7"
        });
        for reverse in ["", " -R"] {
            mesh.until("iperf3 measures", SECONDS_60, |m| {
                let (ok, said) = m.run(0, &format!("iperf3 -J -t 1 -c {SERVER}{reverse}"));
                ok && said.contains("sum_received")
            });
        }
        // Whatever somebody does to the route, it comes back.
        for change in ["route del default dev mesh0", "link set mesh0 down"] {
            mesh.ip(0, change);
            mesh.until("programs have a way out again", SECONDS_60, |m| {
                m.ip(0, "route show default").contains("dev mesh0")
            });
        }
        until_page(&mesh, 0);
        // With translation nobody outside begins anything.
        mesh.ip(3, "route add 10.0.0.0/16 via 192.0.2.1");
        assert!(!mesh.run(3, "ping -c 2 -i 0.2 -W 1 10.0.0.1").0, "{protocol}");
        mesh.stop(2);
        assert_eq!(state(&mesh, 2), before, "{protocol}");
    }
}

#[test]
fn with_a_routed_prefix_connections_begin_on_both_sides_and_addresses_stay() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = hosts();
        mesh.ip(3, "route add 10.0.0.0/16 via 192.0.2.1");
        let folder = tempfile::tempdir().unwrap();
        let _web = web_server(&mesh, 3, folder.path());
        start(&mut mesh, protocol, &[LEADS, "gateway.translate=false"]);
        mesh.until("the outside reaches a node", SECONDS_60, |m| m.run(3, "ping -c 1 -W 5 10.0.0.1").0);
        until_page(&mesh, 0);
        let asked = fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(asked.lines().filter(|l| l.contains("GET")).all(|l| l.starts_with("10.0.0.1 ")), "{asked}");
        // An address of the mesh that nobody has: the gateway tells the sender, once the protocol has given up.
        let (answered, said) = mesh.run(3, "ping -c 1 -W 60 10.0.0.99");
        assert!(
            !answered && said.contains("From 10.0.0.3") && said.contains("Host Unreachable"),
            "{protocol}: {said}"
        );
    }
}

/// Host 1 has a way of its own to the server, by the interface cell0: its programs use that, and the mesh's packets the mesh's gateway.
#[test]
fn a_relay_with_a_default_route_of_its_own_sends_the_meshs_packets_to_the_gateway() {
    skip_without_root!();
    for protocol in ["dsr", "aodv", "dsdv"] {
        let mut mesh = hosts();
        mesh.cable((1, "cell0", "192.0.2.9/30"), (3, "cell0", "192.0.2.10/30"));
        mesh.ip(1, "route add default via 192.0.2.10 metric 100");
        let before = mesh.host_state(1);
        let folder = tempfile::tempdir().unwrap();
        let _web = web_server(&mesh, 3, folder.path());
        start(&mut mesh, protocol, &[LEADS]);
        until_page(&mesh, 0);
        assert_eq!(last_asked_by(folder.path()), "192.0.2.1", "{protocol}: the mesh by its gateway");
        until_page(&mesh, 1);
        assert_eq!(last_asked_by(folder.path()), "192.0.2.9", "{protocol}: the host by its own way");
        if protocol != "dsr" {
            // Whatever somebody does to rules and routes, they come back.
            for rule in ["iif eth1", "iif eth1", "iif lo", "iif lo"] {
                mesh.run(1, &format!("ip rule del {rule} proto 119"));
            }
            let tables = "-4 route show table all";
            let outside = |m: &Mesh| m.ip(1, tables).lines().filter(|l| l.contains("table 1497")).count();
            assert!(outside(&mesh) > 0, "{protocol}: {}", mesh.ip(1, tables));
            let table = mesh.ip(1, tables);
            let table = table.lines().find_map(|l| l.split(" table ").nth(1)?.split(' ').next()).unwrap();
            mesh.ip(1, &format!("route flush table {table}"));
            // AODV may have forgotten some of them, unused, on a busy machine.
            mesh.until("it is as it was", SECONDS_60, |m| {
                outside(m) > 0 && m.ip(1, "rule").matches("proto 119").count() == 4
            });
            until_page(&mesh, 0);
            assert_eq!(last_asked_by(folder.path()), "192.0.2.1", "{protocol}");
        }
        // Without it the host uses the mesh's.
        mesh.ip(1, "route del default metric 100");
        until_page(&mesh, 1);
        assert_eq!(last_asked_by(folder.path()), "192.0.2.1", "{protocol}");
        mesh.ip(1, "route add default via 192.0.2.10 metric 100");
        mesh.kill(1);
        mesh.until("the host is as before", SECONDS_60, |m| m.host_state(1) == before);
    }
}

/// Each node's run, merged: what ping counted is what the flows between the node and the gateway have.
#[test]
fn traffic_with_hosts_outside_is_in_flows_that_end_at_the_gateway() {
    skip_without_root!();
    let mut mesh = hosts();
    let folder = tempfile::tempdir().unwrap();
    let run_of = |i: usize| folder.path().join(format!("node-{i}"));
    for i in 0..3 {
        let run = format!("run={}", run_of(i).display());
        mesh.start(i, "dsr", &[if i == 2 { LEADS } else { USES }, &run]);
    }
    mesh.until("the server answers", SECONDS_60, |m| m.run(0, &format!("ping -c 1 -W 5 {SERVER}")).0);
    // For the last answer ping waits at least as long as between two requests.
    let said = mesh.run(0, &format!("ping -c 25 -i 0.5 -W 2 {SERVER}")).1;
    let answered: u64 =
        said.split(" received").next().and_then(|s| s.rsplit(' ').next()).unwrap().parse().unwrap();
    (0..3).for_each(|i| drop(mesh.stop(i)));
    let wayhop = |arguments: &[&str]| {
        let done = Command::new(WAYHOP).args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let summary = |run: &str| {
        let text = fs::read_to_string(folder.path().join(run).join("summary.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let pings = |run: &str, key: &str| {
        let all = summary(run)["flows"].as_array().unwrap().clone();
        all.into_iter()
            .rfind(|f| f["kind"] == "icmp" && f[key] == SERVER)
            .unwrap_or_else(|| panic!("{}", summary(run)))
    };
    // One node knows one end of each flow.
    let (sent, came) = (pings("node-0", "dst_address"), pings("node-0", "src_address"));
    assert_eq!((&sent["sent"], &sent["received"]), (&25.into(), &serde_json::Value::Null));
    assert_eq!((&came["sent"], &came["received"]), (&serde_json::Value::Null, &answered.into()));
    wayhop(&["merge", "node-0", "node-1", "node-2", "--out", "merged"]);
    let (out, back) = (pings("merged", "dst_address"), pings("merged", "src_address"));
    assert_eq!((&out["src"], &out["dst"], &out["sent"]), (&0.into(), &2.into(), &25.into()));
    assert_eq!((&back["src"], &back["dst"], &back["received"]), (&2.into(), &0.into(), &answered.into()));
    assert!(
        back["sent"].as_u64() >= Some(answered) && out["received"].as_u64() >= Some(answered),
        "{out} {back}"
    );
    let told = wayhop(&["why", "merged", "--flow", &out["id"].to_string(), "--seq", "3"]);
    assert!(
        told.contains("left the mesh at the gateway ") && !told.contains("delivered to its app"),
        "{told}"
    );
    let told = wayhop(&["why", "merged", "--flow", &back["id"].to_string(), "--seq", "3"]);
    assert!(told.contains("came into the mesh at the gateway "), "{told}");
    assert!(wayhop(&["compare", "merged", "merged", "--flows"]).contains(SERVER));
    wayhop(&["plot", "throughput", "merged", "--out", "throughput.svg"]);
    wayhop(&["import", "run", "merged", "--out", "again.toml"]);
    let scenario = fs::read_to_string(folder.path().join("again.toml")).unwrap();
    assert!(scenario.contains("kind = \"ping\"") && scenario.contains("dst = 2"), "{scenario}");
}

#[test]
fn a_gateway_forwards_nothing_to_its_other_networks_or_for_foreign_sources() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = hosts();
        // A network of the gateway's that is not behind its uplink, with a host that answers everybody.
        mesh.cable((2, "lan0", "203.0.113.1/24"), (3, "lan0", "203.0.113.2/24"));
        mesh.ip(3, "route add 10.0.0.0/16 via 203.0.113.1");
        let folder = tempfile::tempdir().unwrap();
        let _web = web_server(&mesh, 3, folder.path());
        start(&mut mesh, protocol, &[LEADS]);
        until_page(&mesh, 0);
        assert!(mesh.run(2, "ping -c 1 -W 5 203.0.113.2").0, "the gateway itself reaches it");
        assert!(!mesh.run(0, "ping -c 2 -i 0.2 -W 2 203.0.113.2").0, "{protocol}: the mesh does not");
        // Nor does somebody who uses an address of another network in the mesh get out: nothing of his comes to the server.
        mesh.ip(0, "address add 172.16.0.9/32 dev mesh0");
        assert!(!mesh.run(0, &format!("ping -c 2 -i 0.2 -W 2 -I 172.16.0.9 {SERVER}")).0, "{protocol}");
        // And the uplink's network does not get to the other one by way of this host.
        mesh.ip(3, "address add 198.51.100.77/32 dev lo");
        let (_, said) = mesh.run(2, "nft list ruleset");
        assert!(
            said.contains("iifname \"eth0\" oifname != { \"eth1\", \"mesh0\" } drop")
                || said.contains("oifname !="),
            "{said}"
        );
    }
}

#[test]
fn a_gateway_that_is_killed_leaves_a_host_that_forwards_nothing() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = hosts();
        let before = state(&mesh, 2);
        start(&mut mesh, protocol, &[LEADS]);
        assert_ne!(state(&mesh, 2), before);
        assert!(mesh.run(2, "nft list table ip wayhop_mesh0").0);
        mesh.kill(2);
        mesh.until("the host is as before", SECONDS_60, |m| state(m, 2) == before);
        // With its helper, too: then the next start, or this, undoes the changes.
        mesh.start(2, protocol, &[LEADS]);
        let pid = mesh.pid(2);
        let helper = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        mesh.signal(2, "-STOP");
        assert!(Command::new("kill").args(["-9", helper.trim()]).status().unwrap().success());
        mesh.kill(2);
        assert!(
            mesh.run(2, "nft list table ip wayhop_mesh0").0,
            "nothing is undone yet, and the table still keeps others out"
        );
        let sockets = mesh.folder().join("run").display().to_string();
        let restored =
            mesh.run_args(2, &["env", &format!("WAYHOP_RUNTIME_DIR={sockets}"), WAYHOP, "node", "--restore"]);
        assert!(restored.0, "{}", restored.1);
        assert_eq!(state(&mesh, 2), before, "{protocol}");
    }
}

#[test]
fn a_gateway_whose_table_somebody_flushes_leaves_and_says_why() {
    skip_without_root!();
    let mut mesh = hosts();
    mesh.start(2, "dsr", &[LEADS]);
    assert!(mesh.run(2, "nft flush ruleset").0);
    assert_eq!(mesh.end_by_itself(2), Some(1));
    assert!(mesh.said(2).contains("the nftables table wayhop_mesh0 was removed"), "{}", mesh.said(2));
    assert_eq!(mesh.run(2, "sysctl -n net.ipv4.conf.eth0.forwarding").1.trim(), "0");
}

/// A server that sends 200 kB a second for ever. (curl's own limit does not hold on a fast link.)
const ENDLESS: &str = r#"
import http.server, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(bytes(20000))
            time.sleep(0.1)
http.server.ThreadingHTTPServer(("198.51.100.1", 81), Handler).serve_forever()
"#;

/// Gateway 0 is beside node 1, gateway 3 two hops away from it; both lead to host 4.
fn two_gateways() -> Mesh {
    let mesh = Mesh::line(5);
    mesh.ip(4, "link set eth1 down");
    mesh.cable((0, "eth0", "192.0.2.1/30"), (4, "east", "192.0.2.2/30"));
    mesh.cable((3, "eth0", "192.0.2.5/30"), (4, "west", "192.0.2.6/30"));
    mesh.ip(0, "route add default via 192.0.2.2");
    mesh.ip(3, "route add default via 192.0.2.6");
    mesh.ip(4, &format!("address add {SERVER}/32 dev lo"));
    mesh
}

fn start_two(mesh: &mut Mesh, protocol: &str) {
    for i in [0, 3] {
        mesh.start(i, protocol, &[LEADS]);
    }
    for i in [1, 2] {
        mesh.start(i, protocol, &[USES]);
    }
}

/// The gateway whose address asked the server for the page last.
fn last_asked_by(folder: &Path) -> String {
    let asked = fs::read_to_string(folder.join("log")).unwrap();
    let last = asked.lines().rfind(|l| l.contains("/page")).unwrap();
    last.split(' ').next().unwrap_or_default().to_owned()
}

/// Waits until node 1 takes gateway 0: the route to the other one can be the first that comes.
fn until_nearer_gateway(mesh: &Mesh, folder: &Path) {
    mesh.until("the nearer gateway is in use", SECONDS_60, |m| {
        curl(m, 1, "") == "from the Internet" && last_asked_by(folder) == "192.0.2.1"
    });
}

/// What ping has had answers to: when, in seconds, and the number.
fn answers(said: &str) -> Vec<(f64, u64)> {
    let one = |line: &str| {
        let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
        let (_, number) = rest.split_once("bytes from")?.1.split_once("icmp_seq=")?;
        Some((time.parse().ok()?, number.split(' ').next()?.parse().ok()?))
    };
    said.lines().filter_map(one).collect()
}

#[test]
fn when_a_gateway_dies_in_a_download_a_new_connection_takes_the_other() {
    skip_without_root!();
    for protocol in ["dsr", "aodv", "dsdv"] {
        let folder = tempfile::tempdir().unwrap();
        let mut mesh = two_gateways();
        let _web = web_server(&mesh, 4, folder.path());
        let _slow = mesh.start_program(4, &["python3", "-c", ENDLESS]);
        start_two(&mut mesh, protocol);
        until_nearer_gateway(&mesh, folder.path());
        let got = folder.path().join("got");
        let url = format!("http://{SERVER}:81/");
        let to = got.display().to_string();
        // The server of the download may begin to listen later than that of the page.
        let patient = ["--retry", "30", "--retry-delay", "1", "--retry-connrefused"];
        let download: Vec<&str> = ["curl", "-sS", "-o", &to, &url].into_iter().chain(patient).collect();
        let _download = mesh.start_program(1, &download);
        let size = || fs::metadata(&got).map_or(0, |m| m.len());
        mesh.until("the download has begun", SECONDS_60, |_| size() > 100_000);
        let pings = folder.path().join("pings");
        let to = format!("exec ping -n -D -i 0.05 {SERVER} >{}", pings.display());
        let _ping = mesh.start_program(1, &["sh", "-c", &to]);
        let answers = || answers(&fs::read_to_string(&pings).unwrap_or_default());
        mesh.until("pings are answered", SECONDS_60, |_| answers().len() > 20);
        // As if its power had failed: nothing of it is heard any more.
        mesh.part(0);
        let failed = Instant::now();
        mesh.until("a new connection works", SECONDS_60, |m| curl(m, 1, "") == "from the Internet");
        let connects = failed.elapsed().as_secs_f64();
        let (so_far, stands_at) = (answers().len(), size());
        mesh.until("pings are answered again", SECONDS_60, |_| answers().len() > so_far + 20);
        let all = answers();
        let lost = 1 + all[all.len() - 1].1 - all[0].1 - all.len() as u64;
        let silent = all.windows(2).map(|w| w[1].0 - w[0].0).fold(0.0, f64::max);
        println!(
            "{protocol}: connects after {connects:.2} s; pings: {silent:.2} s without answers, {lost} lost"
        );
        assert_eq!(
            size(),
            stands_at,
            "{protocol}: the old one breaks, whose outer address was the other gateway's"
        );
        assert_eq!(last_asked_by(folder.path()), "192.0.2.5", "{protocol}: the other gateway");
    }
}

#[test]
fn a_gateway_whose_uplink_loses_its_carrier_says_so_and_the_other_one_is_taken() {
    skip_without_root!();
    for protocol in ["dsr", "aodv", "dsdv"] {
        let folder = tempfile::tempdir().unwrap();
        let mut mesh = two_gateways();
        let _web = web_server(&mesh, 4, folder.path());
        start_two(&mut mesh, protocol);
        until_nearer_gateway(&mesh, folder.path());
        mesh.ip(4, "link set east down");
        mesh.until("a new connection works", SECONDS_60, |m| curl(m, 1, "") == "from the Internet");
        assert_eq!(last_asked_by(folder.path()), "192.0.2.5", "{protocol}: the other gateway");
        mesh.until("it says so", SECONDS_60, |m| m.said(0).contains("eth0 is down: the gateway is offline"));
        mesh.ip(4, "link set east up");
        mesh.until("it leads out again", SECONDS_60, |m| {
            m.said(0).contains("eth0 is up: the gateway is online")
        });
    }
}

/// The carrier stays, and so does the router at the other end of the cable; but nothing of what is sent there arrives.
#[test]
fn a_gateway_whose_probe_nobody_answers_leads_nowhere_until_somebody_does() {
    skip_without_root!();
    let asks = ["gateway.probe=[\"203.0.113.7\", \"198.51.100.1\"]", "gateway.probe_every_ms=200"];
    for protocol in ["dsr", "aodv", "dsdv"] {
        let folder = tempfile::tempdir().unwrap();
        let mut mesh = two_gateways();
        let _web = web_server(&mesh, 4, folder.path());
        mesh.start(0, protocol, &[LEADS, asks[0], asks[1]]);
        mesh.start(3, protocol, &[LEADS]);
        for i in [1, 2] {
            mesh.start(i, protocol, &[USES]);
        }
        until_nearer_gateway(&mesh, folder.path());
        assert!(!mesh.said(0).contains("the gateway is"), "one of the two answers: {}", mesh.said(0));
        let nft = |rest: &str| {
            let (ok, said) = mesh.run(4, &format!("nft {rest}"));
            assert!(ok, "{rest}: {said}");
        };
        nft("add table ip dead");
        nft("add chain ip dead in { type filter hook prerouting priority raw ; }");
        nft("add rule ip dead in iifname east drop");
        mesh.until("it says so", SECONDS_60, |m| {
            m.said(0)
                .contains("no answers through eth0 from 203.0.113.7, 198.51.100.1: the gateway is offline")
        });
        mesh.until("a new connection works", SECONDS_60, |m| curl(m, 1, "") == "from the Internet");
        assert_eq!(last_asked_by(folder.path()), "192.0.2.5", "{protocol}: the other gateway");
        nft("delete table ip dead");
        mesh.until("it leads out again", SECONDS_60, |m| {
            m.said(0)
                .contains("answers through eth0 again from 203.0.113.7, 198.51.100.1: the gateway is online")
        });
        // And the mesh hears of that: it is the only way now.
        mesh.part(3);
        mesh.until("a page comes by it", SECONDS_60, |m| curl(m, 1, "") == "from the Internet");
        assert_eq!(last_asked_by(folder.path()), "192.0.2.1", "{protocol}");
    }
}
