//! Ad hoc On-Demand Distance Vector routing, RFC 3561.
//!
//! [`Engine`] is one node's router behind the seam of `wayhop_core`. It installs routes; the host forwards by them, reports
//! their use, and brings the packets that have none. Messages are RFC 3561's, in UDP datagrams of port 654.
//!
//! ```
//! use wayhop_aodv::{Engine, Params};
//! let params = Params::profile("rfc").expect("a profile of this name");
//! let engine = Engine::new(params);
//! # let _: Box<dyn wayhop_core::Protocol> = Box::new(engine);
//! ```
//!
//! # Where to find what
//!
//! | what happens | file | section of RFC 3561 |
//! |---|---|---|
//! | constants, choices, profiles | `params.rs`, `profiles.rs` | 10 |
//! | handlers of the seam, the periodic check | `engine.rs` | |
//! | a packet needs a route; requests are sent, heard, passed on | `discovery.rs` | 6.3 - 6.5 |
//! | replies are made, heard, passed on; routes are installed | `reply.rs` | 6.6, 6.7 |
//! | Route Errors are made, heard, passed on | `route_error.rs` | 6.11 |
//! | links break, routes expire, routes are repaired | `maintenance.rs` | 6.10 - 6.12 |
//! | Hellos, RREP-ACK, blacklist | `neighbours.rs` | 6.8, 6.9 |
//! | next hops on links without acknowledgements | `passive.rs` | 6.10 |
//! | routes to subnets, and which route an address takes | `subnet.rs` | 5.2, 7 |
//! | the routing table; the buffer; requests heard | `table.rs`, `buffer.rs`, `seen.rs` | 6.2, 6.3, 6.5 |
//! | bytes | `output.rs` | 5 |
//! | what scenarios, hosts and traces know of it | `description.rs`, `messages.rs`, `decode.rs` | |
//!
//! # Remarks in the trace
//!
//! | name | about | value |
//! |---|---|---|
//! | `discovery_start` | destination | TTL of the first request |
//! | `discovery_done` | destination | us since the first request |
//! | `discovery_failed` | destination | 0 |
//! | `route_added` | destination | hops |
//! | `route_broken` | destination | hops it had (also when it expires) |
//! | `link_broken` | neighbour | routes lost with it |
//! | `rerr_sent` | first destination in it | number of destinations |
//! | `repair_start`, `repair_done` | destination | hops of the old route, of the new one |
//! | `repair_failed` | destination | 0 |
//! | `blacklisted` | neighbour | ms |
//! | `neighbour_lost` | neighbour | 0 |
//!
//! # Bounds
//!
//! Nothing grows with what neighbours send: the routing table, the memory of requests and the buffer have their limits in
//! [`Params`]; users of a route, neighbours and blacklist have fixed ones. Nothing panics on any bytes.
//!
//! # Not here
//!
//! Multicast routes: flags and requests for groups are passed on (section 2); several interfaces; authentication.

mod buffer;
mod decode;
mod description;
mod discovery;
mod engine;
mod inspect;
mod live;
#[cfg(test)]
mod loop_freedom;
mod maintenance;
mod messages;
mod neighbours;
mod notice;
mod output;
mod params;
mod passive;
mod profiles;
mod rate;
mod reply;
mod route_error;
mod seen;
mod seq;
mod subnet;
mod table;

pub use description::DESCRIPTION;
pub use engine::Engine;
pub use params::{Hello, LocalRepair, OwnNumber, Params, Refresh, RerrNumber, SearchRule};
