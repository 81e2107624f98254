//! A run with several threads: the receivers of a broadcast are handled by another thread while the run goes on elsewhere.
//!
//! # What may go on
//! What a packet does at its receivers is most of the work of a large network. It is a task: another thread has the receivers' nodes
//! until it is done, and what they ask for - timers, frames, rows of the record - is kept. The run's own thread handles further events
//! meanwhile, if these cannot depend on the task; an event that might is postponed. When too many are, it collects the task that was
//! handed over first, and does what the receivers asked for. Let a task's event be at time `t` at a sender's place:
//!
//! * The receivers are within the distance at which a frame is decoded. What they ask for is due at `t` or later, and changes nothing
//!   but them until one of them sends: the medium must be idle for a DIFS before.
//! * A frame changes stations that sense it. What these do on account of it they do at its end, so not before another airtime has passed.
//!   With each airtime a change gets farther by the distance at which a frame is sensed.
//! * The event may itself change others: those that sense its node's frame, or that decode it.
//!
//! So an event does not depend on a task if it is farther away than these distances together. The same holds for a postponed event and
//! those after it, except that something may be sent on account of it at once. Distances are between places at the time when the radio
//! last renewed what it knows of places; an event that would renew them waits for all tasks.
//!
//! # The same run
//! When a task is collected follows from the events alone, not from how long it takes. Events that are handled in another order than in
//! a run with one thread do not depend on each other, and rows are written in that run's order (`row_order`). So any number of threads
//! gives the same record and the same trace hash.
//!
//! This is not a division of the network into parts with event queues of their own (Liu and Nicol 2002, "Lookahead Revisited in Wireless
//! Network Simulations"): the medium and the queue stay with one thread, which bounds what more threads can gain.

mod limits;
mod run;
mod task;
mod workers;
mod world;

use std::io;

use wayhop_core::{Position, Time};
use wayhop_radio::Bounds;

use crate::buckets::QueuedEvent;
use crate::event::Event;
pub use limits::why_one_thread;
use task::Task;
pub(crate) use task::look_ahead;
use workers::Workers;

/// Handing over fewer receivers takes longer than they do.
const LEAST_RECEIVERS: usize = 4;
/// Tasks under way, for each thread. More wait for memory that has left the caches.
const MOST_TASKS: usize = 8;
/// Events that are postponed before a task is waited for.
const MOST_POSTPONED: usize = 16;

/// The threads of a run besides its own.
pub(crate) struct Threads {
    workers: Workers,
    /// The tasks under way, in the order in which they were handed over.
    under_way: Vec<UnderWay>,
    /// How many there were.
    tasks: u64,
    /// The greatest key of an event that was handled or handed over.
    latest: u128,
    /// Events that may depend on a task under way, or on an event before them in this list.
    postponed: Vec<(QueuedEvent<Event>, Area)>,
    /// For reuse.
    spare: Vec<Task>,
    bounds: Bounds,
}

/// A task that is not collected yet.
struct UnderWay {
    key: u128,
    area: Area,
}

/// What an event changes, and when: nodes within a distance of a place.
#[derive(Copy, Clone)]
struct Area {
    at: Time,
    place: Position,
    reach_m: f64,
    /// No node sends anything on account of it earlier.
    idle_until: Time,
}

impl Threads {
    /// This number of threads besides the run's own.
    fn start(number: usize, bounds: Bounds) -> io::Result<Self> {
        let workers = Workers::start(number)?;
        Ok(Self {
            workers,
            under_way: Vec::new(),
            tasks: 0,
            latest: 0,
            postponed: Vec::new(),
            spare: Vec::new(),
            bounds,
        })
    }

    /// Whether an event may depend on a task under way, or on a postponed event.
    fn is_bound(&self, event: &Area) -> bool {
        let mut earlier =
            self.under_way.iter().map(|task| &task.area).chain(self.postponed.iter().map(|(_, area)| area));
        earlier.any(|earlier| self.depends(event, earlier))
    }

    /// Whether an event may depend on an earlier one.
    fn depends(&self, event: &Area, earlier: &Area) -> bool {
        let Bounds { sensed_m, shortest_airtime, .. } = self.bounds;
        let passed = event.at.as_nanos().checked_sub(earlier.idle_until.as_nanos());
        let frames = passed.map_or(0, |ns| 1 + ns / shortest_airtime.as_nanos());
        let near_m = earlier.reach_m + frames as f64 * sensed_m + event.reach_m;
        event.place.distance_squared(earlier.place) <= near_m * near_m
    }

    fn is_full(&self) -> bool {
        self.under_way.len() >= MOST_TASKS * self.workers.len()
    }

    /// Hands a task over.
    fn post(&mut self, task: Task, area: Area) {
        self.tasks += 1;
        self.under_way.push(UnderWay { key: task.key, area });
        self.workers.post(task);
    }

    /// Waits for the task that was handed over first.
    fn take(&mut self) -> Task {
        let key = self.under_way.remove(0).key;
        self.workers.wait_for(key)
    }

    /// The key of the earliest event that is not over.
    fn earliest(&self) -> Option<u128> {
        let tasks = self.under_way.iter().map(|task| task.key);
        tasks.chain(self.postponed.iter().map(|(event, _)| event.key)).min()
    }
}
