//! What attackers of a scenario say in DSR. No engine uses it.

use std::net::Ipv4Addr;

use wayhop_core::{Addr, BROADCAST, Claim, Forged, Forger as Forge, Lure};
use wayhop_wire::dsr::{
    AddrList, Builder, DsrOption, RouteError, RouteErrorKind, RouteReply, RouteRequest, SourceRoute,
};
use wayhop_wire::ipv4::{self, protocol};

use crate::cache::path::Path;
use crate::forwarding::view::{View, is_node};

/// Routes name their nodes: nothing has to be remembered to forge one.
pub(crate) struct Forger;

/// The hops that a Route Request may make.
const HOP_LIMIT: u8 = 64;

fn packet(from: Ipv4Addr, to: Ipv4Addr, ttl: u8, id: u16, options: &[DsrOption<'_>]) -> Option<Vec<u8>> {
    let mut header = Vec::new();
    let mut b = Builder::new(&mut header, protocol::NO_NEXT_HEADER);
    for o in options {
        b.push(o).ok()?;
    }
    let header = b.finish();
    let mut ip = ipv4::Repr::new(from, to, protocol::DSR, header.len() as u16);
    ip.ttl = ttl;
    ip.id = id;
    let mut packet = vec![0; ipv4::HEADER_LEN + header.len()];
    ip.emit(&mut packet);
    packet[ipv4::HEADER_LEN..].copy_from_slice(header);
    Some(packet)
}

/// A packet with this option along a route: nothing if the route visits a node twice.
fn along(route: &Path, option: DsrOption<'_>) -> Option<Forged> {
    let (from, to, next_hop) = (route.first()?, route.last()?, route.next_hop()?);
    if route.repeats() {
        return None;
    }
    let way = SourceRoute {
        first_hop_external: false,
        last_hop_external: false,
        salvage: 0,
        segments_left: route.between().len() as u8,
        addresses: AddrList::from(route.between()),
    };
    let packet = packet(from, to, HOP_LIMIT, 0, &[option, DsrOption::SourceRoute(way)])?;
    Some(Forged { packet, to: next_hop.into() })
}

impl Forge for Forger {
    /// A Route Reply as from the cache (RFC 4728 section 8.2.3): the way so far, the speaker, the target. DSR has no
    /// numbers, and tells the nodes between only by their addresses: a longer claim gains nothing.
    fn lure(&mut self, bytes: &[u8], _: Ipv4Addr, claim: &Claim) -> Option<Lure> {
        let v = View::new(bytes).ok()?;
        let (initiator, r) = (v.ip.src(), v.request?);
        let nodes = [initiator, r.target, claim.speaker];
        if !nodes.into_iter().chain(r.addresses.iter()).all(is_node) || r.target == claim.speaker {
            return None;
        }
        let so_far = || [initiator].into_iter().chain(r.addresses.iter()).chain([claim.speaker]);
        let route = Path::from_nodes(so_far().chain([r.target]));
        if route.repeats() || route.len() != r.addresses.len() + 3 {
            return None;
        }
        let addresses = AddrList::from(&route.nodes()[1..]);
        let reply = DsrOption::RouteReply(RouteReply { last_hop_external: false, addresses });
        Some(Lure {
            question: u64::from(initiator.to_bits()) << 16 | u64::from(r.id),
            is_answer: true,
            message: along(&Path::from_nodes(so_far()).reversed(), reply)?,
        })
    }

    /// A Route Error of the next hop, that its next link broke (section 8.3.4), back to the packet's source.
    fn deny(&mut self, bytes: &[u8], _: Ipv4Addr, to: Ipv4Addr) -> Option<Forged> {
        let v = View::new(bytes).ok()?;
        let way = v.way()?;
        if way.nodes.nodes().get(way.receiver) != Some(&to) {
            return None;
        }
        let unreachable = *way.nodes.nodes().get(way.receiver + 1)?;
        let back = Path::from_nodes([to].into_iter().chain(way.passed().iter().rev().copied()));
        let kind = RouteErrorKind::NodeUnreachable(unreachable);
        let error = RouteError { salvage: 0, source: to, destination: back.last()?, kind };
        along(&back, DsrOption::RouteError(error))
    }

    fn flood(&mut self, originator: Ipv4Addr, target: Ipv4Addr, number: u32) -> Option<Forged> {
        let request = RouteRequest { id: number as u16, target, addresses: AddrList::EMPTY };
        let options = [DsrOption::RouteRequest(request)];
        let packet = packet(originator, BROADCAST, HOP_LIMIT, number as u16, &options)?;
        Some(Forged { packet, to: Addr::BROADCAST })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn node(n: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, n)
    }

    #[test]
    fn a_forged_reply_names_the_speaker_before_the_target_and_goes_back_along_the_record() {
        let record = [node(2), node(3)];
        let request = RouteRequest { id: 7, target: node(9), addresses: AddrList::from(&record[..]) };
        let asked = packet(node(1), BROADCAST, 5, 1, &[DsrOption::RouteRequest(request)]).unwrap();
        let claim = Claim { speaker: node(4), hops: 1, ahead: 0 };
        let lure = Forger.lure(&asked, node(3), &claim).unwrap();
        assert_eq!(lure.message.to, Addr::from(node(3)));
        let v = View::new(&lure.message.packet).unwrap();
        assert_eq!((v.ip.src(), v.ip.dst()), (node(4), node(1)));
        let Some(DsrOption::RouteReply(r)) = v.dsr.options().flatten().next() else { panic!("no reply") };
        assert_eq!(r.addresses.iter().collect::<Vec<_>>(), [node(2), node(3), node(4), node(9)]);
        assert_eq!(v.source_route.unwrap().addresses.iter().collect::<Vec<_>>(), [node(3), node(2)]);
    }

    #[test]
    fn a_forged_error_speaks_for_the_next_hop_to_the_source() {
        let between = [node(2), node(3)];
        let route = SourceRoute {
            first_hop_external: false,
            last_hop_external: false,
            salvage: 0,
            segments_left: 1,
            addresses: AddrList::from(&between[..]),
        };
        let data = packet(node(1), node(4), 9, 1, &[DsrOption::SourceRoute(route)]).unwrap();
        // From node 2 to node 3.
        let forged = Forger.deny(&data, node(2), node(3)).unwrap();
        assert_eq!(forged.to, Addr::from(node(2)));
        let v = View::new(&forged.packet).unwrap();
        assert_eq!((v.ip.src(), v.ip.dst()), (node(3), node(1)));
        let Some(DsrOption::RouteError(e)) = v.dsr.options().flatten().next() else { panic!("no error") };
        assert_eq!(e.kind, RouteErrorKind::NodeUnreachable(node(4)));
        assert_eq!(Forger.deny(&data, node(2), node(5)), None);
    }

    proptest! {
        #[test]
        fn nothing_from_the_air_makes_it_panic(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut ip = ipv4::Repr::new(node(1), node(2), protocol::DSR, payload.len() as u16);
            ip.ttl = 3;
            let mut whole = vec![0; ipv4::HEADER_LEN + payload.len()];
            ip.emit(&mut whole);
            whole[ipv4::HEADER_LEN..].copy_from_slice(&payload);
            for bytes in [&whole[..], &payload[..]] {
                Forger.hear(bytes);
                Forger.lure(bytes, node(1), &Claim { speaker: node(3), hops: 1, ahead: 100 });
                Forger.deny(bytes, node(1), node(2));
            }
        }
    }
}
