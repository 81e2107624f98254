//! Mobile IP for IPv4 (RFC 5944), with reverse tunnels (RFC 3024) and IP-in-IP (RFC 2003).
//!
//! Three state machines without I/O, each an [`Engine`]: what happens goes in as [`Input`], what is to be done comes out as
//! [`Output`]; they know no clock but the one that each call names.
//!
//! * [`HomeAgent`]: takes packets for mobile nodes that are away, and tunnels them to where these are.
//! * [`ForeignAgent`]: the other end of that tunnel, for mobile nodes that visit its links or its mesh.
//! * [`MobileNode`]: finds out where it is, chooses a link, and tells its home agent.
//!
//! Section numbers are of RFC 5944 unless another one is named. Where these engines differ from it on purpose: docs/deviations.md.

mod advertising;
mod clock;
mod engine;
mod event;
mod foreign;
mod groups;
mod home;
mod identification;
mod memory;
mod mobile;
mod packets;
mod place;
mod rate;
mod security;

pub use advertising::AgentAdvertisement;
pub use engine::{Attachment, Clock, Engine, Input, LinkId, LinkState, Output};
pub use event::Event;
pub use foreign::{ForeignAgent, ForeignConfig, ForeignLink};
pub use groups::{ALL_ROUTERS, ALL_SYSTEMS, MESH_AGENTS};
pub use home::{HomeAgent, HomeConfig, MobileAccount};
pub use identification::ntp_from_unix;
pub use memory::{KnownBinding, KnownMobile};
pub use mobile::{LinkKind, MobileConfig, MobileLink, MobileNode};
pub use security::{Association, Replay, authenticator};
