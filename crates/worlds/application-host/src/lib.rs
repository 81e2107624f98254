//! Runs an [`Application`](wayhop_core::Application) over the kernel's sockets, as the simulator runs it in a scenario.
//!
//! * `host`: one loop over all events of an application; `settings`: a host's settings.
//! * `sockets`: the UDP ports and ICMP echo, over `ip_socket`; `broadcasts`: datagrams to all neighbours.
//!   `streams`: TCP connections. `programs`: the socket for programs.
//! * `network`: what is below UDP. `mesh`: the routing protocol's neighbours. `record`: the application's record, one JSON object
//!   per line.

mod broadcasts;
mod error;
mod host;
mod ip_socket;
mod mesh;
mod network;
mod outbox;
mod programs;
mod record;
mod settings;
mod signals;
mod sockets;
mod streams;
#[cfg(test)]
mod tests;

pub use error::Error;
pub use host::{Figures, Watcher, run, run_until};
pub use mesh::MeshNode;
pub use network::NetworkLayer;
pub use programs::ProgramSocket;
pub use record::Line;
pub use settings::Settings;
pub use signals::signals;
