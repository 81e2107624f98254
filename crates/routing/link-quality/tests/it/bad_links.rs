//! The three memories of bad links on cases worked out by hand.

use std::net::Ipv4Addr;

use wayhop_core::{Fix, Span, Time};
use wayhop_link_quality::bad_links::{
    BadLinkMemory, DirectedLink, Evidence, FailedLinks, Probability, ProbabilityParams,
};
use wayhop_link_quality::{Positions, Signals};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const C: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);
const AC: DirectedLink = DirectedLink { from: A, to: C };

fn s(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}
/// `metres` east of a place at the equator, where a degree of longitude has 111 319.49 m.
fn east(metres: f64) -> Fix {
    Fix { latitude_deg: 0.0, longitude_deg: metres / 111_319.49, heading_deg: 90.0, speed_m_per_s: 0.0 }
}

/// What node A knows.
struct World {
    positions: Positions,
    signals: Signals,
}
impl World {
    fn new() -> Self {
        Self { positions: Positions::new(8), signals: Signals::new(8) }
    }
    fn at(&self, now: Time) -> Evidence<'_> {
        Evidence { now, me: A, positions: &self.positions, signals: &self.signals }
    }
}
#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
}

#[test]
fn a_timed_mark_lasts_from_the_last_failure_on_and_no_longer() {
    let w = World::new();
    let mut m = FailedLinks::timed(Span::from_secs(10));
    assert!(!m.refuses(AC, &w.at(s(0))) && m.is_empty());
    m.failed(AC, &w.at(s(1)));
    m.failed(AC, &w.at(s(3)));
    assert!(m.refuses(AC, &w.at(s(12))));
    assert!(!m.refuses(AC, &w.at(s(13))));
    // 8 s of 10 are left at 5 s.
    close(m.doubt(AC, &w.at(s(5))), 0.8);
    // Other links, the way back among them, are not concerned.
    assert!(!m.refuses(DirectedLink { from: C, to: A }, &w.at(s(5))));
    assert!(!m.refuses(DirectedLink { from: A, to: B }, &w.at(s(5))));
}

#[test]
fn eight_acknowledged_packets_in_a_row_take_a_mark_back() {
    let w = World::new();
    for mut m in
        [FailedLinks::timed(Span::from_secs(10)), FailedLinks::until_moved(25.0, Span::from_secs(60))]
    {
        m.failed(AC, &w.at(s(0)));
        (0..7).for_each(|_| m.worked(AC, &w.at(s(1))));
        m.failed(AC, &w.at(s(1)));
        (0..7).for_each(|_| m.worked(AC, &w.at(s(1))));
        assert!(m.refuses(AC, &w.at(s(1))));
        m.worked(AC, &w.at(s(1)));
        assert!(!m.refuses(AC, &w.at(s(1))));
    }
}

#[test]
fn a_mark_lasts_until_either_end_is_elsewhere() {
    for mover in [A, C] {
        let mut w = World::new();
        let mut m = FailedLinks::until_moved(25.0, Span::from_secs(60));
        w.positions.learn(A, east(0.0), s(0));
        w.positions.learn(C, east(400.0), s(0));
        m.failed(AC, &w.at(s(0)));
        // Standing still an hour long changes nothing.
        assert!(m.refuses(AC, &w.at(s(3_600))));
        let start = if mover == A { 0.0 } else { 400.0 };
        w.positions.learn(mover, east(start + 20.0), s(3_600));
        assert!(m.refuses(AC, &w.at(s(3_600))));
        close(m.doubt(AC, &w.at(s(3_600))), 0.2);
        w.positions.learn(mover, east(start - 25.1), s(3_601));
        assert!(!m.refuses(AC, &w.at(s(3_601))));
    }
}

#[test]
fn where_an_end_is_unknown_a_timeout_ends_the_mark() {
    let mut w = World::new();
    let mut m = FailedLinks::until_moved(25.0, Span::from_secs(60));
    w.positions.learn(A, east(0.0), s(0));
    m.failed(AC, &w.at(s(0)));
    assert!(m.refuses(AC, &w.at(s(59))));
    assert!(!m.refuses(AC, &w.at(s(60))));
    // The end that is known may end it earlier.
    w.positions.learn(A, east(30.0), s(5));
    assert!(!m.refuses(AC, &w.at(s(5))));
}

fn params() -> ProbabilityParams {
    ProbabilityParams { half_dbm: -90.0, threshold: 0.3, path_loss_exponent: 4.0 }
}

#[test]
fn without_a_signal_only_outcomes_count() {
    let w = World::new();
    let mut m = Probability::new(params());
    close(m.of(AC, &w.at(s(0))), 0.5);
    // (2 * 0.5) / (2 + 3).
    m.failed(AC, &w.at(s(0)));
    close(m.of(AC, &w.at(s(0))), 0.2);
    assert!(m.refuses(AC, &w.at(s(0))));
    // One half-life later: 1 / (2 + 1.5); two: 1 / 2.75.
    close(m.of(AC, &w.at(s(10))), 1.0 / 3.5);
    close(m.of(AC, &w.at(s(20))), 1.0 / 2.75);
    assert!(m.refuses(AC, &w.at(s(10))) && !m.refuses(AC, &w.at(s(20))));
}

#[test]
fn successes_outweigh_a_failure_but_not_many() {
    let w = World::new();
    let mut m = Probability::new(params());
    (0..1_000).for_each(|_| m.worked(AC, &w.at(s(0))));
    close(m.of(AC, &w.at(s(0))), 5.0 / 6.0);
    m.failed(AC, &w.at(s(0)));
    close(m.of(AC, &w.at(s(0))), 5.0 / 9.0);
    assert!(!m.refuses(AC, &w.at(s(0))));
    // 5 / (6 + 3 k) is below 0.3 from k = 4 on.
    m.failed(AC, &w.at(s(0)));
    m.failed(AC, &w.at(s(0)));
    assert!(!m.refuses(AC, &w.at(s(0))));
    m.failed(AC, &w.at(s(0)));
    assert!(m.refuses(AC, &w.at(s(0))));
}

#[test]
fn a_strong_signal_speaks_for_a_link_and_a_weak_one_against_it() {
    let mut w = World::new();
    let mut m = Probability::new(params());
    // 4 dB above the middle with a scale of 2 dB: 1 / (1 + e^-2) = 0.880797.
    w.signals.heard(C, -86.0, s(0));
    close(m.of(AC, &w.at(s(0))), 0.880_797);
    m.failed(AC, &w.at(s(0)));
    // 2 * 0.880797 / 5.
    close(m.of(AC, &w.at(s(0))), 0.352_319);
    assert!(!m.refuses(AC, &w.at(s(0))));
    // 4 dB below: 0.119203, too little without any failure; the signal counts for both directions, but not for links
    // between others.
    w.signals.heard(B, -94.0, s(0));
    assert!(m.refuses(DirectedLink { from: A, to: B }, &w.at(s(0))));
    assert!(m.refuses(DirectedLink { from: B, to: A }, &w.at(s(0))));
    close(m.of(DirectedLink { from: B, to: C }, &w.at(s(0))), 0.5);
}

#[test]
fn a_signal_fades_with_the_distance_that_motion_predicts() {
    let mut w = World::new();
    let m = Probability::new(params());
    w.signals.heard(C, -86.0, s(0));
    w.positions.learn(A, east(0.0), s(0));
    // C drives away at 20 m/s from 100 m: 200 m after 5 s. Power falls by 40 log10(2) = 12.0412 dB to -98.0412 dBm:
    // 1 / (1 + e^4.0206) = 0.017627.
    w.positions.learn(C, Fix { speed_m_per_s: 20.0, ..east(100.0) }, s(0));
    close(m.of(AC, &w.at(s(0))), 0.880_797);
    close(m.of(AC, &w.at(s(5))), 0.017_627);
    assert!(m.refuses(AC, &w.at(s(5))));
}

#[test]
fn without_positions_the_signals_trend_is_followed() {
    let mut w = World::new();
    let m = Probability::new(params());
    w.signals.heard(C, -80.0, s(0));
    // The mean goes to -81 within a second; the trend is half of -1 dB/s.
    w.signals.heard(C, -88.0, s(1));
    // At 3 s: -81 - 2 * 0.5 = -82: 1 / (1 + e^-4).
    close(m.of(AC, &w.at(s(3))), 0.982_014);
    // No longer than 5 s: -83.5: 1 / (1 + e^-3.25).
    close(m.of(AC, &w.at(s(60))), 0.962_673);
}

#[test]
fn a_memory_is_bounded() {
    let w = World::new();
    let mut memories: [Box<dyn BadLinkMemory>; 3] = [
        Box::new(FailedLinks::timed(Span::from_secs(10))),
        Box::new(FailedLinks::until_moved(25.0, Span::from_secs(60))),
        Box::new(Probability::new(params())),
    ];
    for m in &mut memories {
        for n in 0..1_000_u32 {
            m.failed(DirectedLink { from: A, to: Ipv4Addr::from_bits(n) }, &w.at(Time::from_nanos(n.into())));
        }
        let mut n = 0;
        m.links(&mut |_| n += 1);
        assert_eq!(n, wayhop_link_quality::bad_links::CAPACITY);
    }
}
