//! The round-trip time estimator against values worked out by hand from RFC 6298 section 2.

use wayhop_core::Span;
use wayhop_link_quality::RttEstimator;

fn after(samples_ms: &[u64]) -> RttEstimator {
    let mut e = RttEstimator::default();
    for &ms in samples_ms {
        e.sample(Span::from_millis(ms));
    }
    e
}

#[test]
fn without_samples_there_is_no_timeout() {
    let e = after(&[]);
    assert_eq!((e.smoothed(), e.deviation(), e.timeout()), (None, Span::ZERO, None));
}

#[test]
fn the_first_sample_is_the_mean_and_half_of_it_the_deviation() {
    let e = after(&[40]);
    assert_eq!(e.smoothed(), Some(Span::from_millis(40)));
    assert_eq!(e.deviation(), Span::from_millis(20));
    // 40 + 4 * 20.
    assert_eq!(e.timeout(), Some(Span::from_millis(120)));
}

#[test]
fn an_eighth_of_the_error_moves_the_mean_and_a_quarter_the_deviation() {
    // Second sample 80: rttvar = 20 * 3/4 + 40/4 = 25, srtt = 40 + 40/8 = 45, timeout = 45 + 100.
    let up = after(&[40, 80]);
    assert_eq!(up.smoothed(), Some(Span::from_millis(45)));
    assert_eq!(up.deviation(), Span::from_millis(25));
    assert_eq!(up.timeout(), Some(Span::from_millis(145)));
    // Second sample 24: rttvar = 15 + 16/4 = 19, srtt = 40 - 16/8 = 38, timeout = 38 + 76.
    let down = after(&[40, 24]);
    assert_eq!(down.smoothed(), Some(Span::from_millis(38)));
    assert_eq!(down.deviation(), Span::from_millis(19));
    assert_eq!(down.timeout(), Some(Span::from_millis(114)));
    // Third sample 45 after (45, 25): the error is 0, rttvar = 18.75 ms, srtt stays.
    let third = after(&[40, 80, 45]);
    assert_eq!(third.smoothed(), Some(Span::from_millis(45)));
    assert_eq!(third.deviation(), Span::from_micros(18_750));
}

#[test]
fn a_steady_round_trip_time_takes_the_deviation_away() {
    let e = after(&[50; 100]);
    assert_eq!(e.smoothed(), Some(Span::from_millis(50)));
    // 25 ms * 0.75^99 is below a nanosecond; rounding may leave a few.
    assert!(e.deviation() < Span::from_nanos(4), "{}", e.deviation());
}

#[test]
fn an_absurd_sample_counts_as_an_hour() {
    let mut e = RttEstimator::default();
    e.sample(Span::MAX);
    assert_eq!(e.timeout(), Some(Span::from_secs(3 * 3_600)));
    e.sample(Span::MAX);
    assert_eq!(e.smoothed(), Some(Span::from_secs(3_600)));
}
