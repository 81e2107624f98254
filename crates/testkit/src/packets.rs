//! Test data: UDP over IPv4.

use wayhop_core::{Addr, NodeId};

/// The address that node `n` of a [`crate::Net`] has.
pub fn addr(n: usize) -> Addr {
    NodeId(n as u32).default_addr()
}

/// The fields of a test packet.
#[derive(Copy, Clone, Debug)]
pub struct TestPacket {
    /// IP source.
    pub source: Addr,
    /// IP destination.
    pub destination: Addr,
    /// IP time to live.
    pub ttl: u8,
    /// IP identification.
    pub ident: u16,
    /// UDP destination port (the source port is the same).
    pub port: u16,
}

/// The bytes of an IPv4 packet with a UDP datagram in it; both checksums are right.
pub fn data_packet(t: TestPacket, payload: &[u8]) -> Vec<u8> {
    let udp_len = 8 + payload.len();
    let mut p = vec![0u8; 20];
    p[0] = 0x45;
    p[2..4].copy_from_slice(&((20 + udp_len) as u16).to_be_bytes());
    p[4..6].copy_from_slice(&t.ident.to_be_bytes());
    p[8] = t.ttl;
    p[9] = 17;
    p[12..16].copy_from_slice(&t.source.octets());
    p[16..20].copy_from_slice(&t.destination.octets());
    let sum = checksum(&p, 0);
    p[10..12].copy_from_slice(&sum.to_be_bytes());

    let mut udp = Vec::with_capacity(udp_len);
    for field in [t.port, t.port, udp_len as u16, 0] {
        udp.extend_from_slice(&field.to_be_bytes());
    }
    udp.extend_from_slice(payload);
    // RFC 768: the pseudo header of addresses, protocol and length is summed too; 0 is sent as ffff.
    let pseudo = sum16(&p[12..20]) + 17 + udp_len as u32;
    let sum = match checksum(&udp, pseudo) {
        0 => 0xffff,
        s => s,
    };
    udp[6..8].copy_from_slice(&sum.to_be_bytes());
    p.extend_from_slice(&udp);
    p
}

fn sum16(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|c| u32::from(c[0]) << 8 | c.get(1).map_or(0, |&b| u32::from(b))).sum()
}

fn checksum(bytes: &[u8], start: u32) -> u16 {
    let mut s = sum16(bytes) + start;
    while s > 0xffff {
        s = (s & 0xffff) + (s >> 16);
    }
    !(s as u16)
}

/// What the host's forwarding needs of an IPv4 header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct IpHead {
    pub(crate) source: Addr,
    pub(crate) destination: Addr,
    pub(crate) ttl: u8,
    /// The UDP destination port, if there is one.
    pub(crate) udp_port: Option<u16>,
}

/// Reads the header; `None` if it contradicts itself or its checksum is wrong.
pub(crate) fn read_ip(p: &[u8]) -> Option<IpHead> {
    let header = usize::from(*p.first()? & 15) * 4;
    if p[0] >> 4 != 4 || header < 20 || p.len() < header || checksum(&p[..header], 0) != 0 {
        return None;
    }
    let total = usize::from(u16::from_be_bytes([p[2], p[3]]));
    if total < header || total > p.len() {
        return None;
    }
    let word = |at: usize| Addr::new(p[at], p[at + 1], p[at + 2], p[at + 3]);
    let udp_port =
        (p[9] == 17 && total >= header + 8).then(|| u16::from_be_bytes([p[header + 2], p[header + 3]]));
    Some(IpHead { source: word(12), destination: word(16), ttl: p[8], udp_port })
}

/// Takes one from the TTL of a header that [`read_ip`] accepted.
pub(crate) fn decrement_ttl(p: &mut [u8]) {
    p[8] -= 1;
    p[10..12].fill(0);
    let header = usize::from(p[0] & 15) * 4;
    let sum = checksum(&p[..header], 0);
    p[10..12].copy_from_slice(&sum.to_be_bytes());
}
