//! What calls did to nodes, kept: most of the states of a search differ in other nodes than the one that is called.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;
use wayhop_core::{Time, TimerKey};

use super::air::Flight;
use super::host::Host;
use super::tally::Tally;
use super::topology::Topology;

/// A call of which nodes of the same digest make the same.
#[derive(Copy, Clone)]
pub(crate) enum Call<'a> {
    /// An application sends a packet to this node.
    Originate(usize),
    /// A flight arrives.
    Receive(&'a Flight),
    /// A timer fires.
    Fire(TimerKey),
}

/// What a call did to a node, where nothing else was in flight.
pub(crate) struct Outcome<P> {
    pub(crate) host: Arc<Host<P>>,
    /// What the node sent.
    pub(crate) flights: Vec<Flight>,
    pub(crate) tally: Tally,
    /// Whether it asked for packets in flight: with some, the outcome may be another.
    pub(crate) recalled: bool,
}

/// The outcomes so far, by node, moment and call.
pub struct Outcomes<P>([Mutex<FxHashMap<u64, Arc<Outcome<P>>>>; SHARDS]);

/// Of the table, so that the threads of a search seldom wait for each other.
const SHARDS: usize = 16;

impl<P> Default for Outcomes<P> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl<P> Outcomes<P> {
    /// The outcome of a call of a node, which is made if none like it was.
    pub(crate) fn of(
        &self,
        (host, number): (&Host<P>, usize),
        (now, up): (Time, Topology),
        call: Call<'_>,
        make: impl FnOnce() -> Outcome<P>,
    ) -> Arc<Outcome<P>> {
        let mut h = DefaultHasher::new();
        (host.digest, host.life, number, now, up).hash(&mut h);
        match call {
            Call::Originate(to) => (0_u8, to).hash(&mut h),
            Call::Receive(f) => (1_u8, f.from, f.broadcast, f.digest).hash(&mut h),
            Call::Fire(key) => (2_u8, key).hash(&mut h),
        }
        let key = h.finish();
        let shard = &self.0[key as usize % SHARDS];
        let known = shard.lock().expect("no search panics with it").get(&key).cloned();
        known.unwrap_or_else(|| {
            let made = Arc::new(make());
            shard.lock().expect("no search panics with it").insert(key, Arc::clone(&made));
            made
        })
    }
}
