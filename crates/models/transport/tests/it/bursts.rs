//! Sources in bursts and sources that play a file, against formulas.

use std::sync::Arc;

use wayhop_core::{ApplicationInput, NodeId, Span, Time};
use wayhop_transport::{FlowConfig, FlowError, FlowKind, Lengths, MAX_PAYLOAD, OnOff, Schedule, Scheduled};

use crate::host::Host;

/// 1 % of samples that follow a law have a Kolmogorov-Smirnov distance above this over the root of their number.
const KOLMOGOROV_1_PERCENT: f64 = 1.628;

fn on_off(interval_us: u64, on_ms: u64, off_ms: u64, lengths: Lengths) -> OnOff {
    OnOff {
        interval: Span::from_micros(interval_us),
        on: Span::from_millis(on_ms),
        off: Span::from_millis(off_ms),
        lengths,
    }
}

fn flow(kind: FlowKind) -> FlowConfig {
    FlowConfig::new(kind, NodeId(0), NodeId(1), 100)
}

/// The departures until `end`, each with its length as an IP packet.
fn departures(config: FlowConfig, seed: u64, end: Time) -> Vec<(Time, usize)> {
    let mut host = Host::new(config, seed);
    let mut out = Vec::new();
    while let Some(at) = host.due().filter(|at| *at < end) {
        out.push((at, host.send().len()));
    }
    out
}

/// The packets of each whole burst, and the silence before it in seconds. A silence shows as more than an interval.
fn bursts(kind: &OnOff, seed: u64, end_s: f64) -> (Vec<f64>, Vec<f64>) {
    let times = departures(flow(FlowKind::OnOff(*kind)), seed, Time::from_secs_f64(end_s));
    let (mut lengths, mut silences) = (Vec::new(), Vec::new());
    let mut before = Time::ZERO;
    for (at, _) in times {
        let silence = at.since(before).as_nanos() - kind.interval.as_nanos();
        if silence > 0 {
            silences.push(silence as f64 / 1e9);
            lengths.push(0.0);
        }
        *lengths.last_mut().expect("silence comes first") += 1.0;
        before = at;
    }
    lengths.pop();
    (lengths, silences)
}

/// The largest distance between the share of samples up to x and the law's, times the root of their number.
fn kolmogorov_smirnov(mut samples: Vec<f64>, law: impl Fn(f64) -> f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as f64;
    let distance = |(i, x): (usize, &f64)| {
        let p = law(*x);
        (p - i as f64 / n).abs().max((p - (i as f64 + 1.0) / n).abs())
    };
    samples.iter().enumerate().map(distance).fold(0.0, f64::max) * n.sqrt()
}

#[test]
fn exponential_bursts_and_silences_are_exponential() {
    // A thousand packets in a mean burst: rounding moves the distribution by 0.0005, which is nothing beside 0.03.
    let kind = on_off(1_000, 1_000, 2_000, Lengths::Exponential);
    let (lengths, silences) = bursts(&kind, 1, 9_000.0);
    assert!(lengths.len() > 2_500, "{}", lengths.len());
    let exponential = |mean: f64| move |x: f64| 1.0 - libm::exp(-x / mean);
    let seconds = lengths.iter().map(|n| n * 1e-3).collect();
    assert!(kolmogorov_smirnov(seconds, exponential(1.0)) < KOLMOGOROV_1_PERCENT);
    assert!(kolmogorov_smirnov(silences.clone(), exponential(2.0)) < KOLMOGOROV_1_PERCENT);
    // The test tells other laws apart.
    assert!(kolmogorov_smirnov(silences, exponential(2.2)) > KOLMOGOROV_1_PERCENT);
}

#[test]
fn pareto_bursts_and_silences_follow_paretos_law() {
    let kind = on_off(1_000, 1_000, 2_000, Lengths::Pareto { shape: 1.5 });
    let (lengths, silences) = bursts(&kind, 2, 9_000.0);
    assert!(lengths.len() > 2_000, "{}", lengths.len());
    // The mean of Pareto's law is x_min * shape / (shape - 1).
    let pareto = |mean: f64| move |x: f64| (1.0 - libm::pow(mean / 3.0 / x, 1.5)).max(0.0);
    let seconds = lengths.iter().map(|n| n * 1e-3).collect();
    assert!(kolmogorov_smirnov(seconds, pareto(1.0)) < KOLMOGOROV_1_PERCENT);
    assert!(silences.iter().all(|s| *s >= 2.0 / 3.0 - 1e-9));
    assert!(kolmogorov_smirnov(silences, pareto(2.0)) < KOLMOGOROV_1_PERCENT);
}

#[test]
fn the_mean_rate_is_that_of_the_burst_by_its_share_of_time() {
    for lengths in [Lengths::Exponential, Lengths::Pareto { shape: 3.0 }] {
        let kind = on_off(10_000, 500, 1_500, lengths);
        let sent = departures(flow(FlowKind::OnOff(kind)), 3, Time::from_secs_f64(40_000.0)).len();
        // 100 packets a second for a quarter of the time. Of 20,000 bursts and silences, each with a deviation of about its
        // mean, the standard error is 1 %; four of those.
        let rate = sent as f64 / 40_000.0;
        assert!((rate / 25.0 - 1.0).abs() < 0.04, "{lengths:?}: {rate}");
        assert_eq!(FlowKind::OnOff(kind).mean_interval(), Span::from_millis(40));
    }
}

#[test]
fn a_burst_is_rounded_to_whole_packets_and_has_at_least_one() {
    // With a mean of two packets, a burst has one if the draw is below 1.5, and n if it is from n - 0.5 to n + 0.5.
    let (lengths, _) = bursts(&on_off(10_000, 20, 100, Lengths::Exponential), 4, 3_000.0);
    let n = lengths.len() as f64;
    assert!(n > 20_000.0, "{n}");
    let share = |packets: f64| lengths.iter().filter(|l| **l == packets).count() as f64 / n;
    let below = |x: f64| 1.0 - libm::exp(-x / 2.0);
    for (packets, expected) in
        [(1.0, below(1.5)), (2.0, below(2.5) - below(1.5)), (3.0, below(3.5) - below(2.5))]
    {
        // Five standard errors.
        let error = 5.0 * (expected * (1.0 - expected) / n).sqrt();
        assert!((share(packets) - expected).abs() < error, "{packets}: {} {expected}", share(packets));
    }
}

#[test]
fn silence_comes_first() {
    let kind = on_off(10_000, 500, 1_000, Lengths::Exponential);
    let first =
        |seed| departures(flow(FlowKind::OnOff(kind)), seed, Time::from_secs_f64(60.0))[0].0.as_secs_f64();
    let mean = (0..2_000).map(first).sum::<f64>() / 2_000.0;
    // An interval and a silence; the standard error is 0.022 s.
    assert!((mean - 1.01).abs() < 0.09, "{mean}");
    assert!((0..2_000).all(|seed| first(seed) >= 0.01));
}

fn schedule(packets: &[(f64, u32)]) -> Arc<Schedule> {
    let mut all = Schedule::default();
    for &(s, payload_bytes) in packets {
        assert!(all.push(Scheduled { after: Span::from_secs_f64(s), payload_bytes }));
    }
    Arc::new(all)
}

#[test]
fn a_trace_is_played_once_from_the_start_of_its_flow() {
    let kind = FlowKind::Trace(schedule(&[(0.0, 10), (0.5, 1_000), (0.5, 20), (2.0, 30)]));
    let config = FlowConfig { start: Time::from_secs_f64(1.0), ..flow(kind) };
    let sent = |c: &FlowConfig| -> Vec<(f64, usize)> {
        let all = departures(c.clone(), 1, Time::from_secs_f64(100.0));
        all.iter().map(|(at, len)| (at.as_secs_f64(), len - 28)).collect()
    };
    assert_eq!(sent(&config), [(1.0, 10), (1.5, 1_000), (1.5, 20), (3.0, 30)]);
    let two = FlowConfig { max_packets: Some(2), ..config.clone() };
    assert_eq!(sent(&two), [(1.0, 10), (1.5, 1_000)]);
    let stopped = FlowConfig { stop: Some(Time::from_secs_f64(3.0)), ..config };
    assert_eq!(sent(&stopped), [(1.0, 10), (1.5, 1_000), (1.5, 20)]);
}

#[test]
fn a_packet_that_is_left_out_does_not_shift_the_sizes_of_a_trace() {
    let kind = FlowKind::Trace(schedule(&[(0.0, 10), (1.0, 20), (2.0, 30)]));
    let mut host = Host::new(flow(kind), 1);
    assert!(host.call(Time::ZERO, ApplicationInput::Resume).is_none());
    assert_eq!(host.due(), Some(Time::from_secs_f64(1.0)));
    assert_eq!(host.send().len(), 28 + 20);
    assert_eq!(host.due(), Some(Time::from_secs_f64(2.0)));
    // It was active until a mean interval, of a second, after the last packet that it sent; before the last of the schedule was due, it was so
    // to the end.
    let active = |s| host.departures.active_time(&host.config, Time::from_secs_f64(s));
    assert_eq!((active(1.5), active(100.0)), (Span::from_millis(1_500), Span::from_secs(2)));
}

#[test]
fn bursts_and_traces_that_cannot_be_sent_are_refused() {
    let refused = |kind| flow(kind).check();
    let shaped = |shape| refused(FlowKind::OnOff(on_off(1, 1, 1, Lengths::Pareto { shape })));
    assert_eq!((shaped(1.5), shaped(1.0)), (Ok(()), Err(FlowError::Shape(1.0))));
    assert!(shaped(f64::NAN).is_err() && shaped(f64::INFINITY).is_err());
    for (interval, on) in [(0, 1), (1, 0)] {
        let kind = FlowKind::OnOff(on_off(interval, on, 1, Lengths::Exponential));
        assert_eq!(refused(kind), Err(FlowError::Interval));
    }
    let long = refused(FlowKind::Trace(schedule(&[(0.0, MAX_PAYLOAD + 1)])));
    assert_eq!(long, Err(FlowError::Payload(MAX_PAYLOAD + 1)));
}
