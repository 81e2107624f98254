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
//! | constants, choices, which go together, profiles | `params.rs`, `checks.rs`, `profiles.rs` | 10 |
//! | they change while the node runs | `live.rs` | |
//! | handlers of the seam; the state of a node | `engine.rs`, `state.rs` | |
//! | timers, numbers of transmissions, tables to look at | `timers.rs`, `ids.rs`, `inspect.rs` | |
//! | the periodic check; the wait after a reboot | `periodic.rs`, `reboot.rs` | 6.13 |
//! | a packet needs a route; requests are sent, heard, passed on | `discovery.rs` | 6.3 - 6.5 |
//! | replies are made, heard, passed on; routes are installed | `reply.rs` | 6.6, 6.7 |
//! | Route Errors are made, heard, passed on | `route_error.rs`, `audience.rs` | 6.11 |
//! | a route is used | `route_use.rs` | 6.2 |
//! | links break, routes expire, routes are repaired | `maintenance.rs`, `repairs.rs` | 6.10 - 6.12 |
//! | Hellos; RREP-ACK and the blacklist; what both know of neighbours | `hello.rs`, `one_way.rs`, `neighbours.rs` | 6.8, 6.9 |
//! | next hops on links without acknowledgements | `passive.rs`, `watch.rs` | 6.10 |
//! | subnets, which route an address takes; routes to subnets | `subnet.rs`, `subnet_routes.rs` | 5.2, 7 |
//! | destinations outside of the mesh: a gateway answers for them | `gateway.rs` | 8 |
//! | the routing table; the buffer; requests heard | `table.rs`, `buffer.rs`, `seen.rs` | 6.2, 6.3, 6.5 |
//! | the headers around a message; bytes | `head.rs`, `output.rs` | 5 |
//! | packets without a route, for transport protocols | `notice.rs` | |
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
//! | `proxy_reply` | originator | hops to it from the destination outside |
//! | `gateway` | this node | 1 if it leads out of the mesh from now on, 0 if it does not any more |
//!
//! # Bounds
//!
//! Nothing grows with what neighbours send: the routing table, the memory of requests and the buffer have their limits in
//! [`Params`]; users of a route, neighbours and blacklist have fixed ones. Nothing panics on any bytes.
//!
//! # Not here
//!
//! Multicast routes: flags and requests for groups are passed on (section 2); several interfaces; authentication.

mod description;
mod discovery;
mod engine;
mod forwarding;
mod gateway;
#[cfg(test)]
mod loop_freedom;
mod maintenance;
mod neighbours;
mod params;
mod routing_table;

pub use description::DESCRIPTION;
pub use engine::state::Engine;
pub use params::{Hello, LocalRepair, OwnNumber, Params, Refresh, RerrNumber, SearchRule};
