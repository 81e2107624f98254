use std::net::Ipv6Addr;

use wayhop_wire::Error;
use wayhop_wire::babel::{self as wire_babel, ParserState, Tlv};
use wayhop_wire::olsr::{self as wire_olsr, Address, Body, Message};

/// OLSR packets, over IPv4 and over IPv6.
pub(crate) fn olsr(bytes: &[u8]) {
    let Ok(packet) = wire_olsr::Packet::new_snapped(bytes) else { return };
    olsr_messages(packet, |octets| Message::parse(octets));
    olsr_messages(packet, |octets| Message::parse6(octets));
}

fn olsr_messages<'a, A: Address>(
    packet: wire_olsr::Packet<'a>,
    parse: impl for<'b> Fn(&'b [u8]) -> Result<Message<'b, A>, Error>,
) {
    let messages: Vec<Message<'_, A>> = packet.messages().filter_map(|octets| parse(octets).ok()).collect();
    for m in &messages {
        assert!((62_500_000..=3_968_000_000_000).contains(&m.vtime.as_nanos()));
        if let Body::Hello(h) = m.body {
            h.links.iter().for_each(|l| _ = (l.code.link(), l.code.neighbour()));
        }
    }
    if messages.is_empty() {
        return;
    }
    let repr = wire_olsr::PacketRepr { seq: packet.seq(), messages: &messages };
    let mut out = vec![0; repr.buffer_len()];
    repr.emit(&mut out).expect("what was read can be written");
    let again = wire_olsr::Packet::new_checked(&out).expect("it was written");
    assert_eq!((again.seq(), again.total_len()), (packet.seq(), out.len()));
    assert!(again.messages().map(|m| parse(m).expect("it was written")).eq(messages));
}

/// Babel packets.
pub(crate) fn babel(bytes: &[u8]) {
    let Ok(packet) = wire_babel::Packet::new_snapped(bytes) else { return };
    let read = |octets| Tlv::parse(octets).ok();
    let body: Vec<Tlv<'_>> = packet.body().filter_map(read).collect();
    let trailer: Vec<Tlv<'_>> = packet.trailer().filter_map(read).collect();
    let mut state = ParserState::new(Ipv6Addr::LOCALHOST.into());
    for tlv in &body {
        let _ = (state.take(tlv), tlv.sub_tlvs.iter().filter(wire_babel::SubTlv::is_mandatory).count());
    }
    let repr = wire_babel::PacketRepr { body: &body, trailer: &trailer };
    let mut out = vec![0; repr.buffer_len()];
    repr.emit(&mut out).expect("what was read can be written");
    let again = wire_babel::Packet::new_checked(&out).expect("it was written");
    assert!(again.body().map(|tlv| Tlv::parse(tlv).expect("it was written")).eq(body));
    assert!(again.trailer().map(|tlv| Tlv::parse(tlv).expect("it was written")).eq(trailer));
}
