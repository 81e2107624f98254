//! When sources send.

use wayhop_core::{ApplicationInput, NodeId, Span, Time};
use wayhop_transport::{FlowConfig, FlowError, FlowKind, Lengths, MAX_PAYLOAD, OnOff, Stamp};

use crate::host::Host;

fn config(kind: &FlowKind) -> FlowConfig {
    FlowConfig { start: Time::from_secs_f64(2.5), ..FlowConfig::new(kind.clone(), NodeId(0), NodeId(1), 64) }
}

/// The departures of a source until `end`, and its host after them.
fn run(config: FlowConfig, seed: u64, end: Time) -> (Vec<Time>, Host) {
    let mut host = Host::new(config, seed);
    let mut times = Vec::new();
    while let Some(at) = host.due().filter(|at| *at < end) {
        times.push(at);
        host.send();
    }
    (times, host)
}

/// Mean and variance of the intervals between departures, in seconds.
fn moments(times: &[Time]) -> (f64, f64) {
    let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]).as_secs_f64()).collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    (mean, gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / (n - 1.0))
}

#[test]
fn cbr_without_jitter_is_an_arithmetic_series_from_the_start() {
    let kind = FlowKind::Cbr { interval: Span::from_millis(250), jitter: 0.0 };
    let (times, host) = run(config(&kind), 1, Time::from_secs_f64(100.0));
    let expected: Vec<Time> = (0..390).map(|k| Time::from_nanos(2_500_000_000 + k * 250_000_000)).collect();
    assert_eq!(times, expected);
    assert_eq!(host.departures.packets(), 390);
}

#[test]
fn cbr_with_jitter_draws_each_interval_within_half_of_the_mean() {
    // ns-2's CBR_Traffic with random_ set: interval_ + interval_ * uniform(-0.5, 0.5), the first packet at the start.
    let kind = FlowKind::Cbr { interval: Span::from_millis(250), jitter: 0.5 };
    let (times, _) = run(config(&kind), 1, Time::from_secs_f64(10_000.0));
    assert_eq!(times[0], Time::from_secs_f64(2.5));
    let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]).as_secs_f64()).collect();
    assert!(gaps.iter().all(|g| (0.125..=0.375).contains(g)));
    assert!(gaps.iter().any(|g| *g < 0.127) && gaps.iter().any(|g| *g > 0.373));
    // Uniform of width 0.25: variance 0.25^2 / 12. Mean of 40,000: standard error 0.00036; five of those allowed.
    let (mean, variance) = moments(&times);
    assert!((mean - 0.25).abs() < 0.0018, "{mean}");
    assert!((variance / (0.0625 / 12.0) - 1.0).abs() < 0.03, "{variance}");
}

#[test]
fn poisson_intervals_have_the_mean_and_the_variance_of_an_exponential() {
    let kind = FlowKind::Poisson { interval: Span::from_millis(100) };
    let (times, _) = run(config(&kind), 3, Time::from_secs_f64(5_000.0));
    // 50,000 intervals: the mean's standard error is 0.45 %, the variance's sqrt(8 / n) = 1.3 %; five of those allowed.
    let (mean, variance) = moments(&times);
    assert!((mean / 0.1 - 1.0).abs() < 0.0225, "{mean}");
    assert!((variance / 0.01 - 1.0).abs() < 0.065, "{variance}");
    // The share of intervals above the mean is 1/e.
    let above = times.windows(2).filter(|w| w[1] - w[0] > Span::from_millis(100)).count() as f64;
    assert!((above / times.len() as f64 - 0.3679).abs() < 0.011);
}

#[test]
fn the_first_packet_of_a_poisson_flow_comes_after_an_interval_of_its_own() {
    let kind = FlowKind::Poisson { interval: Span::from_millis(100) };
    let mean = (0..2_000)
        .map(|seed| {
            (run(config(&kind), seed, Time::from_secs_f64(20.0)).0[0] - Time::from_secs_f64(2.5))
                .as_secs_f64()
        })
        .sum::<f64>()
        / 2_000.0;
    assert!((mean - 0.1).abs() < 0.0112, "{mean}");
}

#[test]
fn ping_has_no_jitter() {
    let kind = FlowKind::Ping { interval: Span::from_secs(1) };
    let (times, _) = run(config(&kind), 1, Time::from_secs_f64(5.0));
    assert_eq!(times, [2.5, 3.5, 4.5].map(Time::from_secs_f64));
}

#[test]
fn a_flow_ends_before_its_stop_and_after_its_last_packet() {
    let kind = FlowKind::Cbr { interval: Span::from_secs(1), jitter: 0.0 };
    let far = Time::from_secs_f64(1_000.0);
    let stopped = FlowConfig { stop: Some(Time::from_secs_f64(5.5)), ..config(&kind) };
    assert_eq!(
        run(stopped, 1, far).0,
        [2.5, 3.5, 4.5].map(Time::from_secs_f64),
        "nothing at the stop itself"
    );
    let counted = FlowConfig { max_packets: Some(2), ..config(&kind) };
    assert_eq!(run(counted, 1, far).0, [2.5, 3.5].map(Time::from_secs_f64));
    let none = FlowConfig { max_packets: Some(0), ..config(&kind) };
    assert_eq!(run(none, 1, far).0, []);
    let never = FlowConfig { stop: Some(Time::from_secs_f64(2.5)), ..config(&kind) };
    assert_eq!(run(never, 1, far).0, []);
}

#[test]
fn active_time_ends_with_the_run_the_stop_or_the_last_packet() {
    let kind = FlowKind::Cbr { interval: Span::from_secs(1), jitter: 0.0 };
    let end = Time::from_secs_f64(100.0);
    let active = |c: FlowConfig| {
        let host = run(c, 1, end).1;
        host.departures.active_time(&host.config, end).as_secs_f64()
    };
    assert_eq!(active(config(&kind)), 97.5);
    assert_eq!(active(FlowConfig { stop: Some(Time::from_secs_f64(12.5)), ..config(&kind) }), 10.0);
    assert_eq!(active(FlowConfig { stop: Some(Time::from_secs_f64(200.0)), ..config(&kind) }), 97.5);
    assert_eq!(active(FlowConfig { max_packets: Some(10), ..config(&kind) }), 10.0);
    assert_eq!(active(FlowConfig { start: Time::from_secs_f64(200.0), ..config(&kind) }), 0.0);
}

#[test]
fn time_goes_on_even_when_an_interval_is_drawn_as_zero() {
    let kind = FlowKind::Cbr { interval: Span::from_nanos(1), jitter: 1.0 };
    let (times, _) = run(config(&kind), 1, Time::from_secs_f64(2.5) + Span::from_micros(1));
    assert!(times.windows(2).all(|w| w[0] < w[1]));
}

#[test]
fn the_same_seed_gives_the_same_departures() {
    let kind = FlowKind::Poisson { interval: Span::from_millis(100) };
    let end = Time::from_secs_f64(50.0);
    assert_eq!(run(config(&kind), 7, end).0, run(config(&kind), 7, end).0);
    assert_ne!(run(config(&kind), 7, end).0, run(config(&kind), 8, end).0);
}

#[test]
fn a_flow_that_cannot_be_sent_is_refused() {
    let kind = FlowKind::Cbr { interval: Span::from_secs(1), jitter: 0.0 };
    let refused = |c: FlowConfig| c.check();
    assert_eq!(refused(FlowConfig { payload_bytes: MAX_PAYLOAD, ..config(&kind) }), Ok(()));
    assert_eq!(
        refused(FlowConfig { payload_bytes: MAX_PAYLOAD + 1, ..config(&kind) }),
        Err(FlowError::Payload(MAX_PAYLOAD + 1))
    );
    assert_eq!(refused(config(&FlowKind::Poisson { interval: Span::ZERO })), Err(FlowError::Interval));
    let jittered = |jitter| config(&FlowKind::Cbr { interval: Span::from_secs(1), jitter });
    assert_eq!(refused(jittered(1.5)), Err(FlowError::Jitter(1.5)));
    assert!(refused(jittered(f64::NAN)).is_err());
}

/// Sources that draw.
fn random_kinds() -> [FlowKind; 3] {
    let (interval, on, off) = (Span::from_millis(100), Span::from_millis(500), Span::from_secs(1));
    let lengths = Lengths::Pareto { shape: 1.5 };
    [
        FlowKind::Cbr { interval, jitter: 0.5 },
        FlowKind::Poisson { interval },
        FlowKind::OnOff(OnOff { interval, on, off, lengths }),
    ]
}

#[test]
fn a_node_that_was_down_goes_on_with_the_schedule_as_if_it_had_not_been() {
    let end = Time::from_secs_f64(60.0);
    for kind in random_kinds() {
        let whole = run(config(&kind), 5, end).0;
        let (down, up) = (whole[20], whole[70] + Span::from_nanos(1));
        for lost in [false, true] {
            let mut host = Host::new(config(&kind), 5);
            let mut times = Vec::new();
            while let Some(at) = host.due().filter(|at| *at < end) {
                if at == down {
                    if lost {
                        assert!(host.call(down, ApplicationInput::Restart).is_none());
                    }
                    let back = if lost { ApplicationInput::Start } else { ApplicationInput::Resume };
                    assert!(host.call(up, back).is_none());
                } else {
                    times.push(at);
                    let stamp = Stamp::parse(&host.send().bytes()[28..]).expect("room for a stamp");
                    assert_eq!(stamp, Stamp { seq: times.len() as u32 - 1, sent: at });
                }
            }
            assert_eq!(times, [&whole[..20], &whole[71..]].concat(), "{kind:?}, {lost}");
        }
    }
}

#[test]
fn a_late_host_does_not_shift_the_schedule() {
    let end = Time::from_secs_f64(20.0);
    for kind in random_kinds() {
        let mut host = Host::new(config(&kind), 6);
        for at in run(config(&kind), 6, end).0 {
            assert_eq!(host.due(), Some(at));
            let p = host.send_at(at + Span::from_millis(70));
            assert_eq!(Stamp::parse(&p.bytes()[28..]).map(|s| s.sent), Some(at), "{kind:?}");
        }
    }
}
