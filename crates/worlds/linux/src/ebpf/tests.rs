//! The programs at work, in two namespaces with a wire between them. Needs root, network namespaces and Linux 6.6: without
//! root the tests are skipped with a message; in CI they fail.

use std::fs;
use std::io::Write as _;
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};
use wayhop_core::Mac;
use wayhop_netns::Namespace;

use super::*;

const PORT: u16 = 654;
const NODE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const STRANGER: Mac = Mac([2, 0, 0, 0, 0, 1]);

/// A stranger on a wire to a node, which forwards to a third host behind it, outside of the mesh, and to a fourth within.
struct World {
    stranger: Namespace,
    node: Namespace,
    behind: Namespace,
    ebpf: ForwardingPrograms,
}

fn ip(host: &Namespace, orders: &str) {
    let mut command = Command::new("ip");
    command.args(["-batch", "-"]).stdin(Stdio::piped());
    let mut child = host.within(|| command.spawn()).unwrap();
    child.stdin.take().unwrap().write_all(orders.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

fn path_of(host: &Namespace) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), host.fd())
}

impl World {
    fn new() -> Option<Self> {
        if !crate::tests::is_root() {
            return None;
        }
        let [stranger, node, behind] = [(); 3].map(|()| Namespace::new().unwrap());
        ip(
            &node,
            &format!(
                "link set lo up\n\
                 link add eth1 type veth peer name eth1 address {STRANGER} netns {}\n\
                 link add lan0 type veth peer name lan0 netns {}\n\
                 link set eth1 up\nlink set lan0 up\n\
                 address add {NODE}/32 dev eth1\naddress add 192.168.7.2/24 dev eth1\naddress add 192.0.2.1/24 dev lan0\n\
                 route add 10.0.0.1/32 dev eth1\nroute add 10.0.0.9/32 via 192.0.2.9\n",
                path_of(&stranger),
                path_of(&behind)
            ),
        );
        ip(
            &behind,
            "link set lan0 up\naddress add 192.0.2.9/24 dev lan0\naddress add 10.0.0.9/32 dev lan0\n\
             route add default via 192.0.2.1\n",
        );
        ip(
            &stranger,
            "link set eth1 up\naddress add 10.0.0.1/32 dev eth1\nroute add 10.0.0.2/32 dev eth1\n\
             route add default via 10.0.0.2 dev eth1 onlink\n",
        );
        let ebpf = node
            .within(|| {
                fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
                let index = nix::net::if_::if_nametoindex("eth1")?;
                ForwardingPrograms::open(
                    index,
                    (NODE, Prefix::around(NODE, 24)),
                    &[],
                    PORT,
                    0x9e37_79b9_7f4a_7c15,
                )
            })
            .unwrap();
        Some(Self { stranger, node, behind, ebpf })
    }

    /// Whether a datagram of the stranger arrives in that host, sent to this address and port.
    fn arrives(&self, host: &Namespace, to: &str) -> bool {
        let there = host.within(|| UdpSocket::bind("0.0.0.0:9")).unwrap();
        there.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let from = self
            .stranger
            .within(|| {
                let s = UdpSocket::bind("0.0.0.0:0")?;
                s.set_broadcast(true)?;
                Ok(s)
            })
            .unwrap();
        // ARP on the way may lose the first.
        let begun = Instant::now();
        let mut room = [0; 16];
        while begun.elapsed() < Duration::from_secs(1) {
            let _ = from.send_to(&[1, 2], (to, 9));
            if there.recv(&mut room).is_ok() {
                return true;
            }
        }
        false
    }

    fn passed(&self) -> Vec<(Ipv4Addr, Ipv4Addr)> {
        let mut all: Vec<_> = self.ebpf.take().map(|p| (p.source, p.destination)).collect();
        all.sort();
        all.dedup();
        all
    }
}

#[test]
fn what_comes_for_a_network_outside_of_the_mesh_ends_and_all_else_passes() {
    let Some(mut w) = World::new() else { return };
    assert!(!w.arrives(&w.behind, "192.0.2.9"), "a host outside of the mesh");
    assert!(w.arrives(&w.behind, "10.0.0.9"), "a host of the mesh");
    assert!(w.arrives(&w.node, "10.0.0.2"), "this host");
    assert!(w.arrives(&w.node, "192.168.7.2"), "this host by another of its addresses");
    assert!(w.arrives(&w.node, "192.0.2.1"), "and by one of another interface");
    assert!(w.arrives(&w.node, "255.255.255.255"), "all");
    // The test can fail: without the programs it goes there.
    for program in [&mut w.ebpf.incoming, &mut w.ebpf.outgoing] {
        program.place = fs::File::open("/dev/null").unwrap().into();
    }
    assert!(w.arrives(&w.behind, "192.0.2.9"));
}

#[test]
fn at_a_closed_interface_the_kernel_gets_neither_ip_nor_arp() {
    let Some(w) = World::new() else { return };
    assert!(w.arrives(&w.node, "10.0.0.2") && w.arrives(&w.node, "192.0.2.1"));
    let closed = w.node.within(|| close_interface(nix::net::if_::if_nametoindex("eth1")?)).unwrap();
    for to in ["10.0.0.2", "192.168.7.2", "192.0.2.1", "255.255.255.255"] {
        assert!(!w.arrives(&w.node, to), "{to}");
    }
    ip(&w.stranger, "neighbour flush dev eth1\n");
    assert!(!w.arrives(&w.node, "10.0.0.2"));
    let known = w.stranger.within(|| Command::new("ip").args(["neighbour", "show", "10.0.0.2"]).output());
    let known = String::from_utf8(known.unwrap().stdout).unwrap();
    assert!(known.contains("10.0.0.2") && !known.contains("lladdr"), "nobody answers: {known}");
    drop(closed);
    ip(&w.stranger, "neighbour flush dev eth1\n");
    assert!(w.arrives(&w.node, "10.0.0.2"), "it ends with who holds it");
}

#[test]
fn what_an_ignored_transmitter_sends_reaches_nobody_until_it_is_heard_again() {
    let Some(w) = World::new() else { return };
    assert!(w.arrives(&w.node, "10.0.0.2") && w.arrives(&w.behind, "10.0.0.9"));
    let others = (0..IgnoringProgram::MOST as u32 - 1).map(|i| {
        let [.., a, b] = i.to_be_bytes();
        Mac([2, 0, 0, 1, a, b])
    });
    let known: Vec<Mac> = others.chain([STRANGER]).collect();
    let open = |known: Vec<Mac>| {
        w.node.within(|| IgnoringProgram::open(nix::net::if_::if_nametoindex("eth1")?, known))
    };
    let program = open(known.clone()).unwrap();
    assert!(w.arrives(&w.node, "10.0.0.2"), "none is ignored at first");
    program.ignore(&[STRANGER]);
    for to in ["10.0.0.2", "192.0.2.1", "255.255.255.255"] {
        assert!(!w.arrives(&w.node, to), "{to}");
    }
    assert!(!w.arrives(&w.behind, "10.0.0.9"), "what would be forwarded");
    program.ignore(&known[..3]);
    assert!(w.arrives(&w.node, "10.0.0.2") && w.arrives(&w.behind, "10.0.0.9"), "others are ignored");
    let one_more = known.iter().copied().chain([Mac([2, 0, 0, 2, 0, 0])]).collect();
    assert!(open(one_more).is_err());
}

#[test]
fn a_pair_that_passes_is_told_once_with_its_transmitter_until_it_is_taken() {
    let Some(w) = World::new() else { return };
    assert!(w.arrives(&w.behind, "10.0.0.9"));
    assert!(w.arrives(&w.behind, "10.0.0.9"));
    let told: Vec<ForwardedPair> =
        w.ebpf.take().filter(|p| p.destination == Ipv4Addr::new(10, 0, 0, 9)).collect();
    let pair = ForwardedPair {
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination: Ipv4Addr::new(10, 0, 0, 9),
        transmitter: STRANGER,
    };
    assert_eq!(told, [pair]);
    assert_eq!(w.passed(), []);
}

#[test]
fn what_is_overheard_does_not_count() {
    let Some(w) = World::new() else { return };
    // For the next hop behind this one: a node that hears its next hop forward would take it for one that sends back.
    ip(&w.stranger, "neighbour replace 10.0.0.2 lladdr 02:00:00:00:00:03 dev eth1 nud permanent\n");
    assert!(!w.arrives(&w.behind, "10.0.0.9"));
    assert_eq!(w.passed(), []);
    ip(&w.stranger, "neighbour delete 10.0.0.2 dev eth1\n");
    assert!(w.arrives(&w.behind, "10.0.0.9"));
    assert_eq!(w.passed(), [(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 9))]);
}

#[test]
fn own_packets_count_but_for_the_protocols() {
    let Some(w) = World::new() else { return };
    let send = |port: u16| {
        let own = marked(&w.node, w.ebpf.mark());
        own.send_to(&[1, 2], &std::net::SocketAddr::from(([10, 0, 0, 1], port)).into()).unwrap();
    };
    // Somebody listens, so that no ICMP message comes back.
    let _listeners = [PORT, 9].map(|port| w.stranger.within(|| UdpSocket::bind(("10.0.0.1", port))).unwrap());
    assert!(w.arrives(&w.node, "10.0.0.2"), "so that ARP is done");
    w.passed();
    send(PORT);
    assert_eq!(w.passed(), []);
    send(9);
    assert_eq!(w.passed(), [(NODE, Ipv4Addr::new(10, 0, 0, 1))]);
}

#[test]
fn what_comes_for_this_host_from_the_mesh_counts_but_for_the_protocols() {
    let Some(w) = World::new() else { return };
    assert!(w.arrives(&w.node, "10.0.0.2"), "so that ARP is done");
    w.passed();
    let from = w.stranger.within(|| UdpSocket::bind("10.0.0.1:0")).unwrap();
    // Somebody listens, so that no ICMP message goes back.
    let _listeners = [PORT, 9].map(|port| w.node.within(|| UdpSocket::bind((NODE, port))).unwrap());
    let taken = || {
        std::thread::sleep(Duration::from_millis(50));
        w.passed()
    };
    from.send_to(&[1, 2], ("10.0.0.2", PORT)).unwrap();
    assert_eq!(taken(), []);
    from.send_to(&[1, 2], ("10.0.0.2", 9)).unwrap();
    assert_eq!(taken(), [(Ipv4Addr::new(10, 0, 0, 1), NODE)]);
    // Other hosts' addresses are no business of the mesh.
    ip(&w.stranger, "address add 192.168.7.1/32 dev eth1\n");
    let foreign = w.stranger.within(|| UdpSocket::bind("192.168.7.1:0")).unwrap();
    foreign.send_to(&[1, 2], ("10.0.0.2", 9)).unwrap();
    assert_eq!(taken(), []);
}

/// A socket whose packets have this mark.
fn marked(host: &Namespace, mark: u32) -> Socket {
    let open = || {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        socket.set_mark(mark)?;
        Ok(socket)
    };
    host.within(open).unwrap()
}

/// Whether a datagram from one host gets to a port of the stranger's.
fn gets_out(w: &World, from: &Namespace, mark: u32, port: u16) -> bool {
    let there = w.stranger.within(|| UdpSocket::bind(("10.0.0.1", port))).unwrap();
    there.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let to = std::net::SocketAddr::from(([10, 0, 0, 1], port)).into();
    marked(from, mark).send_to(&[1, 2], &to).unwrap();
    there.recv(&mut [0; 16]).is_ok()
}

#[test]
fn messages_of_the_protocol_leave_if_they_are_the_nodes() {
    let Some(w) = World::new() else { return };
    assert!(w.arrives(&w.node, "10.0.0.2") && w.arrives(&w.behind, "10.0.0.9"), "so that ARP is done");
    let mark = w.ebpf.mark();
    for (from, who) in [(&w.node, "a program of this host"), (&w.behind, "a host behind this one")] {
        assert!(gets_out(&w, from, 0, 9), "{who} sends what it likes");
        assert!(!gets_out(&w, from, 0, PORT), "{who} does not speak for the protocol");
    }
    assert!(gets_out(&w, &w.node, mark, PORT), "the node does");
    assert!(!gets_out(&w, &w.node, mark ^ 2, PORT), "with its mark only");
}

#[test]
fn more_pairs_than_sets_are_told_nearly_all() {
    let Some(w) = World::new() else { return };
    assert!(w.arrives(&w.behind, "10.0.0.9"));
    w.passed();
    // Each with another source.
    let raw = w.stranger.within(|| Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(255)))).unwrap();
    let to = std::net::SocketAddr::from(([10, 0, 0, 9], 0)).into();
    let sources = (0..1000_u32).map(|i| Ipv4Addr::from_bits(u32::from(Ipv4Addr::new(10, 0, 0, 16)) + i));
    for a in sources.clone() {
        let mut packet = vec![0x45, 0, 0, 24, 0, 0, 0, 0, 64, 200, 0, 0];
        packet.extend(a.octets());
        packet.extend([10, 0, 0, 9, 0, 0, 0, 0]);
        raw.send_to(&packet, &to).unwrap();
    }
    // A thousand pairs among 2048 sets of two: one is lost where three meet. By Poisson's law with a mean of 1000/2048 these
    // are 2048 * (e^-m * (m^3/6 * 1 + m^4/24 * 2)) = 30.
    let told = w.passed().len();
    assert!((940..=1000).contains(&told), "{told}");
}
