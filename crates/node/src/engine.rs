//! One protocol engine of a node, and what the node keeps for it.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use wayhop_core::{DataPlane, Interests, Protocol, Rng, Time, TimerKey};

/// A protocol at a node.
#[derive(Clone, Debug)]
pub struct Engine<P> {
    pub(crate) protocol: P,
    pub(crate) plane: DataPlane,
    pub(crate) interests: Interests,
    pub(crate) rng: Rng,
    /// The timers that are set, and those whose call is still to come.
    pub(crate) timers: FxHashMap<TimerKey, Timer>,
}

/// A timer. One that is moved to a later time keeps its scheduled call, which then puts itself off: so a timer that is
/// moved with every packet costs the world's queue nothing.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Timer {
    /// When it is due; never if it was cleared.
    pub(crate) due: Time,
    /// When its call comes.
    pub(crate) queued: Time,
}

/// What a timer's call leads to.
pub(crate) enum Fired {
    /// Nothing: the timer was moved or cleared.
    Stale,
    /// The handler is called.
    Now,
    /// The call comes again at this time.
    Later(Time),
}

impl<P: Protocol> Engine<P> {
    /// A protocol with its stream of random numbers.
    pub fn new(protocol: P, rng: Rng) -> Self {
        Self {
            plane: protocol.data_plane(),
            interests: protocol.interests(),
            protocol,
            rng,
            timers: FxHashMap::default(),
        }
    }
}

impl<P> Engine<P> {
    /// Sets or moves a timer. Returns whether a call is to be scheduled for it.
    pub(crate) fn set_timer(&mut self, key: TimerKey, due: Time) -> bool {
        match self.timers.entry(key) {
            Entry::Occupied(mut o) if o.get().queued <= due => {
                o.get_mut().due = due;
                false
            }
            entry => {
                entry.insert_entry(Timer { due, queued: due });
                true
            }
        }
    }

    pub(crate) fn clear_timer(&mut self, key: TimerKey) {
        if let Some(t) = self.timers.get_mut(&key) {
            t.due = Time::NEVER;
        }
    }

    /// A scheduled call came.
    pub(crate) fn fired(&mut self, at: Time, key: TimerKey) -> Fired {
        let Entry::Occupied(mut timer) = self.timers.entry(key) else { return Fired::Stale };
        let Timer { due, queued } = *timer.get();
        if queued > at {
            // This call was for an earlier time; the timer was set again since, and has another call.
            return Fired::Stale;
        }
        if due > at && due < Time::NEVER {
            timer.get_mut().queued = due;
            return Fired::Later(due);
        }
        timer.remove();
        if due <= at { Fired::Now } else { Fired::Stale }
    }
}
