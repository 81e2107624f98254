//! Changes at a node's host while it runs: traffic continues, or the node exits and says why; and
//! at its end the host is as before.
//!
//! Needs root, network namespaces, and ip, nft, ping, sysctl and tc. Without root the tests are skipped with a message; in CI they
//! fail.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

const PATIENCE: Duration = Duration::from_secs(30);
/// How long traffic may be interrupted, and how long a machine that is busy with other tests may take besides.
const RESUMES: Duration = Duration::from_secs(3 + 7);
const BOTH: [&str; 2] = ["dsr", "aodv"];

/// A chain of three hosts with traffic from end to end; the one in the middle is the one that is changed.
struct World {
    mesh: Mesh,
    protocol: &'static str,
    /// The state of each host before the nodes.
    before: Vec<String>,
}

impl World {
    fn new(protocol: &'static str) -> Self {
        let mut mesh = Mesh::line(3);
        let before = (0..3).map(|i| mesh.host_state(i)).collect();
        mesh.start_all(protocol, &[]);
        let world = Self { mesh, protocol, before };
        world.flows("the nodes find each other", PATIENCE);
        world
    }

    fn flows(&self, after: &str, limit: Duration) {
        self.mesh.until(&format!("{}: {after}", self.protocol), limit, |m| m.try_ping(0, 2));
    }

    /// Whether the node in the middle has said something since it had said so much.
    fn hears(&self, what: &str, from: usize) {
        let case = format!("{}: it says {what:?}", self.protocol);
        self.mesh.until(&case, RESUMES, |m| m.said(1)[from..].contains(what));
    }

    /// Waits until the programs of the one in the middle reach another host again.
    fn reaches(&self, to: usize) {
        let case = format!("{}: host 1 reaches host {to}", self.protocol);
        self.mesh.until(&case, RESUMES, |m| m.try_ping(1, to));
    }

    /// Changes the host in the middle: the node says so, and traffic goes on.
    fn changes(&self, change: impl FnOnce(&Mesh), said: &str) {
        let from = self.mesh.said(1).len();
        change(&self.mesh);
        self.hears(said, from);
        self.flows(said, RESUMES);
    }

    /// Ends all nodes. The hosts are as before.
    fn ends(mut self) {
        self.mesh.stop_all();
        for (i, before) in self.before.iter().enumerate() {
            assert_eq!(&self.mesh.host_state(i), before, "{}: host {i}", self.protocol);
        }
    }

    /// Waits until the node in the middle is no more.
    fn is_over(&mut self) {
        let begun = Instant::now();
        while self.mesh.is_alive(1) {
            assert!(begun.elapsed() < PATIENCE, "{}: {}", self.protocol, self.mesh.said(1));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The node in the middle leaves by itself, says why, and leaves its host as before.
    fn leaves(mut self, why: &str) {
        self.is_over();
        assert_eq!(self.mesh.end_by_itself(1), Some(1), "{}", self.mesh.said(1));
        let said = self.mesh.said(1);
        assert!(said.contains(why) && said.contains("info: ends"), "{}: {said}", self.protocol);
        for i in [0, 2] {
            self.mesh.stop(i);
        }
        assert_eq!(self.mesh.host_state(1), self.before[1], "{}", self.protocol);
    }

    fn setting(&self, of: &str, key: &str) -> String {
        let path = format!("net.ipv4.conf.{of}.{key}");
        self.mesh.run(1, &format!("sysctl -n {path}")).1.trim().to_owned()
    }

    fn set(&self, key: &str, value: &str) {
        let (ok, said) = self.mesh.run(1, &format!("sysctl -w {key}={value}"));
        assert!(ok, "{said}");
    }
}

#[test]
fn a_node_takes_the_link_address_that_somebody_gives_its_interface() {
    skip_without_root!();
    for protocol in BOTH {
        let world = World::new(protocol);
        let mac = |to: &'static str| move |m: &Mesh| drop(m.ip(1, &format!("link set eth1 address {to}")));
        world.changes(mac("02:00:0a:00:00:77"), "the node now uses 02:00:0a:00:00:77");
        // As NetworkManager does it.
        let before = world.mesh.said(1).len();
        world.mesh.ip(1, "link set eth1 down");
        world.mesh.ip(1, "link set eth1 address 02:00:0a:00:00:78");
        world.mesh.ip(1, "link set eth1 up");
        world.hears("the node now uses 02:00:0a:00:00:78", before);
        world.flows("it is up with another address", RESUMES);
        let now = world.mesh.said(1).len();
        world.mesh.ip(1, "link set eth1 address 02:00:0a:00:00:02");
        world.hears("the node now uses 02:00:0a:00:00:02", now);
        world.ends();
    }
}

#[test]
fn the_packets_of_a_node_follow_the_mtu_of_its_interface_down_and_up() {
    skip_without_root!();
    for protocol in BOTH {
        let world = World::new(protocol);
        let room = if protocol == "dsr" { 36 } else { 0 };
        let tun = |m: &Mesh| m.ip(1, "-o link show mesh0");
        for mtu in [1000_u32, 1400, 1500] {
            let set = |m: &Mesh| drop(m.ip(1, &format!("link set eth1 mtu {mtu}")));
            world.changes(set, &format!("the node's packets now have at most {mtu} bytes"));
            let wanted = format!("mtu {} ", mtu - room);
            world.mesh.until(&wanted, RESUMES, |m| tun(m).contains(&wanted));
            // What fits the link that is changed arrives; 28 octets are headers of IP and ICMP.
            let most = mtu - room - 28;
            let ping = |size: u32| format!("ping -c 1 -W 2 -s {size} -M do 10.0.0.3");
            world.mesh.until("what fits arrives", RESUMES, |m| m.run(1, &ping(most)).0);
            let (ok, said) = world.mesh.run(1, &ping(most + 1));
            assert!(!ok && said.contains("message too long"), "{protocol} {mtu}: {said}");
        }
        world.ends();
    }
}

#[test]
fn addresses_that_somebody_flushes_are_put_back_at_the_interface_and_at_the_tun() {
    skip_without_root!();
    for protocol in BOTH {
        let world = World::new(protocol);
        let flush = |of: &'static str| move |m: &Mesh| drop(m.ip(1, &format!("address flush dev {of}")));
        world.changes(flush("eth1"), "the address 10.0.0.2 of eth1 changed");
        let address = "inet 10.0.0.2/32 scope link";
        world.mesh.until(address, RESUMES, |m| m.ip(1, "-4 address show dev eth1").contains(address));
        world.changes(flush("mesh0"), "the address 10.0.0.2/16 of mesh0 changed");
        world.reaches(0);
        world.mesh.ping(0, 1, 2);
        // Both at a time, which takes the routes with them.
        world.changes(
            |m| {
                m.ip(1, "address flush dev mesh0");
                m.ip(1, "address flush dev eth1");
            },
            "restored",
        );
        world.reaches(2);
        world.ends();
    }
}

#[test]
fn forwarding_that_somebody_switches_is_set_again_as_each_protocol_needs_it() {
    skip_without_root!();
    for (protocol, wrong, right) in [("aodv", "0", "1"), ("dsr", "1", "0")] {
        let world = World::new(protocol);
        for key in ["net.ipv4.conf.eth1.forwarding", "net.ipv4.ip_forward"] {
            // One that is as wanted already changes nothing.
            world.set("net.ipv4.ip_forward", right);
            world.changes(|_| world.set(key, wrong), "forwarding of eth1 changed");
            assert_eq!(world.setting("eth1", "forwarding"), right, "{protocol} {key}");
        }
        world.set("net.ipv4.ip_forward", "0");
        world.ends();
    }
}

#[test]
fn settings_of_interface_and_tun_are_set_again_and_the_host_is_as_before() {
    skip_without_root!();
    for protocol in BOTH {
        let world = World::new(protocol);
        for (of, key, wrong, right) in [
            ("eth1", "accept_redirects", "1", "0"),
            ("eth1", "send_redirects", "1", "0"),
            ("all", "send_redirects", "1", "0"),
            ("eth1", "accept_source_route", "1", "0"),
            ("eth1", "rp_filter", "1", "2"),
            ("mesh0", "rp_filter", "1", "2"),
            ("mesh0", "accept_local", "0", "1"),
            ("mesh0", "forwarding", "1", "0"),
        ] {
            let path = format!("net.ipv4.conf.{of}.{key}");
            world.changes(|_| world.set(&path, wrong), &format!("{key} of {of} changed"));
            assert_eq!(world.setting(of, key), right, "{protocol}: {key} of {of}");
        }
        world.ends();
    }
}

#[test]
fn a_node_follows_an_interface_that_is_renamed_and_sets_it_back_under_its_new_name() {
    skip_without_root!();
    for protocol in BOTH {
        let mut world = World::new(protocol);
        let rename = |m: &Mesh, from: &str, to: &str| {
            m.ip(1, &format!("link set {from} down"));
            m.ip(1, &format!("link set {from} name {to}"));
            m.ip(1, &format!("link set {to} up"));
        };
        world.changes(|m| rename(m, "eth1", "radio7"), "the node now uses radio7");
        // Another interface gets the old name, with settings of its own.
        world.mesh.ip(1, "link add eth1 type veth peer name other");
        world.set("net.ipv4.conf.eth1.accept_redirects", "1");
        world.changes(
            |_| world.set("net.ipv4.conf.radio7.accept_redirects", "1"),
            "accept_redirects of radio7 changed",
        );
        world.mesh.stop(1);
        let after = |key: &str| world.setting("radio7", key);
        assert_eq!([after("forwarding"), after("accept_redirects"), after("rp_filter")], ["0", "1", "0"]);
        assert_eq!(world.setting("eth1", "accept_redirects"), "1", "it is another one's");
        assert!(!world.mesh.ip(1, "-4 address show").contains("10.0.0.2"));
        world.mesh.ip(1, "link del eth1");
        rename(&world.mesh, "radio7", "eth1");
        world.ends();
    }
}

#[test]
fn a_tun_that_somebody_sets_down_is_set_up_and_one_that_is_renamed_goes_on() {
    skip_without_root!();
    for protocol in BOTH {
        let world = World::new(protocol);
        world.changes(|m| drop(m.ip(1, "link set mesh0 down")), "the state of mesh0 changed");
        world.reaches(2);
        world.changes(|m| drop(m.ip(1, "link set mesh0 mtu 700")), "(was 700)");
        world.changes(|m| drop(m.ip(1, "link set mesh0 name mesh9")), "programs use mesh9");
        world.changes(|m| drop(m.ip(1, "address flush dev mesh9")), "of mesh9 changed: restored");
        world.reaches(2);
        world.ends();
    }
}

#[test]
fn routes_that_somebody_deletes_or_replaces_are_put_back() {
    skip_without_root!();
    for protocol in BOTH {
        let world = World::new(protocol);
        let to_mesh = "route del 10.0.0.0/16 dev mesh0";
        world.changes(|m| drop(m.ip(1, to_mesh)), "the route to the mesh by mesh0 changed");
        world.reaches(0);
        if protocol == "aodv" {
            let flush = |m: &Mesh| drop(m.ip(1, "route flush proto 119"));
            world.changes(flush, "the routes by eth1 changed");
            let replace = |m: &Mesh| {
                m.ip(1, "route replace 10.0.0.3/32 via 10.0.0.1 dev eth1 onlink");
            };
            world.changes(replace, "the routes by eth1 changed");
            let route = world.mesh.ip(1, "route show 10.0.0.3/32");
            assert!(route.contains("via 10.0.0.3") && route.contains("proto 119"), "{route}");
        }
        world.ends();
    }
}

/// Without the right to load programs into the kernel, rules confine what comes by the interface.
#[test]
fn rules_that_somebody_removes_are_put_back_and_go_with_a_renamed_interface() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    let before = mesh.host_state(1);
    mesh.start(0, "aodv", &[]);
    let node = [WAYHOP, "node", "--interface", "eth1", "--address", "10.0.0.2/16", "--protocol", "aodv"];
    mesh.start_as(1, &["setpriv", "--bounding-set", "-bpf,-sys_admin"], &node);
    mesh.until("the node is ready", PATIENCE, |m| m.said(1).contains("programs use mesh0"));
    mesh.until("the nodes find each other", PATIENCE, |m| m.try_ping(0, 1));
    let rules = |m: &Mesh, name: &str| m.ip(1, "rule").matches(&format!("iif {name}")).count();
    assert_eq!(rules(&mesh, "eth1"), 2, "{}", mesh.said(1));
    mesh.ip(1, "rule del pref 120");
    mesh.until("the rule is there again", RESUMES, |m| rules(m, "eth1") == 2);
    assert!(mesh.said(1).contains("the rules of eth1 changed"), "{}", mesh.said(1));
    mesh.ip(1, "link set eth1 down");
    mesh.ip(1, "link set eth1 name radio7");
    mesh.until("they go with it", RESUMES, |m| (rules(m, "eth1"), rules(m, "radio7")) == (0, 2));
    mesh.ip(1, "link set radio7 up");
    mesh.until("traffic goes on", RESUMES, |m| m.try_ping(0, 1));
    mesh.stop_all();
    mesh.ip(1, "link set radio7 down");
    mesh.ip(1, "link set radio7 name eth1");
    mesh.ip(1, "link set eth1 up");
    assert_eq!(mesh.host_state(1), before);
}

/// How many eBPF programs of a node are at their places.
fn places(mesh: &Mesh, i: usize) -> usize {
    let linked = mesh.run(i, &format!("grep -h ifindex -r /proc/{}/fdinfo", mesh.pid(i))).1;
    linked.lines().filter(|l| l.trim_start_matches("ifindex:").trim() != "0").count()
}

#[test]
fn removing_filters_and_the_qdisc_does_not_open_the_interface() {
    skip_without_root!();
    for protocol in BOTH {
        let world = World::new(protocol);
        world.mesh.run(1, "tc qdisc add dev eth1 clsact");
        world.mesh.run(1, "tc filter del dev eth1 ingress");
        let (ok, said) = world.mesh.run(1, "tc qdisc del dev eth1 clsact");
        assert!(ok, "{said}");
        assert_eq!(places(&world.mesh, 1), if protocol == "dsr" { 1 } else { 2 }, "{protocol}");
        world.flows("the filters are removed", RESUMES);
        world.ends();
    }
}

/// Takes the programs of a process from their places in the kernel, as `bpftool link detach` does.
const DETACH: &str = r"
import ctypes, glob, os, re, sys
libc, number = ctypes.CDLL(None, use_errno=True), {'x86_64': 321, 'aarch64': 280}[os.uname().machine]
def bpf(command, *words):
    attributes = (ctypes.c_uint32 * 32)(*words)
    r = libc.syscall(number, command, attributes, ctypes.sizeof(attributes))
    if r < 0: raise OSError(ctypes.get_errno())
    return r
for path in glob.glob('/proc/%s/fdinfo/*' % sys.argv[1]):
    found = re.search(r'link_id:\s*(\d+)', open(path).read())
    if found: bpf(34, bpf(30, int(found.group(1))))  # BPF_LINK_DETACH, BPF_LINK_GET_FD_BY_ID
";

#[test]
fn programs_that_root_takes_from_their_places_are_put_back() {
    skip_without_root!();
    for protocol in BOTH {
        let world = World::new(protocol);
        let pid = world.mesh.pid(1).to_string();
        let detach = |m: &Mesh| {
            let (ok, said) = m.run_args(1, &["python3", "-c", DETACH, &pid]);
            assert!(ok, "{said}");
        };
        world.changes(detach, "the eBPF programs on eth1 changed");
        assert_eq!(places(&world.mesh, 1), if protocol == "dsr" { 1 } else { 2 }, "{protocol}");
        world.ends();
    }
}

#[test]
fn arp_is_switched_on_again_and_a_port_of_a_bridge_is_no_interface_of_a_mesh() {
    skip_without_root!();
    for protocol in BOTH {
        let mut world = World::new(protocol);
        world.changes(|m| drop(m.ip(1, "link set eth1 arp off")), "ARP on eth1 changed");
        assert!(!world.mesh.ip(1, "link show eth1").contains("NOARP"));
        world.mesh.ip(1, "link add bridge7 type bridge");
        world.mesh.ip(1, "link set eth1 master bridge7");
        world.is_over();
        world.mesh.ip(1, "link del bridge7");
        world.leaves("eth1 now belongs to bridge7");
    }
}

#[test]
fn a_packet_too_long_for_the_link_is_dropped_and_the_program_hears_of_it() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    mesh.start(0, "dsr", &[]);
    // The configuration says how long packets of programs are, and the TUN stays so.
    mesh.start(1, "dsr", &["control=n1", "mtu=1300"]);
    mesh.until("the nodes find each other", PATIENCE, |m| m.try_ping(1, 0));
    let ping = |m: &Mesh| m.run(1, "ping -c 1 -W 1 -s 1200 -M do 10.0.0.1");
    mesh.until("it fits", PATIENCE, |m| ping(m).0);
    mesh.ip(1, "link set eth1 mtu 1000");
    mesh.until("the program hears of it", RESUMES, |m| {
        let said = ping(m).1;
        said.contains("Frag needed") || said.contains("message too long")
    });
    assert!(mesh.ip(1, "-o link show mesh0").contains("mtu 1300 "));
    let drops = mesh.counters("n1");
    assert!(drops["drop.TOO_LONG"].as_u64() >= Some(1), "{drops}");
    mesh.stop_all();
}

#[test]
fn a_node_that_another_program_fights_leaves_and_says_why() {
    skip_without_root!();
    for (protocol, value) in [("aodv", "0"), ("dsr", "1")] {
        let mut world = World::new(protocol);
        let script =
            format!("while :; do echo {value} > /proc/sys/net/ipv4/conf/eth1/forwarding; sleep 0.2; done");
        let fighter = world.mesh.spawn(1, &["sh", "-c", &script]);
        world.is_over();
        drop(fighter);
        world.set("net.ipv4.conf.eth1.forwarding", "0");
        world.leaves("forwarding of eth1 changed 5 times within a minute");
    }
}

#[test]
fn a_network_that_comes_into_the_way_of_the_mesh_has_the_node_leave() {
    skip_without_root!();
    for protocol in BOTH {
        for (interface, address, why) in [
            ("lan0", "10.0.5.1/24", "overlaps with the network 10.0.5.0/24 of lan0"),
            ("eth1", "10.0.0.9/24", "ip address del 10.0.0.9/24 dev eth1"),
        ] {
            let mut world = World::new(protocol);
            world.mesh.ip(1, "link add lan0 type veth peer name lan1");
            world.mesh.ip(1, "address add 192.0.2.1/24 dev lan0");
            world.mesh.ip(1, "address add 10.0.0.77/32 dev lan0");
            world.flows("networks that have nothing in common do no harm", RESUMES);
            world.mesh.ip(1, &format!("address add {address} dev {interface}"));
            world.is_over();
            world.mesh.ip(1, "link del lan0");
            if interface == "eth1" {
                world.mesh.ip(1, &format!("address del {address} dev eth1"));
            }
            world.leaves(why);
        }
    }
}

#[test]
fn a_node_that_is_down_by_order_is_not_set_up_and_follows_what_changed_meanwhile() {
    skip_without_root!();
    for protocol in BOTH {
        let mut mesh = Mesh::line(2);
        let before = mesh.host_state(1);
        mesh.start(0, protocol, &[]);
        mesh.start(1, protocol, &["control=n1"]);
        mesh.until("the nodes find each other", PATIENCE, |m| m.try_ping(0, 1));
        let ctl = |m: &Mesh, order: &str| {
            let socket = m.socket("n1").display().to_string();
            let done = Command::new(WAYHOP).args(["ctl", "--socket", &socket, order]).output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        };
        ctl(&mesh, "down");
        mesh.ip(1, "link set eth1 address 02:00:0a:00:00:77");
        mesh.ip(1, "link set eth1 mtu 1300");
        mesh.until("it follows", RESUMES, |m| m.said(1).contains("at most 1300 bytes"));
        // Long enough for two looks.
        std::thread::sleep(Duration::from_millis(2500));
        assert!(!mesh.said(1).contains(": restored"), "{}", mesh.said(1));
        assert!(!mesh.ip(1, "-4 address show").contains("10.0.0.2/32"), "{protocol}");
        ctl(&mesh, "up");
        mesh.until("traffic goes on", RESUMES, |m| m.try_ping(0, 1));
        if protocol == "dsr" {
            let socket = mesh.socket("n1").display().to_string();
            let (_, said) = mesh.run_args(1, &[WAYHOP, "ctl", "--socket", &socket, "params", "mtu_bytes"]);
            assert!(said.contains("1300"), "{said}");
        }
        let is_repair = |l: &str| l.contains("warning: ") && l.contains(" changed: ");
        assert!(!mesh.said(1).lines().any(is_repair), "{}", mesh.said(1));
        mesh.ip(1, "link set eth1 mtu 1500");
        mesh.ip(1, "link set eth1 address 02:00:0a:00:00:02");
        mesh.stop_all();
        assert_eq!(mesh.host_state(1), before, "{protocol}");
    }
}

#[test]
fn what_ipv6_needs_is_put_back_and_a_link_too_short_for_it_has_the_node_leave() {
    skip_without_root!();
    for protocol in ["dsr", "aodv", "none"] {
        let mut mesh = Mesh::line(2);
        let before = mesh.host_state(1);
        let off = |m: &Mesh| m.run(1, "sysctl -n net.ipv6.conf.eth1.disable_ipv6").1;
        let off_before = off(&mesh);
        mesh.start(0, protocol, &["address6=fd00:77::1/64"]);
        mesh.start(1, protocol, &["address6=fd00:77::2/64"]);
        let reaches = |m: &Mesh| {
            m.run(0, "ping -6 -c 1 -W 1 fd00:77::2").0 && m.run(1, "ping -6 -c 1 -W 1 fd00:77::1").0
        };
        mesh.until("the nodes find each other", PATIENCE, reaches);
        for (change, said) in [
            ("ip link set eth1 address 02:00:0a:00:00:77", "the node now uses 02:00:0a:00:00:77"),
            ("ip -6 address flush dev mesh0", "the address fd00:77::2/64 of mesh0 changed"),
            ("sysctl -w net.ipv6.conf.eth1.disable_ipv6=0", "disable_ipv6 of eth1 changed"),
            ("sysctl -w net.ipv6.conf.mesh0.disable_ipv6=1", "the address fd00:77::2/64 of mesh0 changed"),
            ("ip -6 route del fd00:77::/64 dev mesh0", "the route to fd00:77::/64 by mesh0 changed"),
            ("ip link set mesh0 down", "the state of mesh0 changed"),
            ("ip link set eth1 address 02:00:0a:00:00:02", "the node now uses 02:00:0a:00:00:02"),
        ] {
            let from = mesh.said(1).len();
            let (ok, wrong) = mesh.run(1, change);
            assert!(ok, "{wrong}");
            let case = format!("{protocol}: {change}");
            mesh.until(&case, RESUMES, |m| m.said(1)[from..].contains(said));
            mesh.until(&case, RESUMES, reaches);
        }
        mesh.ip(1, "link set eth1 mtu 1200");
        assert_eq!(mesh.end_by_itself(1), Some(1), "{protocol}");
        let said = mesh.said(1);
        assert!(said.contains("IPv6 needs 1280") && said.contains("the node exits"), "{protocol}: {said}");
        mesh.ip(1, "link set eth1 mtu 1500");
        mesh.stop(0);
        assert_eq!((mesh.host_state(1), off(&mesh)), (before, off_before), "{protocol}");
    }
}

#[test]
fn who_watches_a_node_hears_what_somebody_changed_and_why_it_leaves() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    mesh.start(0, "dsr", &["control=n0"]);
    let socket = mesh.socket("n0").display().to_string();
    let heard = mesh.folder().join("heard");
    let watch = format!("exec {WAYHOP} ctl --socket {socket} --json watch host > {}", heard.display());
    let watching = mesh.spawn(0, &["sh", "-c", &watch]);
    let text = || std::fs::read_to_string(&heard).unwrap_or_default();
    mesh.until("it hears of a setting", PATIENCE, |m| {
        m.run(0, "sysctl -w net.ipv4.conf.eth1.accept_redirects=1");
        std::thread::sleep(Duration::from_secs(20) / 10);
        text().contains("\"what\":\"accept_redirects of eth1\"")
    });
    mesh.ip(0, "address add 10.0.9.1/24 dev eth1");
    assert_eq!(mesh.end_by_itself(0), Some(1));
    mesh.until("it hears why", PATIENCE, |_| {
        text().contains("the node exits: eth1 has the address 10.0.9.1/24")
    });
    drop(watching);
}
