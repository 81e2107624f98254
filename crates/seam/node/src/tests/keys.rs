//! A node with keys: each routing packet leaves with one block.

use wayhop_auth::{Auth, Key, Keys};
use wayhop_core::Carrier;
use wayhop_wire::auth::{BlockKind, Format};
use wayhop_wire::{aodv, ipv4, udp};

use super::*;

const FORMAT: Format = Format::new(Carrier::UdpPort(aodv::PORT), &aodv::AUTHENTICATION);

fn keys() -> Keys {
    Keys::new(vec![Key::new(1, &[7; 32]).unwrap()], true).unwrap()
}
fn auth_of(own: Ipv4Addr) -> Auth {
    Auth::new(keys(), FORMAT, own, stream(1, Purpose::Authentication, u64::from(own.to_bits())))
}

/// A node with keys that has begun.
fn begun(script: Script) -> (Node<Script>, RecordingWorld) {
    let (mut n, mut w) = (node(script), RecordingWorld::default());
    n.set_auth(Some(auth_of(ME)));
    n.start(&mut w, secs(0.0));
    (n, w)
}

/// A datagram of AODV with this octet in its body.
fn message(w: &mut RecordingWorld, from: Ipv4Addr, octet: u8) -> Packet {
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
    let (mut n, mut w) = begun(Script { on_outbound: vec![Step::Forward(Some(1))], ..Script::default() });
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
        assert_eq!(frame.packet.len(), plain.len() + FORMAT.overhead());
        assert!(FORMAT.remove(&mut frame.packet).is_some() && FORMAT.find(frame.packet.bytes()).is_none());
        assert_eq!(frame.packet.bytes(), &plain[..]);
    }
}

/// A daemon sends several frames with one call of the system, from where they lie.
#[test]
fn all_frames_that_a_medium_takes_where_they_lie_are_sealed_and_an_exchange_among_them_is_filled() {
    let (mut n, mut w) = begun(Script { on_outbound: vec![Step::Forward(Some(1))], ..Script::default() });
    heard(&mut n, &mut w, &mut auth_of(NEXT), NEXT, 0.0);
    for i in 0..2 {
        let p = message(&mut w, ME, i);
        n.originate(&mut w, secs(0.0), p);
    }
    run(&mut n, &mut w, secs(0.02));
    n.prepare(IfaceId(0), 64);
    let lying: Vec<Vec<u8>> = n.queue(IfaceId(0)).iter().map(|f| f.packet.bytes().to_vec()).collect();
    assert_eq!(lying.len(), 3);
    assert!(lying.iter().all(|octets| FORMAT.find(octets).is_some()));
    let pulled: Vec<Frame> = std::iter::from_fn(|| n.pull(IfaceId(0))).collect();
    assert_eq!(pulled.iter().map(|f| f.packet.bytes().to_vec()).collect::<Vec<_>>(), lying);
    let counts = n.auth().unwrap().counts();
    assert_eq!((counts.sealed, counts.exchanges), (2, 1), "each once");
    assert_eq!(asks(&pulled[0]), [NEXT], "control comes first");
}

#[test]
fn an_engine_gets_a_packet_that_was_not_sent_back_without_its_block() {
    let (mut n, mut w) = begun(Script { on_outbound: vec![Step::Forward(Some(1))], ..Script::default() });
    let (p, plain) = (message(&mut w, ME, 3), message(&mut w, ME, 3));
    n.originate(&mut w, secs(0.0), p);
    let frame = n.pull(IfaceId(0)).unwrap();
    assert!(FORMAT.find(frame.packet.bytes()).is_some());
    n.finished(&mut w, secs(0.1), frame, TxStatus::NoAck { tries: 7 });
    assert_eq!(n.protocol(0).back, [plain.bytes()]);
}

/// A message of a neighbour, sealed by it, as it comes from the medium.
fn heard(n: &mut Node<Script>, w: &mut RecordingWorld, of: &mut Auth, from: Ipv4Addr, at: f64) {
    let mut p = message(w, from, 1);
    of.seal(&mut p, Mac::from_addr(from), Ipv4Addr::BROADCAST);
    n.receive(w, secs(at), p, RxMeta::from(from, true));
}
/// Everything that is due by this time.
fn run(n: &mut Node<Script>, w: &mut RecordingWorld, until: Time) {
    while let Some((at, due)) = w.schedule.pop(until) {
        if let crate::Due::Frame(stage, frame) = due {
            n.frame_due(w, at, stage, frame);
        }
    }
}
/// Whom the exchange in a frame challenges.
fn asks(f: &Frame) -> Vec<Ipv4Addr> {
    match FORMAT.find(f.packet.bytes()).map(|b| b.kind) {
        Some(BlockKind::Exchange(e)) => e.asks().to_vec(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_challenge_that_comes_up_while_an_exchange_waits_in_the_queue_goes_along() {
    let (mut n, mut w) = begun(Script::default());
    let (mut next, mut far) = (auth_of(NEXT), auth_of(FAR));
    heard(&mut n, &mut w, &mut next, NEXT, 0.0);
    run(&mut n, &mut w, secs(0.01));
    assert_eq!((n.queued(IfaceId(0)), n.auth().unwrap().counts().challenges), (1, 0));
    heard(&mut n, &mut w, &mut far, FAR, 0.02);
    run(&mut n, &mut w, secs(0.2));
    assert_eq!(n.queued(IfaceId(0)), 1, "one exchange waits at a time");
    let frame = n.pull(IfaceId(0)).unwrap();
    assert_eq!((asks(&frame), frame.next_hop), (vec![NEXT, FAR], Addr::BROADCAST));
    // Nobody answers: it is repeated, to both.
    n.finished(&mut w, secs(0.2), frame, TxStatus::Unknown);
    run(&mut n, &mut w, secs(0.239));
    assert_eq!(n.queued(IfaceId(0)), 0);
    run(&mut n, &mut w, secs(0.24));
    assert_eq!(asks(&n.pull(IfaceId(0)).unwrap()), [NEXT, FAR]);
}

#[test]
fn an_exchange_that_the_queue_refused_is_tried_again_and_one_of_a_node_that_went_down_is_not() {
    let config = IfaceConfig { queue_packets: 1, queue_classes: false, ..IfaceConfig::default() };
    let mut w = RecordingWorld::default();
    let mut n = node(Script { on_outbound: vec![Step::Forward(Some(1))], ..Script::default() });
    n.configure(IfaceId(0), Arc::new(config));
    n.set_auth(Some(auth_of(ME)));
    n.start(&mut w, secs(0.0));
    let mut next = auth_of(NEXT);
    let own = message(&mut w, ME, 1);
    n.originate(&mut w, secs(0.0), own);
    heard(&mut n, &mut w, &mut next, NEXT, 0.0);
    run(&mut n, &mut w, secs(0.01));
    assert!(n.pull(IfaceId(0)).is_some() && n.pull(IfaceId(0)).is_none(), "it was refused");
    run(&mut n, &mut w, secs(0.1));
    assert_eq!(asks(&n.pull(IfaceId(0)).unwrap()), [NEXT]);
    heard(&mut n, &mut w, &mut next, NEXT, 1.0);
    n.go_down(&mut w, secs(1.0));
    n.come_back(&mut w, secs(1.0));
    run(&mut n, &mut w, secs(2.0));
    assert_eq!(n.queued(IfaceId(0)), 0);
    heard(&mut n, &mut w, &mut next, NEXT, 2.0);
    run(&mut n, &mut w, secs(2.1));
    assert_eq!(asks(&n.pull(IfaceId(0)).unwrap()), [NEXT]);
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
