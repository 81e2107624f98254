//! The interpreters of the runs under way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::interpreter::Interpreter;
use super::source::Source;

/// What the engines or applications of a run share.
pub(super) struct Run {
    interpreter: Mutex<Hosted>,
}

/// An interpreter, and how many objects it had.
pub(super) struct Hosted {
    pub(super) interpreter: Interpreter,
    numbers: u32,
}

/// Which run: the place of something in memory that its nodes have in common, and a seed.
pub(super) type Key = (usize, u64);

static UNDER_WAY: Mutex<Vec<(Key, Weak<Run>)>> = Mutex::new(Vec::new());

impl Run {
    /// The run of this key. It begins if nothing of it is there yet.
    pub(super) fn of(source: &Source, key: Key) -> Arc<Self> {
        let mut runs = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|(_, run)| run.strong_count() > 0);
        if let Some(run) = runs.iter().find(|(k, _)| *k == key).and_then(|(_, run)| run.upgrade()) {
            return run;
        }
        let interpreter = match Interpreter::start(source) {
            Ok((interpreter, _)) => interpreter,
            Err(what) => source.end(what.strip_prefix("it ").unwrap_or(&what)),
        };
        let run = Arc::new(Self { interpreter: Mutex::new(Hosted { interpreter, numbers: 0 }) });
        runs.push((key, Arc::downgrade(&run)));
        run
    }

    /// The interpreter, for one call.
    pub(super) fn lock(&self) -> MutexGuard<'_, Hosted> {
        self.interpreter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hosted {
    /// The number of a new object.
    pub(super) fn next_number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }
}
