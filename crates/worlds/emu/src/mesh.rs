//! The nodes' network stacks: for each one a namespace with a TUN or TAP, and the sockets of the scenario's own flows.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, TcpListener, UdpSocket};
use std::thread;

use nix::libc;
use socket2::{Domain, Protocol, Socket, Type};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};
use wayhop_control::gpsd::Server;
use wayhop_core::{Mac, NodeId, Route};
use wayhop_netns::{Error, Namespace, Need, add_address, add_route, make_room, send_all_by};
use wayhop_scenario::{FlowConfig, FlowKind, Ipv6Plan, Resolved};

/// The interface that programs see.
pub(crate) const INTERFACE: &str = "mesh0";
/// The longest packet that programs may send: with the longest DSR header it still fits a frame.
const MTU: u16 = 1_500;
/// Packets that wait in the TUN for the simulator. The interface queue behind it is what limits.
const TUN_QUEUE: u32 = 1_000;
/// gpsd's address, in each node.
const GPSD: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 2947);
/// What this process has open for each node: its namespace, TUN, raw socket, and gpsd's with a copy.
const DESCRIPTORS: usize = 5;
/// What a node takes of memory, almost all of it in the kernel: measured with 400 nodes.
const OCTETS: u64 = 1_200_000;
/// Threads that end nodes.
const CLOSERS: usize = 64;
/// The smallest receive buffer: nobody reads what flows deliver.
const SINK_BUFFER: usize = 2_304;

/// All nodes' network stacks. They end with this value, or with the last program in them.
pub struct Mesh {
    pub(crate) stacks: Vec<Stack>,
}

/// One node's network stack.
pub(crate) struct Stack {
    pub(crate) namespace: Namespace,
    /// The TUN or, where it does the routing, the TAP that is its radio.
    pub(crate) tun: SyncDevice,
    /// Its static routes, where it does the routing.
    routes: Vec<Route>,
    /// Whether packets for addresses outside of the mesh go by the TUN, too.
    sends_all: bool,
    /// The address by which others know a mobile node: programs have it in the namespace, wherever the node is.
    home: Option<Ipv4Addr>,
    /// Sends whole IP packets of the scenario's flows.
    raw: Socket,
    /// The same over IPv6, if the node has an address of it.
    raw6: Option<Socket>,
    /// Where programs in the node find its GPS receiver.
    pub(crate) gps: TcpListener,
    /// Hold the ports to which flows send, so that no "port unreachable" comes back.
    _sinks: Vec<Socket>,
}

impl Mesh {
    /// Makes the nodes of a scenario, unless `is_stopped` says meanwhile that they are not wanted any more.
    ///
    /// # Errors
    /// If this user may not, or this process may not have as many files open: told before the first.
    pub fn new(scenario: &Resolved, is_stopped: impl Fn() -> bool) -> Result<Self, Error> {
        let nodes = scenario.addresses.len();
        let sinks = |f: &FlowConfig| if f.is_to_all() { nodes } else { 1 };
        let sinks: usize = scenario.flows.iter().map(sinks).sum();
        let descriptors = (nodes * DESCRIPTORS + sinks) as u64;
        make_room(&Need { nodes, descriptors, octets_per_node: OCTETS, tasks_per_node: 0 })?;
        let everybody = common_prefix(&scenario.addresses);
        // With gateways the mesh has a prefix of its own, and a host outside none that it shares with anybody.
        let prefix = |node| match &scenario.edge {
            None => everybody,
            Some(edge) if edge.is_outside(node) => 32,
            Some(edge) => edge.mesh.len,
        };
        let one = |(i, &addr): (usize, &Ipv4Addr)| {
            if is_stopped() {
                return Err(Error::Stopped);
            }
            let v6 = scenario.ipv6.as_ref().map(|plan| (plan.addresses[i], common_prefix6(plan)));
            let node = NodeId(i as u32);
            Stack::new(scenario, node, (addr, prefix(node)), v6).map_err(|e| {
                Error::system(format!("cannot create a network namespace for node {}", scenario.names[i]), e)
            })
        };
        let mut mesh = Self { stacks: Vec::with_capacity(nodes) };
        for node in scenario.addresses.iter().enumerate() {
            mesh.stacks.push(one(node)?);
        }
        Ok(mesh)
    }
}

/// The kernel takes some 30 ms for each interface that goes, and much less for each of several at a time.
impl Drop for Mesh {
    fn drop(&mut self) {
        let mut stacks = std::mem::take(&mut self.stacks);
        let share = stacks.len().div_ceil(CLOSERS).max(1);
        thread::scope(|s| {
            while !stacks.is_empty() {
                let some = stacks.split_off(stacks.len().saturating_sub(share));
                // Without a thread they go here.
                let _ = thread::Builder::new().spawn_scoped(s, move || drop(some));
            }
        });
    }
}

impl Mesh {
    /// The nodes' namespaces, in their order.
    pub fn namespaces(&self) -> Vec<&Namespace> {
        self.stacks.iter().map(|s| &s.namespace).collect()
    }

    /// A datagram socket at a node's own address, for what the node tells over the network.
    pub(crate) fn datagrams(&self, node: usize, at: Ipv4Addr) -> io::Result<UdpSocket> {
        let stack = &self.stacks[node];
        stack.namespace.within(|| {
            let socket = UdpSocket::bind(SocketAddrV4::new(at, 0))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        })
    }

    /// A GPS receiver in each node, for the usual clients of gpsd.
    pub(crate) fn receivers(&self) -> io::Result<Server> {
        Server::serve(self.stacks.iter().map(|s| s.gps.try_clone()).collect::<io::Result<_>>()?)
    }
}

impl Stack {
    fn new(
        scenario: &Resolved,
        node: NodeId,
        (addr, prefix): (Ipv4Addr, u8),
        v6: Option<(Ipv6Addr, u8)>,
    ) -> io::Result<Self> {
        let namespace = Namespace::new()?;
        let is_tap = scenario.has_taps();
        let own_routes = scenario.routes.iter().filter(|(n, _)| is_tap && *n == node);
        let routes: Vec<Route> = own_routes.map(|(_, route)| *route).collect();
        let mut own = scenario.applications.iter().filter(|a| a.node == node);
        let home = own.find_map(|a| a.application.parameters.home_address());
        let (tun, raw, raw6, gps, sinks) = namespace.within(|| {
            if is_tap {
                route_packets()?;
            }
            if v6.is_some() {
                use_ipv6_quietly(is_tap)?;
            } else if is_tap {
                // Programs may use it, where the kernel has it.
                use_ipv6_quietly(is_tap).or_else(ignore_missing)?;
            } else {
                fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1").or_else(ignore_missing)?;
            }
            // A node's own "host unreachable" comes out of the TUN, from the node's own address.
            fs::write("/proc/sys/net/ipv4/conf/all/accept_local", "1")?;
            wayhop_netns::allow_services()?;
            let tun = DeviceBuilder::new().name(INTERFACE).ipv4(addr, prefix, None);
            let tun = v6.into_iter().fold(tun, |tun, (addr, prefix)| tun.ipv6(addr, prefix));
            let tun = if is_tap { tun.layer(Layer::L2).mac_addr(Mac::at_medium(addr, 0).0) } else { tun };
            let tun = tun.mtu(MTU).tx_queue_len(TUN_QUEUE).build_sync()?;
            tun.set_nonblocking(true)?;
            add_routes(tun.if_index()?, &routes)?;
            if let Some(home) = home {
                add_address(tun.if_index()?, home)?;
            }
            if scenario.edge.is_some() {
                send_all_by(tun.if_index()?, home)?;
            }
            let raw = raw_socket(Domain::IPV4)?;
            let raw6 = v6.map(|_| raw_socket(Domain::IPV6)).transpose()?;
            let gps = TcpListener::bind(GPSD)?;
            Ok((tun, raw, raw6, gps, sinks(&scenario.flows, node)?))
        })?;
        let sends_all = scenario.edge.is_some();
        Ok(Self { namespace, tun, routes, sends_all, home, raw, raw6, gps, _sinks: sinks })
    }

    /// Takes the node's interface down, or up again: programs are told that there is no network.
    pub(crate) fn set_up(&self, up: bool) -> io::Result<()> {
        self.namespace.within(|| {
            self.tun.enabled(up)?;
            if !up {
                return Ok(());
            }
            // The routes went with the interface.
            add_routes(self.tun.if_index()?, &self.routes)?;
            if self.sends_all { send_all_by(self.tun.if_index()?, self.home) } else { Ok(()) }
        })
    }

    /// Sends a flow's packet, as a program in the node would.
    pub(crate) fn send(&self, packet: &[u8], to: IpAddr) -> io::Result<()> {
        let raw = match to {
            IpAddr::V4(_) => Some(&self.raw),
            IpAddr::V6(_) => self.raw6.as_ref(),
        };
        raw.map_or(Ok(()), |raw| raw.send_to(packet, &SocketAddr::new(to, 0).into()).map(drop))
    }
}

/// Sends whole IP packets by the TUN.
fn raw_socket(domain: Domain) -> io::Result<Socket> {
    let raw = Socket::new(domain, Type::RAW, Some(Protocol::from(libc::IPPROTO_RAW)))?;
    raw.bind_device(Some(INTERFACE.as_bytes()))?;
    raw.set_nonblocking(true)?;
    Ok(raw)
}

/// IPv6 without searches for routers and tests for duplicates: of 100 nodes they would be traffic that nobody asked for. A
/// link-local address, by EUI-64, is for links.
fn use_ipv6_quietly(is_link: bool) -> io::Result<()> {
    let addr_gen_mode = if is_link { "0" } else { "1" };
    for (key, value) in [
        ("disable_ipv6", "0"),
        ("accept_dad", "0"),
        ("accept_ra", "0"),
        ("addr_gen_mode", addr_gen_mode),
        ("keep_addr_on_down", "1"),
    ] {
        for of in ["all", "default"] {
            fs::write(format!("/proc/sys/net/ipv6/conf/{of}/{key}"), value)?;
        }
    }
    Ok(())
}

/// This thread's namespace forwards packets, even by the interface by which they came, and without ICMP redirects: two
/// neighbours of a node may not hear each other.
fn route_packets() -> io::Result<()> {
    fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
    for (key, value) in [("rp_filter", "0"), ("send_redirects", "0"), ("accept_redirects", "0")] {
        for of in ["all", "default"] {
            fs::write(format!("/proc/sys/net/ipv4/conf/{of}/{key}"), value)?;
        }
    }
    // Without IPv6 there is none of it to forward.
    fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1").or_else(ignore_missing)
}

fn add_routes(ifindex: u32, routes: &[Route]) -> io::Result<()> {
    routes.iter().try_for_each(|r| add_route(ifindex, r.destination, r.next_hop))
}

fn ignore_missing(e: io::Error) -> io::Result<()> {
    if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) }
}

/// Sockets on the ports to which flows send at this node.
fn sinks(flows: &[FlowConfig], node: NodeId) -> io::Result<Vec<Socket>> {
    let udp = |f: &FlowConfig| !matches!(f.kind, FlowKind::Ping { .. } | FlowKind::Tcp(_));
    let here = |f: &&FlowConfig| udp(f) && (f.dst == node || f.is_to_all());
    let mut ports: Vec<(bool, u16)> = flows.iter().filter(here).map(|f| (f.ip6, f.dst_port)).collect();
    ports.sort_unstable();
    ports.dedup();
    let socket = |(ip6, port)| {
        let any: IpAddr = if ip6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
        let s = Socket::new(if ip6 { Domain::IPV6 } else { Domain::IPV4 }, Type::DGRAM, None)?;
        if ip6 {
            s.set_only_v6(true)?;
        }
        s.set_recv_buffer_size(SINK_BUFFER)?;
        s.bind(&SocketAddr::new(any, port).into())?;
        Ok(s)
    };
    ports.into_iter().map(socket).collect()
}

/// The length of the longest prefix that all addresses share, at most 24, so that each node reaches all others by its TUN.
fn common_prefix(addresses: &[Ipv4Addr]) -> u8 {
    let Some(first) = addresses.first() else { return 24 };
    let differ = addresses.iter().fold(0, |all, a| all | (a.to_bits() ^ first.to_bits()));
    (differ.leading_zeros() as u8).min(24)
}

/// The same of IPv6, at most as long as the nodes' prefix.
fn common_prefix6(plan: &Ipv6Plan) -> u8 {
    let Some(first) = plan.addresses.first() else { return plan.prefix_len };
    let differ = plan.addresses.iter().fold(0, |all, a| all | (a.to_bits() ^ first.to_bits()));
    (differ.leading_zeros() as u8).min(plan.prefix_len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_covers_every_node() {
        let a = |b, c, d| Ipv4Addr::new(10, b, c, d);
        assert_eq!(common_prefix(&[a(0, 0, 1), a(0, 0, 2)]), 24);
        assert_eq!(common_prefix(&[a(0, 0, 1), a(0, 3, 2)]), 22);
        assert_eq!(common_prefix(&[a(0, 0, 1), a(255, 0, 1)]), 8);
    }
}
