//! The UDP ports on which an application listens, and the identifiers of its echo requests.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd as _, BorrowedFd};

use socket2::Protocol;
use wayhop_core::{ApplicationDatagram, ApplicationInput, EchoReply, EchoRequest};

use crate::broadcasts::Broadcasts;
use crate::ip_socket::IpSocket;
use crate::settings::Settings;

/// The longest datagram.
const LONGEST: usize = 65_536;
/// Types of echo messages (RFC 792, RFC 4443): request and reply over IPv4, and the same over IPv6.
const ECHO: [u8; 2] = [8, 0];
const ECHO6: [u8; 2] = [128, 129];

pub(crate) struct Sockets {
    addr: IpAddr,
    at: IpAddr,
    groups: Vec<Ipv4Addr>,
    /// By port.
    udp: BTreeMap<u16, IpSocket>,
    /// By identifier.
    echo: BTreeMap<u16, IpSocket>,
    broadcasts: Broadcasts,
    buffer: Vec<u8>,
}

impl Sockets {
    /// None is open yet.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            addr: settings.addr,
            at: settings.listen,
            groups: settings.groups.clone(),
            udp: BTreeMap::new(),
            echo: BTreeMap::new(),
            broadcasts: Broadcasts::new(settings.interfaces.clone()),
            buffer: vec![0; LONGEST],
        }
    }

    /// Listens at a port, if it does not yet.
    pub(crate) fn listen(&mut self, port: u16) -> io::Result<()> {
        if self.udp.contains_key(&port) {
            return Ok(());
        }
        let open = IpSocket::open(SocketAddr::new(self.at, port), Protocol::UDP)?;
        if let (IpAddr::V4(own), IpAddr::V4(_)) = (self.addr, self.at) {
            open.socket.set_multicast_if_v4(&own)?;
            // A node is no receiver of its own packets.
            open.socket.set_multicast_loop_v4(false)?;
            self.groups.iter().try_for_each(|group| open.socket.join_multicast_v4(group, &own))?;
        }
        self.udp.insert(port, open);
        Ok(())
    }

    pub(crate) fn send(&mut self, d: &ApplicationDatagram) {
        if d.to.ip() == Ipv4Addr::BROADCAST {
            self.broadcasts.send(d);
        } else if let Some(socket) = self.udp.get_mut(&d.port) {
            socket.send(&d.data, d.to, (d.ttl, d.tos));
        }
    }

    /// Sends an echo request. The kernel writes the identifier and the checksum.
    pub(crate) fn ask(&mut self, r: &EchoRequest) -> io::Result<()> {
        let (protocol, [kind, _]) =
            if r.to.is_ipv4() { (Protocol::ICMPV4, ECHO) } else { (Protocol::ICMPV6, ECHO6) };
        let socket = match self.echo.entry(r.identifier) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(none) => {
                none.insert(IpSocket::open(SocketAddr::new(self.at, r.identifier), protocol)?)
            }
        };
        let mut message = vec![kind, 0, 0, 0, 0, 0];
        message.extend(r.number.to_be_bytes());
        message.extend(&r.data);
        socket.send(&message, SocketAddr::new(r.to, 0), (r.ttl, r.tos));
        Ok(())
    }

    /// To wait for.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.udp.values().chain(self.echo.values()).map(|s| s.as_fd())
    }

    /// Takes what waits at all sockets. `received` is told at once: the port or identifier, from whom, the time to live, and the data.
    pub(crate) fn take(
        &mut self,
        mut received: impl FnMut(u16, IpAddr, Option<u8>, &[u8]),
    ) -> Vec<ApplicationInput<'static>> {
        let Self { udp, echo, buffer, .. } = self;
        let mut heard = Vec::new();
        for (&port, socket) in udp {
            socket.take(buffer, |from, ttl, data| {
                received(port, from.ip(), ttl, data);
                let data = Cow::Owned(data.to_vec());
                heard.push(ApplicationInput::Datagram { port, from, data });
            });
        }
        for (&identifier, socket) in echo {
            socket.take(buffer, |from, ttl, message| {
                let Some((&[kind, _, _, _, _, _, high, low], data)) = message.split_first_chunk() else {
                    return;
                };
                if kind == ECHO[1] || kind == ECHO6[1] {
                    let (from, number) = (from.ip(), u16::from_be_bytes([high, low]));
                    received(identifier, from, ttl, data);
                    let data = Cow::Owned(data.to_vec());
                    let reply = EchoReply { from, identifier, number, data };
                    heard.push(ApplicationInput::EchoReply(reply));
                }
            });
        }
        heard
    }
}
