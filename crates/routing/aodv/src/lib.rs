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
//! # Where things are
//!
//! | what happens | file | section of RFC 3561 |
//! |---|---|---|
//! | constants, choices, which go together, profiles, changes while the node runs | `params/` | 10 |
//! | handlers of the seam, state, timers, tables to look at | `engine/` | |
//! | the periodic check; the wait after a reboot | `engine/periodic.rs`, `engine/reboot.rs` | 6.13 |
//! | a packet needs a route, and waits | `discovery/waiting.rs` | 6.3 |
//! | requests are sent, one ring after the other | `discovery/search.rs`, `discovery/rate_limit.rs` | 6.3, 6.4 |
//! | requests are heard, passed on | `discovery/route_request.rs`, `discovery/request_table.rs` | 6.5 |
//! | replies are sent, received, forwarded; routes are installed | `discovery/route_reply.rs` |
//! 6.6, 6.7 |
//! | links break | `maintenance/broken_link.rs` | 6.11, 6.12 |
//! | Route Errors are sent, received, forwarded | `maintenance/route_error.rs` | 6.11 |
//! | routes are repaired | `maintenance/local_repair.rs` | 6.12 |
//! | routes expire, and are forgotten | `maintenance/expiry.rs` | 6.10 |
//! | packets without a route, for transport protocols | `maintenance/host_unreachable.rs` | |
//! | a route is used | `forwarding/route_use.rs` | 6.2 |
//! | the headers around a message; bytes | `forwarding/head.rs`, `forwarding/output.rs` | 5 |
//! | Hellos; the state of neighbours | `neighbours/hello.rs`, `neighbours/table.rs` | 6.9 |
//! | RREP-ACK and the blacklist | `neighbours/unidirectional.rs` | 6.8 |
//! | next hops on links without acknowledgements | `neighbours/passive_ack.rs`, `neighbours/watch.rs` | 6.10 |
//! | the routing table and its entries, the order of sequence numbers | `routing_table/`, `routing_table/entries.rs`, `routing_table/seq.rs` | 6.1, 6.2 |
//! | subnets, the route of an address; routes to subnets | `routing_table/subnet.rs`, `routing_table/subnet_routes.rs` | 5.2, 7 |
//! | destinations outside of the mesh: a gateway answers for them | `gateway.rs` | 8 |
//! | its description for scenarios, hosts and traces | `description/` | |
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
