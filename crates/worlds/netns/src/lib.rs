//! What the worlds on one machine share: `wayhop emulate` and `wayhop lab` both have nodes that are network namespaces, with
//! real programs in them.
//!
//! * [`Namespace`]: a network namespace without a name, which ends with its last process.
//! * [`order`]: commands that set up a network.
//! * [`ProgramRunner`], [`end_inhabitants`]: programs in nodes.
//! * [`keep_pids`], [`become_program`]: helper processes, so that programs end with the run and
//!   have no more rights than they should.
//! * [`Registry`], [`find`], [`exec`]: the runs under way, for other processes to enter.
//! * [`make_room`]: whether there is room for a run, in open files, memory, namespaces and processes.
//! * [`Lateness`]: how late a run was, and whether it is valid.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod error;
mod exec;
mod hosts;
mod lateness;
mod launch;
mod namespace;
mod order;
mod pids;
mod program;
mod program_runner;
mod registry;
mod room;
mod terminal;

pub use error::Error;
pub use exec::exec;
pub use lateness::Lateness;
pub use launch::{Confinement, PROGRAM_COMMAND, become_program};
pub use namespace::{Namespace, add_address, add_route, allow_services, send_all_by};
pub use order::order;
pub use pids::{INIT_COMMAND, keep_pids};
pub use program::{Launch, Restart, end_inhabitants, exit_code, kill_inhabitants};
pub use program_runner::{ProgramResults, ProgramRunner};
pub use registry::{Registry, RunEntry, find, lab_folder};
pub use room::{Need, make_room};
pub use wayhop_linux::priority;
