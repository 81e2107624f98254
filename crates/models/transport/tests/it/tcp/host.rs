//! The TCP of two hosts: streams of applications over a path that loses, repeats and reorders.

use std::net::SocketAddr;

use proptest::prelude::*;
use wayhop_core::{Purpose, STREAM_ROOM, Span, StreamEffect, StreamEnd, StreamId, StreamInput, Time, stream};
use wayhop_transport::tcp::TcpConfig;
use wayhop_wire::ipv4;
use wayhop_wire::tcp::{Flags, Repr};

use crate::tcp::lab::{A, B, End, Lab, Path, at_ms, ms, segment};

const PORT: u16 = 4_556;
const CALL: StreamId = StreamId::Opened(1);
const TAKEN: StreamId = StreamId::Accepted(1);

impl Lab {
    /// Hosts of programs, the second of which listens, over a path of 50 ms each way.
    fn near() -> Self {
        Self::listening(Box::new(|_, _| vec![ms(50)]))
    }
    fn listening(path: Path) -> Self {
        let mut lab = Self::of_programs(TcpConfig::rfc(), path);
        lab.effect(End::Server, StreamEffect::Listen(PORT));
        lab
    }
    /// A connection over which nothing went yet.
    fn connected() -> Self {
        let mut lab = Self::near();
        lab.connect(PORT);
        lab.run_until(at_ms(1_000));
        let [client, server] = &lab.ends;
        assert!(matches!(client.heard[..], [(_, StreamInput::Connected { .. })]), "{:?}", client.heard);
        assert!(matches!(server.heard[..], [(_, StreamInput::Accepted { .. })]), "{:?}", server.heard);
        lab
    }

    /// The client calls the server at a port.
    fn connect(&mut self, port: u16) {
        let to = SocketAddr::from((B, port));
        self.effect(End::Client, StreamEffect::Connect { stream: CALL, to });
        self.serve(End::Client);
    }
    fn write(&mut self, end: End, stream: StreamId, octets: &[u8]) {
        self.effect(end, StreamEffect::Write { stream, data: octets.to_vec() });
        self.serve(end);
    }
    fn close(&mut self, end: End, stream: StreamId) {
        self.effect(end, StreamEffect::Close(stream));
        self.serve(end);
    }

    fn deadlines(&self) -> [Option<Time>; 2] {
        [self.ends[0].deadline(), self.ends[1].deadline()]
    }
    fn data(&self, end: End) -> Vec<u8> {
        let data = self.ends[end as usize].heard.iter().filter_map(|(_, input)| match input {
            StreamInput::Data { data, .. } => Some(&data[..]),
            _ => None,
        });
        data.flatten().copied().collect()
    }
    /// When and why the stream ended for a program.
    fn ended(&self, end: End) -> Option<(Time, StreamEnd)> {
        let cause = |(at, input): &(Time, StreamInput<'_>)| match input {
            StreamInput::Closed { cause, .. } => Some((*at, *cause)),
            _ => None,
        };
        let ends: Vec<_> = self.ends[end as usize].heard.iter().filter_map(cause).collect();
        assert!(ends.len() <= 1, "{ends:?}");
        ends.first().copied()
    }
}

/// The header of a logged segment.
fn header(packet: &[u8]) -> Repr {
    let ip = ipv4::Packet::new_checked(packet).expect("it is IP");
    Repr::parse(ip.payload(), ip.src(), ip.dst()).expect("it is TCP")
}

#[test]
fn a_stream_that_both_ends_close_is_forgotten_and_its_memory_is_free() {
    let mut hosts = Lab::connected();
    hosts.write(End::Client, CALL, b"a question");
    hosts.run_until(at_ms(2_000));
    assert_eq!(hosts.data(End::Server), b"a question");
    hosts.write(End::Server, TAKEN, b"an answer");
    hosts.close(End::Server, TAKEN);
    hosts.run_until(at_ms(3_000));
    assert_eq!(
        (hosts.data(End::Client), hosts.ended(End::Client)),
        (b"an answer".to_vec(), Some((at_ms(2_050), StreamEnd::Finished)))
    );
    assert_eq!(hosts.ended(End::Server), None, "no more events about a closed stream");
    // The end that closed first waits in TIME-WAIT, in case the last acknowledgement is lost.
    assert_eq!(hosts.ends[0].deadline(), None);
    assert!(hosts.ends[1].deadline().is_some_and(|at| at > at_ms(60_000)));
    hosts.run_until(at_ms(100_000));
    assert_eq!((hosts.ends[1].deadline(), hosts.pool.live()), (None, 0));
}

#[test]
fn nobody_listens_there_is_told_after_a_round_trip() {
    let mut hosts = Lab::near();
    hosts.connect(PORT + 1);
    hosts.run_until(at_ms(20_000));
    assert_eq!(hosts.ended(End::Client), Some((at_ms(100), StreamEnd::Unreachable)));
    assert_eq!(hosts.packets.len(), 2);
    // RFC 9293 section 3.10.7.1: a SYN without ACK is answered by sequence number 0, and is acknowledged.
    let (syn, reset) = (header(&hosts.packets[0].1), header(&hosts.packets[1].1));
    assert_eq!(
        (reset.flags, reset.seq, reset.ack),
        (Flags::RST.with(Flags::ACK), 0, syn.seq.wrapping_add(1))
    );
}

#[test]
fn a_host_that_does_not_answer_is_unreachable_after_ten_seconds() {
    let mut hosts = Lab::listening(Box::new(|_, _| vec![]));
    hosts.connect(PORT);
    hosts.run_until(at_ms(60_000));
    assert_eq!(hosts.ended(End::Client), Some((at_ms(10_000), StreamEnd::Unreachable)));
    assert_eq!(hosts.packets.len(), 4, "SYNs at 0, 1, 3 and 7 s");
}

#[test]
fn a_stream_breaks_when_nothing_was_acknowledged_for_a_hundred_seconds() {
    let mut hosts = Lab::connected();
    hosts.path = Box::new(|_, _| vec![]);
    hosts.write(End::Client, CALL, b"into the void");
    hosts.run_until(at_ms(300_000));
    assert_eq!(hosts.ended(End::Client), Some((at_ms(101_000), StreamEnd::Broken)));
    assert_eq!(hosts.ended(End::Server), None, "an idle end cannot know");
}

#[test]
fn a_host_that_lost_its_memory_answers_with_a_reset_and_the_peers_stream_breaks() {
    let mut hosts = Lab::connected();
    hosts.tcp(End::Server, |tcp, _| tcp.lose());
    hosts.write(End::Client, CALL, b"hello?");
    hosts.run_until(at_ms(5_000));
    assert_eq!(hosts.ended(End::Client), Some((at_ms(1_100), StreamEnd::Broken)));
    assert!(hosts.data(End::Server).is_empty() && hosts.ended(End::Server).is_none());
    assert_eq!(hosts.ends[0].deadline(), None);
}

#[test]
fn only_a_reset_within_the_window_ends_a_stream() {
    let mut hosts = Lab::connected();
    let (syn, answer) = (header(&hosts.packets[0].1), header(&hosts.packets[1].1));
    let forged = |seq: u32| {
        let (src_port, dst_port) = (answer.src_port, answer.dst_port);
        let r = Repr { src_port, dst_port, seq, ack: syn.seq, flags: Flags::RST, ..Repr::default() };
        segment(&r, B, A, &[])
    };
    let expected = answer.seq.wrapping_add(1);
    for off in [u32::MAX, 1 << 20, 1 << 31] {
        hosts.hear(End::Client, &forged(expected.wrapping_add(off)));
        assert_eq!(hosts.ended(End::Client), None, "{off}");
    }
    hosts.hear(End::Client, &forged(expected));
    assert_eq!(hosts.ended(End::Client), Some((at_ms(1_000), StreamEnd::Broken)));
}

#[test]
fn room_is_told_as_bytes_leave_and_is_whole_when_all_have() {
    let mut hosts = Lab::connected();
    hosts.write(End::Client, CALL, &vec![1; STREAM_ROOM]);
    hosts.run_until(at_ms(20_000));
    let rooms: Vec<usize> = hosts.ends[0]
        .heard
        .iter()
        .filter_map(
            |(_, input)| if let StreamInput::Room { bytes, .. } = input { Some(*bytes) } else { None },
        )
        .collect();
    // Three segments are the first window.
    assert_eq!((rooms[0], rooms.last()), (3 * 1_460, Some(&STREAM_ROOM)));
    assert!(rooms.is_sorted());
    assert_eq!(hosts.data(End::Server).len(), STREAM_ROOM);
}

#[test]
fn a_host_takes_256_connections_and_no_more() {
    let mut hosts = Lab::listening(Box::new(|_, _| vec![]));
    let syn = |port: u32| {
        let src_port = 1_000 + port as u16;
        segment(&Repr { src_port, dst_port: PORT, flags: Flags::SYN, ..Repr::default() }, A, B, &[])
    };
    (0..300).for_each(|n| hosts.hear(End::Server, &syn(n)));
    assert_eq!(hosts.packets.len(), 256, "each is answered");
    // The handshakes that do not go on make room.
    hosts.run_until(at_ms(10_000));
    assert_eq!(hosts.ends[1].deadline(), None);
    let before = hosts.packets.len();
    hosts.hear(End::Server, &syn(400));
    assert_eq!(hosts.packets.len(), before + 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_both_applications_write_arrives_as_it_was_written(
        there in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4_000), 0..12),
        back in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4_000), 0..12),
        loss_pct in 0u64..10,
        dup_pct in 0u64..15,
        jitter_ms in 0u64..120,
        pause_ms in 0u64..500,
        seed in any::<u64>(),
    ) {
        let mut rng = stream(seed, Purpose::Host, 0);
        let mut hosts = Lab::near();
        hosts.connect(PORT);
        hosts.run_until(at_ms(200));
        hosts.path = Box::new(move |_, _| {
            let copies = u64::from(rng.below(100) >= loss_pct) + u64::from(rng.below(100) < dup_pct);
            (0..copies).map(|_| ms(10) + Span::from_millis(rng.below(jitter_ms + 1))).collect()
        });
        for n in 0..there.len().max(back.len()) {
            there.get(n).into_iter().for_each(|octets| hosts.write(End::Client, CALL, octets));
            back.get(n).into_iter().for_each(|octets| hosts.write(End::Server, TAKEN, octets));
            hosts.run_until(hosts.now + ms(pause_ms));
        }
        hosts.run_until(hosts.now + Span::from_secs(1_000));
        hosts.close(End::Client, CALL);
        hosts.run_until(hosts.now + Span::from_secs(1_000));
        prop_assert_eq!(hosts.data(End::Server), there.concat());
        prop_assert_eq!(hosts.data(End::Client), back.concat());
        prop_assert_eq!(hosts.ended(End::Server).map(|(_, cause)| cause), Some(StreamEnd::Finished));
        prop_assert_eq!((hosts.deadlines(), hosts.pool.live()), ([None; 2], 0));
    }
}
