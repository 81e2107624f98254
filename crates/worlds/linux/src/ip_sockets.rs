//! IP packets of one interface outside the kernel's stack: some ICMP messages, the datagrams of a
//! port, tunnelled packets.

use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};

use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use wayhop_wire::ipv4;

use crate::filter::types_of_icmp;

/// The longest IP packet.
const LONGEST: usize = 65_536;

/// The sockets of one interface.
pub struct IpSockets {
    icmp: Socket,
    udp: UdpSocket,
    tunnel: Socket,
    out: RawSender,
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
            let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(i32::from(protocol))))?;
            socket.set_nonblocking(true)?;
            Ok::<_, io::Error>(socket)
        };
        let icmp = raw(ipv4::protocol::ICMP)?;
        icmp.attach_filter(&types_of_icmp(icmp_types))?;
        icmp.bind_device(Some(interface.as_bytes()))?;
        for group in groups {
            icmp.join_multicast_v4_n(group, &InterfaceIndexOrAddress::Index(ifindex))?;
        }
        let tunnel = raw(ipv4::protocol::IP_IN_IP)?;
        tunnel.bind_device(Some(interface.as_bytes()))?;
        let udp = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        udp.set_nonblocking(true)?;
        udp.bind_device(Some(interface.as_bytes()))?;
        udp.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port).into())?;
        let room = vec![0; LONGEST].into_boxed_slice();
        Ok(Self { icmp, udp: udp.into(), tunnel, out: RawSender::open(Some(interface))?, room })
    }

    /// To wait for ICMP messages, datagrams and packets in tunnels.
    pub fn fds(&self) -> [BorrowedFd<'_>; 3] {
        [self.icmp.as_fd(), self.udp.as_fd(), self.tunnel.as_fd()]
    }

    /// Takes an ICMP message that waits, with its IP header.
    pub fn receive_icmp(&mut self) -> Option<&[u8]> {
        let n = (&self.icmp).read(&mut self.room).ok()?;
        self.room.get(..n)
    }
    /// Takes a packet in a tunnel that waits, with its IP headers.
    pub fn receive_tunnelled(&mut self) -> Option<&[u8]> {
        let n = (&self.tunnel).read(&mut self.room).ok()?;
        self.room.get(..n)
    }
    /// Takes a datagram that waits: from whom it is, and what it carries.
    pub fn receive_datagram(&mut self) -> Option<(SocketAddrV4, &[u8])> {
        let (n, from) = self.udp.recv_from(&mut self.room).ok()?;
        let SocketAddr::V4(from) = from else { return None };
        Some((from, self.room.get(..n)?))
    }

    /// Sends an IP packet, complete with its header, by this interface.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        self.out.send(packet)
    }

    /// As [`IpSockets::send`], to a neighbour on the link, whatever routes say.
    pub fn send_on_link(&self, packet: &[u8]) -> io::Result<()> {
        self.out.send_with(packet, libc::MSG_DONTROUTE)
    }
}

/// Sends IP packets that are complete with their headers.
pub struct RawSender(Socket);

impl RawSender {
    /// By an interface, or else where the routes lead.
    pub fn open(interface: Option<&str>) -> io::Result<Self> {
        // IPPROTO_RAW of linux/in.h: nothing is received.
        let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(255)))?;
        socket.set_nonblocking(true)?;
        socket.set_broadcast(true)?;
        socket.set_header_included_v4(true)?;
        if let Some(interface) = interface {
            socket.bind_device(Some(interface.as_bytes()))?;
        }
        Ok(Self(socket))
    }

    /// Sends one.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        self.send_with(packet, 0)
    }

    fn send_with(&self, packet: &[u8], flags: libc::c_int) -> io::Result<()> {
        let ip = ipv4::Packet::new_checked(packet).map_err(|e| io::Error::other(e.to_string()))?;
        self.0.send_to_with_flags(packet, &SocketAddrV4::new(ip.dst(), 0).into(), flags).map(drop)
    }
}
