//! IP packets of one interface outside the kernel's stack: some ICMP messages, the datagrams of a
//! port, tunnelled packets.

use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};

use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use wayhop_core::{LinkId, NetworkInput};
use wayhop_wire::ipv4;

use crate::filter::types_of_icmp;

/// The longest IP packet.
const LONGEST: usize = 65_536;
/// Messages of one kind that are taken in one turn.
const BATCH: usize = 64;

/// The sockets of one interface.
pub struct IpSockets {
    icmp: Socket,
    udp: UdpSocket,
    tunnel: Socket,
    room: Box<[u8]>,
}

impl IpSockets {
    /// Opens them: for ICMP messages of these types (at most 8), for datagrams to a port, and for packets of protocol 4. The interface joins
    /// the groups.
    pub fn open(
        interface: &str,
        ifindex: u32,
        port: u16,
        icmp_types: &[u8],
        groups: &[Ipv4Addr],
    ) -> io::Result<Self> {
        let raw = |protocol: u8| {
            let protocol = Protocol::from(i32::from(protocol));
            Socket::new(Domain::IPV4, Type::RAW.nonblocking(), Some(protocol))
        };
        let icmp = raw(ipv4::protocol::ICMP)?;
        icmp.attach_filter(&types_of_icmp(icmp_types))?;
        icmp.bind_device(Some(interface.as_bytes()))?;
        for group in groups {
            icmp.join_multicast_v4_n(group, &InterfaceIndexOrAddress::Index(ifindex))?;
        }
        let tunnel = raw(ipv4::protocol::IP_IN_IP)?;
        tunnel.bind_device(Some(interface.as_bytes()))?;
        let udp = Socket::new(Domain::IPV4, Type::DGRAM.nonblocking(), Some(Protocol::UDP))?;
        udp.bind_device(Some(interface.as_bytes()))?;
        udp.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port).into())?;
        Ok(Self { icmp, udp: udp.into(), tunnel, room: vec![0; LONGEST].into_boxed_slice() })
    }

    /// To wait for ICMP messages, datagrams and packets in tunnels.
    pub fn fds(&self) -> [BorrowedFd<'_>; 3] {
        [self.icmp.as_fd(), self.udp.as_fd(), self.tunnel.as_fd()]
    }

    /// Takes what waits: it came by this link.
    pub fn take(&mut self, link: LinkId, heard: &mut Vec<NetworkInput<'static>>) {
        let Self { icmp, udp, tunnel, room } = self;
        for _ in 0..BATCH {
            let Ok(n) = icmp.read(room) else { break };
            if let Ok(ip) = ipv4::Packet::new_checked(&room[..n]) {
                let message = ip.payload().to_vec().into();
                heard.push(NetworkInput::Icmp { link, src: ip.src(), message });
            }
        }
        for _ in 0..BATCH {
            let Ok((n, SocketAddr::V4(from))) = udp.recv_from(room) else { break };
            heard.push(NetworkInput::Datagram { link, from, data: room[..n].to_vec().into() });
        }
        for _ in 0..BATCH {
            let Ok(n) = tunnel.read(room) else { break };
            heard.push(NetworkInput::Tunnelled { link, packet: room[..n].to_vec().into() });
        }
    }
}

/// Sends IP packets that are complete with their headers.
pub struct RawSender {
    socket: Socket,
    flags: libc::c_int,
}

impl RawSender {
    /// By an interface, or else where the routes lead.
    pub fn open(interface: Option<&str>) -> io::Result<Self> {
        // IPPROTO_RAW of linux/in.h: nothing is received.
        let socket = Socket::new(Domain::IPV4, Type::RAW.nonblocking(), Some(Protocol::from(255)))?;
        socket.set_broadcast(true)?;
        socket.set_header_included_v4(true)?;
        if let Some(interface) = interface {
            socket.bind_device(Some(interface.as_bytes()))?;
        }
        Ok(Self { socket, flags: 0 })
    }

    /// To neighbours on the link, whatever routes say.
    #[must_use]
    pub fn on_link(self) -> Self {
        Self { flags: libc::MSG_DONTROUTE, ..self }
    }

    /// Sends one.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        let ip = ipv4::Packet::new_checked(packet).map_err(|e| io::Error::other(e.to_string()))?;
        self.socket.send_to_with_flags(packet, &SocketAddrV4::new(ip.dst(), 0).into(), self.flags).map(drop)
    }
}
