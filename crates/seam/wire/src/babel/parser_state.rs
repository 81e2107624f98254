//! What a reader of a packet remembers from TLV to TLV (section 4.5).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wayhop_core::Addr;

use super::{Body, Encoding, RouterId, Tlv, Update};

/// The state of a reader. Each packet has its own.
#[derive(Copy, Clone, Debug)]
pub struct ParserState {
    router_id: Option<RouterId>,
    next_hop4: Option<Ipv4Addr>,
    next_hop6: Option<Ipv6Addr>,
    /// The default prefixes of IPv4, IPv6, and IPv4 by way of IPv6, which has its own (RFC 9229, section 4.2).
    defaults: [Option<IpAddr>; 3],
}

/// What an Update says, with what the TLVs in front of it said.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The address of the destination's prefix; `None` for the wildcard, or if it is not known.
    pub destination: Option<IpAddr>,
    /// The router that announces it.
    pub router_id: Option<RouterId>,
    /// The next hop.
    pub next_hop: Option<IpAddr>,
}

impl ParserState {
    /// At the start of a packet from this address, which is the next hop of its family.
    pub fn new(source: Addr) -> Self {
        Self { router_id: None, next_hop4: source.v4(), next_hop6: source.v6(), defaults: [None; 3] }
    }

    /// Takes the next TLV of the body; gives the route of an Update. TLVs that a node ignores because of a mandatory
    /// sub-TLV change the state all the same.
    pub fn take(&mut self, tlv: &Tlv<'_>) -> Option<Route> {
        match tlv.body {
            Body::RouterId(id) => self.router_id = Some(id),
            Body::NextHop(IpAddr::V4(a)) => self.next_hop4 = Some(a),
            Body::NextHop(IpAddr::V6(a)) => self.next_hop6 = Some(a),
            Body::Update(u) => return Some(self.route(&u)),
            _ => {}
        }
        None
    }

    fn route(&mut self, u: &Update<'_>) -> Route {
        let encoding = u.prefix.encoding;
        let place = match encoding {
            Encoding::Ipv4 => Some(0),
            Encoding::Ipv6 => Some(1),
            Encoding::Ipv4ViaIpv6 => Some(2),
            Encoding::Wildcard | Encoding::LinkLocal => None,
        };
        let destination = u.prefix.resolve(place.and_then(|i| self.defaults[i]));
        if let Some(i) = place.filter(|_| u.sets_default && destination.is_some()) {
            self.defaults[i] = destination;
        }
        if let Some(address) = destination.filter(|_| u.sets_router_id) {
            let mut id = [0; 8];
            match address {
                IpAddr::V4(a) => id[4..].copy_from_slice(&a.octets()),
                IpAddr::V6(a) => id.copy_from_slice(&a.octets()[8..]),
            }
            self.router_id = Some(id);
        }
        let next_hop = match encoding {
            Encoding::Wildcard => None,
            Encoding::Ipv4 => self.next_hop4.map(IpAddr::from),
            Encoding::Ipv6 | Encoding::LinkLocal | Encoding::Ipv4ViaIpv6 => self.next_hop6.map(IpAddr::from),
        };
        Route { destination, router_id: self.router_id, next_hop }
    }
}
