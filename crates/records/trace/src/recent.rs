//! Entries of a table that forgets.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The most recent entries.
#[derive(Debug)]
pub struct Recent<K, V> {
    most: usize,
    entries: FxHashMap<K, V>,
    order: VecDeque<K>,
}

impl<K: Copy + Eq + Hash, V: Copy> Recent<K, V> {
    /// Of at most this many.
    pub fn of(most: usize) -> Self {
        Self { most, entries: FxHashMap::default(), order: VecDeque::new() }
    }

    /// What was put last under a key, unless it is forgotten.
    pub fn get(&self, key: &K) -> Option<V> {
        self.entries.get(key).copied()
    }

    /// Adds or replaces an entry; one too many forgets the oldest.
    pub fn put(&mut self, key: K, value: V) {
        if self.entries.insert(key, value).is_none() {
            self.order.push_back(key);
            if self.order.len() > self.most
                && let Some(oldest) = self.order.pop_front()
            {
                self.entries.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_are_forgotten_and_a_replaced_one_keeps_its_age() {
        let mut some = Recent::of(2);
        for (key, value) in [(1, 10), (2, 20), (1, 11), (3, 30)] {
            some.put(key, value);
        }
        assert_eq!([1, 2, 3].map(|k| some.get(&k)), [None, Some(20), Some(30)]);
    }
}
