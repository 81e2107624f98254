//! ARP messages of one interface, besides the kernel's own.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};

use socket2::{Domain, Socket, Type};
use wayhop_core::{LinkId, Mac, NetworkInput};

use crate::filter;
use crate::packet_socket::{ETHERNET, ETHERTYPE_ARP};
use crate::syscalls;

/// Messages that are taken in one turn.
const BATCH: usize = 64;

/// A socket for them.
pub struct ArpSocket {
    socket: Socket,
    mac: Mac,
}

impl ArpSocket {
    /// Opens it at an interface, which has this link address.
    pub fn open(ifindex: u32, mac: Mac) -> io::Result<Self> {
        let socket = Socket::new(Domain::PACKET, Type::RAW.nonblocking(), None)?;
        socket.attach_filter(&filter::ethertype(ETHERTYPE_ARP))?;
        syscalls::hear_others_only(socket.as_fd());
        syscalls::bind_packet(socket.as_fd(), ifindex, ETHERTYPE_ARP)?;
        Ok(Self { socket, mac })
    }

    /// To wait for messages.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Takes what waits: it came by this link.
    pub fn take(&self, link: LinkId, heard: &mut Vec<NetworkInput<'static>>) {
        let mut frame = [0; 128];
        for _ in 0..BATCH {
            let Ok(n) = (&self.socket).read(&mut frame) else { break };
            let message = frame.get(ETHERNET..n).unwrap_or_default().to_vec().into();
            heard.push(NetworkInput::Arp { link, message });
        }
    }

    /// Sends a message to a station, or to all.
    pub fn send(&self, to: Mac, message: &[u8]) -> io::Result<()> {
        let header = [to.0, self.mac.0].concat();
        let frame = [&header, &ETHERTYPE_ARP.to_be_bytes()[..], message].concat();
        (&self.socket).write_all(&frame)
    }
}
