//! Links that somebody changes in the course of a run: the hand on the attenuator.

use rustc_hash::FxHashMap;
use wayhop_core::{Purpose, draw};

use super::transmission::Audible;

/// What an overridden link does, one way.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum LinkOverride {
    /// It hears every frame, however far away; frames that overlap still collide.
    Up,
    /// It hears nothing.
    Down,
    /// As the model says, but this share of the frames, from 0 to 1, is not heard.
    Loss(f64),
}

/// The overridden links of a medium.
pub(crate) struct Overrides {
    seed: u64,
    /// The power at which a link that is up is heard, W.
    up_watts: f64,
    /// By sender: the receiver and what it hears.
    by_sender: FxHashMap<u32, Vec<(u32, LinkOverride)>>,
}

impl Overrides {
    pub(crate) fn new(seed: u64, up_watts: f64) -> Self {
        Self { seed, up_watts, by_sender: FxHashMap::default() }
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

    /// Whether a link is overridden.
    pub(super) fn has(&self, from: u32, to: u32) -> bool {
        self.by_sender.get(&from).is_some_and(|links| links.iter().any(|(station, _)| *station == to))
    }

    /// Changes who hears the frame with this number of `sender`.
    pub(super) fn apply(&self, sender: u32, frame: u64, audible: &mut Vec<Audible>) {
        let Some(links) = self.by_sender.get(&sender) else { return };
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
                (LinkOverride::Up, Some(at)) => audible[at].watts = audible[at].watts.max(self.up_watts),
                (LinkOverride::Up, None) => {
                    audible.push(Audible { station, delay_ns: 0, watts: self.up_watts });
                }
                (LinkOverride::Down | LinkOverride::Loss(_), None) => {}
            }
        }
    }
}
