//! Hosts of a field run, over ssh: checked before it, given the same files, started and stopped together, and their records fetched.
//!
//! There is no protocol of our own and nothing to install on the hosts but `wayhop`, which [`push`] brings along: the system's `ssh` runs
//! small shell scripts there (`script`), whose output is a line a fact. Start reading at:
//! * [`Fleet`]: the file that says which hosts there are.
//! * [`on_all`]: one step on all hosts, some at a time.
//! * [`check`], [`push`], `start`, [`stop`], [`fetch`]: the steps.
//!
//! What hosts say is hostile: it is bounded, and its control characters do not reach a terminal.

mod answer;
mod check;
mod clock;
mod config;
mod digest;
mod error;
mod fetch;
mod listing;
mod names;
mod pack;
mod pool;
mod program;
mod programs;
mod push;
mod quote;
mod receiver;
mod report;
mod script;
mod session;
mod start;
mod state;
mod stop;

pub use answer::parse as parse_answer;
pub use check::check;
pub use config::{Fleet, Host};
pub use error::{Error, Trouble};
pub use fetch::{Destination, fetch};
pub use listing::{RemoteFile, parse as parse_listing};
pub use pool::{Context, Progress, on_all};
pub use program::Program;
pub use push::{Payload, push};
pub use quote::quote;
pub use report::{
    CheckResult, Clock, EndedProgram, FetchResult, HostReport, PushResult, Report, StartResult, StopResult,
};
pub use start::{Plan, launch, look, prepare};
pub use state::{HostState, State, StateFile, is_run_name};
pub use stop::stop;
