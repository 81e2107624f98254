//! The different values of a column, in the order in which they come.

use rustc_hash::FxHashMap;

/// Keys below this have an array for their places; a million nodes have numbers below it.
const DIRECT: u32 = 1 << 20;

/// Gives each key its place among the different ones. Used again and again, so that its array is made once.
#[derive(Default)]
pub(super) struct Dictionary {
    /// By key: its place and one, or 0.
    direct: Vec<u32>,
    others: FxHashMap<u32, u32>,
    /// The different keys.
    pub(super) entries: Vec<u32>,
    /// The place of each key that was given.
    pub(super) places: Vec<u32>,
}

impl Dictionary {
    /// Takes these keys, instead of those before. `false` if more than `most` are different: then it has not taken all.
    pub(super) fn take(&mut self, keys: impl Iterator<Item = u32>, most: usize) -> bool {
        self.forget();
        for key in keys {
            let next = self.entries.len() as u32;
            let place = if key < DIRECT {
                let at = key as usize;
                if at >= self.direct.len() {
                    self.direct.resize((at + 1).next_power_of_two(), 0);
                }
                let slot = &mut self.direct[at];
                if *slot == 0 {
                    *slot = next + 1;
                    self.entries.push(key);
                }
                *slot - 1
            } else {
                let entries = &mut self.entries;
                *self.others.entry(key).or_insert_with(|| {
                    entries.push(key);
                    next
                })
            };
            self.places.push(place);
            if self.entries.len() > most {
                return false;
            }
        }
        true
    }

    fn forget(&mut self) {
        for key in self.entries.drain(..).filter(|key| *key < DIRECT) {
            self.direct[key as usize] = 0;
        }
        self.others.clear();
        self.places.clear();
    }
}
