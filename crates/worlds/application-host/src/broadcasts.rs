//! Broadcast datagrams leave through every interface.

use std::collections::BTreeMap;
use std::io;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use socket2::{Domain, Protocol, Socket, Type};
use wayhop_core::ApplicationDatagram;

/// Sends datagrams to all neighbours.
pub(crate) struct Broadcasts {
    /// The interfaces that a configuration names; none for all but the loopback.
    named: Vec<String>,
    sockets: BTreeMap<String, Socket>,
}

impl Broadcasts {
    pub(crate) const fn new(named: Vec<String>) -> Self {
        Self { named, sockets: BTreeMap::new() }
    }

    /// Sends one. An interface that is down or gone is passed over, as it is by every other datagram.
    pub(crate) fn send(&mut self, d: &ApplicationDatagram) {
        let now = if self.named.is_empty() { interfaces() } else { self.named.clone() };
        self.sockets.retain(|name, _| now.contains(name));
        for name in now {
            let sent = self.socket(&name).and_then(|s| {
                s.set_ttl_v4(d.ttl.into())?;
                s.send_to(&d.data, &d.to.into())
            });
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
