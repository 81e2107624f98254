//! Packets for a group, flooded to all nodes in a Route Request.
//!
//! RFC 4728 does not cover multicast. This is the method by which the testbed of Maltz, Broch and
//! Johnson (1999, section 6.5.1) sent GPS corrections to every node: a Route Request whose target
//! is the group floods the network and carries the packet; each node delivers the first copy that
//! it hears to its local stack, and none answers.

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Cx, DropReason, Packet};
use wayhop_wire::dsr::{self, Builder};
use wayhop_wire::ipv4::{self, protocol};

use crate::engine::state::Engine;
use crate::forwarding::view::View;

/// Whether packets for this group go further than to the neighbours. The groups 224.0.0.0/24 stay on their link whatever
/// their TTL says (RFC 5771 section 4).
pub(crate) fn is_flooded(group: Ipv4Addr) -> bool {
    group.is_multicast() && group.octets()[..3] != [224, 0, 0]
}

impl Engine {
    /// Sends a packet of this node to all nodes. Its own TTL says how far, up to the limit of a Route Request.
    pub(crate) fn flood(&mut self, cx: &mut Cx<'_>, mut p: Packet, group: Ipv4Addr) {
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let ttl = ip.ttl().min(self.params.discovery_hop_limit);
        if ttl == 0 {
            return cx.drop(p, DropReason::TtlExpired);
        }
        if ip.src() != cx.addr() {
            // The initiator of a request is its IP source.
            return cx.drop(p, DropReason::Policy);
        }
        let request = self.next_request(group);
        let mut b = Builder::new(&mut self.scratch, protocol::NO_NEXT_HEADER);
        let written = b
            .push(&request)
            .and_then(|()| dsr::edit::insert_header(&mut p, b.finish()))
            .and_then(|()| ipv4::set_dst(p.bytes_mut(), BROADCAST))
            .and_then(|()| ipv4::set_ttl(p.bytes_mut(), ttl));
        if written.is_err() {
            return cx.drop(p, DropReason::Malformed);
        }
        if self.is_too_long(&p, 0) {
            return self.refuse_too_long(cx, p, 0);
        }
        cx.note("flood", group, u64::from(ttl));
        self.broadcast_request(cx, p);
    }

    /// A request for a group that is new to this node: its data are for the local stack and, unless `ends_here`, for the
    /// nodes behind this one.
    pub(crate) fn pass_on_to_group(&mut self, cx: &mut Cx<'_>, p: Packet, ends_here: bool) {
        let Ok(v) = View::new(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let group = v.destination();
        if ends_here {
            return Self::accept_at(cx, p, group);
        }
        if !v.is_control() {
            let copy = cx.copy(&p);
            Self::accept_at(cx, copy, group);
        }
        self.propagate(cx, p);
    }
}
