//! Simulated annealing over all settings, as the paper's authors describe it, for comparison.

use wayhop_core::{Purpose, Rng, stream};

use crate::joined::TwoSwitches;
use crate::state::{OneSwitch, SearchState};
use crate::switch::{Settings, Switch};
use crate::wanted::TargetLosses;

/// Temperatures at the begin and the end, dB of summed error.
const HOT_DB: f64 = 50.0;
const COLD_DB: f64 = 0.05;

/// Starts at random, and takes `moves` attenuators at random to another setting, nearer and nearer to the one they have, and less and less often to a worse one.
pub fn anneal(switch: &Switch, wanted: &TargetLosses, moves: u32, seed: u64) -> Settings {
    let mut rng = stream(seed, Purpose::Attenuators, 2);
    let steps = u64::from(switch.most_steps()) + 1;
    let from = Settings((0..switch.attenuators()).map(|_| rng.below(steps) as u16).collect());
    if switch.junction().is_some() {
        anneal_state(switch, TwoSwitches::new(switch, wanted, &from), moves, &mut rng)
    } else {
        anneal_state(switch, OneSwitch::new(switch, wanted, &from), moves, &mut rng)
    }
}

fn anneal_state(switch: &Switch, mut state: impl SearchState, moves: u32, rng: &mut Rng) -> Settings {
    let steps = u64::from(switch.most_steps()) + 1;
    let size = switch.attenuators() as u64;
    let cooling = libm::pow(COLD_DB / HOT_DB, 1.0 / f64::from(moves.max(1)));
    let mut temperature = HOT_DB;
    for _ in 0..moves {
        temperature *= cooling;
        let at = rng.below(size) as usize;
        let wide = (temperature / HOT_DB * steps as f64).max(3.0);
        let to = (f64::from(state.steps()[at]) + rng.range(-wide, wide)).round();
        let to = to.clamp(0.0, f64::from(switch.most_steps())) as u16;
        let by = state.difference(at, to);
        if by <= 0.0 || rng.unit() < libm::exp(-by / temperature) {
            state.set(at, to);
        }
    }
    state.settings()
}
