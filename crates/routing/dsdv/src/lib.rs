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
//! # Where things are
//!
//! | what happens | file |
//! |---|---|
//! | constants, choices, which go together, profiles, changes while the node runs | `params/` |
//! | handlers of the seam, state, timers, tables to look at | `engine/` |
//! | the periodic check; the wait after a reboot | `engine/periodic.rs`, `engine/reboot.rs` |
//! | an update is received: which news are accepted, and their effects | `updates/receive.rs` |
//! | updates are sent: full and incremental ones, triggers, settling | `updates/advertise.rs` |
//! | links break, and the routes over them | `maintenance.rs` |
//! | Hellos where the link acknowledges nothing | `hello.rs` |
//! | packets without a route, notices of them, and returned ones | `forwarding/data.rs` |
//! | destinations outside of the mesh: gateways and their exits | `gateway/` |
//! | the routing table, the order of sequence numbers | `routing_table/`, `routing_table/seq.rs` |
//! | bytes; routes of the host | `forwarding/output.rs` |
//! | its description for scenarios, hosts and traces | `description/` |
//!
//! # The protocol in short
//!
//! Each destination announces itself with even numbers. A route with a newer number replaces an older one; of
//! two with the same number the shorter counts. A node that loses a link raises the number of each route over
//! it by one, to an odd number, and announces that the destination is unreachable: this is newer than all
//! earlier news, and older than the destination's next number. So along the next hops numbers never decrease,
//! and where they are equal the distance decreases: there is no loop.
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
//! Nothing grows with what neighbours send: the routing table and the buffer have their limits in
//! [`Params`]. Nothing panics on any bytes. DSDV has no authentication: `docs/security.md`
//! describes the effect of a forged update.
//!
//! # Not here
//!
//! Link-layer addresses in updates, base stations (sections 4 and 5 of the paper); several interfaces; authentication.

mod description;
mod engine;
mod forwarding;
mod gateway;
mod hello;
#[cfg(test)]
mod loop_freedom;
mod maintenance;
mod params;
mod routing_table;
mod updates;

pub use description::DESCRIPTION;
pub use engine::state::Engine;
pub use params::{FullUpdate, Params, Settle};
