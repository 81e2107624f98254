//! When frames go to the middle host and come from it, by the clock of the kernel of the host between them.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _};

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, LinkAddr, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use socket2::{Domain, Socket, Type};
use wayhop_linux::packet_socket::ETHERNET;
use wayhop_linux::syscalls;
use wayhop_netns::Namespace;
use wayhop_wire::ipv4;

use super::stream::number_of;

/// All EtherTypes: only then are frames seen that leave.
const ETH_P_ALL: u16 = 3;

/// A packet socket on the wire's end of the middle's cable.
pub(super) struct Tap(Socket);

/// When a packet went in and came out, nanoseconds of the wall clock.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Passage {
    pub(super) into: Option<i64>,
    pub(super) out_of: Option<i64>,
}

impl Tap {
    pub(super) fn open(hub: &Namespace, port: &str) -> io::Result<Self> {
        hub.within(|| {
            let index = nix::net::if_::if_nametoindex(port)?;
            let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
            setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
            socket.set_nonblocking(true)?;
            syscalls::force_receive_buffer(socket.as_fd(), 16 << 20)?;
            syscalls::bind_packet(socket.as_fd(), index, ETH_P_ALL)?;
            Ok(Self(socket))
        })
    }

    /// The packets of `length` octets that passed since the last call, by their numbers.
    pub(super) fn passages(&self, length: usize) -> io::Result<BTreeMap<u64, Passage>> {
        let mut found: BTreeMap<u64, Passage> = BTreeMap::new();
        let mut room = [0; 2048];
        let mut notes = cmsg_space!(TimeSpec);
        loop {
            let (len, stamp, out) = match self.receive(&mut room, &mut notes) {
                Ok(got) => got,
                Err(nix::Error::EAGAIN) => return Ok(found),
                Err(e) => return Err(e.into()),
            };
            let frame = &room[..len];
            let Some(ip) = frame.get(ETHERNET..).and_then(|b| ipv4::Packet::new_checked(b).ok()) else {
                continue;
            };
            if ip.total_len() != length {
                continue;
            }
            if let Some(number) = number_of(&frame[ETHERNET..ETHERNET + length]) {
                let p = found.entry(number).or_default();
                // What leaves by the wire's end of the cable goes into the middle.
                *(if out { &mut p.into } else { &mut p.out_of }) = stamp;
            }
        }
    }

    /// A frame: its length, its time, and whether it left by the wire's end of the cable.
    fn receive(&self, room: &mut [u8], notes: &mut [u8]) -> nix::Result<(usize, Option<i64>, bool)> {
        let mut parts = [io::IoSliceMut::new(room)];
        let m = recvmsg::<LinkAddr>(self.0.as_raw_fd(), &mut parts, Some(notes), MsgFlags::empty())?;
        let stamp = m.cmsgs()?.find_map(|c| match c {
            ControlMessageOwned::ScmTimestampns(t) => Some(t.tv_sec() * 1_000_000_000 + t.tv_nsec()),
            _ => None,
        });
        let out = m.address.is_some_and(|a| a.pkttype() == nix::libc::PACKET_OUTGOING);
        Ok((m.bytes, stamp, out))
    }
}
