//! A small datagram by which neighbours find each other (UDP port 4551, to the mesh's neighbours).

use crate::cbor::{Reader, Writer};
use crate::eid::Eid;

/// A port of a convergence layer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// TCPCLv4.
    Tcpcl(u16),
    /// UDPCL.
    Udpcl(u16),
    /// LTP, and the engine's number.
    Ltp(u16, u64),
}

/// What a node tells its neighbours: who it is, and where its convergence layers listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beacon {
    /// The node's administrative endpoint.
    pub node: Eid,
    /// Seconds until the next one; a node that was silent for three of these is gone.
    pub interval_s: u16,
    /// The number of the routing whose messages it understands ([`crate::routing::Routing::number`]), if any.
    pub routing: Option<u8>,
    /// Where its convergence layers listen.
    pub ports: Vec<Port>,
}

/// The first octets of every beacon.
const MAGIC: &[u8; 4] = b"WDB1";
/// The UDP port of beacons: the one of DTN's IP neighbour discovery (draft-irtf-dtnrg-ipnd).
pub const BEACON_PORT: u16 = 4_551;
/// The most ports in a beacon.
const MAX_PORTS: u64 = 16;

impl Beacon {
    /// The datagram.
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.array(4).eid(&self.node).u64(self.interval_s.into());
        // 0 stands for no routing: their numbers begin with 1.
        w.u64(self.routing.unwrap_or(0).into());
        w.array(self.ports.len() as u64);
        for port in &self.ports {
            let (layer, number, engine) = match *port {
                Port::Tcpcl(port) => (1, port, 0),
                Port::Udpcl(port) => (2, port, 0),
                Port::Ltp(port, engine) => (3, port, engine),
            };
            w.array(3).u64(layer).u64(number.into()).u64(engine);
        }
        let mut datagram = MAGIC.to_vec();
        datagram.extend(w.finish());
        datagram
    }

    /// What a datagram says; `None` if it is no beacon. Layers of unknown number are passed over.
    pub fn parse(datagram: &[u8]) -> Option<Self> {
        let mut r = Reader::new(datagram.strip_prefix(MAGIC)?);
        r.array_of(4).ok()?;
        let node = r.eid().ok()?;
        let interval_s = u16::try_from(r.u64().ok()?).ok()?;
        let routing = match u8::try_from(r.u64().ok()?).ok()? {
            0 => None,
            number => Some(number),
        };
        let n = r.array().ok()?;
        if node.is_none() || node != node.node() || n > MAX_PORTS {
            return None;
        }
        let mut ports = Vec::new();
        for _ in 0..n {
            r.array_of(3).ok()?;
            let (layer, port, engine) = (r.u64().ok()?, u16::try_from(r.u64().ok()?).ok()?, r.u64().ok()?);
            match layer {
                1 => ports.push(Port::Tcpcl(port)),
                2 => ports.push(Port::Udpcl(port)),
                3 => ports.push(Port::Ltp(port, engine)),
                _ => {}
            }
        }
        r.end().ok()?;
        Some(Self { node, interval_s, routing, ports })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beacon_reads_as_it_was_written_and_nothing_else_is_one() {
        let beacon = Beacon {
            node: "dtn://a/".parse().unwrap(),
            interval_s: 5,
            routing: Some(3),
            ports: vec![Port::Tcpcl(4_556), Port::Udpcl(4_556), Port::Ltp(1_113, 7)],
        };
        let datagram = beacon.encode();
        assert_eq!(Beacon::parse(&datagram), Some(beacon));
        for end in 0..datagram.len() {
            assert_eq!(Beacon::parse(&datagram[..end]), None);
        }
        let with_rest = [&datagram[..], &[0]].concat();
        assert_eq!(Beacon::parse(&with_rest), None);
    }
}
