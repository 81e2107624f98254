//! What survives a node: an ordered map of octets for each table.

use std::collections::BTreeMap;

/// The tables of a store. The agent alone knows what is in them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum StoreTable {
    /// Encoded bundles, by local number.
    Bundles = 0,
    /// What the agent knows of each bundle, by local number.
    Items = 1,
    /// Bundles that are here no more, by identifier, so that none is taken twice.
    Seen = 2,
    /// Deliveries that applications have not confirmed, by endpoint and number.
    Deliveries = 3,
    /// Counters: creation sequence, local numbers, deliveries of each endpoint; the state of routing.
    State = 4,
}

wayhop_core::names!(StoreTable {
    Bundles = "bundles",
    Items = "items",
    Seen = "seen",
    Deliveries = "deliveries",
    State = "state",
});

/// Why a store did not do what it was asked for. An agent whose store fails stops: it gives out nothing more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bundle store: {0}")]
pub struct StoreError(pub String);

/// A store of bundles. Changes become durable together with [`Store::commit`], all or none: after a crash, the store is as of its
/// last commit that succeeded. Reads see the changes since then.
///
/// The store need not have bounds: the agent keeps within [`crate::Limits`].
pub trait Store {
    /// Sets the value of a key.
    fn put(&mut self, table: StoreTable, key: &[u8], value: &[u8]) -> Result<(), StoreError>;
    /// Removes a key, if it is there.
    fn remove(&mut self, table: StoreTable, key: &[u8]) -> Result<(), StoreError>;
    /// The value of a key.
    fn value(&self, table: StoreTable, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;
    /// Shows every key with its value, in order of the keys.
    fn scan(&self, table: StoreTable, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), StoreError>;
    /// Makes all changes durable.
    fn commit(&mut self) -> Result<(), StoreError>;
    /// Loses all changes since the last commit, as by `kill -9`.
    fn crash(&mut self);
}

/// A store in memory: for simulated nodes and tests.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    durable: [BTreeMap<Vec<u8>, Vec<u8>>; StoreTable::ALL.len()],
    /// Changes since the last commit; `None` is a removal.
    pending: [BTreeMap<Vec<u8>, Option<Vec<u8>>>; StoreTable::ALL.len()],
}

impl Store for MemoryStore {
    fn put(&mut self, table: StoreTable, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        self.pending[table as usize].insert(key.to_vec(), Some(value.to_vec()));
        Ok(())
    }

    fn remove(&mut self, table: StoreTable, key: &[u8]) -> Result<(), StoreError> {
        self.pending[table as usize].insert(key.to_vec(), None);
        Ok(())
    }

    fn value(&self, table: StoreTable, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(match self.pending[table as usize].get(key) {
            Some(changed) => changed.clone(),
            None => self.durable[table as usize].get(key).cloned(),
        })
    }

    fn scan(&self, table: StoreTable, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), StoreError> {
        let mut rows: BTreeMap<&[u8], &[u8]> =
            self.durable[table as usize].iter().map(|(key, value)| (&key[..], &value[..])).collect();
        for (key, value) in &self.pending[table as usize] {
            match value {
                Some(value) => rows.insert(key, value),
                None => rows.remove(&key[..]),
            };
        }
        for (key, value) in rows {
            visit(key, value);
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        for (durable, pending) in self.durable.iter_mut().zip(&mut self.pending) {
            for (key, value) in std::mem::take(pending) {
                match value {
                    Some(value) => durable.insert(key, value),
                    None => durable.remove(&key),
                };
            }
        }
        Ok(())
    }

    fn crash(&mut self) {
        self.pending.iter_mut().for_each(BTreeMap::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_takes_back_what_was_not_committed_and_nothing_else() {
        let mut store = MemoryStore::default();
        store.put(StoreTable::Items, b"a", b"1").unwrap();
        store.commit().unwrap();
        store.put(StoreTable::Items, b"b", b"2").unwrap();
        store.remove(StoreTable::Items, b"a").unwrap();
        let rows = |store: &MemoryStore| {
            let mut rows = Vec::new();
            store
                .scan(StoreTable::Items, &mut |key, value| rows.push((key.to_vec(), value.to_vec())))
                .unwrap();
            rows
        };
        assert_eq!(rows(&store), [(b"b".to_vec(), b"2".to_vec())]);
        assert_eq!(store.value(StoreTable::Items, b"a").unwrap(), None);
        store.crash();
        assert_eq!(rows(&store), [(b"a".to_vec(), b"1".to_vec())]);
    }
}
