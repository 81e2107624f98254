//! Destination-Sequenced Distance Vector routing (C. Perkins, P. Bhagwat: "Highly Dynamic Destination-Sequenced
//! Distance-Vector Routing (DSDV) for Mobile Computers", SIGCOMM 1994).
//!
//! [`Engine`] is one node's router behind the seam of `wayhop_core`. It tells its neighbours its whole table every few
//! seconds, and changes in between; it installs routes, by which the host forwards. Messages are those of ns-3, in UDP
//! datagrams of port 269.
//!
//! ```
//! use wayhop_dsdv::{Engine, Params};
//! let params = Params::profile("rfc").expect("a profile of this name");
//! let engine = Engine::new(params);
//! # let _: Box<dyn wayhop_core::Protocol> = Box::new(engine);
//! ```
//!
//! # Where to find what
//!
//! | what happens | file |
//! |---|---|
//! | constants, choices, which go together, profiles, changes while the node runs | `params/` |
//! | handlers of the seam, state, timers, tables to look at | `engine/` |
//! | the periodic check; the wait after a reboot | `engine/periodic.rs`, `engine/reboot.rs` |
//! | an update is heard: which news are believed, and what they set off | `updates/receive.rs` |
//! | updates are made: full and incremental ones, triggers, settling | `updates/advertise.rs` |
//! | links break, and the routes over them | `maintenance/broken_link.rs` |
//! | packets without a route, for transport protocols | `maintenance/host_unreachable.rs` |
//! | Hellos where the link acknowledges nothing | `neighbours/hello.rs` |
//! | packets without a route, and those that come back | `forwarding/data.rs` |
//! | destinations outside of the mesh: gateways and their exits | `gateway/` |
//! | the routing table, the order of sequence numbers | `routing_table/`, `routing_table/seq.rs` |
//! | bytes; routes of the host | `forwarding/output.rs` |
//! | what scenarios, hosts and traces know of it | `description/` |
//!
//! # The protocol in short
//!
//! Each destination numbers what it says of itself, with even numbers. A route with a newer number replaces an older one; of
//! two with the same number the shorter counts. Who loses a link makes the number of each route over it odd, one more than it
//! was, and tells that there is no way: that is newer than all older news, and older than the destination's next number. So
//! along the next hops numbers never fall, and where they stay the same the distance falls: there is no loop.
//!
//! # Remarks in the trace
//!
//! | name | about | value |
//! |---|---|---|
//! | `route_added` | destination | hops |
//! | `route_broken` | destination | hops it had |
//! | `link_broken` | neighbour | routes lost with it |
//! | `neighbour_lost` | neighbour | 0 |
//! | `full_update`, `incremental_update` | this node | entries |
//! | `gateway` | this node | 1 if it leads out of the mesh from now on, 0 if it does not any more |
//! | `own_loss_heard` | this node | the number it was told with |
//!
//! # Bounds
//!
//! Nothing grows with what neighbours send: the routing table and the buffer have their limits in [`Params`]. Nothing panics
//! on any bytes. DSDV authenticates nothing: `docs/security.md` says what a forged update does.
//!
//! # Not here
//!
//! Link-layer addresses in updates, base stations (sections 4 and 5 of the paper); several interfaces; authentication.

mod description;
mod engine;
mod forwarding;
mod gateway;
#[cfg(test)]
mod loop_freedom;
mod maintenance;
mod neighbours;
mod params;
mod routing_table;
mod updates;

pub use description::DESCRIPTION;
pub use engine::state::Engine;
pub use params::{FullUpdate, Params, Settle};
