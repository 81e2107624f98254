//! One node: its state, its timers, the handlers of the seam, the periodic check and the wait after a reboot.

mod handlers;
pub(crate) mod ids;
pub(crate) mod inspect;
mod periodic;
mod reboot;
pub(crate) mod state;
pub(crate) mod timers;
