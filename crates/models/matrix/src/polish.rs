//! Settings in the steps of real attenuators: a search that anneals from a low temperature and keeps the best.

use wayhop_core::Rng;

use crate::state::SearchState;
use crate::switch::{Settings, Switch};

/// Temperatures at the begin and the end, dB of summed error.
const WARM_DB: f64 = 0.6;
const COLD_DB: f64 = 0.02;

/// Changes single attenuators by few steps, `moves` times, then as long as any change of one step improves.
pub(crate) fn polish(switch: &Switch, state: &mut impl SearchState, moves: u32, rng: &mut Rng) {
    let mut best = (state.cost(), state.settings());
    let mut now = best.0;
    let cooling = libm::pow(COLD_DB / WARM_DB, 1.0 / f64::from(moves.max(1)));
    let mut temperature = WARM_DB;
    for _ in 0..moves {
        temperature *= cooling;
        let (at, steps) = neighbour(switch, state, rng);
        let by = state.difference(at, steps);
        if by <= 0.0 || rng.unit() < libm::exp(-by / temperature) {
            state.set(at, steps);
            now += by;
            if now < best.0 - 1e-9 {
                best = (now, state.settings());
            }
        }
    }
    restore(state, &best.1);
    descend(switch, state);
}

/// An attenuator, and one to three steps more or less of it.
fn neighbour(switch: &Switch, state: &impl SearchState, rng: &mut Rng) -> (usize, u16) {
    let at = rng.below(state.steps().len() as u64) as usize;
    let by = 1 + rng.below(3) as u16;
    let old = state.steps()[at];
    let up = rng.below(2) == 0 && old + by <= switch.most_steps() || old < by;
    let steps = if up { (old + by).min(switch.most_steps()) } else { old - by };
    (at, steps)
}

fn restore(state: &mut impl SearchState, to: &Settings) {
    for (at, &steps) in to.0.iter().enumerate() {
        if state.steps()[at] != steps {
            state.set(at, steps);
        }
    }
}

/// Takes every change of one step that improves, until none does.
pub(crate) fn descend(switch: &Switch, state: &mut impl SearchState) {
    loop {
        let mut improved = false;
        for at in 0..state.steps().len() {
            let old = state.steps()[at];
            for steps in
                [old.checked_sub(1), (old < switch.most_steps()).then_some(old + 1)].into_iter().flatten()
            {
                if state.difference(at, steps) < -1e-9 {
                    state.set(at, steps);
                    improved = true;
                    break;
                }
            }
        }
        if !improved {
            return;
        }
    }
}
