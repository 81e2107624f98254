//! The one ICMP message that DSR originates: Parameter Problem (RFC 792) for a wrong Segments Left (RFC 4728 section
//! 8.1.5).

use wayhop_core::{Addr, Cx, Packet};
use wayhop_wire::dsr::{DsrOption, HEADER_LEN};
use wayhop_wire::ipv4::{self, protocol};
use wayhop_wire::{checksum, dsr};

use crate::engine::Engine;
use crate::view::{View, is_node};

const PARAMETER_PROBLEM: u8 = 12;
/// How much of the offending packet's payload is returned, in octets.
const QUOTED: usize = 8;

/// Where the Segments Left field of a packet's Source Route option is, in octets from the IP header's start.
pub(crate) fn segments_left_offset(ip_packet: &[u8]) -> Option<u8> {
    let (ip, header) = dsr::edit::parse(ip_packet).ok()?;
    let at = header
        .options()
        .located()
        .find_map(|(range, o)| matches!(o, Ok(DsrOption::SourceRoute(_))).then_some(range.start))?;
    u8::try_from(ip.header_len() + HEADER_LEN + at + 3).ok()
}

impl Engine {
    /// Tells a packet's source that the octet at `pointer` of its packet is wrong.
    pub(crate) fn parameter_problem(&mut self, cx: &mut Cx<'_>, v: &View<'_>, pointer: u8) {
        let to = v.ip.src();
        if to == cx.addr()
            || !is_node(to)
            || v.ip.fragment_offset() != 0
            || v.dsr.next_header() == protocol::ICMP
        {
            return;
        }
        let p = self.build_problem(cx, to, v, pointer);
        self.originate(cx, p, to);
    }

    fn build_problem(&mut self, cx: &mut Cx<'_>, to: Addr, v: &View<'_>, pointer: u8) -> Packet {
        let quoted = &v.ip.payload()[..v.ip.payload().len().min(QUOTED)];
        let len = 8 + v.ip.header_len() + quoted.len();
        let mut p = cx.alloc(ipv4::HEADER_LEN + len);
        let mut repr = ipv4::Repr::new(cx.addr(), to, protocol::ICMP, len as u16);
        repr.ttl = self.params.control_ttl;
        repr.id = self.next_ip_id;
        self.next_ip_id = self.next_ip_id.wrapping_add(1);
        repr.emit(p.bytes_mut());
        let m = &mut p.bytes_mut()[ipv4::HEADER_LEN..];
        m[0] = PARAMETER_PROBLEM;
        m[4] = pointer;
        m[8..8 + v.ip.header_len()].copy_from_slice(v.ip.header());
        m[8 + v.ip.header_len()..].copy_from_slice(quoted);
        let sum = !checksum::sum(0, m);
        m[2..4].copy_from_slice(&sum.to_be_bytes());
        p
    }
}
