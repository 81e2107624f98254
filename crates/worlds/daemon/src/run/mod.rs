//! The node at work: set up, the event loop, and what it stands on.

mod event_loop;
pub(crate) mod lifetime;
pub(crate) mod poll;
mod reload;
mod rooms;
mod setup;
mod watch;
