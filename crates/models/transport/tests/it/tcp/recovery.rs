//! Losses: retransmissions. The test plays the peer.

use wayhop_core::Span;
use wayhop_transport::tcp::{NoteKind, RtoConfig, TcpConfig, Variant};

use crate::tcp::lab::{End, Lab, MSS, at_ms, endless, ms};

fn config(variant: Variant) -> TcpConfig {
    TcpConfig { variant, ..endless() }
}

fn with_ten_under_way(variant: Variant) -> Lab {
    Lab::with_ten_under_way(config(variant))
}

#[test]
fn slow_start_doubles_and_congestion_avoidance_adds_one_a_round_trip() {
    // RFC 5681 section 3.1, with a threshold of 4 after a loss of 8 under way.
    let mut lab = Lab::alone(TcpConfig { initial_window: 8, ..config(Variant::Reno) });
    assert_eq!(lab.fresh(MSS), (0..8).collect::<Vec<_>>());
    lab.run_for(Span::from_secs(2));
    assert_eq!(lab.end(End::Client).counts().timeouts, 1);
    assert_eq!((lab.fresh(MSS), lab.end(End::Client).window()), (vec![0], 1.0));
    // One segment acknowledged: 2; two more: 4; then a round trip of four acknowledgements adds about one.
    lab.ack(MSS);
    assert_eq!(lab.end(End::Client).window(), 2.0);
    lab.ack(2 * MSS);
    lab.ack(3 * MSS);
    assert_eq!(lab.end(End::Client).window(), 4.0);
    for n in 4..8 {
        lab.ack(n * MSS);
    }
    let window = lab.end(End::Client).window();
    assert!((4.9..5.0).contains(&window), "{window}");
}

#[test]
fn reno_retransmits_at_the_third_duplicate_and_recovers_with_half_the_window() {
    let mut lab = with_ten_under_way(Variant::Reno);
    // Limited transmit (RFC 3042): a new segment for each of the first two.
    lab.ack(7 * MSS);
    lab.ack(7 * MSS);
    assert_eq!(lab.fresh(MSS), [17, 18]);
    // The third: the first segment that is missing. 12 are under way, half of them is the threshold.
    lab.ack(7 * MSS);
    assert_eq!(lab.fresh(MSS), [7]);
    assert_eq!(lab.end(End::Client).window(), 6.0);
    // The window is inflated by each further one: 6 + 3 + 3 = 12 are under way; the fourth lets a new one out.
    for _ in 0..3 {
        lab.ack(7 * MSS);
        assert!(lab.fresh(MSS).is_empty());
    }
    lab.ack(7 * MSS);
    assert_eq!(lab.fresh(MSS), [19]);
    // A new acknowledgement deflates it to the threshold.
    lab.ack(20 * MSS);
    assert_eq!(lab.end(End::Client).window(), 6.0);
    assert_eq!(lab.fresh(MSS), (20..26).collect::<Vec<_>>());
    assert_eq!(lab.end(End::Client).counts().timeouts, 0);
}

#[test]
fn tahoe_starts_anew_with_one_segment_at_the_third_duplicate() {
    let mut lab = with_ten_under_way(Variant::Tahoe);
    for _ in 0..3 {
        lab.ack(7 * MSS);
    }
    assert_eq!(lab.fresh(MSS), [17, 18, 7]);
    assert_eq!(lab.end(End::Client).window(), 1.0);
    lab.ack(9 * MSS);
    assert_eq!(lab.fresh(MSS), [9, 10], "it goes on from what is acknowledged");
}

#[test]
fn newreno_fills_a_hole_at_each_partial_acknowledgement() {
    let mut lab = with_ten_under_way(Variant::NewReno);
    // Segments 7 and 9 are lost of 7 to 18.
    for _ in 0..3 {
        lab.ack(7 * MSS);
    }
    assert_eq!(lab.fresh(MSS), [17, 18, 7]);
    for _ in 0..7 {
        lab.ack(7 * MSS);
    }
    lab.fresh(MSS);
    // 7 has arrived: everything before 9. RFC 6582 section 3.2 step 3: resend 9, stay in recovery.
    lab.ack(9 * MSS);
    assert_eq!(lab.fresh(MSS)[0], 9);
    assert_eq!(lab.end(End::Client).counts().fast_retransmits, 1);
    // All that was under way at the loss is acknowledged: recovery ends with the threshold as its window.
    lab.ack(30 * MSS);
    lab.run_for(ms(1));
    assert_eq!(lab.end(End::Client).window(), 6.0);
    assert_eq!(lab.end(End::Client).counts().timeouts, 0);
}

#[test]
fn reno_leaves_recovery_at_a_partial_acknowledgement_and_waits_for_the_timer() {
    let mut lab = with_ten_under_way(Variant::Reno);
    for _ in 0..10 {
        lab.ack(7 * MSS);
    }
    lab.fresh(MSS);
    lab.ack(9 * MSS);
    assert!(!lab.fresh(MSS).contains(&9), "9 is not sent again");
    lab.run_for(Span::from_secs(2));
    assert_eq!(lab.end(End::Client).counts().timeouts, 1);
    assert_eq!(lab.fresh(MSS)[0], 9);
}

#[test]
fn sack_fills_every_hole_in_one_round_trip() {
    let mut lab = with_ten_under_way(Variant::Sack);
    // 7, 9 and 11 of 7 to 16 are lost.
    lab.ack_with(7 * MSS, &[(8 * MSS, 9 * MSS)], 0xffff);
    lab.ack_with(7 * MSS, &[(10 * MSS, 11 * MSS), (8 * MSS, 9 * MSS)], 0xffff);
    assert_eq!(lab.fresh(MSS), [17, 18], "limited transmit");
    let blocks = |to: i64| [(12 * MSS, to * MSS), (10 * MSS, 11 * MSS), (8 * MSS, 9 * MSS)];
    lab.ack_with(7 * MSS, &blocks(13), 0xffff);
    assert_eq!(lab.fresh(MSS), [7], "the third duplicate");
    assert_eq!(lab.end(End::Client).selectively_acked(), 3 * MSS as u64);
    // Window 6. As acknowledgements come the pipe drains below it, and holes go before new data.
    let mut sent = Vec::new();
    for to in 14..=19 {
        lab.ack_with(7 * MSS, &blocks(to), 0xffff);
        sent.extend(lab.fresh(MSS));
    }
    assert_eq!(sent[..2], [9, 11], "RFC 6675 rule 1, before rule 2");
    assert!(sent[2..].iter().all(|s| *s >= 19), "{sent:?}");
    lab.ack(19 * MSS);
    let c = lab.end(End::Client).counts();
    assert_eq!((c.fast_retransmits, c.timeouts, c.retransmissions), (1, 0, 3));
}

#[test]
fn the_timer_doubles_at_each_expiry_and_karns_rule_keeps_it_until_a_segment_is_measured() {
    let mut lab = Lab::alone(config(Variant::Reno));
    lab.run_until(at_ms(16_000));
    // RFC 6298: 1 s, then doubled: at 1, 3, 7, 15 s.
    let resends: Vec<_> = lab.sends().into_iter().filter(|s| s.1 == 0).map(|s| s.0).collect();
    assert_eq!(resends, [0, 1_000, 3_000, 7_000, 15_000]);
    // An acknowledgement of what was sent again measures nothing (Karn): the timeout stays at 16 s.
    lab.ack(MSS);
    assert_eq!(lab.end(End::Client).srtt(), None);
    assert_eq!(lab.end(End::Client).rto(), Span::from_secs(16));
    lab.run_for(ms(50));
    // Once new data is acknowledged there is a measurement, and the back-off ends.
    lab.ack(3 * MSS);
    lab.run_for(ms(80));
    lab.ack(5 * MSS);
    assert_eq!(lab.end(End::Client).srtt(), Some(ms(80)));
    assert_eq!(lab.end(End::Client).rto(), Span::from_secs(1), "the least");
}

#[test]
fn a_timeout_of_the_same_data_leaves_the_threshold_alone() {
    let mut lab = with_ten_under_way(Variant::Reno);
    lab.run_for(Span::from_secs(8));
    let thresholds: Vec<f32> =
        lab.notes.iter().filter(|(_, n)| n.kind == NoteKind::Timeout).map(|(_, n)| n.threshold).collect();
    // RFC 5681 equation 4 once: half of ten.
    assert_eq!(thresholds, [5.0, 5.0, 5.0]);
}

#[test]
fn duplicates_after_a_timeout_start_no_fast_retransmit() {
    let mut lab = with_ten_under_way(Variant::NewReno);
    lab.run_for(Span::from_secs(2));
    lab.fresh(MSS);
    for _ in 0..5 {
        lab.ack(7 * MSS);
    }
    // RFC 6582 section 3.2 step 2: nothing beyond the recovery point was acknowledged.
    assert_eq!(lab.end(End::Client).counts().fast_retransmits, 0);
}

#[test]
fn a_closed_window_is_probed_with_one_octet_until_it_opens() {
    let mut lab = Lab::alone(config(Variant::Reno));
    lab.fresh(MSS);
    lab.ack_with(3 * MSS, &[], 0);
    assert!(lab.fresh(MSS).is_empty());
    let (from, timeout) = (lab.now, lab.end(End::Client).rto());
    lab.run_for(Span::from_secs(8));
    let probes: Vec<_> = lab.log.iter().map(|s| (s.at.since(from), s.seq, s.len)).collect();
    // RFC 9293 section 3.8.6.1: at the retransmission timeout, at growing intervals.
    let expected = [1, 3, 7].map(|k| (timeout * k, 3 * MSS, 1));
    assert_eq!(probes, expected);
    lab.log.clear();
    // The receiver took the octet, and its window has opened.
    lab.ack_with(3 * MSS + 1, &[], 0xffff);
    assert_eq!(lab.log[0].seq, 3 * MSS + 1);
    assert!(lab.log[0].len == MSS as usize);
}

#[test]
fn a_sender_obeys_the_receivers_window() {
    let mut lab = Lab::alone(TcpConfig { initial_window: 10, ..config(Variant::Reno) });
    lab.fresh(MSS);
    lab.ack_with(10 * MSS, &[], 250);
    assert_eq!(lab.fresh(MSS), [10, 11], "two whole segments, and no half of one");
}

#[test]
fn ns_2s_clock_and_halving_are_another_profile() {
    let ns2 = TcpConfig { segment_bytes: MSS as u32, window_segments: 32, ..TcpConfig::ns2() };
    let mut lab = Lab::alone(ns2);
    assert_eq!(lab.fresh(MSS), [0, 1]);
    // rtxcur_init_ of 3 s, doubled.
    lab.run_until(at_ms(22_000));
    let resends: Vec<_> = lab.sends().into_iter().filter(|s| s.1 == 0).map(|s| s.0).collect();
    assert_eq!(resends, [3_000, 9_000, 21_000]);
    assert_eq!(RtoConfig::ns2().max, Span::from_secs(60));
}
