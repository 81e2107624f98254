//! The crate over real sockets.

mod common;
mod hostile;
mod socket;
mod subscribe;
