//! The running node: set-up, the event loop, and the watch over the host's settings.

mod event_loop;
pub(crate) mod lifetime;
pub(crate) mod poll;
mod reload;
mod rooms;
mod setup;
mod watch;
