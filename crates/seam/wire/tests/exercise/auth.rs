//! Blocks that authenticate a routing packet.

use std::net::Ipv4Addr;

use wayhop_core::{Addr, Carrier, Datagram, PacketMeta, Pool};
use wayhop_wire::auth::{self, Format};
use wayhop_wire::{aodv, dsdv, dsr, ipv4};

/// How the protocols carry blocks.
pub(crate) const FORMATS: [Format; 3] = [
    Format::new(Carrier::UdpPort(aodv::PORT), &aodv::AUTHENTICATION),
    Format::new(Carrier::IpProtocol(ipv4::protocol::DSR), &dsr::AUTHENTICATION),
    Format::new(Carrier::UdpPort(dsdv::PORT), &dsdv::AUTHENTICATION),
];

/// An IP packet of any octets: taking a block off and putting it back gives the same payload; and so does any payload behind good
/// headers.
pub(crate) fn auth(bytes: &[u8]) {
    for format in FORMATS {
        let _ = format.concerns(bytes, bytes.len().is_multiple_of(2));
        let (source, destination) = (Addr::BROADCAST, Addr::BROADCAST);
        for cut in [0, 1] {
            let d = Datagram { source, destination, payload: bytes, complete_len: bytes.len() + cut };
            assert!(format.of_datagram(&d).is_none_or(|(end, _)| end < bytes.len()));
        }
        let mut p = Pool::new().packet(bytes, PacketMeta::default());
        if let Some(block) = format.find(p.bytes()) {
            let len = p.len();
            assert_eq!(format.remove(&mut p), Some(block.clone()));
            assert!(p.len() + block.buffer_len() <= len);
            format.insert(&mut p, &block).unwrap();
            assert_eq!((format.find(p.bytes()), p.len()), (Some(block), len));
        }
    }
    let [key_id, carrier, asks, rest @ ..] = bytes else { return };
    let mut e = auth::Exchange::new(u64::from(*asks));
    let addr = |at: usize| Ipv4Addr::from_bits(at as u32);
    for at in 0..usize::from(*asks) {
        // One that does not fit changes nothing.
        let before = e.clone();
        assert!(e.ask(addr(at)) || e == before);
    }
    for (at, octet) in rest.iter().enumerate() {
        let before = e.clone();
        assert!(e.answer(addr(at), u64::from(*octet)) || e == before);
    }
    let block = auth::Block {
        key_id: *key_id,
        kind: auth::BlockKind::Exchange(e),
        transmitter: Ipv4Addr::new(10, 0, 0, 1),
        index: bytes.len() as u64,
        counter: 7,
        tag: [*carrier; auth::TAG_LEN],
    };
    assert!(block.buffer_len() <= 257);
    let format = FORMATS[usize::from(carrier % 3)];
    let mut p = Pool::new().zeroed(0, PacketMeta::default());
    format.write_empty(&mut p, block.transmitter);
    assert!(format.is_empty(p.bytes(), block.transmitter) && format.concerns(p.bytes(), false));
    format.insert(&mut p, &block).unwrap();
    assert!(!format.is_empty(p.bytes(), block.transmitter));
    assert_eq!(format.find(p.bytes()), Some(block.clone()));
    assert_eq!(format.remove(&mut p), Some(block));
}
