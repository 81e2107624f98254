//! The UDP ports at which an application listens.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};

use socket2::{Domain, Protocol, Socket, Type};
use wayhop_core::ApplicationDatagram;

/// Datagrams that are taken from one port before others have their turn.
const BATCH: usize = 64;

/// The sockets, by port.
pub(crate) struct Sockets {
    /// Whose family they have.
    addr: IpAddr,
    open: BTreeMap<u16, UdpSocket>,
}

impl Sockets {
    pub(crate) const fn new(addr: IpAddr) -> Self {
        Self { addr, open: BTreeMap::new() }
    }

    /// Listens at a port, if it does not yet.
    pub(crate) fn listen(&mut self, port: u16) -> io::Result<()> {
        if self.open.contains_key(&port) {
            return Ok(());
        }
        let any: IpAddr = match self.addr {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let at = SocketAddr::new(any, port);
        let socket = Socket::new(Domain::for_address(at), Type::DGRAM, Some(Protocol::UDP))?;
        if at.is_ipv6() {
            socket.set_only_v6(true)?;
        } else {
            socket.set_broadcast(true)?;
        }
        socket.set_nonblocking(true)?;
        socket.bind(&at.into())?;
        self.open.insert(port, socket.into());
        Ok(())
    }

    /// Sends a datagram. One that the kernel does not take is lost, as on the way.
    pub(crate) fn send(&self, d: &ApplicationDatagram) {
        let Some(socket) = self.open.get(&d.port) else { return };
        // Most datagrams have the same; the kernel has it then.
        let ttl = socket2::SockRef::from(socket);
        let set = match d.to {
            SocketAddr::V4(_) => ttl.set_ttl_v4(d.ttl.into()),
            SocketAddr::V6(_) => ttl.set_unicast_hops_v6(d.ttl.into()),
        };
        if set.is_ok() {
            let _ = socket.send_to(&d.data, d.to);
        }
    }

    /// To wait for, in the order of the ports.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.open.values().map(|s| s.as_fd())
    }

    /// Takes what waits at all ports.
    pub(crate) fn take(&self, buffer: &mut [u8], mut give: impl FnMut(u16, SocketAddr, &[u8])) {
        for (port, socket) in &self.open {
            for _ in 0..BATCH {
                // An error is the kernel's word about something that was sent: that was lost.
                match socket.recv_from(buffer) {
                    Ok((len, from)) => give(*port, from, &buffer[..len]),
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                    Err(_) => {}
                }
            }
        }
    }
}
