//! The group that corrections are for, and its sockets.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::Duration;

use rustix::fd::AsFd;
use rustix::net::netdevice::name_to_index;
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};

/// A multicast group on an interface of the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group and its UDP port.
    pub address: SocketAddrV4,
    /// The interface: a node's TUN.
    pub interface: String,
    /// How many hops a datagram may go.
    pub hops: u8,
}

/// A socket, and the index of the interface that it is bound to: an interface that comes back has another one.
#[derive(Debug)]
pub(crate) struct BoundSocket {
    pub(crate) socket: UdpSocket,
    index: u32,
}

fn index_of(socket: impl AsFd, interface: &str) -> io::Result<u32> {
    Ok(name_to_index(socket, interface)?)
}

impl BoundSocket {
    /// Whether the interface is still the one.
    pub(crate) fn is_current(&self, group: &Group) -> bool {
        index_of(&self.socket, &group.interface).is_ok_and(|i| i == self.index)
    }
}

impl Group {
    fn socket(&self) -> io::Result<(Socket, u32)> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        let index = index_of(&socket, &self.interface)?;
        socket.bind_device(Some(self.interface.as_bytes()))?;
        Ok((socket, index))
    }

    /// A socket that sends to the group. This host's own programs do not get it back.
    pub(crate) fn sender(&self) -> io::Result<BoundSocket> {
        let (socket, index) = self.socket()?;
        socket.set_multicast_loop_v4(false)?;
        socket.set_multicast_ttl_v4(self.hops.into())?;
        socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)).into())?;
        socket.connect(&SocketAddr::from(self.address).into())?;
        Ok(BoundSocket { socket: socket.into(), index })
    }

    /// A socket that hears what is for the group, and nothing else; it waits this long for a datagram.
    pub(crate) fn receiver(&self, wait: Duration) -> io::Result<BoundSocket> {
        let (socket, index) = self.socket()?;
        socket.set_reuse_address(true)?;
        socket.set_read_timeout(Some(wait))?;
        socket.bind(&SocketAddr::from(self.address).into())?;
        socket.join_multicast_v4_n(self.address.ip(), &InterfaceIndexOrAddress::Index(index))?;
        Ok(BoundSocket { socket: socket.into(), index })
    }
}
