//! Propagation, reception and medium access.
//!
//! * [`RadioConfig`]: what a scenario says of its radios; [`PRESETS`].
//! * [`Propagation`], [`Phy`]: formulas, each with its source.
//! * `medium`: who hears a transmission, and what becomes of it there.
//! * `mac80211`: the distributed coordination function, one station's state.
//! * [`Radio`]: the stations of a run and the air between them. Its host brings time and positions and takes packets.

mod config;
mod phy;
mod propagation;
pub mod units;

pub use config::{Arp, Fading, PRESETS, PathLoss, PhyKind, RadioConfig, Reception};
pub use phy::{FrameKind, Phy};
pub use propagation::{LIGHT_SPEED_M_PER_S, Propagation};
