//! Packets inside packets (RFC 4728 section 8.5, RFC 2003).

use std::net::Ipv4Addr;

use wayhop_core::Packet;
use wayhop_wire::Error;
use wayhop_wire::ipv4::{self, protocol};

/// Takes the outer header off an IP-in-IP packet for this node, as a node that fragments makes them. The inner packet may
/// be a fragment; to put fragments together is the local stack's work. Other packets stay as they are.
pub(crate) fn take_outer_header(me: Ipv4Addr, p: &mut Packet) -> Result<(), Error> {
    let outer = ipv4::Packet::new_checked(p.bytes())?;
    if outer.protocol() != protocol::IP_IN_IP || outer.dst() != me {
        return Ok(());
    }
    let inner = ipv4::Packet::new_checked(outer.payload())?;
    if !inner.checksum_is_valid() {
        return Err(Error::Checksum);
    }
    let (outer_len, end) = (outer.header_len(), outer.header_len() + inner.total_len());
    p.truncate(end);
    p.remove(0, outer_len);
    Ok(())
}
