//! Hard bounds on clocks: no frame is received before it is sent.

use crate::clock::Clock;
use crate::observation::{Observation, ObservationKind};

/// By how much each node's times can be wrong at most against the reference's, microseconds, if the drifts are right; `None`
/// where frames passed in one direction only. Of nodes that hear the reference through others the bounds add up.
pub(crate) fn bounds_us<'a>(
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
