//! Runs of libraries: one at a time in a process.

use core::ffi::c_void;
use core::ptr;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use wayhop_core::NodeContext;

use super::abi::RawRun;
use super::call::enter;
use super::host::HOST;
use super::library::Library;
use super::values::Values;
use crate::progress::Callback;

/// A run: what a library's engines share. Libraries keep singletons, so that another run waits until this one's engines are
/// gone.
pub(crate) struct Run {
    library: &'static Library,
    /// What `run_begin` returned.
    pub(super) raw: *mut c_void,
    /// How often each node had an engine.
    lives: Mutex<BTreeMap<u32, u32>>,
}

// SAFETY: the library gets `raw` under `call::enter` alone.
unsafe impl Send for Run {}
// SAFETY: the same.
unsafe impl Sync for Run {}

/// Which run: the place of its parameters, and its seed.
type Key = (usize, u64);

/// The run under way in this process.
static UNDER_WAY: Mutex<Option<(Key, Weak<Run>)>> = Mutex::new(None);
static ENDED: Condvar = Condvar::new();

fn under_way() -> MutexGuard<'static, Option<(Key, Weak<Run>)>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    /// The run of these parameters and this seed. It begins if no engine of it is there yet.
    pub(crate) fn of(library: &'static Library, values: &Values, node: &NodeContext) -> Arc<Self> {
        let key = (ptr::from_ref(values).addr(), node.seed);
        let mut current = under_way();
        while let Some((other, run)) = &*current {
            if *other == key
                && let Some(run) = run.upgrade()
            {
                return run;
            }
            // Another run, which must not be held here, for its end takes the lock; or one whose last engine has just gone.
            current = ENDED.wait(current).unwrap_or_else(PoisonError::into_inner);
        }
        let begin = RawRun {
            size: size_of::<RawRun>() as u32,
            nodes: node.nodes,
            seed: node.seed,
            host: &raw const HOST,
            values: values.raw(),
            json: values.json(),
        };
        let raw = library.raw.run_begin.map_or(ptr::null_mut(), |run_begin| {
            let _entered = enter(library.number, Callback::RunBegin, 0, 0, None);
            // SAFETY: a function of this type, and valid pointers.
            unsafe { run_begin(&raw const begin) }
        });
        let run = Arc::new(Self { library, raw, lives: Mutex::default() });
        *current = Some((key, Arc::downgrade(&run)));
        run
    }

    /// A node gets an engine. Returns how many it had before.
    pub(super) fn next_life(&self, node: u32) -> u32 {
        let mut lives = self.lives.lock().unwrap_or_else(PoisonError::into_inner);
        let life = lives.entry(node).or_default();
        *life += 1;
        *life - 1
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(run_end) = self.library.raw.run_end {
            let _entered = enter(self.library.number, Callback::RunEnd, 0, 0, None);
            // SAFETY: a function of this type; its engines are gone.
            unsafe { run_end(self.raw) };
        }
        *under_way() = None;
        ENDED.notify_all();
    }
}
