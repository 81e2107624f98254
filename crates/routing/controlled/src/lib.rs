//! Routes set by a controller, such as a learning agent.
//!
//! [`Engine`] forwards by the routes that the last [`Command::SetRoutes`](wayhop_core::Command::SetRoutes) gave it, and
//! drops packets for which it has none. It sends Hellos, so that neighbours and the controller learn who is in range and how
//! strong the signal is. It makes no decision itself: a route over a broken link stays, and routes of
//! several nodes may form a loop, in which a packet circles until it is back at its source or its time to live is over.
//!
//! # Bounds
//!
//! It keeps nothing of what neighbours send. The routes are at most [`MAX_ROUTES`].
//!
//! # Not here
//!
//! Authentication, IPv6, gateways, and a way for controllers to reach nodes through the mesh.

mod description;
mod engine;
mod params;

pub use description::DESCRIPTION;
pub use engine::{Engine, MAX_ROUTES, PORT};
pub use params::Params;
