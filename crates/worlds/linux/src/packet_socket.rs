//! The packet sockets on the mesh interface.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::SystemTime;

use nix::libc;
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use crate::error::Error;
use crate::filter;
use crate::ring::Ring;
use crate::syscalls::{self, BATCH, ReceivedFrame, Sender};
use crate::wifi::control_messages::wifi_status;

/// Length of an Ethernet header, in octets.
pub const ETHERNET: usize = 14;

/// `ETH_P_ALL` of linux/if_ether.h.
const ALL_ETHERTYPES: u16 = 3;
/// EtherType of ARP.
pub const ETHERTYPE_ARP: u16 = 0x0806;
/// EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86dd;

/// A packet socket for the protocol's frames and one for ARP.
pub struct PacketSockets {
    frames: Socket,
    arp: Socket,
    ring: Ring,
    /// Frames of the last batch.
    batch: usize,
    sender: Sender,
    /// Room for a frame of which the driver tells.
    told: Box<[u8]>,
}

impl PacketSockets {
    /// Opens both. `filter` says which frames the node wants; `overhear` asks for those to others, too. What is sent has the
    /// mark, if there is one.
    pub fn open(
        ifindex: u32,
        mtu: usize,
        filter: Vec<SockFilter>,
        overhear: bool,
        mark: Option<u32>,
    ) -> Result<Self, Error> {
        // Made for no EtherType, so that nothing comes before filter and interface are set.
        let open = || Socket::new(Domain::PACKET, Type::RAW.nonblocking(), None);
        let with_ring = || -> io::Result<(Socket, Ring)> {
            let socket = open()?;
            socket.attach_filter(&filter::untagged(filter))?;
            mark.map_or(Ok(()), |mark| socket.set_mark(mark))?;
            let ring = Ring::new(socket.as_fd(), ETHERNET + mtu)?;
            syscalls::hear_others_only(socket.as_fd());
            // A socket for all EtherTypes is asked before the kernel's IP, which then has the frame for itself. The other way
            // round, as with a socket for IPv4, the kernel copies each frame that it forwards.
            syscalls::bind_packet(socket.as_fd(), ifindex, ALL_ETHERTYPES)?;
            Ok((socket, ring))
        };
        let for_arp = || {
            let socket = open()?;
            // For all EtherTypes, too: so that it is asked before a program that keeps ARP from the kernel.
            socket.attach_filter(&filter::untagged(filter::ethertype(ETHERTYPE_ARP)))?;
            syscalls::hear_others_only(socket.as_fd());
            syscalls::bind_packet(socket.as_fd(), ifindex, ALL_ETHERTYPES)?;
            Ok(socket)
        };
        let (frames, ring) = with_ring().map_err(Error::system("open a packet socket"))?;
        let arp = for_arp().map_err(Error::system("open a packet socket for ARP"))?;
        if overhear {
            syscalls::hear_more(frames.as_fd(), ifindex, libc::PACKET_MR_PROMISC)
                .map_err(Error::system("enable promiscuous mode"))?;
        }
        let (sender, told) = (Sender::default(), vec![0; ETHERNET + mtu + 64].into());
        Ok(Self { frames, arp, ring, batch: 0, sender, told })
    }

    /// Has the interface hear frames for all groups: those of IPv6 (RFC 2464, section 7) are no broadcasts.
    pub fn hear_groups(&self, ifindex: u32) -> Result<(), Error> {
        syscalls::hear_more(self.frames.as_fd(), ifindex, libc::PACKET_MR_ALLMULTI)
            .map_err(Error::system("enable reception of all multicasts"))
    }

    /// To wait for frames of the protocol.
    pub fn frames_fd(&self) -> BorrowedFd<'_> {
        self.frames.as_fd()
    }
    /// To wait for ARP messages.
    pub fn arp_fd(&self) -> BorrowedFd<'_> {
        self.arp.as_fd()
    }

    /// Begins a batch of the frames that wait; returns how many. It needs no system call.
    pub fn receive(&mut self) -> usize {
        self.batch = self.ring.waiting(BATCH);
        self.batch
    }
    /// Ends the batch.
    pub fn received(&mut self) {
        self.ring.release(std::mem::take(&mut self.batch));
    }
    /// One of them.
    pub fn frame(&self, i: usize) -> ReceivedFrame<'_> {
        self.ring.frame(i)
    }
    /// When the interface had it.
    pub fn arrival(&self, i: usize) -> Option<SystemTime> {
        self.ring.arrival(i)
    }
    /// Forgets an error of the interface (it is down), which would be told again and again.
    pub fn forget_error(&self) {
        let _ = self.frames.take_error();
    }

    /// Has the driver tell what became of unicasts, on the error queue, where it knows (mac80211).
    pub fn enable_tx_status(&self) -> io::Result<()> {
        syscalls::set_option(self.frames.as_fd(), libc::SOL_SOCKET, libc::SO_WIFI_STATUS, &1_i32)
    }

    /// The IP packet of a frame of which the driver told, and whether the frame was acknowledged.
    pub fn tx_status(&mut self) -> Option<(&[u8], bool)> {
        let mut control = [0_u64; 32];
        loop {
            let (n, m) = syscalls::receive_error(self.frames.as_fd(), &mut self.told, &mut control).ok()?;
            let octets: Vec<u8> = control.iter().flat_map(|w| w.to_ne_bytes()).take(m).collect();
            // What else there is in the queue is for nobody.
            if let Some(acked) = wifi_status(&octets) {
                return Some((self.told.get(ETHERNET..n)?, acked));
            }
        }
    }

    /// Frames that the kernel had no room for since the last look.
    pub fn missed(&self) -> u64 {
        syscalls::missed(self.frames.as_fd()).unwrap_or(0)
    }

    /// Sends the first of these frames, each given as its Ethernet header and its payload; returns how many.
    pub fn send<'a>(&mut self, frames: impl Iterator<Item = [&'a [u8]; 2]>) -> io::Result<usize> {
        self.sender.send(self.frames.as_fd(), frames)
    }

    /// Takes an ARP message that is waiting, as the frame that it came in. Returns whether there was one.
    pub fn receive_arp(&mut self, heard: impl FnOnce(&[u8])) -> bool {
        let mut buffer = [0; 128];
        let Ok(n) = io::Read::read(&mut &self.arp, &mut buffer) else { return false };
        heard(buffer.get(..n).unwrap_or_default());
        true
    }
}

/// A socket that takes what the kernel's own stack would otherwise answer with an ICMP error, and forgets it at once.
pub enum Silence {
    /// IPv4 packets of a protocol that the kernel does not know.
    Protocol(u8),
    /// Datagrams to a UDP port.
    Port(u16),
}

impl Silence {
    /// Opens it; it works until it is closed.
    pub fn open(&self, interface: &str) -> Result<Socket, Error> {
        let open = || -> io::Result<Socket> {
            let socket = match self {
                Self::Protocol(p) => {
                    Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(i32::from(*p))))?
                }
                Self::Port(_) => Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?,
            };
            socket.attach_filter(&crate::filter::nothing())?;
            socket.bind_device(Some(interface.as_bytes()))?;
            if let Self::Port(port) = self {
                let any = std::net::SocketAddrV4::new(std::net::Ipv4Addr::UNSPECIFIED, *port);
                socket.bind(&any.into())?;
            }
            Ok(socket)
        };
        open().map_err(|e| match (self, e.raw_os_error()) {
            (Self::Port(port), Some(libc::EADDRINUSE)) => Error::System(format!(
                "UDP port {port} is in use on {interface}; stop the other routing daemon"
            )),
            _ => Error::system("open the protocol's socket")(e),
        })
    }
}
