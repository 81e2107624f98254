//! The identity of a packet, the same at any node: without a common clock or common numbers.

use wayhop_core::{Addr, Classifier, PacketId, Time};
use wayhop_wire::{ip, ipv4, ipv6};

use crate::HopKind;

/// Octets of a frame that its digest covers, beside its length: every routing header fits.
const FRAME_OCTETS: usize = 512;
/// Octets behind the transport header that a packet's digest covers, beside its length.
const PAYLOAD_OCTETS: usize = 64;
/// IP protocol numbers of the transport protocols.
const TCP: u8 = 6;
const UDP: u8 = ipv4::protocol::UDP;
const ICMP: u8 = 1;
const ICMP6: u8 = 58;
/// Types of ICMP echo messages: reply and request (RFC 792, RFC 4443).
const ECHO: [u8; 2] = [0, 8];
const ECHO6: [u8; 2] = [129, 128];

/// What the octets of a packet say of who it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A digest of the packet as it is on this hop, with all that routers change: what one node sends and another receives has the
    /// same, and nothing else has.
    pub frame: u64,
    /// A digest of what stays the same from its source to its destination: addresses, identification, fragment, transport header
    /// without its checksum (which a network card may fill in later), and the first octets behind it.
    pub end_to_end: u64,
    /// The IP protocol of what it carries, behind the header of the routing protocol.
    pub protocol: u8,
    /// Source and destination port of TCP and UDP; the identifier of an ICMP echo in both; `None` of others, and of later fragments.
    pub ports: Option<(u16, u16)>,
    /// Octets behind the headers of IP, routing and transport.
    pub payload: u32,
    /// Of an ICMP echo message.
    pub echo: Option<Echo>,
}

/// An ICMP echo message, with its sequence number: an answer has its request's.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Echo {
    /// The request.
    Request(u16),
    /// The answer.
    Reply(u16),
}

impl Identity {
    /// That of an IP packet; `None` for octets that are none. The block that authenticates a packet does not count: its sender records the
    /// packet before it has one.
    pub fn of(packet: &[u8], classifier: &dyn Classifier) -> Option<Self> {
        match classifier.without_authentication(packet) {
            Some(bare) => Self::of_bare(&bare, classifier),
            None => Self::of_bare(packet, classifier),
        }
    }

    fn of_bare(packet: &[u8], classifier: &dyn Classifier) -> Option<Self> {
        let (protocol, tag, upper) = inner(packet, classifier)?;
        let ends = ip::Packet::new_checked(packet).ok()?;
        let header = if is_first(tag) { transport(protocol, upper) } else { Transport::default() };
        let mut hash = Fnv::new();
        hash.add(&ends.src.to_bits().to_be_bytes());
        hash.add(&ends.dst.to_bits().to_be_bytes());
        hash.add(&tag.to_be_bytes());
        hash.add(&[protocol]);
        hash.add(&(upper.len() as u32).to_be_bytes());
        let (head, rest) = upper.split_at(header.length);
        for (i, octet) in head.iter().enumerate() {
            let is_checksum = header.checksum.is_some_and(|at| i == at || i == at + 1);
            hash.add(&[if is_checksum { 0 } else { *octet }]);
        }
        hash.add(&rest[..rest.len().min(PAYLOAD_OCTETS)]);
        let mut frame = Fnv::new();
        frame.add(&(packet.len() as u32).to_be_bytes());
        frame.add(&packet[..packet.len().min(FRAME_OCTETS)]);
        Some(Self {
            frame: frame.0,
            end_to_end: hash.0,
            protocol,
            ports: header.ports,
            payload: rest.len() as u32,
            echo: header.echo,
        })
    }
}

/// How many of a packet's octets are what.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// The routing protocol's header between those of IP and transport.
    pub routing_header: u32,
    /// What is behind all headers.
    pub payload: u32,
}

impl Lengths {
    /// Those of an IP packet of an application; `None` for octets that are none.
    pub fn of(packet: &[u8], classifier: &dyn Classifier) -> Option<Self> {
        let (protocol, tag, upper) = inner(packet, classifier)?;
        let header = if is_first(tag) { transport(protocol, upper).length } else { 0 };
        // No routing protocol puts a header of its own into IPv6.
        let behind_ip =
            if is_v6(packet) { upper.len() } else { ipv4::Packet::new_checked(packet).ok()?.payload().len() };
        Some(Self {
            routing_header: (behind_ip - upper.len()) as u32,
            payload: (upper.len() - header) as u32,
        })
    }
}

/// Source and destination of an IP packet; `None` for octets that are none.
pub fn ends(packet: &[u8]) -> Option<(Addr, Addr)> {
    ip::Packet::new_checked(packet).ok().map(|p| (p.src, p.dst))
}

/// What an IP packet carries behind the header of the routing protocol: the number of its protocol, and its octets from the transport
/// header on. `None` for octets that are no packet, and for later fragments.
pub fn carried<'a>(packet: &'a [u8], classifier: &dyn Classifier) -> Option<(u8, &'a [u8])> {
    let (protocol, tag, upper) = inner(packet, classifier)?;
    is_first(tag).then_some((protocol, upper))
}

/// Whether a packet is unfragmented or a first fragment: the fragment offset, in the low 13 bits, is zero.
const fn is_first(tag: u32) -> bool {
    tag.trailing_zeros() >= 13
}

/// What a packet carries, what tells it from others with the same content, and its octets.
type Inner<'a> = (u8, u32, &'a [u8]);

fn inner<'a>(packet: &'a [u8], classifier: &dyn Classifier) -> Option<Inner<'a>> {
    if is_v6(packet) { of_v6(packet) } else { of_v4(packet, classifier) }
}

fn is_v6(packet: &[u8]) -> bool {
    packet.first().is_some_and(|octet| octet >> 4 == 6)
}

fn of_v4<'a>(packet: &'a [u8], classifier: &dyn Classifier) -> Option<Inner<'a>> {
    let p = ipv4::Packet::new_checked(packet).ok()?;
    let tag = u32::from(p.id()) << 16 | u32::from(p.fragment_offset()) & 0x1fff;
    let payload = p.payload();
    if p.fragment_offset() == 0
        && let Some(Some(header)) = classifier.route_header(packet)
        && let Some(protocol) = header.first()
    {
        // As every extension header, it begins with the number of what follows it.
        return Some((*protocol, tag, payload.get(header.len()..)?));
    }
    Some((p.protocol(), tag, payload))
}

fn of_v6(packet: &[u8]) -> Option<Inner<'_>> {
    let p = ipv6::Packet::new_checked(packet).ok()?;
    let upper = p.upper().ok()?;
    Some((upper.protocol, p.flow_label() << 13, upper.payload))
}

/// What is known of a transport header.
#[derive(Default)]
struct Transport {
    length: usize,
    checksum: Option<usize>,
    ports: Option<(u16, u16)>,
    echo: Option<Echo>,
}

fn transport(protocol: u8, octets: &[u8]) -> Transport {
    let word = |at: usize| Some(u16::from_be_bytes([*octets.get(at)?, *octets.get(at + 1)?]));
    let ports = || Some((word(0)?, word(2)?));
    match protocol {
        UDP if octets.len() >= 8 => Transport { length: 8, checksum: Some(6), ports: ports(), echo: None },
        TCP if octets.len() >= 20 => {
            let length = (usize::from(octets[12] >> 4) * 4).clamp(20, octets.len());
            Transport { length, checksum: Some(16), ports: ports(), echo: None }
        }
        ICMP | ICMP6 if octets.len() >= 8 => {
            let [reply, request] = if protocol == ICMP { ECHO } else { ECHO6 };
            let echo = match octets[0] {
                kind if kind == request => word(6).map(Echo::Request),
                kind if kind == reply => word(6).map(Echo::Reply),
                _ => None,
            };
            let ports = echo.and(word(4)).map(|id| (id, id));
            Transport { length: 8, checksum: None, ports, echo }
        }
        _ => Transport::default(),
    }
}

/// An FNV-1a digest: the same on every machine. An attacker who can make two packets collide can also send two equal ones.
pub(crate) struct Fnv(pub(crate) u64);

impl Fnv {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
    pub(crate) fn add(&mut self, octets: &[u8]) -> &mut Self {
        self.0 = octets.iter().fold(self.0, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
        self
    }
}

/// The identity of the packet of a row of `packets`: one row of the table `identities`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct IdentityEvent {
    /// When, as in the row.
    pub time: Time,
    /// Where, as in the row.
    pub node: wayhop_core::NodeId,
    /// Which packet, as in the row.
    pub packet: PacketId,
    /// What happened, as in the row.
    pub kind: HopKind,
    /// Who it is.
    pub identity: Identity,
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;
    use wayhop_core::{PacketMeta, Pool};
    use wayhop_protocols::CLASSIFIER;
    use wayhop_wire::{auth, udp};

    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    fn datagram(payload: &[u8]) -> Vec<u8> {
        let length = udp::HEADER_LEN + payload.len();
        let mut p = vec![0; ipv4::HEADER_LEN + length];
        p[ipv4::HEADER_LEN + udp::HEADER_LEN..].copy_from_slice(payload);
        ipv4::Repr::new(A, B, UDP, length as u16).emit(&mut p);
        let segment = &mut p[ipv4::HEADER_LEN..];
        segment[..2].copy_from_slice(&5_000_u16.to_be_bytes());
        segment[2..4].copy_from_slice(&9_000_u16.to_be_bytes());
        segment[4..6].copy_from_slice(&(length as u16).to_be_bytes());
        p
    }

    fn identity(packet: &[u8]) -> Identity {
        Identity::of(packet, CLASSIFIER).unwrap()
    }

    #[test]
    fn a_hop_changes_the_frame_and_not_the_packet() {
        let sent = datagram(b"hello");
        let mut later = sent.clone();
        ipv4::decrement_ttl(&mut later).unwrap();
        let (a, b) = (identity(&sent), identity(&later));
        assert_ne!(a.frame, b.frame);
        assert_eq!(a.end_to_end, b.end_to_end);
        assert_eq!((a.protocol, a.ports, a.payload), (17, Some((5_000, 9_000)), 5));
    }

    #[test]
    fn a_packet_is_the_same_before_and_behind_its_authentication() {
        let aodv = wayhop_protocols::find("aodv").unwrap();
        let format = auth::Format::of(&aodv.messages).unwrap();
        let mut p = Pool::new().zeroed(0, PacketMeta::default());
        format.write_empty(&mut p, A);
        let bare = p.bytes().to_vec();
        let block = auth::Block {
            kind: auth::BlockKind::Message,
            key_id: 1,
            transmitter: A,
            index: 7,
            counter: 9,
            tag: [3; auth::TAG_LEN],
        };
        format.insert(&mut p, &block).unwrap();
        assert_eq!(p.len(), bare.len() + 36);
        assert_eq!(identity(p.bytes()), identity(&bare));
    }

    #[test]
    fn the_octets_of_a_packet_are_headers_and_payload() {
        let whole = datagram(b"hello");
        assert_eq!(Lengths::of(&whole, CLASSIFIER), Some(Lengths { routing_header: 0, payload: 5 }));
        // The fixed part of a DSR header without options (RFC 4728, section 6.1), then the same datagram.
        let upper = &whole[ipv4::HEADER_LEN..];
        let mut routed = vec![0; ipv4::HEADER_LEN];
        routed.extend([UDP, 0, 0, 0]);
        routed.extend(upper);
        let length = (routed.len() - ipv4::HEADER_LEN) as u16;
        ipv4::Repr::new(A, B, ipv4::protocol::DSR, length).emit(&mut routed);
        assert_eq!(Lengths::of(&routed, CLASSIFIER), Some(Lengths { routing_header: 4, payload: 5 }));
    }

    #[test]
    fn a_checksum_that_is_filled_in_later_changes_nothing_and_content_does() {
        let sent = datagram(b"hello");
        let mut filled = sent.clone();
        filled[ipv4::HEADER_LEN + 6] = 0xab;
        assert_eq!(identity(&sent).end_to_end, identity(&filled).end_to_end);
        assert_ne!(identity(&sent).end_to_end, identity(&datagram(b"hallo")).end_to_end);
    }

    proptest! {
        #[test]
        fn any_octets_have_an_identity_or_none(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (Identity::of(&octets, CLASSIFIER), Lengths::of(&octets, CLASSIFIER));
        }

        #[test]
        fn a_changed_octet_of_a_header_is_another_packet(payload in proptest::collection::vec(any::<u8>(), 1..100), at in 0..64_usize) {
            let one = datagram(&payload);
            let mut other = one.clone();
            let at = ipv4::HEADER_LEN + udp::HEADER_LEN + at % payload.len();
            other[at] ^= 1;
            let (one, other) = (identity(&one), identity(&other));
            prop_assert_eq!(one.end_to_end == other.end_to_end, at >= ipv4::HEADER_LEN + udp::HEADER_LEN + PAYLOAD_OCTETS);
        }
    }
}
