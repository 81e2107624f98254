//! The stream arrives as it was sent, with any network.

use proptest::prelude::*;
use wayhop_core::{Purpose, Span, stream};
use wayhop_transport::tcp::{App, TcpConfig, Variant, stream as octets};
use wayhop_wire::tcp::{Flags, Repr};

use crate::tcp::lab::{A, B, End, Lab, at_ms, ms, segment};

fn file(variant: Variant, bytes: u64) -> TcpConfig {
    TcpConfig { variant, app: App::Bulk { bytes: Some(bytes) }, ..TcpConfig::rfc() }
}

#[test]
fn a_connection_opens_carries_a_file_and_closes() {
    let mut lab = Lab::losing(file(Variant::Reno, 10_000), |_| false);
    lab.start();
    lab.run_until(at_ms(3_000));
    // SYN, SYN with ACK, data with the ACK of the handshake (RFC 9293, section 3.5); round trips of 100 ms.
    let first: Vec<_> = lab.log.iter().take(3).map(|s| (s.at, s.from, s.syn, s.seq, s.len)).collect();
    assert_eq!(first[0], (at_ms(0), End::Client, true, -1, 0));
    assert_eq!(first[1], (at_ms(50), End::Server, true, -1, 0));
    assert_eq!(first[2], (at_ms(100), End::Client, false, 0, 1_460));
    assert_eq!(lab.got[End::Server as usize].len(), 10_000);
    assert!(lab.end(End::Client).is_done() && lab.end(End::Server).is_done(), "both streams have ended");
    // The last segment carries the end of the stream; everything was sent once.
    let data: Vec<_> = lab.log.iter().filter(|s| s.from == End::Client && s.len > 0).collect();
    assert_eq!(data.len(), 7);
    assert!(data[6].fin && data[6].len == 10_000 - 6 * 1_460);
    assert_eq!(lab.end(End::Client).counts().retransmissions, 0);
}

#[test]
fn an_answer_comes_for_each_request_and_the_client_thinks_in_between() {
    let app = App::Requests { request_bytes: 300, response_bytes: 4_000, think: ms(500) };
    let mut lab = Lab::losing(TcpConfig { app, ..TcpConfig::rfc() }, |_| false);
    lab.start();
    lab.run_until(at_ms(10_000));
    let answers = lab.end(End::Client).delivered() / 4_000;
    // 500 ms of thought and a round trip of 100 ms are the least; 200 ms more where an acknowledgement waits.
    assert!((12..=17).contains(&answers), "{answers}");
    assert_eq!(lab.got[0].len() as u64, answers * 4_000);
    assert!(lab.got[1].len() as u64 >= answers * 300);
}

#[test]
fn an_on_off_source_writes_its_rate_while_it_is_on() {
    let app = App::OnOff { bytes_per_s: 20_000.0, on: ms(1_000), off: ms(1_000) };
    let mut lab = Lab::losing(TcpConfig { app, ..TcpConfig::rfc() }, |_| false);
    lab.start();
    lab.run_until(at_ms(200_000));
    // Half of the time on: 2 MB. Of 100 cycles the mean has a standard error of 7 %.
    let got = lab.got[1].len();
    assert!((1_500_000..2_500_000).contains(&got), "{got}");
}

#[test]
fn without_a_handshake_the_first_segment_leaves_at_once() {
    let mut lab = Lab::losing(TcpConfig { handshake: false, ..file(Variant::Reno, 5_000) }, |_| false);
    lab.start();
    lab.run_until(at_ms(2_000));
    assert_eq!(lab.sends()[0], (0, 0));
    assert_eq!(lab.got[1].len(), 5_000);
}

#[test]
fn a_lost_syn_is_sent_again_after_the_initial_timeout_and_the_data_begins_with_one_segment() {
    let mut syns = 0;
    let config = TcpConfig { delayed_ack: None, ..file(Variant::Reno, 20_000) };
    let mut lab = Lab::losing(config, move |s| {
        syns += u32::from(s.syn && s.from == End::Client);
        s.syn && syns <= 2
    });
    lab.start();
    lab.run_until(at_ms(20_000));
    let syns: Vec<_> = lab.log.iter().filter(|s| s.syn && s.from == End::Client).map(|s| s.at).collect();
    assert_eq!(syns, [at_ms(0), at_ms(1_000), at_ms(3_000)]);
    let data = lab.sends();
    assert_eq!(data[..2].iter().map(|d| d.0).collect::<Vec<_>>(), [3_100, 3_200], "one segment, then more");
    assert_eq!(lab.got[1].len(), 20_000);
}

#[test]
fn delayed_acknowledgements_come_for_every_second_segment_and_at_once_for_a_gap() {
    let config = TcpConfig { delayed_ack: Some(ms(200)), ..file(Variant::Reno, 1_460 * 40) };
    let mut lab = Lab::losing(config, |s| s.seq == 14_600 && s.at < at_ms(460) && s.len > 0);
    lab.start();
    lab.run_until(at_ms(400));
    let acks = lab.log.iter().filter(|s| s.from == End::Server && !s.syn).count();
    let data = lab.log.iter().filter(|s| s.from == End::Client && s.len > 0 && s.at < at_ms(350)).count();
    assert!(acks <= data / 2 + 1, "{acks} for {data}");
    lab.run_until(at_ms(10_000));
    let duplicates = lab.log.iter().filter(|s| s.from == End::Server && s.ack == 14_600).count();
    assert!(duplicates >= 4, "each segment beyond the gap is acknowledged at once: {duplicates}");
    assert_eq!(lab.got[1].len(), 1_460 * 40);
}

#[test]
fn a_broken_segment_is_never_accepted() {
    let config = TcpConfig { handshake: false, ..file(Variant::Reno, 100_000) };
    let mut n = 0;
    let path = move |_: &crate::tcp::lab::Seen, p: &mut wayhop_core::Packet| {
        n += 1;
        if n % 7 == 0 {
            let last = p.len() - 1;
            p.bytes_mut()[last] ^= 1 << (n % 8);
        }
        vec![ms(20)]
    };
    let mut lab = Lab::new(config, Box::new(path));
    lab.start();
    lab.run_until(at_ms(1_000_000));
    assert_stream(&lab.got[1], 100_000);
    assert!(lab.end(End::Client).counts().retransmissions > 0, "the broken ones");
}

#[test]
fn octets_outside_of_the_window_are_never_accepted() {
    let config = TcpConfig { window_segments: 4, segment_bytes: 100, ..file(Variant::Reno, 10_000) };
    let mut lab = Lab::new(TcpConfig { handshake: false, ..config }, Box::new(|_, _| vec![]));
    lab.start();
    let (base, ack) = first_numbers(&lab);
    let lie = |seq: u32, len: usize| {
        let r = Repr {
            src_port: wayhop_transport::DEFAULT_PORT,
            dst_port: wayhop_transport::DEFAULT_PORT,
            seq: base.wrapping_add(seq),
            ack,
            flags: Flags::ACK,
            window: 400,
            ..Repr::default()
        };
        segment(&r, A, B, &vec![0xee; len])
    };
    // The window is [0, 400): beyond it, far beyond, before the stream, and across its end.
    for (seq, len) in [(400, 100), (1 << 30, 100), (u32::MAX - 200, 100), (350, 100)] {
        lab.hear(End::Server, &lie(seq, len));
    }
    assert!(lab.got[1].is_empty());
    let mut octets_350 = vec![0; 350];
    octets::fill(0, &mut octets_350);
    let mut honest = lie(0, 350);
    let head = honest.len() - 350;
    honest[head..].copy_from_slice(&octets_350);
    fix(&mut honest);
    lab.hear(End::Server, &honest);
    assert_eq!(lab.got[1].len(), 400, "what fitted into the window, and no more");
    assert_eq!(lab.got[1][..350], octets_350);
}

/// The sequence number of the client's first octet and what it expects of the server.
fn first_numbers(lab: &Lab) -> (u32, u32) {
    let ip = wayhop_wire::ipv4::Packet::new_checked(&lab.packets[0].1).expect("it is IP");
    let r = Repr::parse(ip.payload(), A, B).expect("it is TCP");
    (r.seq, r.ack)
}

/// Recomputes the checksum.
fn fix(packet: &mut [u8]) {
    let ip = wayhop_wire::ipv4::Packet::new_checked(packet).expect("it is IP");
    let s = wayhop_wire::tcp::Packet::new_checked(ip.payload()).expect("it is TCP");
    let r = Repr {
        src_port: s.src_port(),
        dst_port: s.dst_port(),
        seq: s.seq(),
        ack: s.ack(),
        flags: s.flags(),
        window: s.window(),
        ..Repr::default()
    };
    r.emit(&mut packet[20..], A, B);
}

fn assert_stream(got: &[u8], len: usize) {
    let mut sent = vec![0; len];
    octets::fill(0, &mut sent);
    assert!(
        got == sent,
        "{} octets arrived of {len}, the first wrong one at {:?}",
        got.len(),
        got.iter().zip(&sent).position(|(a, b)| a != b)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_exact_stream_arrives_under_loss_duplication_and_reordering(
        variant in prop::sample::select(Variant::ALL.to_vec()),
        ns2 in any::<bool>(),
        delayed in any::<bool>(),
        handshake in any::<bool>(),
        bytes in 1u64..120_000,
        segment_bytes in 40u32..1_460,
        window in 1u32..40,
        loss_pct in 0u64..25,
        dup_pct in 0u64..15,
        jitter_ms in 0u64..120,
        seed in any::<u64>(),
    ) {
        let base = if ns2 { TcpConfig::ns2() } else { TcpConfig::rfc() };
        let config = TcpConfig {
            segment_bytes,
            window_segments: window,
            handshake,
            delayed_ack: delayed.then_some(ms(100)),
            app: App::Bulk { bytes: Some(bytes) },
            variant,
            ..base
        };
        let mut rng = stream(seed, Purpose::Host, 0);
        let path = move |_: &crate::tcp::lab::Seen, _: &mut wayhop_core::Packet| {
            let copies = u64::from(rng.below(100) >= loss_pct) + u64::from(rng.below(100) < dup_pct);
            (0..copies).map(|_| ms(10) + Span::from_millis(rng.below(jitter_ms + 1))).collect()
        };
        let mut lab = Lab::new(config, Box::new(path));
        lab.start();
        for _ in 0..400 {
            lab.run_for(Span::from_secs(100));
            if lab.end(End::Client).is_done() {
                break;
            }
        }
        assert_stream(&lab.got[1], bytes as usize);
        prop_assert!(lab.end(End::Client).is_done(), "and the sender knows it");
    }
}
