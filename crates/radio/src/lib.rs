//! Propagation, reception and medium access.
//!
//! * [`RadioConfig`]: what a scenario says of its radios; [`PRESETS`].
//! * [`Propagation`], [`Phy`]: formulas, each with its source.
//! * [`SiteConfig`]: what the place around the stations does to signals, besides distance.
//! * `medium`: who hears a transmission, and what becomes of it there.
//! * `card`: what stands between the interface queue and the MAC.
//! * `mac80211`: the distributed coordination function, one station's state.
//! * [`Radio`]: the stations of a run and the air between them. Its [`Host`] brings time and positions and takes packets.

mod card;
mod channel;
mod config;
mod mac80211;
mod medium;
mod motion;
mod outgoing;
mod phy;
mod power;
mod propagation;
mod radio;
mod site;
mod station;
pub mod units;

pub use card::CardConfig;
pub use channel::{CHANNELS_2_4_GHZ, channel_mhz};
pub use config::{Arp, Fading, PRESETS, PathLoss, PhyKind, RadioConfig, Reception};
pub use medium::LinkOverride;
pub use motion::Motions;
pub use outgoing::Outgoing;
pub use phy::{FrameKind, Phy};
pub use propagation::{LIGHT_SPEED_M_PER_S, Propagation};
pub use radio::{EVERYONE, FrameAt, FrameHead, Host, NOBODY, Radio, RadioEvent};
pub use site::{Beam, End, PairLoss, Site, SiteConfig, StationAntenna, Zone, ZoneEnds};
pub use station::Counters;
