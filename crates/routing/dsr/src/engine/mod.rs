//! One node: its state, its timers and the handlers of the seam.

mod handlers;
pub(crate) mod reception;
pub(crate) mod state;
pub(crate) mod timers;
