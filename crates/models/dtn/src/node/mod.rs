//! A node of a delay-tolerant network: a bundle agent, its neighbours, the sessions with them, beacons, what each contact carried,
//! and what programs ask of it. It is an application behind the seam ([`wayhop_core::Application`]), the same in every world.
//!
//! * `node`: what its host tells it. `commands`: what programs ask for; `programs`: what it has for them. `traffic`: bundles that it makes by itself.
//! * `open_node`: the agent with its neighbours and sessions, while the node is up; `meet`: with whom it opens sessions; `hear`:
//!   what these tell, and what the agent wants; `send`: what is to be sent, and when.

mod account;
mod commands;
mod hear;
mod layer;
mod meet;
pub mod messages;
mod neighbours;
#[expect(clippy::module_inception, reason = "the node itself")]
mod node;
mod open_node;
mod pace;
mod programs;
mod record;
mod send;
mod session;
mod settings;
mod traffic;

pub use layer::Layer;
pub use node::{NAME, Node};
pub use record::{BundleRecord, ContactRecord, Record};
pub use settings::{DtnRouting, Ports, RoutingPlan, Settings};
pub use traffic::{BundleSeries, Source, flow_of, flow_service};
