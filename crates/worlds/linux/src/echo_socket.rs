//! Pings through one interface.

use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, BorrowedFd};

use socket2::{Domain, Protocol, Socket, Type};

use crate::filter::types_of_icmp;

/// The type of an echo reply (RFC 792).
const ECHO_REPLY: u8 = 0;
/// Longer replies are nobody's who was asked here.
const LONGEST: usize = 256;

/// A socket for echo requests and replies that leave and come by one interface, whatever routes by others there are.
pub struct EchoSocket {
    socket: Socket,
    room: [u8; LONGEST],
}

impl EchoSocket {
    /// Opens it.
    pub fn open(interface: &str) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::RAW.nonblocking(), Some(Protocol::ICMPV4))?;
        socket.attach_filter(&types_of_icmp(&[ECHO_REPLY]))?;
        socket.bind_device(Some(interface.as_bytes()))?;
        Ok(Self { socket, room: [0; LONGEST] })
    }

    /// To wait for replies.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends an ICMP message.
    pub fn send(&self, to: Ipv4Addr, message: &[u8]) -> io::Result<()> {
        self.socket.send_to(message, &SocketAddrV4::new(to, 0).into()).map(drop)
    }

    /// Takes a reply that waits, with its IP header.
    pub fn receive(&mut self) -> Option<&[u8]> {
        let n = (&self.socket).read(&mut self.room).ok()?;
        self.room.get(..n)
    }
}
