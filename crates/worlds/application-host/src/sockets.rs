//! The UDP ports on which an application listens.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};

use socket2::{Domain, Protocol, Socket, Type};
use wayhop_core::{ApplicationDatagram, ApplicationInput};

use crate::broadcasts::Broadcasts;

/// Datagrams that are taken from one port before others have their turn.
const BATCH: usize = 64;
/// What the kernel keeps of datagrams that were not read yet, bytes.
const RECEIVE_BUFFER: usize = 1 << 20;
/// The longest datagram.
const LONGEST: usize = 65_536;

/// The sockets, by port.
pub(crate) struct Sockets {
    at: IpAddr,
    open: BTreeMap<u16, UdpSocket>,
    broadcasts: Broadcasts,
    buffer: Vec<u8>,
}

impl Sockets {
    /// None is open yet. `interfaces`: those by which broadcasts leave; none for all.
    pub(crate) fn new(at: IpAddr, interfaces: Vec<String>) -> Self {
        let broadcasts = Broadcasts::new(interfaces);
        Self { at, open: BTreeMap::new(), broadcasts, buffer: vec![0; LONGEST] }
    }

    /// Listens at a port, if it does not yet.
    pub(crate) fn listen(&mut self, port: u16) -> io::Result<()> {
        if self.open.contains_key(&port) {
            return Ok(());
        }
        let at = SocketAddr::new(self.at, port);
        let socket = Socket::new(Domain::for_address(at), Type::DGRAM, Some(Protocol::UDP))?;
        if at.is_ipv6() {
            socket.set_only_v6(true)?;
        } else {
            socket.set_broadcast(true)?;
        }
        // Less will do where the system does not give so much.
        let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER);
        socket.set_nonblocking(true)?;
        socket.bind(&at.into())?;
        self.open.insert(port, socket.into());
        Ok(())
    }

    /// Sends a datagram. One that the kernel does not take is lost, as on the way.
    pub(crate) fn send(&mut self, d: &ApplicationDatagram) {
        if d.to.ip() == Ipv4Addr::BROADCAST {
            return self.broadcasts.send(d);
        }
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
    pub(crate) fn take(&mut self) -> Vec<ApplicationInput<'static>> {
        let Self { open, buffer, .. } = self;
        let mut heard = Vec::new();
        for (&port, socket) in open.iter() {
            for _ in 0..BATCH {
                // An error is the kernel's word about something that was sent: that was lost.
                match socket.recv_from(buffer) {
                    Ok((len, from)) => {
                        let data = Cow::Owned(buffer[..len].to_vec());
                        heard.push(ApplicationInput::Datagram { port, from, data });
                    }
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                    Err(_) => {}
                }
            }
        }
        heard
    }
}
