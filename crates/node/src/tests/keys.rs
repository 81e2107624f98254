//! A node with keys: each routing packet leaves with one block.

use wayhop_auth::{Auth, Key, Keys};
use wayhop_wire::auth::{self as block, Carrier};
use wayhop_wire::{aodv, ipv4, udp};

use super::*;

fn keys() -> Keys {
    Keys::new(vec![Key::new(1, &[7; 32]).unwrap()], true).unwrap()
}
fn auth_of(own: Ipv4Addr) -> Auth {
    Auth::new(keys(), Carrier::Aodv, own, stream(1, Purpose::Authentication, u64::from(own.to_bits())))
}

/// A datagram of AODV with this octet in its body.
fn message(w: &mut Lists, from: Ipv4Addr, octet: u8) -> Packet {
    let mut p = datagram(w, from, NEXT, 1);
    let body = p.len() - ipv4::HEADER_LEN;
    let repr = udp::Repr { src_port: aodv::PORT, dst_port: aodv::PORT, payload_len: (body - 8) as u16 };
    let b = p.bytes_mut();
    b[ipv4::HEADER_LEN + udp::HEADER_LEN..].fill(octet);
    repr.emit(&mut b[ipv4::HEADER_LEN..], from, NEXT);
    p
}

#[test]
fn a_frame_that_the_medium_gave_back_is_not_sealed_again() {
    let mut w = Lists::default();
    let mut n = node(Script { on_outbound: vec![Step::Forward(Some(1))], ..Script::default() });
    n.set_auth(Some(auth_of(ME)));
    n.start(&mut w, secs(0.0));
    let plain: Vec<Vec<u8>> = (0..2).map(|i| message(&mut w, ME, i).bytes().to_vec()).collect();
    for i in 0..2 {
        let p = message(&mut w, ME, i);
        n.originate(&mut w, secs(0.0), p);
    }
    // The medium of these tests takes no frame that it is offered: the first was sealed for the offer, the second is when pulled.
    assert_eq!(n.auth().unwrap().counts().sealed, 1);
    let mut frames: Vec<Frame> = (0..2).map(|_| n.pull(IfaceId(0)).unwrap()).collect();
    assert_eq!(n.auth().unwrap().counts().sealed, 2);
    for (frame, plain) in frames.iter_mut().zip(&plain) {
        assert_eq!(frame.packet.len(), plain.len() + Carrier::Aodv.overhead());
        assert!(block::remove(&mut frame.packet).is_some() && block::find(frame.packet.bytes()).is_none());
        assert_eq!(frame.packet.bytes(), &plain[..]);
    }
}

#[test]
fn an_engine_gets_a_packet_that_was_not_sent_back_without_its_block() {
    let mut w = Lists::default();
    let mut n = node(Script { on_outbound: vec![Step::Forward(Some(1))], ..Script::default() });
    n.set_auth(Some(auth_of(ME)));
    n.start(&mut w, secs(0.0));
    let (p, plain) = (message(&mut w, ME, 3), message(&mut w, ME, 3));
    n.originate(&mut w, secs(0.0), p);
    let frame = n.pull(IfaceId(0)).unwrap();
    assert!(block::find(frame.packet.bytes()).is_some());
    n.finished(&mut w, secs(0.1), frame, TxStatus::NoAck { tries: 7 });
    assert_eq!(n.protocol(0).back, [plain.bytes()]);
}

#[test]
fn a_verified_neighbours_link_address_is_not_learned_anew() {
    let mut n = node(Script::default());
    let (real, forged) = (Mac::from_addr(NEXT), Mac::from_addr(FAR));
    let iface = &mut n.interfaces[0];
    iface.learn(NEXT.into(), forged);
    assert_eq!(iface.mac_of(NEXT.into()), Some(forged));
    iface.pin(NEXT.into(), real);
    iface.learn(NEXT.into(), real);
    iface.learn(NEXT.into(), forged);
    assert_eq!(iface.mac_of(NEXT.into()), Some(real));
}
