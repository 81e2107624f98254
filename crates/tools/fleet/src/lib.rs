//! Hosts of a field run over ssh: checks them, gives them the same files, starts and stops them together, and fetches their records.
//!
//! The hosts need nothing but `wayhop`, which `push` installs: the system's `ssh` runs small shell scripts there (`script`), which print
//! one fact per line. Start reading at:
//! * [`Fleet`]: the fleet file with the hosts.
//! * [`Operation`]: a command, whose steps are done on all hosts, some at a time.
//! * `check`, `push`, `start`, `stop`, `fetch`: the steps on a host.
//!
//! Output of hosts is untrusted: its length is limited, and control characters do not reach a terminal.

mod answer;
mod check;
mod clock;
mod config;
mod error;
mod fetch;
mod listing;
mod names;
mod operation;
mod pack;
mod pool;
mod program;
mod programs;
mod push;
mod quote;
mod report;
mod script;
mod session;
mod start;
mod state;
mod stop;

pub use answer::parse as parse_answer;
pub use config::{Fleet, Host};
pub use error::{Error, Trouble};
pub use listing::{RemoteFile, parse as parse_listing};
pub use operation::Operation;
pub use pool::Progress;
pub use program::Program;
pub use report::{
    CheckResult, Clock, EndedProgram, FetchResult, HostReport, PushResult, Report, StartResult, StopResult,
};
