//! A node of a delay-tolerant network: a bundle agent, its neighbours, the sessions with them,
//! beacons, the bytes of each contact, and the programs' commands. It is an application
//! ([`wayhop_core::Application`]), the same in every world.
//!
//! * `node`: its host's inputs. `commands`: the programs' commands; `programs`: their deliveries.
//!   `traffic`: generated bundles.
//! * `open_node`: the agent with its neighbours and sessions, while the node is up; `meet`: which
//!   sessions it opens; `hear`: their events, and the agent's commands; `send`: what is sent, and
//!   when.

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
