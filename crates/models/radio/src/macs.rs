//! The MACs of all stations, each created when it is needed.

use std::ops::{Index, IndexMut};

use wayhop_core::{Purpose, Rng, stream};

use crate::card::CardConfig;
use crate::station::Mac;

/// The MACs of all stations, by number. That of a station that has never sent or received anything looks like that of any
/// other: it is made when something in it changes.
pub(crate) struct Macs {
    made: Vec<Option<Box<Mac>>>,
    untouched: Mac,
    seed: u64,
    cw_min: u32,
    card: CardConfig,
}

impl Macs {
    pub(crate) fn new(stations: usize, seed: u64, cw_min: u32, card: CardConfig) -> Self {
        let untouched = Mac::new(backoff(seed, 0), cw_min, card);
        Self { made: (0..stations).map(|_| None).collect(), untouched, seed, cw_min, card }
    }

    #[cold]
    fn make(&mut self, station: usize) -> &mut Mac {
        let rng = backoff(self.seed, station);
        self.made[station].insert(Box::new(Mac::new(rng, self.cw_min, self.card)))
    }
}

fn backoff(seed: u64, station: usize) -> Rng {
    stream(seed, Purpose::Backoff, station as u64)
}

impl Index<usize> for Macs {
    type Output = Mac;
    #[inline]
    fn index(&self, station: usize) -> &Mac {
        self.made[station].as_deref().unwrap_or(&self.untouched)
    }
}

impl IndexMut<usize> for Macs {
    #[inline]
    fn index_mut(&mut self, station: usize) -> &mut Mac {
        if self.made[station].is_none() {
            return self.make(station);
        }
        self.made[station].as_mut().expect("it was made")
    }
}
