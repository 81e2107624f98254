//! The TUN interface: where programs' packets enter the mesh, and leave it.

use std::io;
use std::net::Ipv6Addr;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::error::Error;

/// How long the interface of a program that was killed may take to be gone.
const DYING: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);

/// A TUN interface that is gone when the process is.
pub struct Tun {
    device: SyncDevice,
    index: u32,
    room: Vec<u8>,
}

impl Tun {
    /// Makes the interface. It has no address of IPv4 yet. One of this name that another program has is waited for, for some seconds: that may have
    /// been killed just now.
    pub fn make(name: &str, mtu: u16) -> Result<Self, Error> {
        let make = || -> io::Result<(SyncDevice, u32)> {
            let device = DeviceBuilder::new()
                .name(name)
                .layer(Layer::L3)
                .packet_information(false)
                .mtu(mtu)
                .build_sync()?;
            device.set_nonblocking(true)?;
            let index = device.if_index()?;
            Ok((device, index))
        };
        let begun = Instant::now();
        let made = loop {
            match make() {
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) && begun.elapsed() < DYING => sleep(PAUSE),
                made => break made,
            }
        };
        let (device, index) = made.map_err(Error::system(format!("create the TUN interface {name}")))?;
        Ok(Self { device, index, room: vec![0; 65_536] })
    }

    /// Gives it an IPv6 address, with the prefix routed to it.
    pub fn add_address6(&self, addr: Ipv6Addr, prefix_len: u8) -> io::Result<()> {
        self.device.add_address_v6(addr, prefix_len)
    }

    /// The kernel's number of it.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Sets the MTU.
    pub fn set_mtu(&self, mtu: u16) -> io::Result<()> {
        self.device.set_mtu(mtu)
    }

    /// Takes it up or down.
    pub fn set_up(&self, up: bool) -> io::Result<()> {
        self.device.enabled(up)
    }

    /// To wait for packets.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// Takes a packet that is waiting.
    pub fn receive(&mut self) -> Option<&[u8]> {
        let n = self.device.recv(&mut self.room).ok()?;
        Some(&self.room[..n])
    }

    /// Gives a packet to the stack. A stack that does not take it loses it, as any interface may.
    pub fn send(&self, packet: &[u8]) -> bool {
        self.device.send(packet).is_ok()
    }
}
