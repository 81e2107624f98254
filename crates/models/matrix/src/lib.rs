//! A matrix of programmable attenuators moves real radios without moving them (MeshTest, Hahn and others 2008).
//!
//! Each of n radios is cabled to each of b buses by an attenuator; a radio's signal reaches the
//! others over all buses. The [`solve()`]r finds the settings with which the path losses between
//! all pairs come closest to [`TargetLosses`] ones.
//!
//! * [`Switch`]: the box, and the path losses that its settings make; or two of them in a row ([`Junction`]).
//! * [`TargetLosses`]: the desired losses, and the loss beyond which a link must not appear.
//! * [`solve()`], [`follow`]: settings for a layout, and for the one a second after it. [`anneal`]: the method of the paper.
//! * [`SettingsReport`]: how far off the settings are, in power and with random phases.
//!
//! * [`calibrate()`]: the insertion losses of a real box, from measured path losses. [`feed`]: positions that arrive as text.
//! * [`device`]: drivers of real boxes, and a fake one.
//!
//! All losses and settings are decibels; no parts but `device` and [`feed::Feed`] do I/O.

mod anneal;
mod calibrate;
mod decibels;
pub mod device;
pub mod feed;
mod joined;
mod junction;
mod links;
mod motion;
mod polish;
mod relax;
mod report;
mod solve;
mod state;
mod switch;
mod switch_error;
mod wanted;
mod ways;

pub use anneal::anneal;
pub use calibrate::{Calibration, Measurement, calibrate, measurements};
pub use junction::{Junction, Size};
pub use links::{Links, pairs};
pub use motion::MovingRadios;
pub use report::{SettingsReport, coherent_error_db};
pub use solve::{Effort, Quality, follow, solve};
pub use switch::{Settings, Switch};
pub use switch_error::SwitchError;
pub use wanted::TargetLosses;
