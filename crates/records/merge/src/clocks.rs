//! The clocks of all nodes, with their estimated errors and the bounds of these.

use wayhop_trace::{ClockFit, ClockSegment};

use crate::clock::Clock;
use crate::fit::fit;
use crate::observation::{Observation, ObservationKind};
use crate::steps::steps;

/// The clocks of nodes that are all connected by observations.
pub(crate) struct Clocks {
    pub(crate) of_node: Vec<Clock>,
    errors: Vec<Option<(f64, f64)>>,
    bounds_us: Vec<Option<f64>>,
    frames: Vec<u64>,
    outliers: Vec<u64>,
    reference: usize,
}

impl Clocks {
    /// Sets them by the clock of `reference`. `spans` are the begin and the end of each node's record by its own clock.
    pub(crate) fn set(reference: usize, spans: &[(u64, u64)], all: &[Observation]) -> Self {
        let steps = steps(spans.len(), reference, all);
        let fitted = fit(reference, spans, &steps, all);
        let sound = all.iter().zip(&fitted.outliers).filter(|(_, out)| !**out).map(|(o, _)| o);
        let bounds_us = bounds_us(&fitted.clocks, reference, sound);
        let (mut frames, mut outliers) = (vec![0; spans.len()], vec![0; spans.len()]);
        for (o, is_outlier) in all.iter().zip(&fitted.outliers) {
            for node in [o.from, o.to] {
                frames[node] += 1;
                outliers[node] += u64::from(*is_outlier);
            }
        }
        Self { of_node: fitted.clocks, errors: fitted.errors, bounds_us, frames, outliers, reference }
    }

    /// How long a frame was on its way, microseconds, as the clocks have it.
    pub(crate) fn delay_us(&self, o: &Observation) -> f64 {
        let correction = |node: usize, ns| self.of_node[node].correction_us(ns);
        o.difference_us() + correction(o.to, o.to_ns) - correction(o.from, o.from_ns)
    }

    /// What the manifest says of a node's clock. The merged run's times count from `zero_ns` of the reference's.
    pub(crate) fn told(&self, node: usize, zero_ns: i128) -> ClockFit {
        let clock = &self.of_node[node];
        let is_reference = node == self.reference;
        let error = if is_reference { Some((0.0, 0.0)) } else { self.errors[node] };
        let segment = |(from_ns, _): &(u64, f64)| ClockSegment {
            from_s: *from_ns as f64 / 1e9,
            offset_s: (clock.time_ns(*from_ns) - zero_ns - i128::from(*from_ns)) as f64 / 1e9,
        };
        ClockFit {
            drift_ppm: clock.drift_ppm() + 0.0,
            drift_error_ppm: error.map(|e| e.0),
            error_us: error.map(|e| e.1),
            bound_us: self.bounds_us[node],
            frames: self.frames[node],
            outliers: self.outliers[node],
            segments: clock.parts.iter().map(segment).collect(),
        }
    }
}

/// By how much each node's times can be wrong at most against the reference's, microseconds, if the drifts are right; `None`
/// where frames passed in one direction only. Of nodes that hear the reference through others the bounds add up.
fn bounds_us<'a>(
    clocks: &[Clock],
    reference: usize,
    sound: impl Iterator<Item = &'a Observation>,
) -> Vec<Option<f64>> {
    let n = clocks.len();
    // The least of what receiver's time less sender's is: by so much the sender can be later, or the receiver earlier.
    let mut slack = vec![f64::INFINITY; n * n];
    (0..n).for_each(|i| slack[i * n + i] = 0.0);
    for o in sound.filter(|o| o.kind != ObservationKind::Heard) {
        let delay_us =
            o.difference_us() + clocks[o.to].correction_us(o.to_ns) - clocks[o.from].correction_us(o.from_ns);
        let least = &mut slack[o.from * n + o.to];
        *least = least.min(delay_us.max(0.0));
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                slack[i * n + j] = slack[i * n + j].min(slack[i * n + k] + slack[k * n + j]);
            }
        }
    }
    let bound = |i: usize| slack[i * n + reference].max(slack[reference * n + i]);
    (0..n).map(|i| Some(bound(i)).filter(|b| b.is_finite())).collect()
}

#[cfg(test)]
mod tests;
