//! Who transmitted a frame, as the frame's own headers tell.

use wayhop_core::Addr;
use wayhop_wire::dsr::{self, DsrOption};
use wayhop_wire::ipv4;

/// The node that transmitted this packet, and the node that shall receive it now, as its own headers tell: by a Source
/// Route (RFC 4728, section 8.1.5), a Route Request's record (section 8.2.2), or, without either, its ends.
pub(crate) fn hop_of(ip_packet: &[u8]) -> Option<(Addr, Addr)> {
    let Ok((ip, header)) = dsr::edit::parse(ip_packet) else {
        let ip = ipv4::Packet::new_checked(ip_packet).ok()?;
        return Some((ip.src(), ip.dst()));
    };
    for option in header.options() {
        match option.ok()? {
            DsrOption::RouteRequest(r) => return Some((r.addresses.last().unwrap_or(ip.src()), ip.dst())),
            DsrOption::SourceRoute(s) => {
                let n = s.addresses.len();
                let next = n.checked_sub(usize::from(s.segments_left))?;
                let from = match next.checked_sub(1) {
                    Some(i) => s.addresses.at(i)?,
                    None => ip.src(),
                };
                return Some((from, s.addresses.at(next).unwrap_or(ip.dst())));
            }
            _ => {}
        }
    }
    // A flow's packet names no hops once it is under way (section 8.6.2).
    if header.flow_state().is_some_and(|f| f.hop_count > 0) {
        return None;
    }
    Some((ip.src(), ip.dst()))
}
