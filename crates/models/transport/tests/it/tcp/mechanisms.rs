//! What was proposed for mobile networks: notices of lost routes, fixed timeouts, windows by path length, pacing.

use wayhop_core::{Packet, Span};
use wayhop_transport::tcp::{Failure, NoteKind, Pacing, RtoConfig, TcpConfig};
use wayhop_wire::ipv4;

use crate::tcp::lab::{End, Lab, MSS, Seen, at_ms, endless, ms};

const PROBE: Span = Span::from_secs(2);

fn config(failure: Failure) -> TcpConfig {
    TcpConfig { failure, ..endless() }
}

fn under_way(failure: Failure) -> Lab {
    Lab::with_ten_under_way(config(failure))
}

#[test]
fn elfn_stops_the_timer_probes_every_two_seconds_and_goes_on_with_window_and_timeout_as_they_were() {
    let mut lab = under_way(Failure::Elfn { probe: PROBE, halve: false });
    let (window, rto, from) = (lab.end(End::Client).window(), lab.end(End::Client).rto(), lab.now);
    lab.unreachable(9 * MSS);
    assert!(lab.end(End::Client).is_frozen());
    lab.run_for(Span::from_secs(9));
    let probes: Vec<_> = lab.log.iter().map(|s| (s.at.since(from), s.seq / MSS)).collect();
    assert_eq!(probes, [2, 4, 6, 8].map(|s| (Span::from_secs(s), 7)));
    assert_eq!(lab.end(End::Client).counts().timeouts, 0);
    assert_eq!((lab.end(End::Client).window(), lab.end(End::Client).rto()), (window, rto));
    lab.log.clear();
    // The probe arrived: what was under way when the route broke is sent again, as far as the window goes.
    lab.ack(8 * MSS);
    assert!(!lab.end(End::Client).is_frozen());
    assert_eq!(lab.fresh(MSS), (8..19).collect::<Vec<_>>());
    assert_eq!(lab.end(End::Client).rto(), rto);
}

#[test]
fn elfn_may_halve_the_window() {
    let mut lab = under_way(Failure::Elfn { probe: PROBE, halve: true });
    lab.unreachable(7 * MSS);
    lab.run_for(Span::from_secs(3));
    lab.fresh(MSS);
    lab.ack(8 * MSS);
    // Half of ten, and one fifth for the acknowledgement.
    assert!((lab.end(End::Client).window() - 5.2).abs() < 1e-9, "{}", lab.end(End::Client).window());
    assert_eq!(lab.fresh(MSS), (8..13).collect::<Vec<_>>());
}

#[test]
fn an_acknowledgement_before_the_first_probe_ends_standby_without_resending() {
    let mut lab = under_way(Failure::Elfn { probe: PROBE, halve: false });
    lab.unreachable(9 * MSS);
    lab.run_for(ms(100));
    // A segment that was salvaged got through.
    lab.ack(8 * MSS);
    assert!(!lab.end(End::Client).is_frozen());
    assert_eq!(lab.fresh(MSS), [17, 18], "new ones");
}

#[test]
fn a_notice_about_what_is_not_under_way_is_not_believed() {
    for octet in [0, 6 * MSS, 17 * MSS, 1 << 30] {
        let mut lab = under_way(Failure::Elfn { probe: PROBE, halve: false });
        lab.unreachable(octet);
        assert!(!lab.end(End::Client).is_frozen(), "{octet}");
    }
}

#[test]
fn standard_tcp_ignores_notices() {
    let mut lab = under_way(Failure::Ignore);
    lab.unreachable(7 * MSS);
    lab.run_for(Span::from_secs(2));
    assert_eq!(lab.end(End::Client).counts().timeouts, 1);
}

#[test]
fn tcp_f_has_one_segment_look_for_the_route_and_waits_for_it() {
    let mut lab = under_way(Failure::Freeze { longest: Span::from_secs(30) });
    let from = lab.now;
    lab.unreachable(7 * MSS);
    lab.run_for(Span::from_secs(20));
    let sent: Vec<_> = lab.log.iter().map(|s| (s.at, s.seq / MSS)).collect();
    assert_eq!(sent, [(from, 7)]);
    // Its route failure timer runs out: the sender goes on as if nothing had been said.
    lab.run_for(ms(10_500));
    assert!(!lab.end(End::Client).is_frozen());
    assert_eq!(lab.count(NoteKind::Resume), 1);
    assert_eq!(lab.log[1].at.since(from), Span::from_secs(30));
    assert_eq!(lab.end(End::Client).window(), 10.0);
}

#[test]
fn an_unreachable_of_the_segment_that_timed_out_reverts_the_back_off() {
    // RFC 6069: the timer ran out after 1 s, and would again after 2.
    let mut lab = Lab::alone(config(Failure::Revert));
    lab.run_until(at_ms(1_000));
    assert_eq!(lab.end(End::Client).rto(), Span::from_secs(2));
    lab.run_until(at_ms(1_100));
    lab.unreachable(0);
    assert_eq!(lab.end(End::Client).rto(), Span::from_secs(1));
    lab.run_until(at_ms(2_050));
    // One second after the retransmission, not two.
    assert_eq!(
        lab.sends().into_iter().filter(|s| s.1 == 0).map(|s| s.0).collect::<Vec<_>>(),
        [0, 1_000, 2_000]
    );
    // One that is not about the first segment changes nothing.
    lab.unreachable(MSS);
    assert_eq!(lab.end(End::Client).rto(), Span::from_secs(2));
}

#[test]
fn a_fixed_timeout_repeats_after_the_first_doubling() {
    let rto = RtoConfig { fixed: true, ..RtoConfig::rfc() };
    let mut lab = Lab::alone(TcpConfig { rto, ..config(Failure::Ignore) });
    lab.run_until(at_ms(9_500));
    let resends: Vec<_> = lab.sends().into_iter().filter(|s| s.1 == 0).map(|s| s.0).collect();
    assert_eq!(resends, [0, 1_000, 3_000, 5_000, 7_000, 9_000]);
}

#[test]
fn the_window_is_bounded_by_the_length_of_the_path() {
    // A test's packets make one hop; half a window a hop would be none, and one is the least.
    let mut lab = Lab::alone(TcpConfig { window_per_hop: Some(0.5), ..config(Failure::Ignore) });
    lab.fresh(MSS);
    for acked in 1..=3 {
        lab.ack(acked * MSS);
    }
    assert_eq!(lab.fresh(MSS), [3]);
    let mut lab = Lab::alone(TcpConfig { window_per_hop: Some(4.0), ..config(Failure::Ignore) });
    for acked in 1..=20 {
        lab.ack(acked * MSS);
    }
    assert_eq!(lab.fresh(MSS).last(), Some(&23));
}

#[test]
fn a_paced_sender_leaves_the_time_of_four_hops_between_segments() {
    // 1000 octets at 1 Mb/s over ten hops: round trips of 100 ms that never vary give four times
    // (100 / 10 - 8.32 - 0.32) / 2 + 8.32 = 9 ms.
    let config = TcpConfig {
        segment_bytes: 1_000,
        pacing: Some(Pacing { bandwidth_bps: 1e6 }),
        ..config(Failure::Ignore)
    };
    let ten_hops = |_: &Seen, p: &mut Packet| {
        ipv4::set_ttl(p.bytes_mut(), 64 - 9).expect("it is IP");
        vec![ms(50)]
    };
    let mut lab = Lab::new(config, Box::new(ten_hops));
    lab.start();
    lab.run_until(at_ms(20_000));
    let sends = lab.sends();
    let gaps: Vec<u64> = sends.windows(2).skip(20).map(|w| w[1].0 - w[0].0).collect();
    assert!(gaps.len() > 300 && gaps.iter().all(|g| (36..=37).contains(g)), "{gaps:?}");
}

#[test]
fn a_paced_sender_leaves_no_more_than_a_round_trip_between_segments() {
    // Over one hop the same round trip would give 216 ms.
    let pacing = Some(Pacing { bandwidth_bps: 1e6 });
    let config = TcpConfig { segment_bytes: 1_000, pacing, ..config(Failure::Ignore) };
    let mut lab = Lab::losing(config, |_| false);
    lab.start();
    lab.run_until(at_ms(20_000));
    let sends = lab.sends();
    assert!(sends.windows(2).skip(20).all(|w| w[1].0 - w[0].0 == 100), "{sends:?}");
}

#[test]
fn the_published_failure_has_sends_at_0_6_18_42_and_90_seconds() {
    // Holland and Vaidya's trace: a timeout of 6 s at the time of the failure, and then no route for 120 s.
    let rto = RtoConfig { initial: Span::from_secs(6), ..RtoConfig::ns2() };
    let mut lab = Lab::alone(TcpConfig { rto, ..TcpConfig::ns2() });
    lab.run_until(at_ms(120_000));
    let first: Vec<_> = lab.sends().into_iter().filter(|s| s.1 == 0).map(|s| s.0 / 1_000).collect();
    assert_eq!(first, [0, 6, 18, 42, 90]);
}
