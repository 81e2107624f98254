//! The estimated cost of a run: its time and memory, extrapolated from a simulated beginning.

mod load;

use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;
use wayhop_core::Time;
use wayhop_scenario::Resolved;

use crate::error::Error;
use crate::interruption::unless;
use crate::memory::kilobytes;
use crate::prefix::{RunPrefix, Sample, prefix};

pub use load::packets;

// Measured errors of estimates, by scenario: docs/concepts/check.md.

/// How long the beginning is simulated ...
const USUAL: Duration = Duration::from_millis(500);
/// ... and how long at most, as long as it has seen little of the traffic.
const LONGEST: Duration = Duration::from_secs(2);
/// The share of the packets from which on an estimate is a good one.
const ENOUGH: f64 = 0.25;
/// By how much times were off, as a factor either way: of a whole run, ...
const SPREAD_OF_WHOLE: f64 = 1.3;
/// ... of one that had seen enough of the traffic, ...
const SPREAD: f64 = 2.0;
/// ... and of one that had not.
const SPREAD_OF_LITTLE: f64 = 3.5;
/// By how much more memory a run took than its beginning: tables fill.
const MORE_MEMORY: f64 = 2.2;
/// Wall time of a run that writes its tables, to that of one that does not.
const WRITING: f64 = 1.15;
/// What writing tables takes besides, octets: at first, for each event, and at most.
const WRITING_BYTES: (f64, f64, f64) = (12e6, 15.0, 45e6);

/// What a run would take.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Estimate {
    /// Simulated time, seconds.
    pub simulated_s: f64,
    /// In other worlds than simulation nobody knows.
    pub events: Option<u64>,
    /// Time of the clock, seconds.
    pub wall_s: Option<f64>,
    /// Most runs take a time between these.
    pub wall_s_range: Option<[f64; 2]>,
    /// The most memory that the run has at a time.
    pub memory_bytes: Option<u64>,
    /// Most runs take as much as these, or between.
    pub memory_bytes_range: Option<[u64; 2]>,
    /// The simulated beginning that it is extrapolated from; `None` on the real clock.
    pub prefix: Option<Beginning>,
}

/// The basis of the estimate.
#[derive(Clone, Debug, Serialize)]
pub struct Beginning {
    /// How much of the run was simulated, seconds.
    pub simulated_s: f64,
    /// Its events.
    pub events: u64,
    /// How long that took, seconds.
    pub wall_s: f64,
    /// Whether it was the whole run.
    pub complete: bool,
    /// The share of the run's packets that were offered in it; none without traffic.
    pub offered_share: Option<f64>,
}

impl Estimate {
    /// Of a run that lasts as long as it says, on the real clock.
    pub fn of_real_time(resolved: &Resolved) -> Self {
        let seconds = resolved.duration.as_secs_f64();
        Self { simulated_s: seconds, wall_s: Some(seconds), ..Self::default() }
    }

    /// Of a simulation, whose beginning is simulated for that. Nothing is written; `writes` is whether the run would write tables.
    ///
    /// # Errors
    /// The scenario cannot be simulated, or `stop` was raised.
    pub fn of_simulation(resolved: &Resolved, writes: bool, stop: &AtomicBool) -> Result<Self, Error> {
        let begun = prefix(resolved, |now, elapsed| {
            if suffices(resolved, now, elapsed) { ControlFlow::Break(()) } else { unless(stop) }
        })?;
        if unless(stop).is_break() {
            return Err(Error::Stopped("interrupted before the check was done".to_owned()));
        }
        Ok(Self::of(&begun, resolved, writes))
    }

    /// By the beginning of a run.
    fn of(prefix: &RunPrefix, resolved: &Resolved, writes: bool) -> Self {
        let offered = |at| load::all_until(resolved, at);
        let last =
            prefix.samples.last().copied().unwrap_or(Sample { at: Time::ZERO, events: 0, wall_s: 0.0 });
        let (so_far, all) = (offered(last.at), offered(resolved.duration));
        let (a_second, a_packet) = rates(&steps(&prefix.samples, offered));
        let more_events = if prefix.complete {
            0.0
        } else {
            let seconds = resolved.duration.since(last.at).as_secs_f64();
            a_second * seconds + a_packet * (all - so_far)
        };
        let factor = if writes { WRITING } else { 1.0 };
        let more_s = more_events * late_seconds_an_event(&prefix.samples);
        let wall_s = prefix.setup_s + factor * (last.wall_s + more_s);
        let spread = if prefix.complete {
            SPREAD_OF_WHOLE
        } else if so_far >= ENOUGH * all {
            SPREAD
        } else {
            SPREAD_OF_LITTLE
        };
        let events = last.events + more_events as u64;
        let (first, an_event, most) = WRITING_BYTES;
        let tables = if writes { (first + an_event * events as f64).min(most) } else { 0.0 };
        let peak = peak_bytes();
        let more = if prefix.complete { 1.0 } else { MORE_MEMORY };
        Self {
            simulated_s: resolved.duration.as_secs_f64(),
            events: Some(events),
            wall_s: Some(wall_s),
            wall_s_range: Some([wall_s / spread, wall_s * spread]),
            memory_bytes: peak.map(|peak| (peak + tables) as u64),
            memory_bytes_range: peak.map(|peak| [1.0, more].map(|factor| (factor * peak + tables) as u64)),
            prefix: Some(Beginning {
                simulated_s: last.at.as_secs_f64(),
                events: last.events,
                wall_s: last.wall_s,
                complete: prefix.complete,
                offered_share: (all > 0.0).then(|| so_far / all),
            }),
        }
    }
}

/// Whether the beginning of a run has been long enough.
fn suffices(resolved: &Resolved, now: Time, elapsed: Duration) -> bool {
    let is_good = || load::all_until(resolved, now) >= ENOUGH * load::all_until(resolved, resolved.duration);
    elapsed >= LONGEST || (elapsed >= USUAL && is_good())
}

/// What happened from one sample to the next.
struct SampleStep {
    seconds: f64,
    packets: f64,
    events: f64,
}

fn steps(samples: &[Sample], offered: impl Fn(Time) -> f64) -> Vec<SampleStep> {
    let mut before = (Time::ZERO, 0, 0.0);
    let step = |s: &Sample| {
        let packets = offered(s.at);
        let step = SampleStep {
            seconds: s.at.since(before.0).as_secs_f64(),
            packets: packets - before.2,
            events: (s.events - before.1) as f64,
        };
        before = (s.at, s.events, packets);
        step
    };
    samples.iter().map(step).collect()
}

/// How many events a second and an offered packet make, by least squares over the steps; neither is less than nothing.
fn rates(steps: &[SampleStep]) -> (f64, f64) {
    let sum = |f: &dyn Fn(&SampleStep) -> f64| steps.iter().map(f).sum::<f64>();
    let (tt, pp, tp) =
        (sum(&|s| s.seconds * s.seconds), sum(&|s| s.packets * s.packets), sum(&|s| s.seconds * s.packets));
    let (te, pe) = (sum(&|s| s.seconds * s.events), sum(&|s| s.packets * s.events));
    let alone = |xe: f64, xx: f64| if xx > 0.0 { xe / xx } else { 0.0 };
    let determinant = tt * pp - tp * tp;
    // Where packets come as regularly as seconds pass, either tells the whole.
    if determinant <= 1e-6 * tt * pp {
        return if pp > 0.0 { (0.0, alone(pe, pp)) } else { (alone(te, tt), 0.0) };
    }
    let (a_second, a_packet) = ((te * pp - pe * tp) / determinant, (pe * tt - te * tp) / determinant);
    match (a_second < 0.0, a_packet < 0.0) {
        (true, _) => (0.0, alone(pe, pp)),
        (_, true) => (alone(te, tt), 0.0),
        _ => (a_second, a_packet),
    }
}

/// What an event takes in the later half of the beginning, when tables are no longer empty.
fn late_seconds_an_event(samples: &[Sample]) -> f64 {
    let Some(last) = samples.last() else { return 0.0 };
    let half = samples.iter().rfind(|s| 2 * s.events <= last.events);
    let (events, wall_s) = half.map_or((0, 0.0), |s| (s.events, s.wall_s));
    if last.events > events { (last.wall_s - wall_s) / (last.events - events) as f64 } else { 0.0 }
}

/// The most memory that this process has had, where the system tells.
fn peak_bytes() -> Option<f64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 events a second, and 5 a packet.
    fn step(seconds: f64, packets: f64) -> SampleStep {
        SampleStep { seconds, packets, events: 30.0 * seconds + 5.0 * packets }
    }

    fn is_close((a, b): (f64, f64), (c, d): (f64, f64)) -> bool {
        (a - c).abs() < 1e-6 && (b - d).abs() < 1e-6
    }

    #[test]
    fn what_seconds_and_packets_make_is_told_apart() {
        assert!(is_close(rates(&[step(1.0, 0.0), step(1.0, 4.0), step(1.0, 10.0)]), (30.0, 5.0)));
        assert!(is_close(rates(&[step(1.0, 0.0), step(1.0, 0.0)]), (30.0, 0.0)));
        assert!(is_close(rates(&[step(1.0, 10.0), step(1.0, 10.0)]), (0.0, 8.0)));
        assert!(is_close(rates(&[]), (0.0, 0.0)));
    }

    #[test]
    fn nothing_makes_less_than_nothing() {
        let falling = [step(1.0, 0.0), SampleStep { events: 0.0, ..step(1.0, 10.0) }];
        assert!(is_close(rates(&falling), (15.0, 0.0)), "{:?}", rates(&falling));
    }

    #[test]
    fn what_an_event_takes_is_what_it_took_last() {
        let sample = |at, events, wall_s| Sample { at: Time::from_nanos(at), events, wall_s };
        let slower = [sample(1, 100, 1.0), sample(2, 200, 3.0)];
        assert!((late_seconds_an_event(&slower) - 0.02).abs() < 1e-12);
        assert!((late_seconds_an_event(&slower[..1]) - 0.01).abs() < 1e-12);
        assert!(late_seconds_an_event(&[]) == 0.0);
    }
}
