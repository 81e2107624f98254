//! Logs of the inputs of protocol engines and applications: written during a run, and replayed to
//! the same engines.
//!
//! A protocol sees nothing but its inputs and their context, so an engine that replays a log's
//! inputs behaves as it did when the log was written, unless its code changed.
//! `docs/reference/inputs.md` describes the format.
//!
//! * [`Header`]: whose log it is. `line`: the lines after it.
//! * [`Logs`]: writes the logs of a run, on a thread of its own.
//! * [`Reader`]: reads one, plain or gzip. Logs are input from outside: an error names file and line.
//! * [`Replay`]: replays a log to an engine (`engine`) or an application (`application`), and
//!   compares effects.

mod answer;
mod application;
mod engine;
mod error;
mod header;
mod line;
mod reader;
mod replay;
mod store;
pub mod words;
mod writer;

#[cfg(test)]
mod tests;

pub use error::LogError;
pub use header::{ApplicationHeader, Engines, FORMAT, Header, RecordedLink, VERSION, check};
pub use line::{ApplicationLine, Closing, InputRecord};
pub use reader::{LogItem, Reader};
pub use replay::{EffectDifference, End, Replay, ReplayReport, ReplayVerdict};
pub use writer::{Logs, Pace};
