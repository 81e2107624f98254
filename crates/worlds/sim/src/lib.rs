//! The event queue and the assembly of nodes: the one place where the layers touch.
//!
//! A [`Simulation`] is built from a resolved scenario, run, and finished into a summary. Inside:
//! * `net`: the nodes, and the calls between them and the radio. Start reading there; what happens inside of a node is in
//!   [`wayhop_node`].
//! * `world`: the effects of a node.
//! * `applications`, `hosted_applications`: the scenario's applications and those of its flows, between their state machines and
//!   the network; `bundles`: bundle agents among them. `streams`, `hosted_streams`: their TCP.
//! * `flows`, `flow_tcp`: the figures of flows.
//! * `media`: radios and wires side by side; `air`: the radio's callbacks; `wire`: an Ethernet
//!   segment; `ports`: the nodes' interfaces to them.
//! * `queue`: the event queue; `simulation`: the loop over it. `threads`: the same with several threads; `row_order`: their record.
//! * `power`: nodes that go down and come back, as `outages` says.
//! * `door`: packets of external programs, on a real clock; `live`: inspecting a run; `external`,
//!   `watchers`: their state.
//! * `ledger`, `audit`: every packet's end. `conversations`: flows of external programs.

mod air;
mod applications;
mod arrived;
mod attackers;
mod attacks;
mod audit;
mod buckets;
mod bundles;
mod classify;
mod common;
mod conversations;
mod ethernet;
mod event;
mod exchange;
mod external;
mod fates;
mod flow_tcp;
mod flows;
mod frames;
mod hosted_applications;
mod hosted_streams;
mod inputs;
mod kernels;
mod ledger;
mod live;
mod media;
mod motion;
mod net;
mod network_layer;
mod nodes;
mod outages;
mod outgoing;
mod outside;
mod ports;
mod power;
mod queue;
mod row_order;
mod simulation;
mod sizes;
mod slab;
mod streams;
mod summary;
mod taps;
mod threads;
mod watchers;
mod wire;
mod world;

pub use audit::Audit;
pub use bundles::{bundle_books, bundle_event, contact_event};
pub use external::{Egress, Exit};
pub use inputs::Pace;
pub use ledger::{FlowEnds, PacketEndings};
pub use simulation::Simulation;
pub use threads::why_one_thread;
pub use watchers::{Happening, PowerChange, Tap};
pub use wayhop_radio::LinkOverride;
pub use wayhop_world::Geodetic;
