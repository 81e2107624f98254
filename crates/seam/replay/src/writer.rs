//! Writes the logs of a run.
//!
//! Lines are formatted where the engines run, and written by a separate thread. The queue is bounded: when it
//! is full, a simulation waits for the disk, and a node on the real clock ends its log, which says so.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use wayhop_core::{ApplicationInput, Input, Rng, Time};
use wayhop_node::InputContext;

use crate::header::Header;
use crate::line::{Closing, End, put_application_input, put_effects, put_input};
use crate::store::Store;

/// Write when this many bytes are buffered, or after [`WRITE_EVERY`].
const ENOUGH: usize = 4 << 20;
/// No more wait to be written.
const MOST: usize = 32 << 20;
/// How long lines wait at most: what a node that is killed loses of its log.
const WRITE_EVERY: Duration = Duration::from_millis(500);

/// What comes first: the whole log, or the time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A slow disk makes the run wait.
    Whole,
    /// A slow disk ends the logs.
    RealTime,
}

/// Logs under way. Dropped without [`Logs::finish`], they have no last line: the run ended before its end.
pub struct Logs {
    /// The log of each engine, by node and engine.
    places: BTreeMap<(u32, u8), usize>,
    /// The log of each application, by its number.
    applications: BTreeMap<u32, usize>,
    counts: Vec<Closing>,
    /// The line at hand, and whose it is.
    text: Vec<u8>,
    at_hand: Option<usize>,
    shared: Arc<WriterState>,
    pace: Pace,
    store: Option<Store>,
    writer: Option<JoinHandle<()>>,
    is_on: bool,
    /// Why it is not, if that is not an error of the writer's.
    stopped: Option<String>,
    /// Whether somebody has heard why.
    is_told: bool,
}

#[derive(Default)]
struct WriterState {
    waiting: Mutex<Waiting>,
    /// There is enough to write, or everything is over.
    more: Condvar,
    /// There is room again.
    room: Condvar,
}

/// Lines that are not written yet.
#[derive(Default)]
struct Waiting {
    /// By log.
    lines: Vec<Vec<u8>>,
    /// The logs that have some.
    logs: Vec<usize>,
    octets: usize,
    is_over: bool,
    /// Why nothing more is written.
    failed: Option<String>,
}

impl Waiting {
    fn put(&mut self, log: usize, line: &[u8]) {
        if self.lines[log].is_empty() {
            self.logs.push(log);
        }
        self.lines[log].extend_from_slice(line);
        self.octets += line.len();
    }
}

impl WriterState {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Logs {
    /// Makes the files of logs with these headers. Nothing is written until [`Logs::begin`]; lines wait.
    ///
    /// # Errors
    /// If a file cannot be made.
    pub fn create(logs: Vec<(PathBuf, Header)>, pace: Pace) -> Result<Self, String> {
        let mut all = Self::waiting(logs.iter().map(|(_, header)| header), pace);
        let paths: Vec<PathBuf> = logs.into_iter().map(|(path, _)| path).collect();
        all.open(&paths)?;
        Ok(all)
    }

    /// Logs that wait for their files ([`Logs::open`]).
    pub fn waiting<'a>(headers: impl Iterator<Item = &'a Header>, pace: Pace) -> Self {
        let mut waiting = Waiting::default();
        let (mut places, mut applications) = (BTreeMap::new(), BTreeMap::new());
        for (i, header) in headers.enumerate() {
            match &header.application {
                Some(a) => applications.insert(a.number, i),
                None => places.insert((header.node.unwrap_or(0), header.engine), i),
            };
            waiting.lines.push(Vec::new());
            let mut line = serde_json::to_vec(header).unwrap_or_default();
            line.push(b'\n');
            waiting.put(i, &line);
        }
        let none = Closing { inputs: 0, effects: 0, stopped: None };
        Self {
            counts: vec![none; waiting.lines.len()],
            places,
            applications,
            text: Vec::new(),
            at_hand: None,
            shared: Arc::new(WriterState { waiting: Mutex::new(waiting), ..WriterState::default() }),
            pace,
            store: None,
            writer: None,
            is_on: true,
            stopped: None,
            is_told: false,
        }
    }

    /// Makes their files, in the order of their headers.
    ///
    /// # Errors
    /// If a file cannot be made.
    pub fn open(&mut self, paths: &[PathBuf]) -> Result<(), String> {
        self.store = Some(Store::create(paths)?);
        Ok(())
    }

    /// Begins to write, on a thread.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn begin(&mut self) -> std::io::Result<()> {
        let Some(store) = self.store.take() else { return Ok(()) };
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("inputs".into());
        self.writer = Some(thread.spawn(move || write(store, &shared))?);
        Ok(())
    }

    /// Whether the inputs of this engine are wanted.
    #[inline]
    pub fn wants(&self, node: u32) -> bool {
        self.is_on && self.places.contains_key(&(node, 0))
    }

    /// An engine is about to be given this.
    pub fn input(&mut self, at: Time, node: u32, engine: u8, seen: &InputContext<'_>, input: &Input<'_>) {
        self.text.clear();
        self.at_hand = self.places.get(&(node, engine)).copied();
        if self.at_hand.is_some() {
            put_input(&mut self.text, at, seen, input);
        }
    }

    /// An application is about to be given this.
    pub fn application_input(&mut self, at: Time, number: u32, rng: &Rng, input: &ApplicationInput<'_>) {
        self.text.clear();
        self.at_hand = self.applications.get(&number).copied().filter(|_| self.is_on);
        if self.at_hand.is_some() {
            put_application_input(&mut self.text, at, rng, input);
        }
    }

    /// What it asked for in answer.
    pub fn effects(&mut self, effects: &[impl Serialize]) {
        let Some(log) = self.at_hand.take() else { return };
        put_effects(&mut self.text, effects);
        if self.commit(log) {
            self.counts[log].inputs += 1;
            self.counts[log].effects += effects.len() as u64;
        }
    }

    /// Has the line at hand written. Returns whether it is.
    fn commit(&mut self, log: usize) -> bool {
        let mut waiting = self.shared.lock();
        while waiting.octets > MOST && waiting.failed.is_none() && self.writer.is_some() {
            if self.pace == Pace::RealTime {
                self.stopped = Some("the disk was too slow for the log".to_owned());
                self.is_on = false;
                return false;
            }
            waiting = self.shared.room.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.failed.is_some() {
            self.is_on = false;
            return false;
        }
        waiting.put(log, &self.text);
        if waiting.octets >= ENOUGH {
            self.shared.more.notify_one();
        }
        true
    }

    /// Why the logs have ended before the run has, once.
    pub fn news(&mut self) -> Option<String> {
        if self.is_on || std::mem::replace(&mut self.is_told, true) {
            return None;
        }
        self.trouble()
    }

    fn trouble(&self) -> Option<String> {
        self.stopped.clone().or_else(|| self.shared.lock().failed.clone())
    }

    /// Ends the logs with their last lines.
    ///
    /// # Errors
    /// Why they are not whole, if [`Logs::news`] has not said so.
    pub fn finish(mut self) -> Result<(), String> {
        {
            let mut waiting = self.shared.lock();
            if waiting.failed.is_none() {
                for (log, end) in std::mem::take(&mut self.counts).into_iter().enumerate() {
                    let end = Closing { stopped: self.stopped.clone(), ..end };
                    let mut line = serde_json::to_vec(&End { end }).unwrap_or_default();
                    line.push(b'\n');
                    waiting.put(log, &line);
                }
            }
        }
        self.at_hand = None;
        self.close();
        self.trouble().filter(|_| !self.is_told).map_or(Ok(()), Err)
    }

    fn close(&mut self) {
        if let Some(log) = self.at_hand.take() {
            // The engine did not come back from its input: the line tells which one it was.
            self.shared.lock().put(log, &self.text);
        }
        self.shared.lock().is_over = true;
        self.shared.more.notify_one();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        self.close();
    }
}

/// The writer's thread.
fn write(mut store: Store, shared: &WriterState) {
    // The headers are written at once.
    let mut may_wait = false;
    loop {
        let mut waiting = shared.lock();
        if waiting.octets < ENOUGH && !waiting.is_over && std::mem::replace(&mut may_wait, true) {
            let slept = shared.more.wait_timeout(waiting, WRITE_EVERY);
            waiting = slept.unwrap_or_else(PoisonError::into_inner).0;
        }
        let is_over = waiting.is_over;
        let logs = std::mem::take(&mut waiting.logs);
        let lines: Vec<_> = logs.iter().map(|&log| std::mem::take(&mut waiting.lines[log])).collect();
        drop(waiting);
        let mut outcome = Ok(());
        for (log, lines) in logs.into_iter().zip(&lines) {
            outcome = outcome.and(store.append(log, lines));
        }
        let mut waiting = shared.lock();
        waiting.octets -= lines.iter().map(Vec::len).sum::<usize>();
        shared.room.notify_one();
        if let Err(e) = outcome {
            waiting.failed.get_or_insert(e);
        }
        if waiting.failed.is_some() || is_over {
            return;
        }
    }
}
