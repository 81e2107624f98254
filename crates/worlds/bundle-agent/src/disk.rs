//! The store on disk: an embedded database with atomic, durable changes.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use redb::{Database, ReadableTable as _, TableDefinition, TableError};
use wayhop_core::Time;
use wayhop_dtn::{Store, StoreError, StoreTable};

use crate::error::Error;

/// What the store keeps for the clock: no later run may begin before it.
const CLOCK: TableDefinition<&str, u64> = TableDefinition::new("clock");
/// Octets of the database that are kept in memory.
const CACHE: usize = 16 << 20;

const fn table(of: StoreTable) -> TableDefinition<'static, &'static [u8], &'static [u8]> {
    TableDefinition::new(of.name())
}

type Key = (StoreTable, Vec<u8>);

/// A store in a file, by `redb`. What was committed survives `kill -9` and a power failure; what was not is gone, all of it.
///
/// Changes wait in memory until they are committed; one transaction takes them all.
#[derive(Debug)]
pub struct DiskStore {
    database: Database,
    /// Changes since the last commit; `None` is a removal.
    pending: BTreeMap<Key, Option<Vec<u8>>>,
    /// When the last commit was, and this one is.
    time: Time,
}

/// `None` for a table that nothing was written to.
fn existing<T>(opened: Result<T, TableError>) -> Result<Option<T>, redb::Error> {
    match opened {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

fn failed(e: impl Display) -> StoreError {
    StoreError(e.to_string())
}

impl DiskStore {
    /// Opens the store in this file, and makes it if it is not there.
    ///
    /// # Errors
    /// If it cannot be opened: another agent has it, or the file is something else.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let cannot = |e: &dyn Display| {
            Error::System(format!(
                "cannot open the bundle store {}: {e}; set another `store`, or stop the other agent that \
                 uses it",
                path.display()
            ))
        };
        let database = Database::builder().set_cache_size(CACHE).create(path).map_err(|e| cannot(&e))?;
        let read = || -> Result<Time, redb::Error> {
            let Some(clock) = existing(database.begin_read()?.open_table(CLOCK))? else {
                return Ok(Time::ZERO);
            };
            Ok(Time::from_nanos(clock.get("left")?.map_or(0, |at| at.value())))
        };
        let time = read().map_err(|e| cannot(&e))?;
        Ok(Self { database, pending: BTreeMap::new(), time })
    }

    /// The time of the last commit; [`Time::ZERO`] of a new store.
    pub fn left(&self) -> Time {
        self.time
    }

    /// The time of the commits from now on.
    pub fn set_time(&mut self, now: Time) {
        self.time = self.time.max(now);
    }

    fn on_disk(&self, of: StoreTable, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), redb::Error> {
        let Some(rows) = existing(self.database.begin_read()?.open_table(table(of)))? else { return Ok(()) };
        for row in rows.iter()? {
            let (key, value) = row?;
            visit(key.value(), value.value());
        }
        Ok(())
    }

    fn value_on_disk(&self, of: StoreTable, key: &[u8]) -> Result<Option<Vec<u8>>, redb::Error> {
        let Some(rows) = existing(self.database.begin_read()?.open_table(table(of)))? else {
            return Ok(None);
        };
        Ok(rows.get(key)?.map(|v| v.value().to_vec()))
    }

    fn write(&self) -> Result<(), redb::Error> {
        let writing = self.database.begin_write()?;
        {
            let mut clock = writing.open_table(CLOCK)?;
            clock.insert("left", self.time.as_nanos())?;
        }
        for of in StoreTable::ALL {
            let from = (of, Vec::new());
            let own = self.pending.range(from..).take_while(|((t, _), _)| *t == of);
            let mut rows = writing.open_table(table(of))?;
            for ((_, key), value) in own {
                match value {
                    Some(value) => drop(rows.insert(&key[..], &value[..])?),
                    None => drop(rows.remove(&key[..])?),
                }
            }
        }
        writing.commit()?;
        Ok(())
    }
}

impl Store for DiskStore {
    fn put(&mut self, of: StoreTable, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        self.pending.insert((of, key.to_vec()), Some(value.to_vec()));
        Ok(())
    }

    fn remove(&mut self, of: StoreTable, key: &[u8]) -> Result<(), StoreError> {
        self.pending.insert((of, key.to_vec()), None);
        Ok(())
    }

    fn value(&self, of: StoreTable, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        match self.pending.get(&(of, key.to_vec())) {
            Some(changed) => Ok(changed.clone()),
            None => self.value_on_disk(of, key).map_err(failed),
        }
    }

    fn scan(&self, of: StoreTable, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), StoreError> {
        let mut rows: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        let own = || self.pending.iter().filter(|((t, _), _)| *t == of);
        if own().next().is_none() {
            return self.on_disk(of, visit).map_err(failed);
        }
        self.on_disk(of, &mut |key, value| drop(rows.insert(key.to_vec(), value.to_vec())))
            .map_err(failed)?;
        for ((_, key), value) in own() {
            match value {
                Some(value) => drop(rows.insert(key.clone(), value.clone())),
                None => drop(rows.remove(key)),
            }
        }
        for (key, value) in &rows {
            visit(key, value);
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.write().map_err(failed)?;
        self.pending.clear();
        Ok(())
    }

    fn crash(&mut self) {
        self.pending.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wayhop_dtn::MemoryStore;

    use super::*;

    fn rows(store: &dyn Store, of: StoreTable) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        store.scan(of, &mut |k, v| rows.push((k.to_vec(), v.to_vec()))).expect("it reads");
        rows
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put(usize, u8, u8),
        Remove(usize, u8),
        Commit,
        /// The agent is killed, and begins again over the file.
        Kill,
    }

    fn step() -> impl Strategy<Value = Step> {
        let which = 0..StoreTable::ALL.len();
        prop_oneof![
            4 => (which.clone(), 0..8u8, any::<u8>()).prop_map(|(t, k, v)| Step::Put(t, k, v)),
            2 => (which, 0..8u8).prop_map(|(t, k)| Step::Remove(t, k)),
            2 => Just(Step::Commit),
            1 => Just(Step::Kill),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
        #[test]
        fn it_holds_what_a_store_in_memory_holds_also_after_kills(steps in proptest::collection::vec(step(), 1..40)) {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("store");
            let mut disk = DiskStore::open(&path).expect("a store");
            let mut memory = MemoryStore::default();
            for step in steps {
                if let Step::Kill = step {
                    drop(disk);
                    disk = DiskStore::open(&path).expect("a store");
                    memory.crash();
                }
                for store in [&mut disk as &mut dyn Store, &mut memory] {
                    let done = match step {
                        Step::Put(t, k, v) => store.put(StoreTable::ALL[t], &[k], &[v, v]),
                        Step::Remove(t, k) => store.remove(StoreTable::ALL[t], &[k]),
                        Step::Commit => store.commit(),
                        Step::Kill => Ok(()),
                    };
                    done.expect("room");
                }
                for of in StoreTable::ALL {
                    prop_assert_eq!(rows(&disk, of), rows(&memory, of));
                    prop_assert_eq!(disk.value(of, &[3]).expect("it reads"), memory.value(of, &[3]).expect("it reads"));
                }
            }
        }
    }

    #[test]
    fn the_clock_goes_on_where_the_store_was_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        let later = Time::from_nanos(u64::MAX / 2);
        let mut disk = DiskStore::open(&path).expect("a store");
        assert_eq!(disk.left(), Time::ZERO);
        disk.set_time(later);
        disk.put(StoreTable::State, b"a", b"b").expect("room");
        disk.commit().expect("room");
        drop(disk);
        let disk = DiskStore::open(&path).expect("a store");
        assert_eq!(disk.left(), later);
        assert!(crate::open::begin(disk.left()) >= later);
    }

    #[test]
    fn a_file_that_is_no_store_and_one_in_use_are_refused_with_the_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("text");
        std::fs::write(&path, "not a database, but a text that is long enough to be one".repeat(100))
            .expect("a file");
        let e = DiskStore::open(&path).expect_err("refused").to_string();
        assert!(e.contains("text") && e.contains("set another `store`"), "{e}");
        let path = folder.path().join("store");
        let _first = DiskStore::open(&path).expect("a store");
        assert!(DiskStore::open(&path).is_err());
    }
}
