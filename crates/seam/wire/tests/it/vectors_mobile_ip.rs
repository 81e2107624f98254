//! Octets by hand from RFC 5944 (agent discovery, registration), RFC 3024 and RFC 2003.

use std::net::Ipv4Addr;

use wayhop_wire::mobile_ip::{
    Advertisement, AgentFlags, AuthKind, Code, Discovery, Extension, Message, MobilityAgent, Reply, Request,
    RequestFlags,
};
use wayhop_wire::{Error, checksum, ip_in_ip, ipv4};

const HOME: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 9);
const HA: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
const COA: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 7);

/// Sets an ICMP checksum by the words' plain sum (RFC 1071), for messages of an even length.
fn with_checksum(mut message: Vec<u8>) -> Vec<u8> {
    let mut sum: u32 = message.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    message[2..4].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    message
}

/// RFC 1256, section 3.1, with the extensions of RFC 5944, sections 2.1.1 and 2.1.2.
fn advertisement() -> Vec<u8> {
    with_checksum(vec![
        9, 0, 0, 0, // type, code, checksum
        1, 2, 0, 3, // one address of two words, 3 s
        10, 1, 0, 1, 0xff, 0xff, 0xff, 0xfe, // preference -2
        16, 10, 0x01, 0x02, 0x01, 0x2c, // sequence 258, 300 s
        0xb1, 0x00, // R, H, F and T
        192, 0, 2, 7, // care-of address
        19, 1, 24, // prefix length
        0,  // padding
    ])
}

#[test]
fn an_agent_advertisement() {
    let octets = advertisement();
    let Ok(Discovery::Advertisement(a)) = Discovery::parse(&octets) else { panic!("it is one") };
    assert!(a.routes_common_traffic);
    assert_eq!(a.lifetime_s, 3);
    let routers: Vec<_> = a.routers().map(|r| (r.addr, r.preference, r.prefix_len)).collect();
    assert_eq!(routers, [(HA, -2, Some(24))]);
    let agent = a.agent.unwrap();
    assert_eq!((agent.sequence, agent.registration_lifetime_s), (258, 300));
    let flags = AgentFlags::REGISTRATION_REQUIRED
        | AgentFlags::HOME_AGENT
        | AgentFlags::FOREIGN_AGENT
        | AgentFlags::REVERSE_TUNNEL;
    assert_eq!(agent.flags, flags);
    assert_eq!(agent.care_of().collect::<Vec<_>>(), [COA]);
    // Emitted again it has no padding: then the checksum is that of the message without it.
    let (entry, lengths, care_of) = (Advertisement::entry(HA, -2), [24], COA.octets());
    let mut made = Advertisement::new(3, &entry).unwrap().with_prefix_lengths(&lengths).unwrap();
    made.agent = Some(MobilityAgent::new(258, 300, flags, &care_of).unwrap());
    let made = Discovery::Advertisement(made);
    let mut written = vec![0; made.buffer_len()];
    made.emit(&mut written);
    assert_eq!(written, octets[..octets.len() - 1]);
}

#[test]
fn an_agent_solicitation() {
    let octets = with_checksum(vec![10, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(octets, [10, 0, 0xf5, 0xff, 0, 0, 0, 0]);
    assert_eq!(Discovery::parse(&octets), Ok(Discovery::Solicitation));
    let mut written = [0; 8];
    Discovery::Solicitation.emit(&mut written);
    assert_eq!(written[..], octets[..]);
}

#[test]
fn an_advertisement_that_is_not_made_as_it_must_be_is_refused() {
    let change = |f: fn(&mut Vec<u8>)| {
        let mut m = advertisement();
        f(&mut m);
        m[2..4].fill(0);
        Discovery::parse(&with_checksum(m)).err()
    };
    assert_eq!(change(|m| m[1] = 7), Some(Error::Value("code")));
    assert_eq!(change(|m| m[5] = 3), Some(Error::Value("address entry size")));
    assert_eq!(change(|m| m[4] = 9), Some(Error::Truncated));
    assert_eq!(change(|m| m[17] = 9), Some(Error::Length), "a care-of address of three octets");
    assert_eq!(change(|m| m[29] = 9), Some(Error::Truncated), "an extension longer than the message");
    // Section 1.8: what must not be skipped has the message ignored; what may be, is skipped.
    assert_eq!(change(|m| m[28] = 42), Some(Error::Value("extension")));
    assert_eq!(change(|m| m[28] = 142), None);
    // A foreign agent has a care-of address (section 2.1.1).
    let no_care_of = with_checksum(vec![9, 0, 0, 0, 0, 2, 0, 3, 16, 6, 0, 1, 0, 9, 0x10, 0]);
    assert_eq!(Discovery::parse(&no_care_of), Err(Error::Value("care-of addresses")));
    assert_eq!(Discovery::parse(&advertisement()[..30]), Err(Error::Checksum));
}

/// RFC 5944, section 3.3, with the extensions of section 3.5.2 and of RFC 3024, section 3.3.
const REQUEST: &[u8] = &[
    1, 0x22, 0x01, 0x2c, // D and T, 300 s
    10, 1, 0, 9, 10, 1, 0, 1, 192, 0, 2, 7, // home address, home agent, care-of address
    0xe0, 0, 0, 1, 0, 0, 0, 2, // identification
    32, 20, 0, 0, 1, 0, // mobile-home authentication, index 256
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, // authenticator
    130, 0, // encapsulating delivery style
    33, 8, 0, 0, 2, 0, 9, 9, 9, 9, // mobile-foreign authentication, index 512
];

#[test]
fn a_registration_request() {
    let Ok(Message::Request(r, e)) = Message::parse(REQUEST) else { panic!("it is one") };
    let made = Request {
        flags: RequestFlags::CO_LOCATED | RequestFlags::REVERSE_TUNNEL,
        lifetime_s: 300,
        home: HOME,
        home_agent: HA,
        care_of: COA,
        identification: 0xe000_0001_0000_0002,
    };
    assert_eq!(r, made);
    let mut written = [0; Request::LEN];
    made.emit(&mut written);
    assert_eq!(written[..], REQUEST[..24]);
    let a = e.authentication(AuthKind::MobileHome).unwrap();
    assert_eq!((a.spi, a.authenticator.len(), a.protects), (256, 16, &REQUEST[..30]));
    let a = e.authentication(AuthKind::MobileForeign).unwrap();
    assert_eq!((a.spi, a.authenticator, a.protects), (512, &[9; 4][..], &REQUEST[..54]));
    assert_eq!(e.authentication(AuthKind::ForeignHome), None);
    assert!(e.asks_for_encapsulating_delivery());
    assert_eq!(e.up_to(AuthKind::MobileHome), Some(&REQUEST[..46]));
    let mut extensions = Vec::new();
    for e in e.iter() {
        let at = extensions.len();
        extensions.resize(at + e.buffer_len(), 0);
        e.emit(&mut extensions[at..]).unwrap();
    }
    assert_eq!(extensions, REQUEST[24..]);
}

#[test]
fn a_registration_reply() {
    let octets = [3, 133, 0, 0, 10, 1, 0, 9, 10, 1, 0, 1, 0xe0, 0, 0, 1, 0, 0, 0, 2, 200, 1, 7];
    let Ok(Message::Reply(r, e)) = Message::parse(&octets) else { panic!("it is one") };
    let made = Reply {
        code: Code::HOME_IDENTIFICATION,
        lifetime_s: 0,
        home: HOME,
        home_agent: HA,
        identification: 0xe000_0001_0000_0002,
    };
    assert_eq!(r, made);
    assert_eq!(e.iter().collect::<Vec<_>>(), [Extension::Other { kind: 200, value: &[7] }]);
    let mut written = [0; Reply::LEN];
    made.emit(&mut written);
    assert_eq!(written[..], octets[..20]);
    assert_eq!(r.code.to_string(), "home agent: registration identification mismatch (133)");
}

#[test]
fn a_registration_message_that_is_not_made_as_it_must_be_is_refused() {
    assert_eq!(Message::parse(&[]), Err(Error::Truncated));
    assert_eq!(Message::parse(&[2; 40]), Err(Error::Value("type")));
    assert_eq!(Message::parse(&REQUEST[..23]), Err(Error::Truncated));
    assert!(Message::parse(&REQUEST[..24]).is_ok(), "who has to have an authenticator is the agents' matter");
    for cut in [25, 26, 40, 55] {
        assert_eq!(Message::parse(&REQUEST[..cut]), Err(Error::Truncated), "{cut}");
    }
    let with = |tail: &[u8]| Message::parse(&[&REQUEST[..24], tail].concat()).err();
    assert_eq!(with(&[99, 0]), Some(Error::Value("extension")), "one that must not be skipped");
    assert_eq!(with(&[199, 0]), None);
    assert_eq!(with(&[32, 3, 0, 0, 1]), Some(Error::Length), "an authenticator without a whole index");
}

#[test]
fn a_packet_in_a_packet() {
    // RFC 2003, section 3.1: the outer header has the inner one's TOS and DF, and protocol 4.
    let mut inner = vec![0; 24];
    let header = ipv4::Repr {
        tos: 0x28,
        dont_fragment: true,
        ..ipv4::Repr::new(HOME, Ipv4Addr::new(198, 51, 100, 3), ipv4::protocol::UDP, 4)
    };
    header.emit(&mut inner);
    inner[20..].copy_from_slice(&[1, 2, 3, 4]);
    let view = ipv4::Packet::new_checked(&inner).unwrap();
    let outer = ip_in_ip::Repr { src: COA, dst: HA, ttl: 64, id: 0x1234 };
    let mut octets = vec![0; outer.buffer_len(&view)];
    outer.emit(&view, &mut octets).unwrap();
    assert_eq!(octets[..10], [0x45, 0x28, 0, 44, 0x12, 0x34, 0x40, 0, 64, 4]);
    assert_eq!(octets[12..20], [192, 0, 2, 7, 10, 1, 0, 1]);
    assert_eq!(checksum::sum(0, &octets[..20]), 0xffff);
    assert_eq!(octets[20..], inner);
    let whole = ipv4::Packet::new_checked(&octets).unwrap();
    assert_eq!(ip_in_ip::inner(&whole), Ok(view));
    // A fragment is no whole packet; a packet that says to be longer than it is, neither.
    let mut fragment = octets.clone();
    fragment[6] |= 0x20;
    assert!(ip_in_ip::inner(&ipv4::Packet::new_checked(&fragment).unwrap()).is_err());
    octets[23] = 200;
    assert!(ip_in_ip::inner(&ipv4::Packet::new_checked(&octets).unwrap()).is_err());
    let cut = ipv4::Packet::new_snapped(&inner[..22]).unwrap();
    assert_eq!(outer.emit(&cut, &mut [0; 100]), Err(Error::Truncated));
}
