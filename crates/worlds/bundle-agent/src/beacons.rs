//! Beacons leave by every interface.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use socket2::{Domain, Protocol, Socket, Type};

/// Sends datagrams to all neighbours.
pub(crate) struct Beacons {
    /// Those that a configuration names; none for all but the loopback.
    named: Vec<String>,
    /// Where they go.
    to: SocketAddr,
    sockets: BTreeMap<String, Socket>,
}

impl Beacons {
    pub(crate) fn new(named: Vec<String>, port: u16) -> Self {
        Self { named, to: SocketAddr::from((Ipv4Addr::BROADCAST, port)), sockets: BTreeMap::new() }
    }

    /// Sends one. An interface that is down or gone is passed over, as it is by every other datagram.
    pub(crate) fn send(&mut self, octets: &[u8]) {
        let now = if self.named.is_empty() { interfaces() } else { self.named.clone() };
        self.sockets.retain(|name, _| now.contains(name));
        for name in now {
            let to = self.to.into();
            let sent = self.socket(&name).and_then(|s| s.send_to(octets, &to));
            if sent.is_err() {
                // It may be another interface of the same name the next time.
                self.sockets.remove(&name);
            }
        }
    }

    fn socket(&mut self, name: &str) -> io::Result<&Socket> {
        if !self.sockets.contains_key(name) {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            socket.set_broadcast(true)?;
            socket.set_nonblocking(true)?;
            // For the neighbours only.
            socket.set_ttl_v4(1)?;
            // So it needs no route.
            socket.bind_device(Some(name.as_bytes()))?;
            self.sockets.insert(name.to_owned(), socket);
        }
        self.sockets.get(name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The interfaces that are up and have an IPv4 address, without the loopback.
fn interfaces() -> Vec<String> {
    let all = getifaddrs().into_iter().flatten();
    let usable = all.filter(|i| {
        let flags = i.flags;
        flags.contains(InterfaceFlags::IFF_UP)
            && !flags.contains(InterfaceFlags::IFF_LOOPBACK)
            && i.address.is_some_and(|a| a.as_sockaddr_in().is_some())
    });
    let mut names: Vec<String> = usable.map(|i| i.interface_name).collect();
    names.sort();
    names.dedup();
    names
}
