//! Packets inside packets (RFC 4728 section 8.5, RFC 2003).

use std::net::Ipv4Addr;

use wayhop_core::Packet;
use wayhop_wire::Error;
use wayhop_wire::ipv4::{self, protocol};

/// Takes the outer header off an IP-in-IP packet for this node, as a node that fragments makes them: both destinations are this
/// node. The inner packet may be a fragment; to put fragments together is the local stack's work. Other packets stay as they are,
/// those of tunnels that end in programs of this host too, such as Mobile IP's.
pub(crate) fn take_outer_header(me: Ipv4Addr, p: &mut Packet) -> Result<(), Error> {
    let outer = ipv4::Packet::new_checked(p.bytes())?;
    if outer.protocol() != protocol::IP_IN_IP || outer.dst() != me {
        return Ok(());
    }
    let inner = ipv4::Packet::new_checked(outer.payload())?;
    if inner.dst() != me {
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

    fn tunnelled(outer_dst: Ipv4Addr, inner_dst: Ipv4Addr) -> (Vec<u8>, Packet) {
        let mut inner = vec![7; ipv4::HEADER_LEN + 8];
        ipv4::Repr::new(OTHER, inner_dst, protocol::UDP, 8).emit(&mut inner);
        let whole = ipv4::Packet::new_checked(&inner).unwrap();
        let outer = ip_in_ip::Repr { src: OTHER, dst: outer_dst, ttl: 64, id: 1 };
        let mut octets = vec![0; outer.buffer_len(&whole)];
        outer.emit(&whole, &mut octets).unwrap();
        (inner, Pool::new().packet(&octets, PacketMeta::default()))
    }

    #[test]
    fn only_what_was_fragmented_for_this_node_is_taken_out_of_its_tunnel() {
        let (inner, mut p) = tunnelled(ME, ME);
        assert_eq!(take_outer_header(ME, &mut p), Ok(()));
        assert_eq!(p.bytes(), inner);
        // The tunnel of a program of this host, and one that passes by.
        for (outer_dst, inner_dst) in [(ME, OTHER), (OTHER, ME), (OTHER, OTHER)] {
            let (_, mut p) = tunnelled(outer_dst, inner_dst);
            let before = p.bytes().to_vec();
            assert_eq!(take_outer_header(ME, &mut p), Ok(()));
            assert_eq!(p.bytes(), before);
        }
    }
}
