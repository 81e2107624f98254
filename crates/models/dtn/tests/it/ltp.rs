//! LTP with agents of other makers: octets written by hand from RFC 5326 (segments) and RFC 9171 (bundles).
//!
//! NASA's ION 4.1.3 puts several bundles into a block, and keeps 32 bits of a session's number.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use wayhop_core::{Span, Time};
use wayhop_dtn::cl::ltp::{Ltp, LtpConfig, SessionNumbers};
use wayhop_dtn::cl::{Event, Session};
use wayhop_dtn::routing::Epidemic;
use wayhop_dtn::{
    Agent, Config, Contact, ContactId, Input, MemoryStore, Output, Refusal, TransferEvent, TransferId,
};
use wayhop_testkit::{pcap, tshark};

use crate::common::{eid, inbox};

const NOW: Time = Time::from_nanos(1_000_000_000);

/// A bundle of 52 octets from dtn://n0/inbox to dtn://n1/inbox: this sequence number, this payload of three octets.
fn bundle(sequence: u8, payload: [u8; 3]) -> Vec<u8> {
    [
        // An array without a length; the primary block: 8 items, version 7, no flags, no CRC.
        &[0x9f, 0x88, 0x07, 0x00, 0x00][..],
        b"\x82\x01\x6a//n1/inbox",
        b"\x82\x01\x6a//n0/inbox",
        // Reports to dtn:none; made at 1 ms after the start of 2000; it lives for 3,600,000 ms.
        &[0x82, 0x01, 0x00, 0x82, 0x01, sequence, 0x1a, 0x00, 0x36, 0xee, 0x80],
        // The payload block: 5 items, type 1, number 1, no flags, no CRC, three octets. The end of the array.
        &[0x85, 0x01, 0x01, 0x00, 0x00, 0x43],
        &payload,
        &[0xff],
    ]
    .concat()
}

/// Red data that ends its block (type 3): engine 2, this session, no extensions, this client service, from octet 0, this many
/// octets; checkpoint 1, which answers no report.
fn block(session: u8, service: u8, data: &[u8]) -> Vec<u8> {
    let length = u8::try_from(data.len()).ok().filter(|n| *n < 0x80).expect("a length of one octet");
    [&[0x03, 0x02, session, 0x00, service, 0x00, length, 0x01, 0x00], data].concat()
}

/// Report 1 on checkpoint 1 (type 8): all octets up to this one, from 0 on, are there, in one claim.
fn report(session: u8, length: u8) -> Vec<u8> {
    vec![0x08, 0x02, session, 0x00, 0x01, 0x01, length, 0x00, 0x01, 0x00, length]
}

/// Engine 1.
fn engine() -> Ltp {
    let mut ltp = Ltp::new(LtpConfig::new(1, SessionNumbers::starting_at(1)));
    assert!(matches!(ltp.event(), Some(Event::Up { .. })));
    ltp
}

fn received(ltp: &mut Ltp) -> Vec<(TransferId, Vec<u8>)> {
    let bundles = std::iter::from_fn(|| ltp.event()).map(|event| match event {
        Event::Transfer(TransferEvent::Received { transfer, bundle }) => (transfer, bundle),
        other => panic!("{other:?}"),
    });
    bundles.collect()
}

#[test]
fn two_bundles_in_a_block_are_two_and_the_report_waits_for_both() {
    let both = [bundle(1, *b"one"), bundle(2, *b"two")];
    let segment = block(9, 1, &both.concat());
    let mut ltp = engine();
    ltp.receive(NOW, &segment);
    let came = received(&mut ltp);
    assert_eq!(came.iter().map(|(_, b)| b.clone()).collect::<Vec<_>>(), both);
    ltp.accept(NOW, came[0].0);
    assert_eq!(ltp.transmit(NOW, 0), None, "the second one is not safe yet");
    ltp.accept(NOW, came[1].0);
    assert_eq!(ltp.transmit(NOW, 0), Some(report(9, 104)));
    // Its acknowledgement (type 9) ends the session, and the block that comes again opens no other one.
    ltp.receive(NOW, &[0x09, 0x02, 0x09, 0x00, 0x01]);
    ltp.receive(NOW, &segment);
    assert_eq!((ltp.event(), ltp.transmit(NOW, 0), ltp.next_timer()), (None, None, None));
}

#[test]
fn a_block_is_cancelled_where_sending_it_again_helps_or_nothing_of_it_was_taken() {
    let both = [bundle(1, *b"one"), bundle(2, *b"two")].concat();
    // The cancellation by the receiver (type 14): reason 4 is "by the system", 0 "by the client".
    for (first, second, answer) in [
        (None, Some(Refusal::NotAcceptable), report(9, 104)),
        (Some(Refusal::NotAcceptable), Some(Refusal::Completed), report(9, 104)),
        (None, Some(Refusal::NoResources), vec![0x0e, 0x02, 0x09, 0x00, 0x04]),
        (Some(Refusal::NotAcceptable), Some(Refusal::NoResources), vec![0x0e, 0x02, 0x09, 0x00, 0x04]),
        (Some(Refusal::NotAcceptable), Some(Refusal::NotAcceptable), vec![0x0e, 0x02, 0x09, 0x00, 0x00]),
    ] {
        let mut ltp = engine();
        ltp.receive(NOW, &block(9, 1, &both));
        for ((transfer, _), refusal) in received(&mut ltp).into_iter().zip([first, second]) {
            match refusal {
                None => ltp.accept(NOW, transfer),
                Some(reason) => ltp.refuse(NOW, transfer, reason),
            }
        }
        assert_eq!(ltp.transmit(NOW, 0), Some(answer), "{first:?}, {second:?}");
    }
}

#[test]
fn what_is_no_bundle_in_a_block_is_handed_up_behind_the_bundles_for_the_agent_to_refuse() {
    let mut ltp = engine();
    ltp.receive(NOW, &block(9, 1, &[&bundle(1, *b"one")[..], &[0x06, 0x10]].concat()));
    let came: Vec<Vec<u8>> = received(&mut ltp).into_iter().map(|(_, b)| b).collect();
    assert_eq!(came, [bundle(1, *b"one"), vec![0x06, 0x10]]);
}

#[test]
fn a_block_for_another_client_service_is_cancelled_as_unreachable() {
    let mut ltp = engine();
    ltp.receive(NOW, &block(9, 2, &[1, 2, 3]));
    assert_eq!(ltp.transmit(NOW, 0), Some(vec![0x0e, 0x02, 0x09, 0x00, 0x01]));
    assert_eq!(ltp.event(), None);
}

#[test]
fn whole_bundles_of_a_block_that_ends_early_are_handed_up_and_the_next_one_as_a_part() {
    let mut ltp = engine();
    let both = [bundle(1, *b"one"), bundle(2, *b"two")].concat();
    // Red data that ends nothing (type 0): 60 octets, and no more will come.
    let segment = [&[0x00, 0x02, 0x09, 0x00, 0x01, 0x00, 60], &both[..60]].concat();
    ltp.receive(NOW, &segment);
    ltp.lost(NOW);
    let whole = TransferEvent::Received { transfer: TransferId(1), bundle: both[..52].to_vec() };
    let part = TransferEvent::Part(both[52..60].to_vec());
    assert_eq!([ltp.event(), ltp.event()], [whole, part].map(|event| Some(Event::Transfer(event))));
}

/// The number after a segment's first octet and the one of its engine, and where it ends.
fn session_number(segment: &[u8]) -> (u64, usize) {
    let mut number = 0;
    // Behind the octet of version and type, and the engine's.
    for (at, octet) in segment.iter().enumerate().skip(2) {
        number = number << 7 | u64::from(octet & 0x7f);
        if octet & 0x80 == 0 {
            return (number, at + 1);
        }
    }
    panic!("a number without an end: {segment:02x?}");
}

#[test]
fn a_peer_that_keeps_32_bits_of_a_session_number_reports_on_it() {
    for seed in 0..200 {
        let mut ltp = Ltp::new(LtpConfig::new(1, SessionNumbers::seeded(seed)));
        ltp.event();
        ltp.send(NOW, TransferId(7), bundle(1, *b"one"));
        let segment = ltp.transmit(NOW, 0).expect("a segment");
        assert_eq!(segment[..2], [0x03, 0x01]);
        let (number, end) = session_number(&segment);
        assert_eq!(u64::from(number as u32), number, "it has more than 32 bits");
        // What is left of it in the peer: for a longer number the report would be of another session.
        let mut answer = [&[0x08, 0x01], &segment[2..end]].concat();
        answer.extend([0x00, 0x2a, 0x01, 52, 0x00, 0x01, 0x00, 52]);
        ltp.receive(NOW, &answer);
        let sent = TransferEvent::Sent(TransferId(7));
        assert_eq!(ltp.event(), Some(Event::Transfer(sent)));
        let acknowledgement = [&[0x09, 0x01], &segment[2..end], &[0x00, 0x2a]].concat();
        assert_eq!(ltp.transmit(NOW, 0), Some(acknowledgement));
        assert_eq!((ltp.transmit(NOW, 0), ltp.next_timer()), (None, None), "it is not sent again");
    }
}

#[test]
fn sessions_with_all_neighbours_have_numbers_of_one_sequence() {
    let numbers = SessionNumbers::starting_at(u32::MAX - 3);
    let mut neighbours: Vec<Ltp> = (0..3).map(|_| Ltp::new(LtpConfig::new(1, numbers.clone()))).collect();
    let mut seen = BTreeSet::new();
    for k in 0..12 {
        let ltp = &mut neighbours[k % 3];
        ltp.send(NOW, TransferId(k as u64), vec![1]);
        let segment = ltp.transmit(NOW, 0).expect("a segment");
        let (number, _) = session_number(&segment);
        assert!(number != 0 && u32::try_from(number).is_ok() && seen.insert(number), "{number} again");
    }
}

#[test]
fn a_bundle_that_comes_twice_in_a_block_and_again_in_others_is_delivered_once() {
    let mut agent =
        Agent::open(Config::new(eid(1)), Box::new(Epidemic), MemoryStore::default(), NOW).unwrap();
    let contact = ContactId(1);
    agent.handle(NOW, Input::Register { endpoint: inbox(1), got: 0 });
    agent.handle(
        NOW,
        Input::ContactUp(Contact { id: contact, peer: eid(0), largest: None, exchanges: false }),
    );
    let mut ltp = engine();
    let mut delivered = Vec::new();
    for session in 1..=9 {
        let twice = [bundle(1, *b"one"), bundle(1, *b"one")].concat();
        ltp.receive(NOW, &block(session, 1, &twice));
        for (transfer, bundle) in received(&mut ltp) {
            agent.handle(NOW, Input::Transfer(contact, TransferEvent::Received { transfer, bundle }));
        }
        agent.commit().unwrap();
        while let Some(output) = agent.output() {
            match output {
                Output::Accept(_, transfer) => ltp.accept(NOW, transfer),
                Output::Deliver { endpoint, number, payload, .. } => {
                    delivered.push(payload);
                    agent.handle(NOW, Input::Confirm { endpoint, number });
                }
                Output::Refuse(.., reason) => panic!("{reason:?}"),
                _ => {}
            }
        }
        // Its sender hears each time that it need not send it again.
        assert_eq!(ltp.transmit(NOW, 0), Some(report(session, 104)));
    }
    assert_eq!(delivered, [b"one".to_vec()]);
}

/// A datagram from 10.0.0.2 to 10.0.0.1, from this port to this port, without a checksum of UDP.
fn datagram(port: u16, octets: &[u8]) -> Vec<u8> {
    let udp = 8 + octets.len() as u8;
    let [high, low] = port.to_be_bytes();
    let mut ip = vec![0x45, 0, 0, 20 + udp, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1];
    let sum: u32 = ip.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    let check = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    [&ip, &[high, low, high, low, 0, udp, 0, 0][..], octets].concat()
}

#[test]
fn tshark_reads_the_same_in_these_octets() {
    let both = [bundle(1, *b"one"), bundle(2, *b"two")].concat();
    let mut ltp = Ltp::new(LtpConfig::new(1, SessionNumbers::seeded(3)));
    ltp.send(NOW, TransferId(1), bundle(1, *b"one"));
    let own = ltp.transmit(NOW, 0).expect("a segment");
    let segments = [block(9, 1, &both), report(9, 104), own.clone()];
    let mut packets: Vec<Vec<u8>> = segments.iter().map(|s| datagram(1_113, s)).collect();
    // In a block it looks at the first bundle only; by itself, in UDPCL, it reads the second one, too.
    packets.push(datagram(4_556, &bundle(2, *b"two")));
    let file = tempfile::NamedTempFile::new().unwrap();
    pcap::write(file.as_file(), packets.iter().map(|p| (NOW, &p[..]))).unwrap();
    assert_eq!(tshark::complaints(file.path()).unwrap(), Vec::<Vec<String>>::new());
    let fields = ["ltp.type", "ltp.session.orig", "ltp.session.number", "ltp.data.length", "ltp.rpt.clm.cnt"];
    let rows = tshark::fields(file.path(), "ltp", &fields).unwrap();
    assert_eq!(rows[0], ["0x03", "2", "9", "104", ""]);
    assert_eq!(rows[1], ["0x08", "2", "9", "", "1"]);
    assert_eq!(rows[2], ["0x03", "1", &session_number(&own).0.to_string(), "52", ""]);
    let sequences = tshark::fields(file.path(), "bpv7", &["bpv7.create_ts.seqno"]).unwrap();
    assert_eq!(sequences, [["1"], ["1"], ["2"]]);
}

/// Sends blocks of these numbers of bundles, and loses the segments that `losses` says. Returns the bundles
/// that arrived, those that were sent, and how many blocks the sender knows to have arrived.
fn aggregated(blocks: &[usize], losses: Vec<bool>) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, usize) {
    let config = |engine| LtpConfig {
        segment: 100,
        tries: u8::MAX,
        ..LtpConfig::new(engine, SessionNumbers::seeded(engine))
    };
    let (mut sender, mut receiver) = (Ltp::new(config(2)), Ltp::new(config(1)));
    let mut now = NOW;
    let mut sequence = 0;
    let mut sent = Vec::new();
    for (k, count) in blocks.iter().enumerate() {
        let bundles: Vec<Vec<u8>> = (0..*count)
            .map(|_| {
                sequence += 1;
                bundle(sequence, *b"abc")
            })
            .collect();
        sender.send(now, TransferId(k as u64), bundles.concat());
        sent.extend(bundles);
    }
    let mut losses = losses.into_iter();
    let (mut came, mut done) = (Vec::new(), 0);
    for _ in 0..200 {
        while let Some(segment) = sender.transmit(now, 0) {
            if !losses.next().unwrap_or(false) {
                receiver.receive(now, &segment);
            }
        }
        while let Some(event) = receiver.event() {
            if let Event::Transfer(TransferEvent::Received { transfer, bundle }) = event {
                came.push(bundle);
                receiver.accept(now, transfer);
            }
        }
        while let Some(segment) = receiver.transmit(now, 0) {
            if !losses.next().unwrap_or(false) {
                sender.receive(now, &segment);
            }
        }
        let is_sent = |e: &Event| matches!(e, Event::Transfer(TransferEvent::Sent(_)));
        done += std::iter::from_fn(|| sender.event()).filter(is_sent).count();
        now += Span::from_secs(1);
        sender.timer(now);
        receiver.timer(now);
    }
    (came, sent, done)
}

/// An acknowledgement of an old report, of a part of a block, comes when all of the block is here and no report of that has gone.
#[test]
fn an_old_reports_acknowledgement_does_not_end_a_session() {
    // Segments of both directions in their order; `x` is lost.
    let losses = "xxxxx...xxxxxxx..xxx..xx.......x..x.xxxxx.......xx......x";
    let (mut came, mut sent, done) = aggregated(&[3, 3], losses.chars().map(|c| c == 'x').collect());
    came.sort();
    sent.sort();
    assert_eq!((came, done), (sent, 2));
}

proptest! {
    /// An agent that aggregates sends blocks of several bundles in small segments, some of which are lost either way.
    #[test]
    fn aggregated_bundles_arrive_once_each_whatever_is_lost(
        blocks in vec(1_usize..5, 1..5),
        losses in vec(any::<bool>(), 0..60),
    ) {
        let (mut came, mut sent, done) = aggregated(&blocks, losses);
        came.sort();
        sent.sort();
        prop_assert_eq!(came, sent);
        prop_assert_eq!(done, blocks.len());
    }
}
