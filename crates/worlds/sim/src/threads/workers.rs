//! Threads that run tasks, and how the run's own thread gives them these and gets them back.

use std::collections::VecDeque;
use std::hint::spin_loop;
use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use super::task::Task;

/// Looks at a tray before a thread lets others run: some microseconds, as long as a task takes.
const SPINS: u32 = 2_000;
/// How often it lets others run before it goes to sleep.
const YIELDS: u32 = 64;

/// Threads that run tasks.
pub(super) struct Workers {
    desk: Arc<Desk>,
    threads: Vec<JoinHandle<()>>,
    /// Tasks that were taken back while another one was waited for.
    back: Vec<Task>,
}

/// What all threads share.
#[derive(Default)]
struct Desk {
    /// Tasks that nobody has begun, and tasks that are done.
    posted: Tray,
    done: Tray,
    /// Threads that sleep.
    sleepers: AtomicUsize,
    quits: AtomicBool,
    has_failed: AtomicBool,
}

/// Tasks in a row. Their number can be seen without a lock.
#[derive(Default)]
struct Tray {
    tasks: Mutex<VecDeque<Task>>,
    number: AtomicUsize,
}

impl Tray {
    fn is_empty(&self) -> bool {
        self.number.load(SeqCst) == 0
    }
    fn lock(&self) -> MutexGuard<'_, VecDeque<Task>> {
        self.tasks.lock().expect("nobody panics with it")
    }
    fn put(&self, task: Task) {
        let mut tasks = self.lock();
        tasks.push_back(task);
        self.number.store(tasks.len(), SeqCst);
    }
    fn take(&self) -> Option<Task> {
        if self.is_empty() {
            return None;
        }
        let mut tasks = self.lock();
        let task = tasks.pop_front();
        self.number.store(tasks.len(), SeqCst);
        task
    }
}

impl Workers {
    pub(super) fn start(number: usize) -> io::Result<Self> {
        let mut workers = Self { desk: Arc::default(), threads: Vec::new(), back: Vec::new() };
        for i in 1..=number {
            let desk = Arc::clone(&workers.desk);
            let thread = thread::Builder::new().name(format!("receivers-{i}"));
            workers.threads.push(thread.spawn(move || work(&desk))?);
        }
        Ok(workers)
    }

    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Gives the threads a task.
    pub(super) fn post(&self, task: Task) {
        self.desk.posted.put(task);
        if self.desk.sleepers.load(SeqCst) > 0 {
            self.wake_all();
        }
    }

    fn wake_all(&self) {
        self.threads.iter().for_each(|t| t.thread().unpark());
    }

    /// The task with this key, which was posted, when it is done. Meanwhile this thread runs those that nobody has begun.
    pub(super) fn wait_for(&mut self, key: u128) -> Task {
        let mut spins = 0;
        loop {
            while let Some(task) = self.desk.done.take() {
                self.back.push(task);
            }
            if let Some(place) = self.back.iter().position(|task| task.key == key) {
                return self.back.swap_remove(place);
            }
            if let Some(mut task) = self.desk.posted.take() {
                task.run();
                self.back.push(task);
            } else if self.desk.has_failed.load(Acquire) {
                self.fail();
            } else {
                pause(&mut spins);
            }
        }
    }

    /// What a thread panicked with goes on in this one.
    fn fail(&mut self) -> ! {
        self.desk.quits.store(true, SeqCst);
        self.wake_all();
        let panics: Vec<_> = self.threads.drain(..).filter_map(|thread| thread.join().err()).collect();
        match panics.into_iter().next() {
            Some(panic) => resume_unwind(panic),
            None => unreachable!("a thread that fails has panicked"),
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.desk.quits.store(true, SeqCst);
        self.wake_all();
        // One that panicked has told so.
        self.threads.drain(..).for_each(|thread| _ = thread.join());
    }
}

/// Tells the run's thread if this one panics, for it waits.
struct Alarm<'a>(&'a Desk);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.has_failed.store(true, Release);
        }
    }
}

/// What a thread does.
fn work(desk: &Desk) {
    let _alarm = Alarm(desk);
    let mut spins = 0;
    while !desk.quits.load(Acquire) {
        if let Some(mut task) = desk.posted.take() {
            task.run();
            desk.done.put(task);
            spins = 0;
        } else if spins < SPINS * YIELDS {
            pause(&mut spins);
        } else {
            desk.sleepers.fetch_add(1, SeqCst);
            if desk.posted.is_empty() && !desk.quits.load(SeqCst) {
                thread::park();
            }
            desk.sleepers.fetch_sub(1, SeqCst);
            spins = 0;
        }
    }
}

/// Waits a moment, now and then so that others can run.
fn pause(spins: &mut u32) {
    *spins = spins.saturating_add(1);
    if spins.is_multiple_of(SPINS) { thread::yield_now() } else { spin_loop() }
}
