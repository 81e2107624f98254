//! Which frames the kernel passes to the packet sockets: classic BPF, so that all others cost nothing.

use socket2::SockFilter;

const ETHERTYPE: u32 = 12;
const IP: u32 = 14;
/// Not of the frame's octets: `SKF_AD_OFF` and `SKF_AD_VLAN_TAG_PRESENT` of linux/filter.h.
const HAS_VLAN_TAG: u32 = (-0x1000_i32 + 48) as u32;

// Instructions (linux/bpf_common.h): class, size and mode.
const LOAD_WORD: u16 = 0x20;
const LOAD_HALF: u16 = 0x28;
const LOAD_BYTE: u16 = 0x30;
const LOAD_BYTE_INDEXED: u16 = 0x50;
const LOAD_HALF_INDEXED: u16 = 0x48;
const X_IS_HEADER_LEN: u16 = 0xb1;
const JUMP: u16 = 0x05;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_SET: u16 = 0x45;
const RETURN: u16 = 0x06;

fn op(code: u16, then: u8, otherwise: u8, k: u32) -> SockFilter {
    SockFilter::new(code, then, otherwise, k)
}

/// What `then` takes of the frames without a VLAN tag, for a socket that is asked before tags are looked at.
pub fn untagged(then: Vec<SockFilter>) -> Vec<SockFilter> {
    let mut all = vec![op(LOAD_WORD, 0, 0, HAS_VLAN_TAG), op(JUMP_EQUAL, 1, 0, 0), op(RETURN, 0, 0, 0)];
    all.extend(then);
    all
}

/// Frames of this EtherType.
pub fn ethertype(ethertype: u16) -> Vec<SockFilter> {
    vec![
        op(LOAD_HALF, 0, 0, ETHERTYPE),
        op(JUMP_EQUAL, 0, 1, ethertype.into()),
        op(RETURN, 0, 0, u32::MAX),
        op(RETURN, 0, 0, 0),
    ]
}

/// IPv4 packets of this protocol.
pub fn ip_protocol(protocol: u8) -> Vec<SockFilter> {
    vec![
        op(LOAD_HALF, 0, 0, ETHERTYPE),
        op(JUMP_EQUAL, 0, 3, 0x0800),
        op(LOAD_BYTE, 0, 0, IP + 9),
        op(JUMP_EQUAL, 0, 1, protocol.into()),
        op(RETURN, 0, 0, u32::MAX),
        op(RETURN, 0, 0, 0),
    ]
}

/// IPv4 datagrams to this UDP port, but for fragments behind the first.
pub fn udp_port(port: u16) -> Vec<SockFilter> {
    vec![
        op(LOAD_HALF, 0, 0, ETHERTYPE),
        op(JUMP_EQUAL, 0, 8, 0x0800),
        op(LOAD_BYTE, 0, 0, IP + 9),
        op(JUMP_EQUAL, 0, 6, 17),
        op(LOAD_HALF, 0, 0, IP + 6),
        op(JUMP_SET, 4, 0, 0x1fff),
        op(X_IS_HEADER_LEN, 0, 0, IP),
        op(LOAD_HALF_INDEXED, 0, 0, IP + 2),
        op(JUMP_EQUAL, 0, 1, port.into()),
        op(RETURN, 0, 0, u32::MAX),
        op(RETURN, 0, 0, 0),
    ]
}

/// What any of these takes.
pub fn any_of(filters: impl IntoIterator<Item = Vec<SockFilter>>) -> Vec<SockFilter> {
    let mut all = Vec::new();
    for mut one in filters {
        // Each ends with the instruction that takes nothing, to which its tests jump: here it leads to the next.
        one.pop();
        one.push(op(JUMP, 0, 0, 0));
        all.extend(one);
    }
    all.extend(nothing());
    all
}

/// Nothing at all.
pub fn nothing() -> Vec<SockFilter> {
    vec![op(RETURN, 0, 0, 0)]
}

/// ICMP messages of these types, for a raw socket, whose filter begins at the IP header.
pub(crate) fn types_of_icmp(types: &[u8]) -> Vec<SockFilter> {
    let mut all = vec![op(X_IS_HEADER_LEN, 0, 0, 0), op(LOAD_BYTE_INDEXED, 0, 0, 0)];
    for (i, kind) in types.iter().enumerate() {
        // To the last instruction, which takes the message.
        all.push(op(JUMP_EQUAL, (types.len() - i) as u8, 0, u32::from(*kind)));
    }
    all.extend([op(RETURN, 0, 0, 0), op(RETURN, 0, 0, u32::MAX)]);
    all
}
