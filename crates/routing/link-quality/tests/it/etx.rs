//! Signals and ETX on sequences worked out by hand.

use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};
use wayhop_link_quality::Signals;
use wayhop_link_quality::etx::{Cost, Etx};

const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

fn ms(v: u64) -> Time {
    Time::ZERO + Span::from_millis(v)
}

#[test]
fn etx_is_one_over_the_product_of_both_ratios() {
    let mut e = Etx::new(8);
    e.sent(ms(0));
    // Of the ten probes in 10.5 s ..= 19.5 s the neighbour's come at even seconds only; it heard 8 of ours.
    for k in 1..=19_u64 {
        if k % 2 == 0 {
            e.heard(B, Some(8), ms(k * 1_000));
        }
    }
    let now = ms(19_500);
    assert_eq!(e.ratios(B, now), Some((0.8, 0.5)));
    // 1 / 0.4 = 2.5.
    assert_eq!(e.cost(B, now), Some(Cost(2_560)));
    assert_eq!(e.counts(now).collect::<Vec<_>>(), [(B, 5)]);
}

#[test]
fn a_node_that_has_just_come_up_counts_by_its_age() {
    let mut e = Etx::new(8);
    e.sent(ms(0));
    for k in 1..=4_u64 {
        e.heard(B, Some(k as u8), ms(k * 1_000));
    }
    assert_eq!(e.ratios(B, ms(4_000)), Some((1.0, 1.0)));
    assert_eq!(e.cost(B, ms(4_000)), Some(Cost::ONE));
}

#[test]
fn a_link_that_is_heard_but_never_answers_is_the_dearest() {
    let mut e = Etx::new(8);
    e.sent(ms(0));
    (1..=10_u64).for_each(|k| e.heard(B, None, ms(k * 1_000)));
    assert_eq!(e.cost(B, ms(10_000)), Some(Cost::WORST));
}

#[test]
fn a_silent_neighbour_is_unknown_after_a_window() {
    let mut e = Etx::new(8);
    e.sent(ms(0));
    e.heard(B, Some(1), ms(1_000));
    assert!(e.cost(B, ms(10_999)).is_some());
    assert_eq!(e.cost(B, ms(11_000)), None);
}

#[test]
fn the_mean_of_a_signal_moves_by_an_eighth() {
    let mut t = Signals::new(8);
    t.heard(B, -60.0, ms(0));
    t.heard(B, -68.0, ms(100));
    t.heard(B, f64::NAN, ms(200));
    let s = t.of(B).expect("it was heard");
    assert_eq!((s.mean_dbm, s.trend_db_per_s, s.heard), (-61.0, 0.0, ms(100)));
    // -61 + (-53 + 61) / 8 = -60 at 2 s: 0 dB in 2 s.
    t.heard(B, -53.0, ms(2_000));
    assert_eq!(t.of(B).expect("it was heard").trend_db_per_s, 0.0);
    // -60 - 16 / 8 = -62 at 4 s: -1 dB/s, and half of it counts.
    t.heard(B, -76.0, ms(4_000));
    assert_eq!(t.of(B).expect("it was heard").trend_db_per_s, -0.5);
}
