//! A bounded map: a new row replaces the least recently used one.

use wayhop_core::Time;

/// Rows sorted by key, at most `capacity` of them. It allocates while it grows and never again.
#[derive(Clone, Debug)]
pub(crate) struct SortedTable<K, V> {
    rows: Vec<NeighbourRow<K, V>>,
    capacity: usize,
}

#[derive(Clone, Debug)]
struct NeighbourRow<K, V> {
    key: K,
    touched: Time,
    value: V,
}

impl<K: Ord + Copy, V> SortedTable<K, V> {
    /// An empty table; a capacity of 0 counts as 1.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { rows: Vec::new(), capacity: capacity.max(1) }
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.rows[at].value)
    }
    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.find(key).ok().map(|at| &mut self.rows[at].value)
    }
    /// The row of `key`, made if it is not there, touched now.
    pub(crate) fn touch(&mut self, key: K, now: Time, make: impl FnOnce() -> V) -> &mut V {
        if let Ok(at) = self.find(key) {
            self.rows[at].touched = now;
            return &mut self.rows[at].value;
        }
        if self.rows.len() == self.capacity {
            let oldest = (0..self.rows.len()).min_by_key(|&i| self.rows[i].touched).unwrap_or(0);
            self.rows.remove(oldest);
        }
        let at = self.find(key).unwrap_or_else(|at| at);
        self.rows.insert(at, NeighbourRow { key, touched: now, value: make() });
        &mut self.rows[at].value
    }
    pub(crate) fn remove(&mut self, key: K) {
        if let Ok(at) = self.find(key) {
            self.rows.remove(at);
        }
    }
    /// Every row, by key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.rows.iter().map(|r| (r.key, &r.value))
    }

    fn find(&self, key: K) -> Result<usize, usize> {
        self.rows.binary_search_by_key(&key, |r| r.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_untouched_for_longest_gives_way() {
        let mut t = SortedTable::new(2);
        t.touch(7, Time::from_nanos(1), || 'a');
        t.touch(3, Time::from_nanos(2), || 'b');
        t.touch(7, Time::from_nanos(3), || 'x');
        t.touch(5, Time::from_nanos(4), || 'c');
        assert_eq!(t.iter().map(|(k, v)| (k, *v)).collect::<Vec<_>>(), [(5, 'c'), (7, 'a')]);
        t.remove(5);
        assert_eq!((t.get(5), t.get(7)), (None, Some(&'a')));
    }
}
