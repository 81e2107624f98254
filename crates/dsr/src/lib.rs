//! Dynamic Source Routing, RFC 4728, as one node's state machine.
//!
//! [`Engine`] implements [`wayhop_core::Protocol`]: the host hands it every packet from above and from the air, what the
//! promiscuous tap hears, and the transmit status of every packet; it sends, forwards and delivers. [`Params`] holds every
//! constant and choice, and three named sets of them: `rfc`, `ns2` and `cmu`. Bytes on the air are those of RFC 4728
//! sections 6 and 7 from the first to the last; the engine reads nothing else.
//!
//! # What happens ...
//! * **... to a packet of an application** (`output`): a cached route is put into it as a Source Route option, or it waits
//!   in the Send Buffer (`buffer`) while a discovery goes on (`discovery`).
//! * **... in a Route Discovery** (`discovery`, `request_table`): a request that stays with the neighbours, then one that
//!   propagates, then longer and longer waits. Targets and nodes with a cached route answer (`reply`).
//! * **... to a packet on its way** (`maintenance`): each node checks the source route, counts Segments Left and the TTL
//!   down, and sends the packet on, asking the MAC for its transmit status.
//! * **... where the MAC does not know** (`acks`, `rexmt`, `neighbours`): a copy waits in the Maintenance Buffer until the
//!   next hop is heard passing the packet on, or has acknowledged it; it is sent again, and at last given up.
//! * **... to an Acknowledgement Request** (`answers`, `duplicates`): it is answered, and a packet that came before goes no
//!   further.
//! * **... to a position** (`location`): this node's goes out on its packets, others' are noted.
//! * **... to a destination outside of the mesh** (`gateway`): gateways answer for it, and packets leave and come in there.
//! * **... when a link breaks** (`maintenance`, `route_error`): the cache forgets the link, the node that chose the route is
//!   told, the packet and those queued behind it are salvaged if another route is cached.
//! * **... to a packet for a group** (`multicast`): it floods the network behind a Route Request.
//! * **... to a packet that is too long for the link** (`icmp`): its source is told what fits.
//! * **... to a packet that comes in** (`receive`): its options are dealt with in their order, and decide where it goes.
//! * **... to a packet for somebody else** (`learning`, `shortening`): routes are learned from it; if it skipped hops, its
//!   source is told of the shorter route.
//! * **... with flow state** (`flow`, `flow_table`): packets of an announced flow travel without source routes. A node that
//!   does not know the flow says so (`flow_error`), one that heard the packet early tells of the shorter route
//!   (`flow_shortening`).
//! * **... to a link that failed** (`links`, `choice`): it may be remembered, so that routes over it are not used again at
//!   once.
//! * **... with costs** (`etx`): probes measure links, and requests and replies carry what they cost.
//!
//! The state of a node is in `state`, and each of its tables in a file of its own; `engine` has the seam's handlers, `timers`
//! and `ids` name timers and transmissions, `inspect` shows all of it. Parameters are in `params`, the named sets of them in
//! `profiles`, their ranges in `checks`, and what happens when they change in `live`. `description`, `messages` and `decode`
//! are what others must know of the protocol.
//!
//! [`cache::RouteCache`] is the boundary behind which caches differ; [`cache::PathCache`] keeps whole paths in two tiers,
//! [`cache::LinkCache`] a graph of links.
//!
//! # Remarks in the trace
//! Written by [`wayhop_core::Cx::note`]; (about whom, figure):
//!
//! | name | about | figure |
//! |---|---|---|
//! | `discovery_start` | target | 1 if the request propagates |
//! | `discovery_done` | target | microseconds since the first request |
//! | `discovery_failed` | target | 0 |
//! | `route_added` | end of a route that was asked for | hops |
//! | `reply_sent` | initiator | hops of the route, answered by the target |
//! | `reply_from_cache` | initiator | hops of the route, answered from a cache |
//! | `reply_cancelled` | initiator | hops of the route that is not needed any more |
//! | `gratuitous_reply` | source | hops of the shorter route |
//! | `link_broken` | neighbour | tries of the MAC, or transmissions by this node |
//! | `passive_ack` | neighbour | microseconds since the packet was sent |
//! | `ack_received` | neighbour | microseconds since the packet was sent last |
//! | `ack_sent` | neighbour | identification |
//! | `salvaged` | destination | salvage count |
//! | `error_sent` | node told | hops to it |
//! | `error_received` | node before the broken link | address of the node behind it |
//! | `flood` | group | TTL |
//! | `proxy_reply` | initiator | hops of the route, the External one included |
//! | `gateway` | this node | 1 if it leads out of the mesh from now on, 0 if it does not any more |
//! | `too_long` | source | octets that would have fitted |
//! | `flow_unknown` | source | flow identifier, 0 for the default flow |
//!
//! # What is bounded
//! Every table has a size in [`Params`] or a constant beside it; what has no room pushes out the oldest or is not
//! remembered. Packets from outside cannot make the engine panic, loop or grow.

pub mod cache;
mod description;
mod discovery;
mod engine;
mod flow_state;
mod forwarding;
mod gateway;
#[cfg(test)]
mod loop_freedom;
mod maintenance;
mod neighbours;
mod params;

pub use cache::path::{MAX_HOPS, MAX_NODES, Path};
pub use description::DESCRIPTION;
pub use engine::state::Engine;
pub use params::{BadLinks, CacheKind, Maintenance, Metric, Params};
