//! AODV messages written by hand from the figures of RFC 3561 sections 5 and 9.

use crate::common::{A, B, REPLY, REQUEST};
use wayhop_wire::Error;
use wayhop_wire::aodv::{Extension, Message, Rerr, Rreq, Unreachable, Unreachables, extensions};

fn both_ways(octets: &[u8], message: Message<'_>) {
    assert_eq!(Message::parse(octets), Ok(message));
    assert_eq!(message.buffer_len(), octets.len());
    let mut out = vec![0xee; octets.len()];
    message.emit(&mut out).expect("its fields fit");
    assert_eq!(out, octets);
    for len in 0..octets.len() {
        assert_eq!(Message::parse(&octets[..len]), Err(Error::Truncated));
    }
}

#[test]
fn route_request_is_figure_5_1() {
    for (flags, request) in [
        (0, REQUEST),
        (0x80, Rreq { join: true, ..REQUEST }),
        (0x40, Rreq { repair: true, ..REQUEST }),
        (0x20, Rreq { gratuitous: true, ..REQUEST }),
        (0x10, Rreq { destination_only: true, ..REQUEST }),
        (0x08, Rreq { unknown_seq: true, ..REQUEST }),
    ] {
        #[rustfmt::skip]
        let octets = [
            1, flags, 0, 3,
            1, 2, 3, 4,
            192, 168, 3, 4,
            0xa0, 0xb0, 0xc0, 0xd0,
            10, 0, 0, 1,
            0, 0, 0, 7,
        ];
        both_ways(&octets, Message::Rreq(request));
    }
}

#[test]
fn route_reply_is_figure_5_2() {
    #[rustfmt::skip]
    both_ways(
        &[
            2, 0x40, 24, 2,
            192, 168, 3, 4,
            0, 0, 0, 9,
            10, 0, 0, 1,
            0, 0, 0x17, 0x70,
        ],
        Message::Rrep(REPLY),
    );
}

#[test]
fn route_error_is_figure_5_3() {
    let list = [Unreachable { destination: B, seq: 5 }, Unreachable { destination: A, seq: 0xffff_ffff }];
    #[rustfmt::skip]
    both_ways(
        &[
            3, 0x80, 0, 2,
            192, 168, 3, 4,
            0, 0, 0, 5,
            10, 0, 0, 1,
            0xff, 0xff, 0xff, 0xff,
        ],
        Message::Rerr(Rerr { no_delete: true, unreachable: Unreachables::from(&list[..]) }),
    );
}

#[test]
fn acknowledgement_is_figure_5_4() {
    both_ways(&[4, 0], Message::RrepAck);
}

#[test]
fn reserved_bits_are_ignored() {
    let mut octets = [0; 24];
    Message::Rreq(REQUEST).emit(&mut octets).expect("its fields fit");
    octets[1] |= 0x07;
    octets[2] = 0xff;
    assert_eq!(Message::parse(&octets), Ok(Message::Rreq(REQUEST)));
    assert_eq!(Message::parse(&[4, 0xff]), Ok(Message::RrepAck));
}

#[test]
fn what_is_not_a_message_is_refused() {
    assert_eq!(Message::parse(&[]), Err(Error::Truncated));
    assert_eq!(Message::parse(&[0; 30]), Err(Error::Value("type")));
    assert_eq!(Message::parse(&[5; 30]), Err(Error::Value("type")));
    // Section 5.3: the count MUST be at least 1.
    assert_eq!(Message::parse(&[3, 0, 0, 0]), Err(Error::Value("destination count")));
    let mut out = [0; 4096];
    let error = |list: &[Unreachable], out: &mut [u8]| {
        Message::Rerr(Rerr { no_delete: false, unreachable: list.into() }).emit(out)
    };
    let one = Unreachable { destination: A, seq: 1 };
    assert_eq!(error(&[], &mut out), Err(Error::Value("destination count")));
    assert_eq!(error(&[one; 255], &mut out), Ok(()));
    assert_eq!(error(&[one; 256], &mut out), Err(Error::Full));
    assert_eq!(Message::parse(&out).map(|m| m.buffer_len()), Ok(4 + 8 * 255));
}

#[test]
fn hello_interval_is_figure_9_1() {
    let octets = [1, 4, 0, 0, 0x03, 0xe8];
    let e = Extension::HelloInterval { millis: 1_000 };
    assert_eq!(extensions(&octets).collect::<Vec<_>>(), [Ok(e)]);
    let mut out = [0; 6];
    e.emit(&mut out).expect("it fits");
    assert_eq!(out, octets);
}

#[test]
fn unknown_extensions_below_128_may_be_skipped() {
    let octets = [127, 1, 9, 128, 0, 1, 4, 0, 0, 0, 1];
    let read: Vec<_> = extensions(&octets).map(|e| e.expect("complete extensions")).collect();
    assert_eq!(read[0], Extension::Unknown { kind: 127, data: &[9] });
    assert_eq!(read.iter().map(Extension::may_be_skipped).collect::<Vec<_>>(), [true, false, true]);
    let broken: Vec<_> = extensions(&[127, 0, 7, 3, 0, 0]).collect();
    assert_eq!(broken, [Ok(Extension::Unknown { kind: 127, data: &[] }), Err(Error::Truncated)]);
    assert_eq!(extensions(&[1, 3, 0, 0, 0]).next(), Some(Err(Error::Length)));
}
