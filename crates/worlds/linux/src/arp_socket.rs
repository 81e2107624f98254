//! ARP messages of one interface, besides the kernel's own.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};

use socket2::{Domain, Socket, Type};
use wayhop_core::Mac;
use wayhop_wire::arp;

use crate::filter;
use crate::packet_socket::{ETHERNET, ETHERTYPE_ARP};
use crate::syscalls;

/// A socket for them.
pub struct ArpSocket {
    socket: Socket,
    mac: Mac,
}

impl ArpSocket {
    /// Opens it at an interface, which has this link address.
    pub fn open(ifindex: u32, mac: Mac) -> io::Result<Self> {
        let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
        socket.set_nonblocking(true)?;
        socket.attach_filter(&filter::ethertype(ETHERTYPE_ARP))?;
        syscalls::hear_others_only(socket.as_fd());
        syscalls::bind_packet(socket.as_fd(), ifindex, ETHERTYPE_ARP)?;
        Ok(Self { socket, mac })
    }

    /// To wait for messages.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Takes a message that waits; one that is none is passed over. Returns nothing when there are no more.
    pub fn receive(&self) -> Option<Option<arp::Repr>> {
        let mut frame = [0; 128];
        let n = (&self.socket).read(&mut frame).ok()?;
        Some(arp::Repr::parse(frame.get(ETHERNET..n).unwrap_or_default()).ok())
    }

    /// Sends a message to a station, or to all.
    pub fn send(&self, to: Mac, message: &arp::Repr) -> io::Result<()> {
        let mut frame = [0; ETHERNET + arp::LEN];
        frame[..6].copy_from_slice(&to.0);
        frame[6..12].copy_from_slice(&self.mac.0);
        frame[12..ETHERNET].copy_from_slice(&ETHERTYPE_ARP.to_be_bytes());
        message.emit(&mut frame[ETHERNET..]);
        (&self.socket).write_all(&frame)
    }
}
