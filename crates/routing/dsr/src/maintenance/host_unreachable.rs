//! Notices for transport protocols: ICMP "host unreachable", on Route Errors (Holland and Vaidya 1999).

use wayhop_core::{Cx, Packet};
use wayhop_wire::dsr;
use wayhop_wire::host_unreachable;
use wayhop_wire::ipv4::{self, protocol};

use crate::engine::state::Engine;
use crate::forwarding::view::View;

/// How much of a segment is returned: its ports and its sequence number.
const QUOTED: usize = 8;

impl Engine {
    /// Whether a packet is treated as the protocol's own: nothing follows its DSR header, or a notice rides on its error.
    pub(crate) fn is_own_kind(&self, v: &View<'_>) -> bool {
        v.is_control() || self.params.failure_notices && v.has_error && v.dsr.next_header() == protocol::ICMP
    }

    /// Puts the notice about `lost` behind a Route Error to its source.
    pub(crate) fn load_notice(&self, cx: &mut Cx<'_>, error: &mut Packet, lost: &Packet) {
        if !self.params.failure_notices {
            return;
        }
        let mut plain = cx.copy(lost);
        while dsr::edit::remove_header(&mut plain).is_ok() {}
        load(error, &plain);
        cx.consume(plain);
    }

    /// Tells this node's own stack of the loss of a packet of its own.
    pub(crate) fn tell_own_stack(&mut self, cx: &mut Cx<'_>, lost: &Packet) {
        let mut plain = cx.copy(lost);
        while dsr::edit::remove_header(&mut plain).is_ok() {}
        if let Ok(ip) = ipv4::Packet::new_checked(plain.bytes())
            && ip.protocol() != protocol::NO_NEXT_HEADER
            && let Some(message) = host_unreachable(&ip, QUOTED)
        {
            let p = self.icmp_packet(cx, ip.src(), &message);
            cx.deliver(p);
        }
        cx.consume(plain);
    }
}

/// Behind the DSR header of `error`, whose destination must be the source of `lost`.
fn load(error: &mut Packet, lost: &Packet) {
    let Ok(lost) = ipv4::Packet::new_checked(lost.bytes()) else { return };
    let Ok((ip, _)) = dsr::edit::parse(error.bytes()) else { return };
    if ip.dst() != lost.src() || lost.protocol() == protocol::NO_NEXT_HEADER {
        return;
    }
    let Some(message) = host_unreachable(&lost, QUOTED) else { return };
    let (at, dsr_at) = (error.len(), ip.header_len());
    error.extend(&[0; MAX_NOTICE][..message.buffer_len().min(MAX_NOTICE)]);
    let Some(room) = error.bytes_mut().get_mut(at..).filter(|r| r.len() == message.buffer_len()) else {
        return error.truncate(at);
    };
    message.emit(room);
    let payload_len = error.len() - dsr_at;
    if ipv4::set_payload(error.bytes_mut(), protocol::DSR, payload_len).is_err() {
        return error.truncate(at);
    }
    error.bytes_mut()[dsr_at] = protocol::ICMP;
}

/// ICMP's header, the longest IP header, and the octets behind it.
const MAX_NOTICE: usize = 8 + 60 + QUOTED;
