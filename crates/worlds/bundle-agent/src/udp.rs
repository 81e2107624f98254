//! Datagrams.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio::sync::mpsc::Sender;

use crate::error::Error;
use crate::event::Event;

/// What the kernel keeps of datagrams that were not read yet.
const RECEIVE_BUFFER: usize = 1 << 20;

/// A socket at this address and port.
pub(crate) fn open(at: Ipv4Addr, port: u16, what: &str) -> Result<Arc<UdpSocket>, Error> {
    let open = || -> io::Result<UdpSocket> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        // Less will do where the system does not give so much.
        let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER);
        socket.set_broadcast(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddr::from((at, port)).into())?;
        UdpSocket::from_std(socket.into())
    };
    let remedy = if port < 1024 { "; ports below 1024 need root or CAP_NET_BIND_SERVICE" } else { "" };
    open().map(Arc::new).map_err(Error::system(format!("cannot listen for {what} at {at}:{port}{remedy}")))
}

/// Hands on what comes, until nobody takes it.
pub(crate) async fn receive(
    socket: Arc<UdpSocket>,
    events: Sender<Event>,
    event: impl Fn(SocketAddr, Vec<u8>) -> Event,
) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        // An error is about a datagram that was sent before: an ICMP message.
        let Ok((n, from)) = socket.recv_from(&mut buffer).await else { continue };
        if events.send(event(from, buffer[..n].to_vec())).await.is_err() {
            return;
        }
    }
}
