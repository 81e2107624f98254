//! Dynamic Source Routing, RFC 4728, as one node's state machine.
//!
//! [`Engine`] implements [`wayhop_core::Protocol`]: the host hands it every packet from above and from the air, what the
//! promiscuous tap hears, and the transmit status of every packet; it sends, forwards and delivers. [`Params`] holds every
//! constant and choice, and three named sets of them: `rfc`, `ns2` and `cmu`. Bytes on the air are those of RFC 4728
//! sections 6 and 7 from the first to the last; the engine reads nothing else.
//!
//! # Where things are
//!
//! | what happens | file | section of RFC 4728 |
//! |---|---|---|
//! | a packet of an application gets a Source Route option, or waits | `forwarding/output.rs`, `discovery/waiting.rs` | 8.1.1 - 8.1.3, 4.2 |
//! | a packet comes in: its options in their order | `forwarding/receive.rs`, `forwarding/view.rs` | 8.1.4 - 8.1.6 |
//! | a packet follows its source route | `forwarding/source_route.rs` | 8.1.5 |
//! | Route Requests are sent, one after the other | `discovery/search.rs` | 8.2.1 |
//! | Route Requests are heard, passed on | `discovery/route_request.rs`, `discovery/request_table.rs` | 8.2.2, 4.3 |
//! | targets and nodes with a cached route answer | `discovery/route_reply.rs`, `discovery/held_replies.rs` | 8.2.3 - 8.2.6 |
//! | neighbours that are heard but may not hear this node | `discovery/unidirectional.rs`, `discovery/blacklist.rs` | 4.6 |
//! | a link breaks: routes are forgotten, packets salvaged | `maintenance/broken_link.rs`, `maintenance/salvage.rs` | 8.3, 8.3.6 |
//! | Route Errors are sent, read, propagated | `maintenance/route_error.rs` | 8.3.4, 8.3.5, 3.4.4 |
//! | where the MAC does not know: copies wait until the next hop passed the packet on or acknowledged it | `maintenance/acks.rs`, `maintenance/maintenance_buffer.rs` | 8.3.2, 8.3.3, 4.5 |
//! | Acknowledgement Requests are answered; repeated packets go no further | `maintenance/ack_requests.rs`, `maintenance/duplicates.rs` | 8.3.3 |
//! | a packet skipped hops: a gratuitous reply gives its source the shorter route |
//! `maintenance/shortening.rs`, `maintenance/gratuitous_reply_table.rs` | 3.4.3, 4.4 |
//! | packets without a route, for transport protocols | `maintenance/host_unreachable.rs` | |
//! | routes are cached, learned from packets, chosen | `cache/`, `cache/learning.rs`, `cache/choice.rs` | 4.1, 8.1.4 |
//! | packets of an announced flow travel without source routes | `flow_state/flow.rs`, `flow_state/flow_table.rs` | 3.5, 5.1, 8.6 |
//! | a node does not know a flow; a flow's packet came early | `flow_state/flow_error.rs`, `flow_state/flow_shortening.rs` | 3.5.4, 3.5.6, 5.2 |
//! | bad links are remembered; costs of links are measured and exchanged | `neighbours/links.rs`, `neighbours/etx.rs` | |
//! | next hops are watched and rated; their round-trip times | `neighbours/watching.rs`, `neighbours/pathrater.rs`, `neighbours/table.rs` | 8.3 |
//! | a packet for a group floods the network behind a Route Request | `forwarding/multicast.rs` | |
//! | a packet is too long for the link, or its source route wrong | `forwarding/icmp.rs` | 8.1.5 |
//! | positions go out on packets, others' are noted | `forwarding/location.rs` | |
//! | destinations outside of the mesh: a gateway answers for them | `gateway.rs` | 6.3, 6.7 |
//! | handlers of the seam, state, timers, tables to look at | `engine/` | |
//! | constants, their ranges, profiles, changes while a node runs | `params/` | 9 |
//! | its description for scenarios, hosts and traces | `description/` | |
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
//! Every table has a size in [`Params`] or a constant; a new entry replaces the oldest or is
//! ignored. Packets from outside cannot make the engine panic, loop or grow.

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
