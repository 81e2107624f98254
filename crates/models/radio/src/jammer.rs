//! Stations that send noise, regardless of the medium.
//!
//! A burst is like a frame that nobody can decode: it keeps the medium busy where it is sensed, and
//! damages overlapping frames as a frame of that power does.

use wayhop_core::{Rng, Span, Time};

/// How a station jams.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Jamming {
    /// When it begins.
    pub from: Time,
    /// When it is over.
    pub until: Time,
    /// How long a burst is.
    pub burst: Span,
    /// When bursts begin.
    pub mode: JammingMode,
    /// Its power as a ratio to the radio's, 1 at most: farther than the radio's reach nothing is computed.
    pub gain: f64,
}

/// When bursts begin.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum JammingMode {
    /// One when the other ends.
    Constant,
    /// After a pause of random length, exponential with this mean.
    Random(Span),
    /// So long after the first bit of a frame that is sensed.
    Reactive(Span),
}

#[derive(Debug)]
pub(crate) struct Jammer {
    pub(crate) station: u32,
    pub(crate) plan: Jamming,
    pub(crate) rng: Rng,
    /// The end of its burst.
    pub(crate) on_air_until: Time,
    pub(crate) bursts: u64,
}
