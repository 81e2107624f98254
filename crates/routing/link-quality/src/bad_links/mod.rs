//! Remembered bad links: Maltz, Broch and Johnson 1999 (CMU-CS-99-116), section 9.2.
//!
//! A protocol that looks for few hops finds the long, bad link again each time it has given it up. A [`BadLinkMemory`]
//! remembers; the paper names three ways to do so:
//!
//! * [`FailedLinks::timed`]: the link is bad for some time.
//! * [`FailedLinks::until_moved`]: the link is bad until one of its ends is elsewhere.
//! * [`Probability`]: an estimate that the link works, from signal strength, positions, motion and
//!   its history.

mod failed_links;
mod probability;

pub use failed_links::FailedLinks;
pub use probability::{Probability, ProbabilityParams};

use std::net::Ipv4Addr;

use wayhop_core::Time;

use crate::{Positions, Signals};

/// A link in one direction.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectedLink {
    /// Who transmits.
    pub from: Ipv4Addr,
    /// Who receives.
    pub to: Ipv4Addr,
}

/// What a judgement about links rests on.
#[derive(Copy, Clone, Debug)]
pub struct Evidence<'a> {
    /// The time.
    pub now: Time,
    /// The node that judges; its own position is in `positions` like those of others.
    pub me: Ipv4Addr,
    /// Where nodes are.
    pub positions: &'a Positions,
    /// How neighbours are heard.
    pub signals: &'a Signals,
}

impl Clone for Box<dyn BadLinkMemory> {
    fn clone(&self) -> Self {
        self.as_ref().boxed()
    }
}

/// A memory of links that were tried and found not to work.
pub trait BadLinkMemory: Send + Sync {
    /// A copy of it.
    fn boxed(&self) -> Box<dyn BadLinkMemory>;
    /// The link was given up: no acknowledgement after all transmissions, or a Route Error said so.
    fn failed(&mut self, link: DirectedLink, known: &Evidence<'_>);
    /// A packet was acknowledged over the link.
    fn worked(&mut self, link: DirectedLink, known: &Evidence<'_>);
    /// How much speaks against the link, from 0 (nothing) to 1.
    fn doubt(&self, link: DirectedLink, known: &Evidence<'_>) -> f64;
    /// Whether routes over the link shall not be used now.
    fn refuses(&self, link: DirectedLink, known: &Evidence<'_>) -> bool;
    /// Whether it has never anything to say: no link was noted.
    fn is_empty(&self) -> bool;
    /// Every link that it has a note of, in order of their ends.
    fn links(&self, each: &mut dyn FnMut(DirectedLink));
}

/// How many links a memory keeps; of more, the one with the oldest news is forgotten.
pub const CAPACITY: usize = 128;
