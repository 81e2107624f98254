//! Controlling running nodes from outside the network: paper 000's ahsock, GPSd and PCTd.
//!
//! * [`Server`] is a Unix stream socket with one JSON object per line ([`Request`], [`Event`]); the
//!   owner of the nodes polls [`Server::fd`] and has the [`Call`]s answered by [`Server::serve`],
//!   of an [`Owner`], or answers them itself. [`Client`] is the other end.
//! * [`JsonTables`] converts a protocol's tables to JSON; [`answer`] has the answers' types.
//! * [`metrics`] is the endpoint for Prometheus, [`gpsd`] reads and serves positions with gpsd's
//!   protocol, [`monitor`] logs nodes' counters and sends them over the mesh.
//! * [`Frames`] and [`SocketName`] are for the sockets of applications, whose messages have bytes behind the line.
//! * [`paths`] says where the sockets of running nodes are.
//!
//! Input from a socket is hostile: nothing here panics on it, every queue and line is bounded, and
//! a peer that does not read is disconnected.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod about;
pub mod answer;
mod client;
mod error;
mod event;
mod event_kind;
mod frames;
mod gps;
pub mod gpsd;
mod inspect_json;
pub mod limits;
mod messages;
pub mod metrics;
pub mod monitor;
mod owner;
mod parameters;
pub mod paths;
mod server;
mod socket_name;

pub use about::{About, NodeAbout};
pub use client::{Client, ClientError};
pub use error::{ControlError, ErrorCode};
pub use event::{Event, SizeOf};
pub use event_kind::EventKind;
pub use frames::{FrameError, Frames, frame};
pub use gps::Gps;
pub use inspect_json::JsonTables;
pub use messages::{Envelope, LinkState, MAX_PATH_LOSS_DB, NodeRef, Place, Request, VERSION};
pub use owner::Owner;
pub use parameters::ParameterSet;
pub use server::{Access, BoundSocket, Call, Server, Stream};
pub use socket_name::{SocketName, is_own};

/// Whether a socket that does not block is to be asked again when it is ready.
fn is_for_later(e: &std::io::Error) -> bool {
    matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted)
}
