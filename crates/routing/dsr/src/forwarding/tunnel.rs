//! Packets inside packets (RFC 4728 section 8.5, RFC 2003).

use std::net::Ipv4Addr;

use wayhop_core::Packet;
use wayhop_wire::Error;
use wayhop_wire::ipv4::{self, protocol};

/// Takes the outer header off an IP-in-IP packet for this node, as a node that fragments makes them: both destinations are this
/// node, and the inner packet is a fragment, or has the outer one's source, too. To put fragments together is the local stack's work.
/// Other packets stay as they are, those of tunnels that end in programs of this host too, such as Mobile IP's; in such a tunnel a
/// visitor's packet for its foreign agent itself comes from its home address.
pub(crate) fn take_outer_header(me: Ipv4Addr, p: &mut Packet) -> Result<(), Error> {
    let outer = ipv4::Packet::new_checked(p.bytes())?;
    if outer.protocol() != protocol::IP_IN_IP || outer.dst() != me {
        return Ok(());
    }
    let inner = ipv4::Packet::new_checked(outer.payload())?;
    let is_fragment = inner.more_fragments() || inner.fragment_offset() > 0;
    if inner.dst() != me || !is_fragment && inner.src() != outer.src() {
        return Ok(());
    }
    if !inner.checksum_is_valid() {
        return Err(Error::Checksum);
    }
    let (outer_len, end) = (outer.header_len(), outer.header_len() + inner.total_len());
    p.truncate(end);
    p.remove(0, outer_len);
    Ok(())
}

#[cfg(test)]
mod tests {
    use wayhop_core::{PacketMeta, Pool};
    use wayhop_wire::ip_in_ip;

    use super::*;

    const ME: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const OTHER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    const HOME: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 9);

    fn tunnelled(outer_dst: Ipv4Addr, ends: (Ipv4Addr, Ipv4Addr), more_fragments: bool) -> (Vec<u8>, Packet) {
        let mut inner = vec![7; ipv4::HEADER_LEN + 8];
        let header = ipv4::Repr::new(ends.0, ends.1, protocol::UDP, 8);
        ipv4::Repr { more_fragments, ..header }.emit(&mut inner);
        let whole = ipv4::Packet::new_checked(&inner).unwrap();
        let outer = ip_in_ip::Repr { src: OTHER, dst: outer_dst, ttl: 64, id: 1 };
        let mut octets = vec![0; outer.buffer_len(&whole)];
        outer.emit(&whole, &mut octets).unwrap();
        (inner, Pool::new().packet(&octets, PacketMeta::default()))
    }

    #[test]
    fn only_what_was_fragmented_for_this_node_is_taken_out_of_its_tunnel() {
        for (source, is_fragment) in [(OTHER, false), (OTHER, true), (HOME, true)] {
            let (inner, mut p) = tunnelled(ME, (source, ME), is_fragment);
            assert_eq!(take_outer_header(ME, &mut p), Ok(()));
            assert_eq!(p.bytes(), inner);
        }
        // The tunnel of a program of this host, for others and for it, and one that passes by.
        for (outer_dst, ends) in
            [(ME, (OTHER, OTHER)), (ME, (HOME, ME)), (OTHER, (OTHER, ME)), (OTHER, (OTHER, OTHER))]
        {
            let (_, mut p) = tunnelled(outer_dst, ends, false);
            let before = p.bytes().to_vec();
            assert_eq!(take_outer_header(ME, &mut p), Ok(()));
            assert_eq!(p.bytes(), before);
        }
    }
}
