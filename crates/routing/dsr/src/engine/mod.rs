//! One node: its state, its timers and the handlers of the seam.

mod handlers;
pub(crate) mod ids;
pub(crate) mod inspect;
pub(crate) mod reception;
pub(crate) mod state;
pub(crate) mod timers;
