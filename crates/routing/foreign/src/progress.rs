//! Which callback of a library is in progress, for the process that watches over this one.
//!
//! A run with a foreign library happens in a process of its own. It shares a small file in memory with its supervisor, where
//! each call leaves a trace before it begins. When the process dies, or a call does not return, the supervisor reads there what
//! to tell the user.

use core::sync::atomic::{AtomicU64, Ordering};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use crate::ffi::page;

/// Size of the file, bytes.
pub const FILE_BYTES: u64 = LIBRARIES_AT + MOST_LIBRARIES * TEXT_BYTES;

/// The words at its beginning: calls so far, the call in progress, its time.
const WORDS: usize = 3;
/// Where the node begins in the word of a call, and where the library that was called last. Before them is the callback.
const NODE_BIT: u32 = 8;
const LIBRARY_BIT: u32 = 40;

/// Where texts begin in the file: each has a byte count of 8 bytes before it.
const FAULT_AT: u64 = TEXT_BYTES;
const RUN_AT: u64 = 2 * TEXT_BYTES;
const LIBRARIES_AT: u64 = 3 * TEXT_BYTES;
const TEXT_BYTES: u64 = 1 << 10;
const LONGEST_TEXT: usize = 1_000;
/// Libraries whose names the file has.
const MOST_LIBRARIES: u64 = 32;

/// A function of a library.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Callback {
    /// `wayhop_protocol`, and whatever runs while the library is loaded.
    Load,
    /// `check`.
    Check,
    /// `run_begin`.
    RunBegin,
    /// `run_end`.
    RunEnd,
    /// `create`.
    Create,
    /// `destroy`.
    Destroy,
    /// `start`.
    Start,
    /// `outbound`.
    Outbound,
    /// `frame`.
    Frame,
    /// `overheard`.
    Overheard,
    /// `tx_status`.
    TxStatus,
    /// `timer`.
    Timer,
    /// `route_used`.
    RouteUsed,
    /// `link`.
    Link,
    /// `position`.
    Position,
    /// `command`.
    Command,
    /// `inspect`.
    Inspect,
    /// `wayhop_application`, and whatever runs while its library is loaded.
    LoadApplication,
    /// `datagram`.
    Datagram,
    /// `stream`.
    Stream,
    /// `neighbours`.
    Neighbours,
    /// `resume`.
    Resume,
    /// `restart`.
    Restart,
    /// `end`.
    End,
    /// `figures`.
    Figures,
}

const CALLBACKS: [(Callback, &str); 25] = [
    (Callback::Load, "wayhop_protocol"),
    (Callback::Check, "check"),
    (Callback::RunBegin, "run_begin"),
    (Callback::RunEnd, "run_end"),
    (Callback::Create, "create"),
    (Callback::Destroy, "destroy"),
    (Callback::Start, "start"),
    (Callback::Outbound, "outbound"),
    (Callback::Frame, "frame"),
    (Callback::Overheard, "overheard"),
    (Callback::TxStatus, "tx_status"),
    (Callback::Timer, "timer"),
    (Callback::RouteUsed, "route_used"),
    (Callback::Link, "link"),
    (Callback::Position, "position"),
    (Callback::Command, "command"),
    (Callback::Inspect, "inspect"),
    (Callback::LoadApplication, "wayhop_application"),
    (Callback::Datagram, "datagram"),
    (Callback::Stream, "stream"),
    (Callback::Neighbours, "neighbours"),
    (Callback::Resume, "resume"),
    (Callback::Restart, "restart"),
    (Callback::End, "end"),
    (Callback::Figures, "figures"),
];

impl Callback {
    /// Its name in `wayhop.h`.
    pub fn name(self) -> &'static str {
        CALLBACKS[self as usize].1
    }
    /// Whether it is about one node.
    fn is_of_node(self) -> bool {
        !matches!(self, Self::Load | Self::LoadApplication | Self::Check | Self::RunBegin | Self::RunEnd)
    }
}

/// The call in progress.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which function.
    pub callback: Callback,
    /// The node, if it is about one whose number is known.
    pub node: Option<u32>,
    /// When, of a call about a node, nanoseconds since the run began.
    pub time_ns: u64,
}

impl core::fmt::Display for Call {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "in {}", self.callback.name())?;
        if let Some(node) = self.node {
            write!(f, " of node {node}")?;
        }
        if self.callback.is_of_node() {
            write!(f, " at {:.6} s", self.time_ns as f64 / 1e9)?;
        }
        Ok(())
    }
}

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// How many calls began.
    pub calls: u64,
    /// The one in progress.
    pub call: Option<Call>,
    /// The library that was called last, as the user named it; empty before one is loaded.
    pub library: String,
    /// What it did that ended the run; empty for nothing.
    pub fault: String,
    /// The directory that the run writes; empty for none.
    pub run: String,
}

impl Snapshot {
    /// Reads it. What cannot be read is as if nothing had been written.
    pub fn read(file: &File) -> Self {
        let mut words = [0; WORDS * 8];
        if read_at(file, &mut words, 0).is_err() {
            return Self::default();
        }
        let word = |i: usize| u64::from_ne_bytes(core::array::from_fn(|b| words[i * 8 + b]));
        let callback = CALLBACKS.iter().find(|(c, _)| *c as u64 + 1 == word(1) & 0xff).map(|(c, _)| *c);
        let call = callback.map(|callback| Call {
            callback,
            node: callback.is_of_node().then_some((word(1) >> NODE_BIT) as u32).filter(|n| *n != u32::MAX),
            time_ns: word(2),
        });
        let text = |at| read_text(file, at).unwrap_or_default();
        let library = text(library_at(word(1) >> LIBRARY_BIT));
        Self { calls: word(0), call, library, fault: text(FAULT_AT), run: text(RUN_AT) }
    }
}

// The file has one position for both processes: nothing here moves it, where that is possible.

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    io::Read::read_exact(&mut file, bytes)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    io::Write::write_all(&mut file, bytes)
}

fn read_text(file: &File, at: u64) -> Option<String> {
    let mut length = [0; 8];
    read_at(file, &mut length, at).ok()?;
    let mut bytes = vec![0; (u64::from_ne_bytes(length) as usize).min(LONGEST_TEXT)];
    read_at(file, &mut bytes, at + 8).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The watched side.
struct Page {
    words: &'static [AtomicU64; WORDS],
    file: File,
}

static PAGE: OnceLock<Page> = OnceLock::new();

/// Tells a supervisor from now on, by a file of [`FILE_BYTES`] that it shares.
///
/// # Errors
/// If the file cannot be mapped.
pub fn report_to(file: File) -> io::Result<()> {
    let words = page::shared(&file)?;
    let _ = PAGE.set(Page { words, file });
    Ok(())
}

/// Whether a supervisor watches this process.
pub(crate) fn is_watched() -> bool {
    PAGE.get().is_some()
}

/// A call of the library of this number begins.
#[inline]
pub(crate) fn begin(library: u8, callback: Callback, node: u32, time_ns: u64) {
    if let Some(Page { words: [calls, call, time], .. }) = PAGE.get() {
        // One thread at a time is in a library. A supervisor that reads in between errs by one call.
        calls.store(calls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        time.store(time_ns, Ordering::Relaxed);
        let word = (callback as u64 + 1) | u64::from(node) << NODE_BIT | u64::from(library) << LIBRARY_BIT;
        call.store(word, Ordering::Release);
    }
}

/// The call of this library returned.
#[inline]
pub(crate) fn end(library: u8) {
    if let Some(page) = PAGE.get() {
        page.words[1].store(u64::from(library) << LIBRARY_BIT, Ordering::Release);
    }
}

/// How long one call may take, seconds; 0 for any time.
pub const LIMIT: &str = "WAYHOP_CALL_LIMIT_S";
const USUAL_LIMIT_S: f64 = 10.0;

/// How long one call may take, as the user sets it by [`LIMIT`]; `None` for any time.
pub fn call_limit() -> Option<Duration> {
    let limit = std::env::var(LIMIT).ok().and_then(|s| s.parse().ok()).unwrap_or(USUAL_LIMIT_S);
    Duration::try_from_secs_f64(limit).ok().filter(|l| !l.is_zero())
}

/// Names another library, which is called next. Returns its number.
pub(crate) fn add_library(path: &str) -> u8 {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed).min(MOST_LIBRARIES - 1);
    set_text(library_at(number), path);
    end(number as u8);
    number as u8
}

/// Where the name of a library is.
const fn library_at(number: u64) -> u64 {
    LIBRARIES_AT + (number % MOST_LIBRARIES) * TEXT_BYTES
}

/// What the library did that ends the run. The first fault counts.
pub(crate) fn set_fault(what: &str) {
    if PAGE.get().is_some_and(|p| read_text(&p.file, FAULT_AT).is_some_and(|t| t.is_empty())) {
        set_text(FAULT_AT, what);
    }
}

/// Tells the supervisor where the run is written.
pub fn set_run_directory(path: &Path) {
    set_text(RUN_AT, &path.display().to_string());
}

fn set_text(at: u64, text: &str) {
    let Some(page) = PAGE.get() else { return };
    let bytes = &text.as_bytes()[..text.len().min(LONGEST_TEXT)];
    // Without it the supervisor's message says less.
    let _ = write_at(&page.file, bytes, at + 8);
    let _ = write_at(&page.file, &(bytes.len() as u64).to_ne_bytes(), at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callbacks_are_listed_in_their_order() {
        for (i, (callback, _)) in CALLBACKS.iter().enumerate() {
            assert_eq!(*callback as usize, i);
        }
    }

    #[test]
    fn a_supervisor_reads_what_was_in_progress() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(FILE_BYTES).unwrap();
        assert_eq!(Snapshot::read(&file), Snapshot::default());
        report_to(file.try_clone().unwrap()).unwrap();
        let other = add_library("./libother.so");
        let mine = add_library("./libmine.so");
        assert_eq!(Snapshot::read(&file).library, "./libmine.so");
        set_run_directory(Path::new("out"));
        begin(mine, Callback::Frame, 3, 12_345_000_000);
        set_fault("first");
        set_fault("second");
        let seen = Snapshot::read(&file);
        assert_eq!(
            (seen.calls, seen.library.as_str(), seen.fault.as_str(), seen.run.as_str()),
            (1, "./libmine.so", "first", "out")
        );
        assert_eq!(seen.call.map(|c| c.to_string()).as_deref(), Some("in frame of node 3 at 12.345000 s"));
        end(mine);
        let seen = Snapshot::read(&file);
        assert_eq!((seen.call, seen.library.as_str()), (None, "./libmine.so"));
        begin(other, Callback::Timer, u32::MAX, 1_000_000_000);
        let seen = Snapshot::read(&file);
        assert_eq!(seen.call.map(|c| c.to_string()).as_deref(), Some("in timer at 1.000000 s"));
        assert_eq!(seen.library, "./libother.so");
    }
}
