//! Runs an [`Application`](wayhop_core::Application) over the kernel's sockets, as the simulator runs it in a scenario.
//!
//! * `host`: one loop over sockets, timers, positions and signals.
//! * `sockets`: the UDP ports.
//! * `record`: what the application notes and counts, a JSON object a line.

mod error;
mod host;
mod record;
mod sockets;

pub use error::Error;
pub use host::{Figures, Settings, run};
pub use record::Line;
