//! Network namespaces without names: they live as long as a descriptor, or a program in them, does.
//! Nothing remains, however this process ends.

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt as _;
use std::thread;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::sched::{CloneFlags, setns, unshare};
use wayhop_core::{Addr, Prefix};
use wayhop_linux::netlink::Netlink;
use wayhop_linux::priority;

/// A network namespace.
#[derive(Debug)]
pub struct Namespace(OwnedFd);

impl Namespace {
    /// A new one with nothing but a loopback interface, which is up.
    pub fn new() -> io::Result<Self> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            raise_loopback()?;
            File::open("/proc/thread-self/ns/net").map(|f| Self(f.into()))
        })
    }

    /// That of a process's descriptor.
    pub(crate) fn open(pid: u32, fd: RawFd) -> io::Result<Self> {
        File::open(format!("/proc/{pid}/fd/{fd}")).map(|f| Self(f.into()))
    }

    /// Its descriptor, by which other processes of the same user find it under `/proc/PID/fd`.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Its number on this machine.
    pub fn inode(&self) -> io::Result<u64> {
        File::from(self.0.try_clone()?).metadata().map(|m| m.ino())
    }

    /// Calls something inside of it, on a thread of its own. What is opened there stays there; programs started there run
    /// there.
    pub fn within<T: Send>(&self, f: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        in_thread(|| {
            self.enter()?;
            f()
        })
    }

    /// Puts this thread inside of it, for good.
    pub fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.0, CloneFlags::CLONE_NEWNET)?)
    }

    /// A second handle of it.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }
}

/// Lets programs without privileges ping, and serve at each port, in this thread's namespace: it is nobody else's.
pub fn allow_services() -> io::Result<()> {
    std::fs::write("/proc/sys/net/ipv4/ping_group_range", "0 2147483647")?;
    std::fs::write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")
}

/// Namespaces belong to threads: change them only in a thread that does nothing else afterwards.
pub(crate) fn in_thread<T: Send>(f: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let lowered = || {
        priority::lower();
        f()
    };
    thread::scope(|s| s.spawn(lowered).join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked"))))
}

/// Has this thread's namespace send all packets for which it knows no better way by an interface of this number, from this address if there
/// is one.
pub fn send_all_by(ifindex: u32, source: Option<Ipv4Addr>) -> io::Result<()> {
    let mut route = RouteMessage::default();
    route.header = RouteHeader {
        address_family: AddressFamily::Inet,
        table: RouteHeader::RT_TABLE_MAIN,
        protocol: RouteProtocol::Static,
        scope: RouteScope::Link,
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    route.attributes.push(RouteAttribute::Oif(ifindex));
    let source = source.map(|addr| RouteAttribute::PrefSource(RouteAddress::Inet(addr)));
    route.attributes.extend(source);
    Netlink::open()?.order(RouteNetlinkMessage::NewRoute(route), NLM_F_CREATE)
}

/// Adds a route by way of a neighbour on the interface with this number to this thread's namespace.
pub fn add_route(ifindex: u32, to: Prefix, neighbour: Addr) -> io::Result<()> {
    let address = |a: Addr| match a.ip() {
        IpAddr::V4(a) => RouteAddress::Inet(a),
        IpAddr::V6(a) => RouteAddress::Inet6(a),
    };
    let mut route = RouteMessage::default();
    route.header = RouteHeader {
        address_family: if to.addr.is_v4() { AddressFamily::Inet } else { AddressFamily::Inet6 },
        destination_prefix_length: to.len,
        table: RouteHeader::RT_TABLE_MAIN,
        protocol: RouteProtocol::Static,
        scope: RouteScope::Universe,
        kind: RouteType::Unicast,
        flags: RouteFlags::Onlink,
        ..RouteHeader::default()
    };
    route.attributes.push(RouteAttribute::Destination(address(to.addr)));
    route.attributes.push(RouteAttribute::Gateway(address(neighbour)));
    route.attributes.push(RouteAttribute::Oif(ifindex));
    Netlink::open()?.order(RouteNetlinkMessage::NewRoute(route), NLM_F_CREATE | NLM_F_REPLACE)
}

/// Gives an interface of this thread's namespace a second address, without a network.
pub fn add_address(ifindex: u32, addr: Ipv4Addr) -> io::Result<()> {
    let mut message = AddressMessage::default();
    message.header.family = AddressFamily::Inet;
    message.header.prefix_len = 32;
    message.header.index = ifindex;
    message.attributes.push(AddressAttribute::Local(addr.into()));
    message.attributes.push(AddressAttribute::Address(addr.into()));
    Netlink::open()?.order(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE)
}

/// Brings up the loopback interface, which is always the first, of this thread's namespace.
fn raise_loopback() -> io::Result<()> {
    let mut link = LinkMessage::default();
    link.header.index = 1;
    link.header.flags = LinkFlags::Up;
    link.header.change_mask = LinkFlags::Up;
    Netlink::open()?.order(RouteNetlinkMessage::SetLink(link), 0)
}
