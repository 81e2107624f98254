//! The TCP of two hosts: streams of applications over a path that loses, repeats and reorders.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use proptest::prelude::*;
use wayhop_core::{
    Packet, Pool, Purpose, Rng, STREAM_ROOM, Span, StreamEnd, StreamId, StreamInput, Time, stream,
};
use wayhop_transport::tcp::{HostIo, HostTcp, TcpConfig};
use wayhop_wire::ipv4;
use wayhop_wire::tcp::{Flags, Repr};

use crate::tcp::lab::{A, B, at_ms, ms, segment};

const PORT: u16 = 4_556;
const CALL: StreamId = StreamId::Opened(1);
const TAKEN: StreamId = StreamId::Accepted(1);
/// The application of either host.
const APPLICATION: u32 = 7;

/// When copies of a packet arrive. None: it is lost.
type Path = Box<dyn FnMut(&[u8]) -> Vec<Span>>;

/// Two hosts, one of which listens, and what their applications heard.
struct Hosts {
    tcp: [HostTcp; 2],
    now: Time,
    heard: [Vec<(Time, StreamInput<'static>)>; 2],
    /// Packets, as they left.
    log: Vec<Vec<u8>>,
    path: Path,
    pool: Pool,
    next_id: u64,
    ip_ids: [u16; 2],
    rng: Rng,
    air: BTreeMap<(Time, u64), (usize, Packet)>,
    arrivals: u64,
}

impl Hosts {
    fn new(config: TcpConfig, path: Path) -> Self {
        let mut tcp = [HostTcp::new(config), HostTcp::new(config)];
        tcp[1].listen(APPLICATION, PORT);
        Self {
            tcp,
            now: Time::ZERO,
            heard: [Vec::new(), Vec::new()],
            log: Vec::new(),
            path,
            pool: Pool::new(),
            next_id: 0,
            ip_ids: [0; 2],
            rng: stream(1, Purpose::Applications, 0),
            air: BTreeMap::new(),
            arrivals: 0,
        }
    }

    /// Over a path of 50 ms each way.
    fn near() -> Self {
        Self::new(TcpConfig::rfc(), Box::new(|_| vec![ms(50)]))
    }

    fn call<R>(&mut self, host: usize, f: impl FnOnce(&mut HostTcp, &mut HostIo<'_>) -> R) -> R {
        let io = &mut HostIo {
            now: self.now,
            pool: &mut self.pool,
            next_id: &mut self.next_id,
            ip_id: &mut self.ip_ids[host],
            rng: &mut self.rng,
        };
        f(&mut self.tcp[host], io)
    }

    /// The first host calls the second one at a port.
    fn connect(&mut self, port: u16) {
        let to = SocketAddr::from((B, port));
        self.call(0, |tcp, io| tcp.connect(io, APPLICATION, CALL, A.into(), to));
        self.serve(0);
    }
    /// A connection over which nothing went yet.
    fn connected() -> Self {
        let mut hosts = Self::near();
        hosts.connect(PORT);
        hosts.run_until(at_ms(1_000));
        assert!(matches!(hosts.heard[0][..], [(_, StreamInput::Connected { .. })]), "{:?}", hosts.heard[0]);
        assert!(matches!(hosts.heard[1][..], [(_, StreamInput::Accepted { .. })]), "{:?}", hosts.heard[1]);
        hosts
    }
    fn write(&mut self, host: usize, stream: StreamId, octets: &[u8]) {
        self.tcp[host].write(APPLICATION, stream, octets);
        self.serve(host);
    }
    fn close(&mut self, host: usize, stream: StreamId) {
        self.tcp[host].close(APPLICATION, stream);
        self.serve(host);
    }
    fn hear(&mut self, host: usize, packet: &[u8]) {
        self.call(host, |tcp, io| tcp.on_packet(io, packet));
        self.serve(host);
    }

    /// Takes events and packets until there are none.
    fn serve(&mut self, host: usize) {
        loop {
            while let Some((owner, input)) = self.tcp[host].event() {
                assert_eq!(owner, APPLICATION);
                self.heard[host].push((self.now, input));
            }
            self.call(host, HostTcp::flush);
            let before = self.log.len();
            while let Some((_, p)) = self.tcp[host].packet() {
                self.log.push(p.bytes().to_vec());
                for delay in (self.path)(p.bytes()) {
                    self.arrivals += 1;
                    let copy = self.pool.copy(&p);
                    self.air.insert((self.now + delay, self.arrivals), (1 - host, copy));
                }
                self.pool.recycle(p);
            }
            if self.log.len() == before {
                break;
            }
        }
    }

    fn run_until(&mut self, end: Time) {
        loop {
            let arrival = self.air.first_key_value().map(|(k, _)| k.0);
            let timer = (0..2).filter_map(|i| Some((self.tcp[i].deadline()?, i))).min();
            let next = arrival.into_iter().chain(timer.map(|t| t.0)).min();
            let Some(next) = next.filter(|t| *t <= end) else { break };
            self.now = self.now.max(next);
            if arrival == Some(next) {
                let (_, (host, p)) = self.air.pop_first().expect("one arrives");
                self.hear(host, p.bytes());
                self.pool.recycle(p);
            } else if let Some((_, host)) = timer {
                self.call(host, HostTcp::on_timer);
                self.serve(host);
            }
        }
        self.now = end;
    }

    fn data(&self, host: usize) -> Vec<u8> {
        let data = self.heard[host].iter().filter_map(|(_, input)| match input {
            StreamInput::Data { data, .. } => Some(&data[..]),
            _ => None,
        });
        data.flatten().copied().collect()
    }
    /// When and why the stream ended for a host's application.
    fn end(&self, host: usize) -> Option<(Time, StreamEnd)> {
        let end = |(at, input): &(Time, StreamInput<'_>)| match input {
            StreamInput::Closed { cause, .. } => Some((*at, *cause)),
            _ => None,
        };
        let ends: Vec<_> = self.heard[host].iter().filter_map(end).collect();
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
    let mut hosts = Hosts::connected();
    hosts.write(0, CALL, b"a question");
    hosts.run_until(at_ms(2_000));
    assert_eq!(hosts.data(1), b"a question");
    hosts.write(1, TAKEN, b"an answer");
    hosts.close(1, TAKEN);
    hosts.run_until(at_ms(3_000));
    assert_eq!(
        (hosts.data(0), hosts.end(0)),
        (b"an answer".to_vec(), Some((at_ms(2_050), StreamEnd::Finished)))
    );
    assert_eq!(hosts.end(1), None, "no more events about a closed stream");
    // The end that closed first waits in TIME-WAIT, in case the last acknowledgement is lost.
    assert_eq!(hosts.tcp[0].deadline(), None);
    assert!(hosts.tcp[1].deadline().is_some_and(|at| at > at_ms(60_000)));
    hosts.run_until(at_ms(100_000));
    assert_eq!((hosts.tcp[1].deadline(), hosts.pool.live()), (None, 0));
}

#[test]
fn nobody_listens_there_is_told_after_a_round_trip() {
    let mut hosts = Hosts::near();
    hosts.connect(PORT + 1);
    hosts.run_until(at_ms(20_000));
    assert_eq!(hosts.end(0), Some((at_ms(100), StreamEnd::Unreachable)));
    assert_eq!(hosts.log.len(), 2);
    // RFC 9293 section 3.10.7.1: a SYN without ACK is answered by sequence number 0, and is acknowledged.
    let (syn, reset) = (header(&hosts.log[0]), header(&hosts.log[1]));
    assert_eq!(
        (reset.flags, reset.seq, reset.ack),
        (Flags::RST.with(Flags::ACK), 0, syn.seq.wrapping_add(1))
    );
}

#[test]
fn a_host_that_does_not_answer_is_unreachable_after_ten_seconds() {
    let mut hosts = Hosts::new(TcpConfig::rfc(), Box::new(|_| vec![]));
    hosts.connect(PORT);
    hosts.run_until(at_ms(60_000));
    assert_eq!(hosts.end(0), Some((at_ms(10_000), StreamEnd::Unreachable)));
    assert_eq!(hosts.log.len(), 4, "SYNs at 0, 1, 3 and 7 s");
}

#[test]
fn a_stream_breaks_when_nothing_was_acknowledged_for_a_hundred_seconds() {
    let mut hosts = Hosts::connected();
    hosts.path = Box::new(|_| vec![]);
    hosts.write(0, CALL, b"into the void");
    hosts.run_until(at_ms(300_000));
    assert_eq!(hosts.end(0), Some((at_ms(101_000), StreamEnd::Broken)));
    assert_eq!(hosts.end(1), None, "an idle end cannot know");
}

#[test]
fn a_host_that_lost_its_memory_answers_with_a_reset_and_the_peers_stream_breaks() {
    let mut hosts = Hosts::connected();
    hosts.tcp[1].lose();
    hosts.write(0, CALL, b"hello?");
    hosts.run_until(at_ms(5_000));
    assert_eq!(hosts.end(0), Some((at_ms(1_100), StreamEnd::Broken)));
    assert!(hosts.data(1).is_empty() && hosts.end(1).is_none());
    assert_eq!(hosts.tcp[0].deadline(), None);
}

#[test]
fn only_a_reset_within_the_window_ends_a_stream() {
    let mut hosts = Hosts::connected();
    let (syn, answer) = (header(&hosts.log[0]), header(&hosts.log[1]));
    let forged = |seq: u32| {
        let (src_port, dst_port) = (answer.src_port, answer.dst_port);
        let r = Repr { src_port, dst_port, seq, ack: syn.seq, flags: Flags::RST, ..Repr::default() };
        segment(&r, B, A, &[])
    };
    let expected = answer.seq.wrapping_add(1);
    for off in [u32::MAX, 1 << 20, 1 << 31] {
        hosts.hear(0, &forged(expected.wrapping_add(off)));
        assert_eq!(hosts.end(0), None, "{off}");
    }
    hosts.hear(0, &forged(expected));
    assert_eq!(hosts.end(0), Some((at_ms(1_000), StreamEnd::Broken)));
}

#[test]
fn room_is_told_as_bytes_leave_and_is_whole_when_all_have() {
    let mut hosts = Hosts::connected();
    hosts.write(0, CALL, &vec![1; STREAM_ROOM]);
    hosts.run_until(at_ms(20_000));
    let rooms: Vec<usize> = hosts.heard[0]
        .iter()
        .filter_map(
            |(_, input)| if let StreamInput::Room { bytes, .. } = input { Some(*bytes) } else { None },
        )
        .collect();
    // Three segments are the first window.
    assert_eq!((rooms[0], rooms.last()), (3 * 1_460, Some(&STREAM_ROOM)));
    assert!(rooms.is_sorted());
    assert_eq!(hosts.data(1).len(), STREAM_ROOM);
}

#[test]
fn a_host_takes_256_connections_and_no_more() {
    let mut hosts = Hosts::new(TcpConfig::rfc(), Box::new(|_| vec![]));
    let syn = |port: u32| {
        let src_port = 1_000 + port as u16;
        segment(&Repr { src_port, dst_port: PORT, flags: Flags::SYN, ..Repr::default() }, A, B, &[])
    };
    (0..300).for_each(|n| hosts.hear(1, &syn(n)));
    assert_eq!(hosts.log.len(), 256, "each is answered");
    // The handshakes that do not go on make room.
    hosts.run_until(at_ms(10_000));
    assert_eq!(hosts.tcp[1].deadline(), None);
    let before = hosts.log.len();
    hosts.hear(1, &syn(400));
    assert_eq!(hosts.log.len(), before + 1);
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
        let mut hosts = Hosts::near();
        hosts.connect(PORT);
        hosts.run_until(at_ms(200));
        hosts.path = Box::new(move |_| {
            let copies = u64::from(rng.below(100) >= loss_pct) + u64::from(rng.below(100) < dup_pct);
            (0..copies).map(|_| ms(10) + Span::from_millis(rng.below(jitter_ms + 1))).collect()
        });
        for n in 0..there.len().max(back.len()) {
            there.get(n).into_iter().for_each(|octets| hosts.write(0, CALL, octets));
            back.get(n).into_iter().for_each(|octets| hosts.write(1, TAKEN, octets));
            hosts.run_until(hosts.now + ms(pause_ms));
        }
        hosts.run_until(hosts.now + Span::from_secs(1_000));
        hosts.close(0, CALL);
        hosts.run_until(hosts.now + Span::from_secs(1_000));
        prop_assert_eq!(hosts.data(1), there.concat());
        prop_assert_eq!(hosts.data(0), back.concat());
        prop_assert_eq!(hosts.end(1).map(|(_, cause)| cause), Some(StreamEnd::Finished));
        prop_assert_eq!((hosts.tcp[0].deadline(), hosts.tcp[1].deadline(), hosts.pool.live()), (None, None, 0));
    }
}
