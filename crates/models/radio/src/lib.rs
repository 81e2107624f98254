//! Propagation, reception and medium access.
//!
//! * [`RadioConfig`]: a scenario's radio settings; [`PRESETS`].
//! * [`Propagation`], [`Phy`]: formulas, each with its source.
//! * [`SiteConfig`]: the effect of the surroundings on signals, besides distance.
//! * `medium`: who hears a transmission, and with what result.
//! * `card`, `transfer`: the card between interface queue and MAC, and how packets pass through it.
//! * `rate_control`: the rates of unicast frames; `association`: an access point and its stations.
//! * `mac80211`: the distributed coordination function, one station's state.
//! * [`FrameFate`]: the fate of a frame at a station, where [`Watching`] requests it.
//! * [`Radio`]: the stations of a run and the air between them. Its [`Host`] brings time and positions and takes packets.

mod association;
mod battery;
mod bounds;
mod card;
mod channel;
mod config;
mod error_rates;
mod fate;
mod host;
mod jammer;
mod jamming;
mod mac80211;
mod macs;
mod medium;
mod membership;
mod meter;
mod phy;
mod phy_kind;
mod power;
mod propagation;
mod radio;
mod rate_control;
mod site;
mod station;
mod transfer;
pub mod units;
mod watch;

pub use bounds::Bounds;
pub use card::CardConfig;
pub use channel::{CHANNELS_2_4_GHZ, channel_mhz};
pub use config::{
    Arp, DEFAULT_PRESET, ErrorModel, Fading, PRESETS, PathLoss, RadioConfig, RateControl, Reception,
};
pub use fate::{Fate, FrameId};
pub use host::{EVERYONE, FrameAt, FrameFate, FrameHead, Host, Motions, NOBODY, Outgoing, RadioEvent};
pub use jammer::{Jamming, JammingMode};
pub use medium::{LinkOverride, Watching};
pub use meter::{Draw, EnergyUsed, Supply};
pub use phy::{FrameKind, Phy};
pub use phy_kind::PhyKind;
pub use propagation::{LIGHT_SPEED_M_PER_S, Propagation};
pub use radio::Radio;
pub use site::{Beam, End, PairLoss, Site, SiteConfig, StationAntenna, Zone, ZoneEnds};
pub use station::Counters;
