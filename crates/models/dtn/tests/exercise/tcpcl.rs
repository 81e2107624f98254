//! A stream to a TCPCLv4 session.

use wayhop_core::Time;
use wayhop_dtn::cl::Session as _;
use wayhop_dtn::cl::tcpcl::{Tcpcl, TcpclConfig};
use wayhop_dtn::{Eid, TransferId};

use super::session::feed;

/// A TCPCLv4 session takes any stream: before its handshake, and after it with a transfer under way.
pub(crate) fn tcpcl(octets: &[u8]) {
    let Some((kind, stream)) = octets.split_first() else { return };
    let mut config = TcpclConfig::new(Eid::dtn("a", "").expect("a name"));
    config.transfer = 1 << 16;
    let mut session = Tcpcl::new(config, kind & 1 == 0, Time::ZERO);
    if kind & 2 != 0 {
        let peer = TcpclConfig::new(Eid::dtn("b", "").expect("a name"));
        let mut peer = Tcpcl::new(peer, kind & 1 != 0, Time::ZERO);
        for _ in 0..4 {
            while let Some(sent) = session.transmit(Time::ZERO, 4_096) {
                peer.receive(Time::ZERO, &sent);
            }
            while let Some(sent) = peer.transmit(Time::ZERO, 4_096) {
                session.receive(Time::ZERO, &sent);
            }
        }
        session.send(Time::ZERO, TransferId(1), vec![7; 20_000]);
        let _ = session.transmit(Time::ZERO, 1 << 20);
    }
    feed(&mut session, stream.chunks(usize::from(kind >> 2) + 1));
}
