//! The interpreters of the runs under way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::{Map, Value};

use super::interpreter::Interpreter;
use super::module::Module;

/// What the engines of a run share.
pub(super) struct Run {
    interpreter: Mutex<Hosted>,
}

/// An interpreter, and how many engines it had.
pub(super) struct Hosted {
    pub(super) interpreter: Interpreter,
    engines: u32,
}

/// By the place of the parameters' values, and the seed.
type Key = (usize, u64);

static UNDER_WAY: Mutex<Vec<(Key, Weak<Run>)>> = Mutex::new(Vec::new());

impl Run {
    /// The run of these parameters and this seed. It begins if no engine of it is there yet.
    pub(super) fn of(module: &Module, values: &Arc<Map<String, Value>>, seed: u64) -> Arc<Self> {
        let key = (Arc::as_ptr(values).addr(), seed);
        let mut runs = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|(_, run)| run.strong_count() > 0);
        if let Some(run) = runs.iter().find(|(k, _)| *k == key).and_then(|(_, run)| run.upgrade()) {
            return run;
        }
        let interpreter = match Interpreter::start(&module.path) {
            Ok((interpreter, _)) => interpreter,
            Err(what) => module.end(what.strip_prefix("it ").unwrap_or(&what)),
        };
        let run = Arc::new(Self { interpreter: Mutex::new(Hosted { interpreter, engines: 0 }) });
        runs.push((key, Arc::downgrade(&run)));
        run
    }

    /// The interpreter, for one call.
    pub(super) fn lock(&self) -> MutexGuard<'_, Hosted> {
        self.interpreter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hosted {
    /// The number of a new engine.
    pub(super) fn next_engine(&mut self) -> u32 {
        self.engines += 1;
        self.engines
    }
}
