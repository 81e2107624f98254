//! Faults around a roving node: rogue agents, interfaces that come and go, agents that are killed.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::mesh::{WAYHOP, skip_without_root};
use crate::roving::{AT_HOME, CELLULAR, IN_MESH, ON_OTHER_LAN, World, attached, home_agent, mobile_node};

/// A stranger on a LAN, who speaks each second in the name of an agent whose address it has learned: that there is another care-of address,
/// that the agent is gone, and that this is the home network.
const FORGER: &str = r"
import socket, struct, sys, time
link, agent, care_of, kind, seconds = sys.argv[1], socket.inet_aton(sys.argv[2]), socket.inet_aton(sys.argv[3]), sys.argv[4], float(sys.argv[5])
def checksum(b):
    s = sum(struct.unpack(f'>{len(b) // 2}H', b))
    s = (s & 0xffff) + (s >> 16)
    return ~((s & 0xffff) + (s >> 16)) & 0xffff
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
raw.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link.encode())
until = time.monotonic() + seconds
number = 10000
while time.monotonic() < until:
    number += 1
    flags, lifetime = (0x2100, 3) if kind == 'home' else (0x9100, 0 if kind == 'gone' else 3)
    own = [] if kind == 'home' else [care_of]
    extension = struct.pack('>BBHHH', 16, 6 + 4 * len(own), number, 300, flags) + b''.join(own)
    body = struct.pack('>BBH4sI', 1, 2, lifetime, agent, 0) + extension
    icmp = struct.pack('>BBH', 9, 0, checksum(struct.pack('>BBH', 9, 0, 0) + body)) + body
    ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(icmp), 0, 0, 1, 1, 0, agent, socket.inet_aton('224.0.0.1'))
    raw.sendto(ip + icmp, ('224.0.0.1', 0))
    time.sleep(1)
";

/// Pings the home address from the home LAN, five times a second: how many of how many were answered.
fn pings(world: &World, seconds: u32) -> (u32, u32) {
    let sent = seconds * 5;
    let (_, said) = world.run("peer", &format!("ping -n -i 0.2 -c {sent} -W 2 10.1.0.9"));
    let received = said.split(" received").next().and_then(|s| s.rsplit(' ').next()?.parse().ok());
    (received.unwrap_or_else(|| panic!("{said}")), sent)
}

#[test]
fn forged_advertisements_do_not_lead_a_node_away_from_a_foreign_agent_that_works() {
    skip_without_root!();
    let mut world = World::new();
    // The stranger is on the foreign agent's LAN.
    world.plug("car", "eth0", "other");
    world.start_role("home", "home-agent", &home_agent());
    let foreign = "uplink = \"up0\"\ncare_of = \"10.4.0.2\"\n[[links]]\ninterface = \"lan0\"\n";
    world.start_role("foreign", "foreign-agent", foreign);
    world.walk(Some("other"));
    world.start_role("mobile", "node", &mobile_node(&[("wlan0", "link", "")]));
    attached(&world, ON_OTHER_LAN, 1);
    world.until("it is reached", |w| pings(w, 1).0 == 5);
    let file = world.file("forger.py");
    fs::write(&file, FORGER).unwrap();
    for (kind, agent) in [("care-of", "10.8.0.1"), ("gone", "10.8.0.1"), ("home", "10.1.0.1")] {
        let program = format!("forger-{kind}");
        let words = ["python3", file.to_str().unwrap(), "eth0", agent, "10.8.0.66", kind, "20"];
        world.start("car", &program, &words);
        sleep(Duration::from_secs(1));
        let (received, sent) = pings(&world, 18);
        let (after, of) = pings(&world, 4);
        eprintln!("forged, {kind}: {received} of {sent} pings answered, then {after} of {of}");
        // The kernel may lose one while routes change; the tunnel loses none.
        assert!(received + 1 >= sent && after + 1 >= of, "{kind}: {received} of {sent}, {after} of {of}");
    }
    let said = world.said("node");
    assert!(said.contains("it contradicts the agent in use"), "{said}");
}

#[test]
fn interfaces_that_come_later_or_are_made_again_are_taken() {
    skip_without_root!();
    let mut world = World::new();
    world.start_role("home", "home-agent", &home_agent());
    // The modem is not there yet, and no mesh.
    world.walk(None);
    let links = [("mesh0", "mesh", ""), ("ppp0", "co-located", "")];
    world.start_role("mobile", "node", &mobile_node(&links));
    for name in ["mesh0", "ppp0"] {
        let waits = format!("interface {name} does not exist yet; waiting for it");
        assert!(world.said("node").contains(&waits), "{}", world.said("node"));
    }
    // pppd makes an interface, and another one of the same name at each redial.
    world.wire("mobile", "ppp0", "10.6.0.2/24", "10.6.0.1/24");
    let way_out = |w: &World| w.ip("mobile", "route replace default via 10.6.0.1");
    way_out(&world);
    let cellular = "attached by ppp0, co-located care-of address 10.6.0.2";
    attached(&world, cellular, 1);
    world.until("it is reached", |w| pings(w, 1).0 == 5);
    for redial in 2..4 {
        world.ip("mobile", "link del ppp0");
        attached(&world, "attached nowhere", redial - 1);
        sleep(Duration::from_secs(1));
        world.wire("mobile", "ppp0", "10.6.0.2/24", "10.6.0.1/24");
        // The default route comes later, and with it the request for a binding: a second request would follow a second after the first.
        sleep(Duration::from_millis(100));
        way_out(&world);
        let back = Instant::now();
        attached(&world, cellular, redial);
        assert!(back.elapsed() < Duration::from_millis(700), "{:?}", back.elapsed());
        let (received, sent) = pings(&world, 5);
        eprintln!("after redial {}: {received} of {sent} pings answered", redial - 1);
        assert_eq!(received, sent);
    }
    // The mesh comes up behind, with its foreign agent, and is the better one; and again when its
    // node restarts.
    world.mesh(&["mobile", "car", "foreign"], "dsr");
    let foreign = "uplink = \"up0\"\ncare_of = \"10.4.0.2\"\n[[links]]\ninterface = \"mesh0\"\nmesh = true\n";
    world.start_role("foreign", "foreign-agent", foreign);
    attached(&world, IN_MESH, 1);
    world.until("it is reached by the mesh", |w| pings(w, 1).0 == 5);
    world.stop("mesh-mobile");
    attached(&world, cellular, 4);
    let again = [WAYHOP, "node", "--interface", "radio0", "--address", "10.9.0.1/24", "--protocol", "dsr"];
    world.start("mobile", "mesh-mobile", &again);
    attached(&world, IN_MESH, 2);
    world.until("it is reached by the mesh again", |w| pings(w, 1).0 == 5);
    world.stop("node");
    let (_, routes) = world.run("mobile", "ip route");
    assert!(!routes.contains("/1"), "{routes}");
}

#[test]
fn a_link_that_is_made_again_is_home_again() {
    skip_without_root!();
    let mut world = World::new();
    world.start_role("home", "home-agent", &home_agent());
    world.start_role("mobile", "node", &mobile_node(&[("wlan0", "link", ""), ("cell0", "co-located", "")]));
    attached(&world, AT_HOME, 1);
    world.ip("mobile", "link del wlan0");
    attached(&world, CELLULAR, 1);
    world.plug("mobile", "wlan0", "lan");
    attached(&world, AT_HOME, 2);
    let (received, sent) = pings(&world, 4);
    assert_eq!(received, sent);
    let arp = |w: &World| w.run("mobile", "cat /proc/sys/net/ipv4/conf/wlan0/arp_ignore").1;
    assert_eq!(arp(&world).trim(), "1", "as at the first one");
    world.stop("node");
    assert_eq!(arp(&world).trim(), "0", "and restored");
}

#[test]
fn a_home_agent_that_is_killed_and_started_again_knows_where_its_mobile_nodes_are() {
    skip_without_root!();
    let mut world = World::new();
    world.start_role("home", "home-agent", &home_agent());
    world.walk(None);
    world.start_role("mobile", "node", &mobile_node(&[("wlan0", "link", ""), ("cell0", "co-located", "")]));
    attached(&world, CELLULAR, 1);
    world.until("it is reached", |w| pings(w, 1).0 == 5);
    let registered = |w: &World| w.said("node").matches("registers ").count();
    let before = registered(&world);
    for kill in [true, false] {
        if kill {
            let at = world.programs.iter().position(|(name, _)| name == "home-agent").unwrap();
            let (_, mut child) = world.programs.remove(at);
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            world.stop("home-agent");
        }
        world.start_role("home", "home-agent", &home_agent());
        let (received, sent) = pings(&world, 10);
        eprintln!("after the home agent's restart: {received} of {sent} pings answered");
        assert!(received + 1 >= sent, "{received} of {sent}: {}", world.said("home-agent"));
        assert!(
            world.said("home-agent").contains("10.1.0.9 is still at 10.5.0.2"),
            "{}",
            world.said("home-agent")
        );
    }
    assert_eq!(registered(&world), before, "nobody had to register again");
    // It goes on from the same identifications: the next registration is taken at once.
    world.walk(Some("lan"));
    attached(&world, AT_HOME, 1);
    world.until("the home agent knows", |w| w.said("home-agent").contains("10.1.0.9 is at home"));
    assert!(!world.said("home-agent").contains("refused"), "{}", world.said("home-agent"));
}
