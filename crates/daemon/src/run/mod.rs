//! The node at work: set up, the event loop, and what it stands on.

pub(crate) mod event_loop;
pub(crate) mod reload;
pub(crate) mod repairs;
pub(crate) mod setup;
pub(crate) mod watch;
