//! Blocks that authenticate a routing packet.

use std::net::Ipv4Addr;

use wayhop_core::{PacketMeta, Pool};
use wayhop_wire::auth::{self, Carrier};

/// An IP packet of any octets: taking a block off and putting it back gives the same payload; and so does any payload behind good
/// headers.
pub(crate) fn auth(bytes: &[u8]) {
    for carrier in [Carrier::Aodv, Carrier::Dsr, Carrier::Dsdv] {
        let _ = auth::concerns(bytes, carrier, bytes.len().is_multiple_of(2));
        let (message, block) = auth::split_datagram(carrier, bytes);
        assert!(message.len() <= bytes.len() && (block.is_some() || message.len() == bytes.len()));
    }
    let _ = auth::of_options(bytes);
    let mut p = Pool::new().packet(bytes, PacketMeta::default());
    if let Some(block) = auth::find(p.bytes()) {
        let len = p.len();
        assert_eq!(auth::remove(&mut p), Some(block.clone()));
        assert!(p.len() + block.buffer_len() <= len);
        auth::insert(&mut p, &block).unwrap();
        assert_eq!((auth::find(p.bytes()), p.len()), (Some(block), len));
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
        kind: auth::Kind::Exchange(e),
        transmitter: Ipv4Addr::new(10, 0, 0, 1),
        index: bytes.len() as u64,
        counter: 7,
        tag: [*carrier; auth::TAG_LEN],
    };
    assert!(block.buffer_len() <= 257);
    let carrier = [Carrier::Aodv, Carrier::Dsr, Carrier::Dsdv][usize::from(carrier % 3)];
    auth::write_empty(&mut p, carrier, block.transmitter);
    assert!(
        auth::is_empty(p.bytes(), carrier, block.transmitter) && auth::concerns(p.bytes(), carrier, false)
    );
    auth::insert(&mut p, &block).unwrap();
    assert!(!auth::is_empty(p.bytes(), carrier, block.transmitter));
    assert_eq!(auth::find(p.bytes()), Some(block.clone()));
    assert_eq!(auth::remove(&mut p), Some(block));
}
