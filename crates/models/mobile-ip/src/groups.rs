//! The groups of agent discovery.

use std::net::Ipv4Addr;

/// What advertisements on a link go to (RFC 1256, section 3.1).
pub const ALL_SYSTEMS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);
/// What solicitations on a link go to (RFC 1256, section 3.2).
pub const ALL_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 2);
/// What solicitations in a mesh go to: a group of the organisation's scope (RFC 2365), which DSR floods behind a Route Request.
/// Groups of 224.0.0.0/24 never leave a link.
pub const MESH_AGENTS: Ipv4Addr = Ipv4Addr::new(239, 192, 0, 11);
