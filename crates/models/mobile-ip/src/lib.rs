//! Mobile IP for IPv4 (RFC 5944), with reverse tunnels (RFC 3024) and IP-in-IP (RFC 2003).
//!
//! Three applications ([`wayhop_core::Application`]) that are a part of their host's network layer:
//!
//! * home agent: takes packets for mobile nodes that are away, and tunnels them to their care-of
//!   addresses.
//! * foreign agent: the other end of that tunnel, for mobile nodes that visit its links or its mesh.
//! * mobile node: finds out where it is, chooses a link, and tells its home agent.
//!
//! Section numbers are of RFC 5944 unless another one is named. Where these engines differ from it on purpose: docs/deviations.md.

mod advertising;
mod alarm;
mod attachment;
mod clock;
mod description;
mod event;
mod foreign;
mod groups;
mod home;
mod identification;
mod journal;
mod memory;
mod mobile;
mod packets;
mod params;
mod rate;
mod security;

pub use description::foreign_agent::FOREIGN_AGENT;
pub use description::home_agent::HOME_AGENT;
pub use description::mobile_node::MOBILE_NODE;
pub use foreign::ForeignAgent;
pub use groups::{ALL_ROUTERS, ALL_SYSTEMS, MESH_AGENTS};
pub use home::HomeAgent;
pub use memory::{KnownBinding, KnownMobile};
pub use mobile::MobileNode;
pub use params::Peer;
pub use params::foreign_agent::{ForeignAgentParams, VisitedLink};
pub use params::home_agent::HomeAgentParams;
pub use params::mobile_node::{MobileNodeParams, OwnLink, OwnLinkKind};
pub use security::{Replay, authenticator};
