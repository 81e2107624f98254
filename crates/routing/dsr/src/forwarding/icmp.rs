//! The ICMP messages that DSR originates (RFC 4728 section 8.1.5): Parameter Problem for a wrong Segments Left, and
//! Destination Unreachable, fragmentation needed, for a packet that is too long for the link (RFC 792, RFC 1191).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet};
use wayhop_wire::dsr::{self, DsrOption, HEADER_LEN};
use wayhop_wire::icmp::{self, Repr, unreachable_code};
use wayhop_wire::ipv4::{self, protocol};

use crate::engine::state::Engine;
use crate::forwarding::view::{View, is_node, place_of};

/// How much of the offending packet's payload is returned, in octets.
const QUOTED: usize = 8;

/// Where the Segments Left field of a packet's Source Route option is, in octets from the IP header's start.
pub(crate) fn segments_left_offset(ip_packet: &[u8]) -> Option<u8> {
    let (ip, header) = dsr::edit::parse(ip_packet).ok()?;
    let at = place_of(&header, |o| matches!(o, DsrOption::SourceRoute(_)))?.start;
    u8::try_from(ip.header_len() + HEADER_LEN + at + 3).ok()
}

impl Engine {
    /// Tells a packet's source that the octet at `pointer` of its packet is wrong.
    pub(crate) fn parameter_problem(&mut self, cx: &mut Cx<'_>, v: &View<'_>, pointer: u8) {
        if v.dsr.next_header() == protocol::ICMP || v.ip.src() == cx.addr() {
            return;
        }
        let original = v.ip.start(QUOTED);
        self.tell_source(cx, &v.ip, &Repr::ParameterProblem { code: 0, pointer, original });
    }

    /// Whether the link cannot take this packet and `spare` octets more.
    pub(crate) fn is_too_long(&self, p: &Packet, spare: usize) -> bool {
        self.params.mtu_bytes > 0 && p.len() + spare > usize::from(self.params.mtu_bytes)
    }

    /// Ends a packet that the link cannot take, and tells its source how long it may be without DSR's headers: so much
    /// room is what those need.
    pub(crate) fn refuse_too_long(&mut self, cx: &mut Cx<'_>, mut p: Packet, spare: usize) {
        let len = p.len();
        // The source knows its packet as it was before DSR's headers came into it.
        while dsr::edit::remove_header(&mut p).is_ok() {}
        let room = usize::from(self.params.mtu_bytes).saturating_sub(len + spare - p.len());
        if let Ok(ip) = ipv4::Packet::new_checked(p.bytes())
            && ip.protocol() != protocol::NO_NEXT_HEADER
            && !is_icmp_error(&ip)
        {
            cx.note("too_long", ip.src(), room as u64);
            let code = unreachable_code::FRAGMENTATION_NEEDED;
            let original = ip.start(QUOTED);
            let message = Repr::DestinationUnreachable { code, next_hop_mtu: room as u16, original };
            self.tell_source(cx, &ip, &message);
        }
        cx.drop(p, DropReason::TooLong);
    }

    /// Sends an ICMP message about a packet to its source, which may be this node's own stack.
    fn tell_source(&mut self, cx: &mut Cx<'_>, about: &ipv4::Packet<'_>, message: &Repr<'_>) {
        let to = about.src();
        if !is_node(to) || about.fragment_offset() != 0 {
            return;
        }
        let p = self.icmp_packet(cx, to, message);
        if to == cx.addr() {
            cx.deliver(p);
        } else {
            self.originate(cx, p, to);
        }
    }

    pub(crate) fn icmp_packet(&mut self, cx: &mut Cx<'_>, to: Ipv4Addr, message: &Repr<'_>) -> Packet {
        let len = message.buffer_len();
        let mut p = cx.alloc(ipv4::HEADER_LEN + len);
        let mut repr = ipv4::Repr::new(cx.addr(), to, protocol::ICMP, len as u16);
        repr.ttl = self.params.control_ttl;
        repr.id = self.next_ip_id;
        self.next_ip_id = self.next_ip_id.wrapping_add(1);
        repr.emit(p.bytes_mut());
        message.emit(&mut p.bytes_mut()[ipv4::HEADER_LEN..]);
        p
    }
}

/// Whether a packet is an ICMP error, about which nothing is sent (RFC 1122 section 3.2.2).
fn is_icmp_error(ip: &ipv4::Packet<'_>) -> bool {
    ip.protocol() == protocol::ICMP
        && !matches!(icmp::Repr::parse(ip.payload()), Ok(Repr::EchoRequest { .. } | Repr::EchoReply { .. }))
}
