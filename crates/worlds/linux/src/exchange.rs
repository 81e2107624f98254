//! Netlink sockets: commands with answers, and unsolicited news from the kernel.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

use netlink_packet_core::{
    NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};

/// Octets of a message's header (linux/netlink.h).
const HEADER: usize = 16;
/// A kernel that does not answer for so long will not.
const PATIENCE: Duration = Duration::from_secs(2);

/// A socket for orders.
pub(crate) struct Exchange {
    socket: Socket,
    sequence: u32,
}

impl Exchange {
    /// Opens it, for a family of netlink, in the network namespace of the calling thread.
    pub(crate) fn open(family: isize) -> io::Result<Self> {
        Ok(Self { socket: open(family)?, sequence: 0 })
    }

    /// Sends an order, and waits until it is done. The flags are to ask for a dump or an acknowledgement, or nothing ends
    /// the wait. Hands on what the kernel lists.
    pub(crate) fn ask<M: NetlinkSerializable + NetlinkDeserializable>(
        &mut self,
        message: M,
        flags: u16,
        mut row: impl FnMut(M),
    ) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut m = NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::InnerMessage(message));
        m.header.flags = NLM_F_REQUEST | flags;
        m.header.sequence_number = self.sequence;
        m.finalize();
        let mut octets = vec![0; m.buffer_len()];
        m.serialize(&mut octets);
        self.socket.send(&octets, 0)?;
        loop {
            let (octets, _) = self.socket.recv_from_full()?;
            for m in messages::<M>(&octets) {
                let m = m?;
                if m.header.sequence_number != self.sequence {
                    continue;
                }
                match m.payload {
                    NetlinkPayload::Error(e) => return e.code.map_or(Ok(()), |_| Err(e.to_io())),
                    NetlinkPayload::Done(_) => return Ok(()),
                    NetlinkPayload::InnerMessage(m) => row(m),
                    _ => {}
                }
            }
        }
    }
}

/// A socket to the kernel that waits for answers, for a while.
pub(crate) fn open(family: isize) -> io::Result<Socket> {
    let mut socket = Socket::new(family)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket2::SockRef::from(&socket).set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// A socket for news.
pub(crate) struct NotificationSocket(Socket);

impl NotificationSocket {
    /// Opens it for groups of a family of netlink, each a bit.
    pub(crate) fn open(family: isize, groups: u32) -> io::Result<Self> {
        let mut socket = Socket::new(family)?;
        socket.bind(&SocketAddr::new(0, groups))?;
        socket.set_non_blocking(true)?;
        Ok(Self(socket))
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Hands on what was told since the last look; `None` is a message that the library does not know. Returns whether
    /// something was lost, because the kernel had no room for it.
    pub(crate) fn take<M: NetlinkDeserializable>(&self, mut told: impl FnMut(Option<M>)) -> bool {
        let mut is_lost = false;
        loop {
            let octets = match self.0.recv_from_full() {
                Ok((octets, _)) => octets,
                Err(e) if e.raw_os_error() == Some(libc::ENOBUFS) => {
                    is_lost = true;
                    continue;
                }
                Err(_) => return is_lost,
            };
            for m in messages::<TypedMessage<M>>(&octets).map_while(Result::ok) {
                if let NetlinkPayload::InnerMessage(TypedMessage(m)) = m.payload {
                    told(m);
                }
            }
        }
    }
}

/// A message, if the library knows its type.
struct TypedMessage<M>(Option<M>);

impl<M: NetlinkDeserializable> NetlinkDeserializable for TypedMessage<M> {
    type Error = M::Error;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, Self::Error> {
        Ok(Self(M::deserialize(header, payload).ok()))
    }
}

/// The messages of a datagram, up to one that is none.
fn messages<M: NetlinkDeserializable>(
    octets: &[u8],
) -> impl Iterator<Item = io::Result<NetlinkMessage<M>>> + '_ {
    let mut rest = octets;
    std::iter::from_fn(move || {
        if rest.len() < HEADER {
            return None;
        }
        let m = NetlinkMessage::<M>::deserialize(rest).map_err(io::Error::other);
        let len = m.as_ref().map_or(rest.len(), |m| m.header.length as usize);
        rest = &rest[len.next_multiple_of(4).clamp(HEADER, rest.len())..];
        Some(m)
    })
}
