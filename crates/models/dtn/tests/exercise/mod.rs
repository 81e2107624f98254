//! Invariants for any bytes: for property tests and fuzz targets.

use wayhop_core::{Span, Time};
use wayhop_dtn::cl::ltp::{Ltp, LtpConfig, SessionNumbers};
use wayhop_dtn::cl::tcpcl::{Tcpcl, TcpclConfig};
use wayhop_dtn::cl::udpcl::Udpcl;
use wayhop_dtn::cl::{Event, Session};
use wayhop_dtn::{
    AdminRecord, Beacon, Bundle, Eid, ParseLimits, Reassembly, Refusal, TransferEvent, TransferId, split,
};

const LIMITS: ParseLimits = ParseLimits { octets: 1 << 20, blocks: 16 };

/// Octets are refused, or a bundle that reads as it is written, and whose fragments are the whole.
pub(crate) fn bundle(octets: &[u8]) {
    // Some octets of one that never came to its end.
    let _ = Bundle::parse_prefix(octets, &LIMITS);
    if let Some(record) = AdminRecord::parse(octets) {
        assert_eq!(AdminRecord::parse(&record.encode()), Some(record));
    }
    if let Some(beacon) = Beacon::parse(octets) {
        assert_eq!(Beacon::parse(&beacon.encode()), Some(beacon));
    }
    let Ok(bundle) = Bundle::parse(octets, &LIMITS) else { return };
    let encoded = bundle.encode();
    assert_eq!(Bundle::parse(&encoded, &LIMITS).as_ref(), Ok(&bundle));
    if !bundle.may_fragment() || bundle.fragment.is_some() {
        return;
    }
    let Some(pieces) = split(&bundle, encoded.len() / 2 + 64) else { return };
    let mut whole = Reassembly::default();
    for piece in &pieces {
        let read = Bundle::parse(&piece.encode(), &LIMITS).expect("a piece is a bundle");
        whole.insert(read.fragment.map_or(0, |f| f.offset), &read.payload);
    }
    assert_eq!(whole.whole(bundle.payload.len() as u64).as_ref(), Some(&bundle.payload));
}

/// A TCPCLv4 session takes any stream: before its handshake, and after it with a transfer under way.
pub(crate) fn tcpcl(octets: &[u8]) {
    let Some((kind, stream)) = octets.split_first() else { return };
    let mut config = TcpclConfig::new(Eid::dtn("a", "").expect("a name"));
    config.transfer = 1 << 16;
    let mut session = Tcpcl::new(config, kind & 1 == 0, Time::ZERO);
    if kind & 2 != 0 {
        let peer = TcpclConfig::new(Eid::dtn("b", "").expect("a name"));
        let mut peer = Tcpcl::new(peer, kind & 1 != 0, Time::ZERO);
        for _ in 0..4 {
            while let Some(sent) = session.transmit(Time::ZERO, 4_096) {
                peer.receive(Time::ZERO, &sent);
            }
            while let Some(sent) = peer.transmit(Time::ZERO, 4_096) {
                session.receive(Time::ZERO, &sent);
            }
        }
        session.send(Time::ZERO, TransferId(1), vec![7; 20_000]);
        let _ = session.transmit(Time::ZERO, 1 << 20);
    }
    feed(&mut session, stream.chunks(usize::from(kind >> 2) + 1));
}

/// LTP takes any datagrams.
pub(crate) fn ltp(octets: &[u8]) {
    let mut config = LtpConfig::new(1, SessionNumbers::starting_at(1));
    config.block = 1 << 16;
    let mut session = Ltp::new(config);
    session.send(Time::ZERO, TransferId(1), vec![7; 4_000]);
    feed(&mut session, datagrams(octets));
}

/// UDPCL takes any datagrams.
pub(crate) fn udpcl(octets: &[u8]) {
    feed(&mut Udpcl::new(1_400), datagrams(octets));
}

/// Each is as long as the octet before it says.
fn datagrams(mut octets: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = octets.split_first()?;
        let (datagram, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        octets = rest;
        Some(datagram)
    })
}

/// A session answers what comes; it hands on no more octets than came, and does not answer without an end.
fn feed<'a>(session: &mut dyn Session, pieces: impl Iterator<Item = &'a [u8]>) {
    let (mut now, mut came, mut handed) = (Time::ZERO, 0, 0);
    for piece in pieces {
        now += Span::from_millis(100);
        came += piece.len();
        session.receive(now, piece);
        handed += settle(session, now);
        assert!(handed <= came, "{handed} octets of bundles out of {came}");
    }
    for _ in 0..20 {
        let Some(at) = session.next_timer() else { break };
        now = now.max(at);
        session.timer(now);
        settle(session, now);
    }
    session.lost(now);
    settle(session, now);
}

/// The octets of bundles that it hands on.
fn settle(session: &mut dyn Session, now: Time) -> usize {
    let mut handed = 0;
    while let Some(event) = session.event() {
        match event {
            Event::Transfer(TransferEvent::Received { transfer, bundle }) => {
                handed += bundle.len();
                // Some bundles of a block are refused.
                match bundle.len() % 3 {
                    0 => session.refuse(now, transfer, Refusal::NotAcceptable),
                    _ => session.accept(now, transfer),
                }
            }
            Event::Transfer(TransferEvent::Part(octets)) => handed += octets.len(),
            _ => {}
        }
    }
    let mut sent = 0;
    while let Some(octets) = session.transmit(now, 4_096) {
        sent += 1;
        assert!(!octets.is_empty() && sent < 10_000, "it sends without an end");
    }
    handed
}
