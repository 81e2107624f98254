//! One protocol engine of a node, and its state in the node.

use wayhop_core::{Addr, DataPlane, Interests, Protocol, Rng, Time, TimerKey};

/// Most nodes set fewer timers: memory is taken for one at a time up to here.
const FEW_TIMERS: usize = 4;

/// A protocol at a node.
#[derive(Clone, Debug)]
pub struct Engine<P> {
    pub(crate) protocol: P,
    pub(crate) plane: DataPlane,
    pub(crate) interests: Interests,
    pub(crate) rng: Rng,
    /// The timers that are set, and those whose call is still to come, by key: a few.
    pub(crate) timers: Vec<(TimerKey, Timer)>,
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
            timers: Vec::new(),
        }
    }

    /// Reads what [`Engine::look_ahead`] begins with.
    #[inline]
    pub(crate) fn touch(&self) -> u8 {
        let timer = self.timers.first().map_or(0, |(_, timer)| timer.due.as_nanos() as u8);
        timer ^ self.protocol.touch()
    }
    /// Reads what a packet from a neighbour will need: see [`crate::Node::look_ahead`].
    #[inline]
    pub(crate) fn look_ahead(&self, from: Addr) -> u8 {
        self.protocol.look_ahead(from)
    }
}

impl<P> Engine<P> {
    /// The place of a timer, or the one that it would have.
    fn place(&self, key: TimerKey) -> Result<usize, usize> {
        self.timers.binary_search_by_key(&key, |t| t.0)
    }

    /// Sets or moves a timer. Returns whether a call is to be scheduled for it.
    pub(crate) fn set_timer(&mut self, key: TimerKey, due: Time) -> bool {
        let fresh = Timer { due, queued: due };
        match self.place(key) {
            Ok(at) if self.timers[at].1.queued <= due => {
                self.timers[at].1.due = due;
                return false;
            }
            Ok(at) => self.timers[at].1 = fresh,
            Err(at) => {
                if self.timers.len() < FEW_TIMERS {
                    self.timers.reserve_exact(1);
                }
                self.timers.insert(at, (key, fresh));
            }
        }
        true
    }

    pub(crate) fn clear_timer(&mut self, key: TimerKey) {
        if let Ok(at) = self.place(key) {
            self.timers[at].1.due = Time::NEVER;
        }
    }

    /// Forgets a timer, and that a call is still to come for it. Returns whether there was one.
    pub(crate) fn remove_timer(&mut self, key: TimerKey) -> bool {
        self.place(key).map(|at| self.timers.remove(at)).is_ok()
    }

    /// A scheduled call came.
    pub(crate) fn fired(&mut self, at: Time, key: TimerKey) -> Fired {
        let Ok(place) = self.place(key) else { return Fired::Stale };
        let timer = &mut self.timers[place].1;
        if timer.queued > at {
            // This call was for an earlier time; the timer was set again since, and has another call.
            return Fired::Stale;
        }
        let due = timer.due;
        if due > at && due < Time::NEVER {
            timer.queued = due;
            return Fired::Later(due);
        }
        self.timers.remove(place);
        if due <= at { Fired::Now } else { Fired::Stale }
    }
}
