//! Links that are overridden during a run, like a hand on the attenuator.

use rustc_hash::FxHashMap;
use wayhop_core::{Purpose, draw};

use super::transmission::Audible;
use crate::units::db_to_ratio;

/// What an overridden link does, one way.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum LinkOverride {
    /// It hears every frame, however far away; frames that overlap still collide.
    Up,
    /// It hears nothing.
    Down,
    /// As the model says, but this share of the frames, from 0 to 1, is not heard.
    Loss(f64),
    /// Frames come with this path loss, dB, whatever distance, antennas, site and fading say: over a cable with attenuators.
    PathLoss(f64),
}

/// The overridden links of a medium.
pub(crate) struct Overrides {
    seed: u64,
    powers: Powers,
    /// By sender: the receiver and what it hears.
    by_sender: FxHashMap<u32, Vec<(u32, LinkOverride)>>,
}

/// Powers of a medium, W.
#[derive(Copy, Clone)]
pub(crate) struct Powers {
    /// At which a link that is up is heard.
    pub(crate) up: f64,
    /// Of a transmitter.
    pub(crate) transmitter: f64,
    /// Below which nobody feels a frame.
    pub(crate) floor: f64,
}

impl Overrides {
    pub(crate) fn new(seed: u64, powers: Powers) -> Self {
        Self { seed, powers, by_sender: FxHashMap::default() }
    }

    /// Overrides a link one way, or leaves it to the model again.
    pub(crate) fn set(&mut self, from: u32, to: u32, state: Option<LinkOverride>) {
        let links = self.by_sender.entry(from).or_default();
        links.retain(|(station, _)| *station != to);
        links.extend(state.map(|s| (to, s)));
        if links.is_empty() {
            self.by_sender.remove(&from);
        }
    }

    /// All of them, as (sender, receiver, state).
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32, LinkOverride)> {
        self.by_sender.iter().flat_map(|(&from, links)| links.iter().map(move |&(to, s)| (from, to, s)))
    }

    pub(super) fn has(&self, from: u32, to: u32) -> bool {
        self.by_sender.get(&from).is_some_and(|links| links.iter().any(|(station, _)| *station == to))
    }

    /// Changes who hears the frame with this number of `sender`.
    pub(super) fn apply(&self, sender: u32, frame: u64, audible: &mut Vec<Audible>) {
        let Some(links) = self.by_sender.get(&sender) else { return };
        let Powers { up, transmitter, floor } = self.powers;
        for &(station, state) in links {
            let at = audible.iter().position(|a| a.station == station);
            match (state, at) {
                (LinkOverride::Down, Some(at)) => drop(audible.remove(at)),
                (LinkOverride::Loss(share), Some(at)) => {
                    let key = [u64::from(sender), u64::from(station), frame];
                    let unit = (draw(self.seed, Purpose::Override, key) >> 11) as f64 / (1u64 << 53) as f64;
                    if unit < share {
                        audible.remove(at);
                    }
                }
                (LinkOverride::Up, Some(at)) => audible[at].watts = audible[at].watts.max(up),
                (LinkOverride::Up, None) => audible.push(Audible { station, delay_ns: 0, watts: up }),
                (LinkOverride::PathLoss(db), at) => {
                    let watts = transmitter * db_to_ratio(-db);
                    match at {
                        Some(at) if watts < floor => drop(audible.remove(at)),
                        Some(at) => audible[at].watts = watts,
                        None if watts < floor => {}
                        None => audible.push(Audible { station, delay_ns: 0, watts }),
                    }
                }
                (LinkOverride::Down | LinkOverride::Loss(_), None) => {}
            }
        }
    }
}
