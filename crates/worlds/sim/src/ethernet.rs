//! The header of an Ethernet frame, as a host's kernel sends it.

use wayhop_core::{Mac, Packet};

/// Length of an Ethernet header, in octets.
const HEADER_LEN: usize = 14;
/// Below this the last field of the header is a length (IEEE 802.3, 3.2.6).
const FIRST_ETHER_TYPE: u16 = 0x0600;

/// What an Ethernet frame begins with.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct EthernetHeader {
    pub(crate) destination: Mac,
    pub(crate) source: Mac,
    pub(crate) ether_type: u16,
}

impl EthernetHeader {
    /// The header and the payload of a frame.
    pub(crate) fn split(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (header, payload) = frame.split_first_chunk::<HEADER_LEN>()?;
        let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, t0, t1] = *header;
        let ether_type = u16::from_be_bytes([t0, t1]);
        let (destination, source) = (Mac([d0, d1, d2, d3, d4, d5]), Mac([s0, s1, s2, s3, s4, s5]));
        (ether_type >= FIRST_ETHER_TYPE).then_some((Self { destination, source, ether_type }, payload))
    }

    /// Makes a packet the payload of a frame with this header.
    pub(crate) fn put_before(self, p: &mut Packet) {
        p.insert(0, HEADER_LEN);
        let header = &mut p.bytes_mut()[..HEADER_LEN];
        header[..6].copy_from_slice(&self.destination.0);
        header[6..12].copy_from_slice(&self.source.0);
        header[12..].copy_from_slice(&self.ether_type.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_ethernet_frame_is_refused() {
        let mut frame = [2; 60];
        frame[12..14].copy_from_slice(&0x86ddu16.to_be_bytes());
        let (header, payload) = EthernetHeader::split(&frame).unwrap();
        assert_eq!((header.source, header.ether_type, payload.len()), (Mac([2; 6]), 0x86dd, 46));
        frame[12..14].copy_from_slice(&46u16.to_be_bytes());
        assert!(EthernetHeader::split(&frame).is_none() && EthernetHeader::split(&frame[..13]).is_none());
    }
}
