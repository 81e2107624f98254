//! A socket that reports the time to live of received packets.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
use socket2::{Domain, Protocol, Socket, Type};
use wayhop_linux::syscalls::{tell_hop_limit, tell_ttl};

/// Packets read from one socket before others have their turn.
const BATCH: usize = 64;
/// Size of the kernel's receive buffer, bytes.
const RECEIVE_BUFFER: usize = 1 << 20;

/// A UDP socket, or one for ICMP echo requests, whose port is their identifier.
pub(crate) struct IpSocket {
    pub(crate) socket: Socket,
    /// Time to live and Type of Service of what it sends.
    fields: Option<(u8, u8)>,
}

impl IpSocket {
    pub(crate) fn open(at: SocketAddr, protocol: Protocol) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(at), Type::DGRAM, Some(protocol))?;
        if at.is_ipv6() {
            socket.set_only_v6(true)?;
            tell_hop_limit(socket.as_fd())?;
        } else {
            socket.set_broadcast(true)?;
            tell_ttl(socket.as_fd())?;
        }
        // The system may limit it; a smaller buffer works, too.
        let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER);
        socket.set_nonblocking(true)?;
        socket.bind(&at.into())?;
        Ok(Self { socket, fields: None })
    }

    /// Sends a packet. If the kernel refuses it, it is lost, as in the network.
    pub(crate) fn send(&mut self, data: &[u8], to: SocketAddr, fields: (u8, u8)) {
        if self.fields != Some(fields) {
            if self.set(to, fields).is_err() {
                return;
            }
            self.fields = Some(fields);
        }
        // A pending "host unreachable" about an earlier packet is returned once; try again.
        if self.socket.send_to(data, &to.into()).is_err() {
            let _ = self.socket.send_to(data, &to.into());
        }
    }

    fn set(&self, to: SocketAddr, (ttl, tos): (u8, u8)) -> io::Result<()> {
        let s = &self.socket;
        if to.is_ipv6() {
            s.set_unicast_hops_v6(ttl.into())?;
            s.set_multicast_hops_v6(ttl.into())?;
            s.set_tclass_v6(tos.into())
        } else {
            s.set_ttl_v4(ttl.into())?;
            s.set_multicast_ttl_v4(ttl.into())?;
            s.set_tos_v4(tos.into())
        }
    }

    /// Receives the waiting packets: source, time to live, data.
    pub(crate) fn take(&self, buffer: &mut [u8], mut heard: impl FnMut(SocketAddr, Option<u8>, &[u8])) {
        for _ in 0..BATCH {
            match self.receive(buffer) {
                Ok(Some((from, ttl, len))) => heard(from, ttl, &buffer[..len]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                // The kernel reports an error about an earlier packet, which is lost.
                Ok(None) | Err(_) => {}
            }
        }
    }

    fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<(SocketAddr, Option<u8>, usize)>> {
        let (mut notes, mut parts) = (cmsg_space!(i32), [IoSliceMut::new(buffer)]);
        let fd = self.socket.as_raw_fd();
        let m = recvmsg::<SockaddrStorage>(fd, &mut parts, Some(&mut notes), MsgFlags::empty())?;
        let ttl = m.cmsgs()?.find_map(|c| match c {
            ControlMessageOwned::Ipv4Ttl(ttl) | ControlMessageOwned::Ipv6HopLimit(ttl) => {
                u8::try_from(ttl).ok()
            }
            _ => None,
        });
        let from = m.address.and_then(|a| match (a.as_sockaddr_in(), a.as_sockaddr_in6()) {
            (Some(v4), _) => Some(SocketAddr::new(v4.ip().into(), v4.port())),
            (None, v6) => v6.map(|v6| SocketAddr::new(v6.ip().into(), v6.port())),
        });
        Ok(from.map(|from| (from, ttl, m.bytes)))
    }
}

impl AsFd for IpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
