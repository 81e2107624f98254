//! The state of programs' connections in the kernel's TCP: `TCP_INFO` by the netlink family
//! `sock_diag` (linux/inet_diag.h), which needs no privileges.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;

use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::{Nla, TcpInfo};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use wayhop_core::{Addr, Span, TcpConnection, TcpEnds};

use crate::exchange::Exchange;

/// The most connections reported: programs can open as many as they like.
const MOST: usize = 1_024;
/// The slow-start threshold of a connection that has lost nothing (TCP_INFINITE_SSTHRESH, net/tcp.h).
const INFINITE: u32 = 0x7fff_ffff;

/// The TCP connections of a host that have an end at one of some addresses.
pub struct TcpConnections {
    exchange: Exchange,
    own: Vec<Addr>,
    /// As they were at the last look.
    known: BTreeMap<TcpEnds, TcpConnection>,
}

impl TcpConnections {
    /// Those of the calling thread's network namespace with a local end at one of these addresses.
    pub fn open(own: Vec<Addr>) -> io::Result<Self> {
        Ok(Self { exchange: Exchange::open(NETLINK_SOCK_DIAG)?, own, known: BTreeMap::new() })
    }

    /// Looks at all of them, and reports those that are new or have changed since the last look.
    ///
    /// # Errors
    /// If the kernel cannot tell: one without `CONFIG_INET_DIAG`, or before Linux 5.4.
    pub fn look(&mut self, mut changed: impl FnMut(&TcpConnection)) -> io::Result<()> {
        let mut now = BTreeMap::new();
        // A server that listens to both families has its IPv4 connections as mapped ones of IPv6.
        for family in [AF_INET, AF_INET6] {
            self.exchange.ask(request(family), NLM_F_DUMP, |message| {
                let SockDiagMessage::InetResponse(response) = message else { return };
                let Some(connection) = connection(&response) else { return };
                if now.len() < MOST && self.own.contains(&connection.ends.local) {
                    now.insert(connection.ends, connection);
                }
            })?;
        }
        now.values().filter(|c| self.known.get(&c.ends) != Some(c)).for_each(&mut changed);
        self.known = now;
        Ok(())
    }
}

/// Asks for all connections of a family that have a `tcp_info`: listeners and those in TIME-WAIT have none.
fn request(family: u8) -> SockDiagMessage {
    let without = StateFlags::LISTEN | StateFlags::TIME_WAIT | StateFlags::SYN_RECV | StateFlags::CLOSE;
    let socket_id = if family == AF_INET { SocketId::new_v4() } else { SocketId::new_v6() };
    SockDiagMessage::InetRequest(InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO,
        states: StateFlags::all() - without,
        socket_id,
    })
}

/// A connection, if the kernel's answer has what it is known by.
fn connection(response: &InetResponse) -> Option<TcpConnection> {
    let info = response.nlas.iter().find_map(|nla| match nla {
        Nla::TcpInfo(info) => Some(info),
        _ => None,
    })?;
    let id = &response.header.socket_id;
    let address = |a: IpAddr| Addr::from(a.to_canonical());
    let ends = TcpEnds {
        local: address(id.source_address),
        local_port: id.source_port,
        remote: address(id.destination_address),
        remote_port: id.destination_port,
    };
    Some(of(ends, info))
}

fn of(ends: TcpEnds, info: &TcpInfo) -> TcpConnection {
    let micros = |us: u32| Span::from_micros(us.into());
    let new = info.bytes_sent.saturating_sub(info.bytes_retrans);
    let state = state(info.state);
    // The kernel counts a SYN and a FIN as an octet each.
    let has_fin = matches!(state, "close_wait" | "last_ack" | "closing");
    TcpConnection {
        ends,
        state,
        sent: info.bytes_sent,
        sent_again: info.bytes_retrans,
        acked: info.bytes_acked.min(new),
        received: info.bytes_received.saturating_sub(has_fin.into()),
        retransmissions: info.total_retrans,
        in_flight: (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost),
        window: info.snd_cwnd,
        threshold: (info.snd_ssthresh < INFINITE).then_some(info.snd_ssthresh),
        segment: info.snd_mss,
        srtt: (info.rtt > 0).then(|| micros(info.rtt)),
        deviation: (info.rtt > 0).then(|| micros(info.rttvar)),
        rto: micros(info.rto),
    }
}

/// The name of a state (net/tcp_states.h) as RFC 9293, section 3.3.2 has it.
fn state(number: u8) -> &'static str {
    match number {
        1 => "established",
        2 => "syn_sent",
        3 => "syn_received",
        4 => "fin_wait_1",
        5 => "fin_wait_2",
        6 => "time_wait",
        7 => "closed",
        8 => "close_wait",
        9 => "last_ack",
        10 => "listen",
        11 => "closing",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    /// Both ends of a connection over the loopback interface, its server as programs have it that serve both families.
    fn connected(listen: &str) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(listen).unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        (client, listener.accept().unwrap().0)
    }

    fn told(connections: &mut TcpConnections, end: &TcpStream) -> Option<TcpConnection> {
        let (local, remote) = (end.local_addr().unwrap().port(), end.peer_addr().unwrap().port());
        let mut found = None;
        connections
            .look(|c| {
                if (c.ends.local_port, c.ends.remote_port) == (local, remote) {
                    found = Some(*c);
                }
            })
            .unwrap();
        found
    }

    #[test]
    fn octets_of_both_ends_are_those_that_the_programs_moved() {
        for listen in ["127.0.0.1:0", "[::]:0"] {
            let (mut client, mut server) = connected(listen);
            let mut connections = TcpConnections::open(vec![Ipv4Addr::LOCALHOST.into()]).unwrap();
            client.write_all(&[7; 5_000]).unwrap();
            server.read_exact(&mut [0; 5_000]).unwrap();
            server.write_all(&[7; 300]).unwrap();
            client.read_exact(&mut [0; 300]).unwrap();
            // The acknowledgement of the answer may come later than the answer is read.
            let from_client = told(&mut connections, &client).unwrap();
            assert_eq!((from_client.sent, from_client.acked, from_client.received), (5_000, 5_000, 300));
            assert_eq!((from_client.state, from_client.sent_again), ("established", 0));
            assert_eq!(from_client.threshold, None, "nothing was lost");
            assert!(
                from_client.srtt.is_some() && from_client.rto >= Span::from_millis(200),
                "{from_client:?}"
            );
            let mut others = TcpConnections::open(vec![Ipv4Addr::LOCALHOST.into()]).unwrap();
            let from_server = told(&mut others, &server).unwrap();
            assert_eq!((from_server.sent, from_server.received), (300, 5_000), "{listen}");
            assert_eq!(from_server.ends.local, Addr::from(Ipv4Addr::LOCALHOST), "not a mapped address");
        }
    }

    #[test]
    fn a_connection_is_reported_again_only_after_a_change_and_only_if_it_is_ours() {
        let (mut client, server) = connected("127.0.0.1:0");
        let mut connections = TcpConnections::open(vec![Ipv4Addr::LOCALHOST.into()]).unwrap();
        assert!(told(&mut connections, &client).is_some());
        assert_eq!(told(&mut connections, &client), None);
        client.write_all(&[1]).unwrap();
        assert_eq!(told(&mut connections, &client).unwrap().sent, 1);
        client.shutdown(std::net::Shutdown::Write).unwrap();
        assert_ne!(told(&mut connections, &client).unwrap().state, "established");
        let mut others = TcpConnections::open(vec![Ipv4Addr::LOCALHOST.into()]).unwrap();
        let server = told(&mut others, &server).unwrap();
        assert_eq!((server.state, server.received), ("close_wait", 1), "a FIN is no octet");
        let mut elsewhere = TcpConnections::open(vec![Ipv4Addr::new(10, 0, 0, 1).into()]).unwrap();
        assert_eq!(told(&mut elsewhere, &client), None);
    }
}
