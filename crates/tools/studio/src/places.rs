//! How many connections are open, and which one has to go when another one comes.
//!
//! A client that sends its request byte by byte, does not read its answer, or is silent blocks a
//! connection. Each connection must therefore make progress: every exchange starts with a short
//! grace period, which transmitted data extends, but never beyond its initial length. Time that the
//! server itself needs is not counted. When all places are taken, the most overdue connections are
//! closed; one that is overdue for long is closed anyway.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Connections at a time; browsers open six each.
const PLACES: usize = 128;
/// How long a client may do nothing before it can lose its place to another one. (200 ms is a slow way around the Earth.)
const GRACE: Duration = Duration::from_millis(300);
/// Bytes that a client should take or send in a second.
const BYTES_PER_S: u64 = 64 << 10;
/// A connection that is overdue for so long is closed, also when there are places left.
const PATIENCE: Duration = Duration::from_secs(10);
/// This many are closed at once: a client with one idle connection usually has more, and the next client comes soon.
const CUT_AT_ONCE: usize = PLACES / 8;
/// How often that is looked at, and how often a place is looked for.
const LOOK: Duration = Duration::from_secs(1);
const LOOK_FOR_PLACE: Duration = Duration::from_millis(20);

tokio::task_local! {
    /// The connection whose request is being answered.
    static CURRENT: Arc<Account>;
}

/// When a connection is due.
struct Account {
    state: Mutex<PlacesState>,
    cut: Notify,
}

#[derive(Copy, Clone, Debug)]
struct PlacesState {
    due: Instant,
    /// Whether it is the server that has something to do.
    is_served: bool,
}

impl PlacesState {
    fn new(now: Instant) -> Self {
        Self { due: now + GRACE, is_served: false }
    }

    fn moved(&mut self, bytes: usize, now: Instant) {
        let worth = Duration::from_micros(bytes as u64 * 1_000_000 / BYTES_PER_S);
        self.due = (self.due + worth).min(now + GRACE);
    }

    fn overdue(&self, now: Instant) -> Option<Duration> {
        if self.is_served { None } else { now.checked_duration_since(self.due).filter(|o| !o.is_zero()) }
    }
}

impl Account {
    fn new() -> Self {
        Self { state: Mutex::new(PlacesState::new(Instant::now())), cut: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, PlacesState> {
        // The state is consistent after each statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn overdue(&self) -> Option<Duration> {
        self.state().overdue(Instant::now())
    }
}

/// A request's head has come, or its answer is ready: the client's next turn begins.
pub(crate) fn next_turn() {
    // Outside of a connection (a WebSocket has left its own) there is nothing to count.
    let _ = CURRENT.try_with(|a| *a.state() = PlacesState::new(Instant::now()));
}

/// While this lives, the client waits for the server.
pub(crate) struct Serving(Option<Arc<Account>>);

impl Serving {
    pub(crate) fn new() -> Self {
        let account = CURRENT.try_with(Arc::clone).ok();
        if let Some(account) = &account {
            account.state().is_served = true;
        }
        Self(account)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(account) = &self.0 {
            *account.state() = PlacesState::new(Instant::now());
        }
    }
}

pub(crate) struct Places {
    free: Arc<Semaphore>,
    open: Mutex<Vec<Weak<Account>>>,
}

impl Places {
    pub(crate) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(PLACES)), open: Mutex::default() }
    }

    /// A place for one more connection; if need be, that of the one that is overdue longest.
    pub(crate) async fn take(&self) -> ConnectionPlace {
        loop {
            if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
                let account = Arc::new(Account::new());
                let mut open = self.open();
                open.retain(|a| a.strong_count() > 0);
                open.push(Arc::downgrade(&account));
                return ConnectionPlace { account, _permit: permit };
            }
            let accounts: Vec<_> = self.open().iter().filter_map(Weak::upgrade).collect();
            let mut overdue: Vec<_> = accounts.iter().filter_map(|a| Some((a.overdue()?, a))).collect();
            overdue.sort_unstable_by_key(|(by, _)| std::cmp::Reverse(*by));
            overdue.truncate(CUT_AT_ONCE);
            for (_, account) in &overdue {
                account.cut.notify_one();
            }
            // That they are gone, or that one is overdue, comes soon.
            let soon = if overdue.is_empty() { LOOK_FOR_PLACE } else { Duration::from_millis(1) };
            tokio::time::sleep(soon).await;
        }
    }

    fn open(&self) -> MutexGuard<'_, Vec<Weak<Account>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's place, until it is dropped.
pub(crate) struct ConnectionPlace {
    account: Arc<Account>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionPlace {
    pub(crate) fn watch<S>(&self, stream: S) -> CountedStream<S> {
        CountedStream { stream, account: Arc::clone(&self.account) }
    }

    /// Serves a connection until it ends or has to go.
    pub(crate) async fn hold(self, connection: impl Future) {
        let account = Arc::clone(&self.account);
        let served = CURRENT.scope(Arc::clone(&account), connection);
        tokio::pin!(served);
        loop {
            tokio::select! {
                _ = &mut served => return,
                () = account.cut.notified() => return,
                () = tokio::time::sleep(LOOK) => {
                    if account.overdue().is_some_and(|o| o > PATIENCE) {
                        return;
                    }
                }
            }
        }
    }
}

pub(crate) struct CountedStream<S> {
    stream: S,
    account: Arc<Account>,
}

impl<S> CountedStream<S> {
    fn moved(&self, bytes: usize) {
        if bytes > 0 {
            self.account.state().moved(bytes, Instant::now());
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let done = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.moved(buf.filled().len() - before);
        done
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(written)) = done {
            self.moved(written);
        }
        done
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        if let Poll::Ready(Ok(written)) = done {
            self.moved(written);
        }
        done
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trickle_and_a_burst_buy_no_more_than_their_bytes_and_the_grace() {
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let mut trickle = PlacesState::new(begin);
        for ms in (100..2_000).step_by(100) {
            trickle.moved(1, at(ms));
        }
        assert!(trickle.overdue(at(2_000)).unwrap() > Duration::from_millis(1_690));
        let mut fast = PlacesState::new(begin);
        for ms in (100..2_000).step_by(100) {
            fast.moved(BYTES_PER_S as usize / 10, at(ms));
        }
        assert_eq!(fast.overdue(at(2_000)), None);
        let mut burst = PlacesState::new(begin);
        burst.moved(100 << 20, at(1));
        assert!(burst.overdue(at(1_000)).unwrap() > Duration::from_millis(600));
    }

    #[test]
    fn nobody_is_overdue_while_the_server_works() {
        let begin = Instant::now();
        let mut state = PlacesState::new(begin);
        state.is_served = true;
        assert_eq!(state.overdue(begin + PATIENCE), None);
    }
}
