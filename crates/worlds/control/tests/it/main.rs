//! The crate over real sockets.

mod client;
mod common;
mod gpsd;
mod hostile;
mod lines;
mod metrics;
mod monitor;
mod owner;
mod socket;
mod stream;
mod subscribe;
