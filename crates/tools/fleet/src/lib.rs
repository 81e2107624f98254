//! Hosts of a field run over ssh: checks them, gives them the same files, starts and stops them together, and fetches their records.
//!
//! The hosts need nothing but `wayhop`, which [`push`] installs: the system's `ssh` runs small shell scripts there (`script`), which print
//! one fact per line. Start reading at:
//! * [`Fleet`]: the fleet file with the hosts.
//! * [`on_all`]: one step on all hosts, some at a time.
//! * [`check`], [`push`], `start`, [`stop`], [`fetch`]: the steps.
//!
//! Output of hosts is untrusted: its length is limited, and control characters do not reach a terminal.

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
