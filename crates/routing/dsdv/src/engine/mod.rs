//! One node: its state, its timers and the handlers of the seam.

mod handlers;
pub(crate) mod inspect;
mod periodic;
mod reboot;
pub(crate) mod state;
pub(crate) mod timers;
