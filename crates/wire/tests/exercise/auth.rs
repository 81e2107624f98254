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
        assert_eq!(auth::remove(&mut p), Some(block));
        assert!(p.len() + block.buffer_len() <= len);
        auth::insert(&mut p, &block).unwrap();
        assert_eq!((auth::find(p.bytes()), p.len()), (Some(block), len));
    }
    let [kind, carrier, rest @ ..] = bytes else { return };
    let Some((nonce, _)) = rest.split_first_chunk() else { return };
    let nonce = u64::from_be_bytes(*nonce);
    let block = auth::Block {
        key_id: *kind,
        kind: if kind % 2 == 0 { auth::Kind::Request(nonce) } else { auth::Kind::Reply(nonce) },
        transmitter: Ipv4Addr::new(10, 0, 0, 1),
        index: nonce,
        counter: 7,
        tag: [*carrier; auth::TAG_LEN],
    };
    let carrier = [Carrier::Aodv, Carrier::Dsr, Carrier::Dsdv][usize::from(carrier % 3)];
    auth::write_alone(&mut p, carrier, Ipv4Addr::new(10, 0, 0, 2), &block).unwrap();
    assert_eq!(auth::find(p.bytes()), Some(block));
}
