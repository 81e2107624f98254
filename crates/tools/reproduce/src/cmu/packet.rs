//! A captured frame, as the paper's analysis looks at it.

use std::net::Ipv4Addr;

use wayhop_core::Mac;
use wayhop_trace::{LINKTYPE_IEEE802_11, network};
use wayhop_wire::dsr::{self, DsrOption};
use wayhop_wire::icmp;
use wayhop_wire::ipv4::{self, protocol};

/// What a packet on the air says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OverheardPacket {
    pub(crate) transmitter: Mac,
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    /// Who shall receive it now.
    pub(crate) next_hop: Ipv4Addr,
    pub(crate) hops: usize,
    /// The identifier of the acknowledgement that it asks for.
    pub(crate) ack_request: Option<u16>,
    /// Acknowledgements in it: identifier, who acknowledges, who asked.
    pub(crate) acks: Vec<(u16, Ipv4Addr, Ipv4Addr)>,
    pub(crate) echo: Echo,
    pub(crate) ip_bytes: usize,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    Request(u16),
    Reply(u16),
    Neither,
}

impl OverheardPacket {
    /// Reads an 802.11 frame; `None` without an IP packet.
    pub(crate) fn read(frame: &[u8]) -> Option<Self> {
        let link = network(LINKTYPE_IEEE802_11, frame).ok()?;
        let ip = ipv4::Packet::new_checked(link.ip).ok()?;
        let mut heard = Self {
            transmitter: link.transmitter?,
            source: ip.src(),
            destination: ip.dst(),
            next_hop: ip.dst(),
            hops: 1,
            ack_request: None,
            acks: Vec::new(),
            echo: Echo::Neither,
            ip_bytes: usize::from(ip.total_len() as u16),
        };
        match ip.protocol() {
            protocol::ICMP => heard.echo = echo(ip.payload()),
            protocol::DSR => heard.read_dsr(ip.payload()),
            _ => {}
        }
        Some(heard)
    }

    fn read_dsr(&mut self, payload: &[u8]) {
        let Ok(packet) = dsr::Packet::new_checked(payload) else { return };
        for option in packet.options().flatten() {
            match option {
                DsrOption::SourceRoute(route) => {
                    self.hops = route.addresses.len() + 1;
                    let next = route.next_index().and_then(|i| route.addresses.at(i));
                    self.next_hop = next.unwrap_or(self.destination);
                }
                DsrOption::AckRequest { id, .. } => self.ack_request = Some(id),
                DsrOption::Ack { id, source, destination } => self.acks.push((id, source, destination)),
                _ => {}
            }
        }
        if packet.next_header() == protocol::ICMP {
            self.echo = echo(packet.payload());
        }
    }
}

fn echo(message: &[u8]) -> Echo {
    match icmp::Repr::parse(message) {
        Ok(icmp::Repr::EchoRequest { seq, .. }) => Echo::Request(seq),
        Ok(icmp::Repr::EchoReply { seq, .. }) => Echo::Reply(seq),
        _ => Echo::Neither,
    }
}
