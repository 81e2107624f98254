//! What the owner's thread and the thread of the connections share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::events::{self, Subscription};
use super::stream_buffer::StreamBuffer;
use crate::about::About;
use crate::event::Event;
use crate::event_kind::EventKind;
use crate::messages::Request;

/// A request as the loop hands it on: the client, its number of the request, the node, what it asks.
type WaitingRequest = (u64, Option<u64>, Option<u32>, Request);

#[derive(Debug)]
pub(super) struct ServerState {
    state: Mutex<IoState>,
    /// The kinds of events that anybody wants.
    wanted: AtomicU16,
    /// A byte is in this pair while calls wait.
    calls: (UnixStream, UnixStream),
    /// A byte here wakes the connections' thread.
    wake: UnixStream,
}

#[derive(Debug, Default)]
pub(super) struct IoState {
    calls: VecDeque<WaitingRequest>,
    /// Answers on their way to the connections.
    pub(super) answers: Vec<(u64, Vec<u8>)>,
    /// What follows the last answer, by client.
    streams: BTreeMap<u64, StreamBuffer>,
    /// By client.
    subscriptions: BTreeMap<u64, Subscription>,
    /// The nodes that are down.
    down: BTreeSet<u32>,
    woken: bool,
    pub(super) stopping: bool,
}

impl ServerState {
    /// With the end of the wake pair that the connections' thread polls.
    pub(super) fn new() -> io::Result<(Self, UnixStream)> {
        let calls = UnixStream::pair()?;
        let (wake, woken) = UnixStream::pair()?;
        for s in [&calls.0, &calls.1, &wake, &woken] {
            s.set_nonblocking(true)?;
        }
        Ok((Self { state: Mutex::default(), wanted: AtomicU16::new(0), calls, wake }, woken))
    }

    /// Nothing that holds the lock can panic half way through a change, so a poisoned state is a whole one.
    fn lock(&self) -> MutexGuard<'_, IoState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // ---- the owner's thread ----

    pub(super) fn calls_fd(&self) -> BorrowedFd<'_> {
        self.calls.1.as_fd()
    }

    pub(super) fn take_call(&self) -> Option<WaitingRequest> {
        let mut state = self.lock();
        let call = state.calls.pop_front()?;
        if state.calls.is_empty() {
            // The one byte that `put_call` wrote is there; it is read under the lock that it was written under.
            let _ = (&self.calls.1).read(&mut [0; 8]);
        }
        Some(call)
    }

    pub(super) fn answer(&self, client: u64, line: Vec<u8>) {
        let mut state = self.lock();
        state.answers.push((client, line));
        self.wake(&mut state);
    }

    /// The last answer of a connection, and the stream behind it.
    pub(super) fn begin_stream(&self, client: u64, line: Vec<u8>) {
        let mut state = self.lock();
        state.answers.push((client, line));
        state.streams.insert(client, StreamBuffer::default());
        self.wake(&mut state);
    }

    pub(super) fn push_stream(&self, client: u64, octets: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        let waiting = state.streams.get_mut(&client).ok_or(io::ErrorKind::BrokenPipe)?;
        waiting.push(octets)?;
        self.wake(&mut state);
        Ok(())
    }

    pub(super) fn end_stream(&self, client: u64) {
        let mut state = self.lock();
        if let Some(waiting) = state.streams.get_mut(&client) {
            waiting.ended = true;
            self.wake(&mut state);
        }
    }

    pub(super) fn wants(&self, kind: EventKind) -> bool {
        self.wanted.load(Ordering::Relaxed) & kind.bit() != 0
    }

    pub(super) fn publish(&self, event: &Event) {
        let Some(json) = events::json(event) else { return };
        let mut state = self.lock();
        let mut any = false;
        for s in state.subscriptions.values_mut().filter(|s| s.wants(event)) {
            s.push(&json);
            any = true;
        }
        if any {
            self.wake(&mut state);
        }
    }

    pub(super) fn set_up(&self, node: u32, up: bool) {
        let down = &mut self.lock().down;
        if up {
            down.remove(&node);
        } else {
            down.insert(node);
        }
    }

    pub(super) fn is_up(&self, node: u32) -> bool {
        !self.lock().down.contains(&node)
    }

    pub(super) fn now(&self, about: &About) -> About {
        let mut about = about.clone();
        let state = self.lock();
        for n in about.nodes.iter_mut().filter(|n| state.down.contains(&n.node)) {
            n.up = false;
        }
        about
    }

    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopping = true;
        self.wake(&mut state);
    }

    fn wake(&self, state: &mut IoState) {
        if !state.woken {
            state.woken = true;
            // One byte into an empty buffer: there is room.
            let _ = (&self.wake).write(&[1]);
        }
    }

    // ---- the connections' thread ----

    /// Says that the wake byte was read, and gives the state.
    pub(super) fn awake(&self, wake: &UnixStream) -> MutexGuard<'_, IoState> {
        let mut state = self.lock();
        if std::mem::take(&mut state.woken) {
            let mut wake = wake;
            let _ = wake.read(&mut [0; 8]);
        }
        state
    }

    pub(super) fn put_call(&self, call: WaitingRequest) {
        let mut state = self.lock();
        if state.calls.is_empty() {
            let _ = (&self.calls.0).write(&[1]);
        }
        state.calls.push_back(call);
    }

    pub(super) fn subscribe(&self, client: u64, subscription: Subscription) {
        let mut state = self.lock();
        state.subscriptions.insert(client, subscription);
        self.count_wants(&state);
    }

    pub(super) fn unsubscribe(&self, client: u64) {
        let mut state = self.lock();
        state.subscriptions.remove(&client);
        self.count_wants(&state);
    }

    pub(super) fn with_subscription(&self, client: u64, f: impl FnOnce(&mut Subscription)) {
        if let Some(s) = self.lock().subscriptions.get_mut(&client) {
            f(s);
        }
    }

    /// `None` if the client has no stream.
    pub(super) fn with_stream<R>(&self, client: u64, f: impl FnOnce(&mut StreamBuffer) -> R) -> Option<R> {
        self.lock().streams.get_mut(&client).map(f)
    }

    /// The client has gone.
    pub(super) fn forget_stream(&self, client: u64) {
        self.lock().streams.remove(&client);
    }

    fn count_wants(&self, state: &IoState) {
        let kinds = state.subscriptions.values().fold(0, |set, s| set | s.kinds);
        self.wanted.store(kinds, Ordering::Relaxed);
    }
}
