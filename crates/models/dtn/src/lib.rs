//! Delay-tolerant networking above the network layer, without I/O: no clock, no sockets, no threads.
//!
//! * [`Bundle`]: Bundle Protocol version 7 (RFC 9171), parsed with checks and bounds. [`Eid`]: endpoint identifiers.
//! * [`Agent`]: the bundle protocol agent of one node: inputs in, outputs out, over a [`Store`] that survives.
//! * [`cl`]: convergence layers as sessions, octets in and octets out: TCPCLv4 (RFC 9174), UDPCL, LTP (RFC 5326).
//! * [`routing`]: static routes, epidemic, binary spray and wait, PRoPHETv2 (RFC 6693), behind one trait.
//! * [`Beacon`]: the datagram by which neighbours find each other.
//! * [`node`]: all of it as an application, which the hosts of applications run in every world.
//!
//! # How a host drives it
//! ```text
//! loop {
//!     wait for: octets of a socket | a neighbour came or went | a request of an application | the earliest timer
//!     octets            -> session.receive(now, octets)      (cl::Session; one a TCP connection or UDP peer)
//!     session.event()   -> agent.handle(now, Input::Transfer | ContactUp | ContactDown)
//!     anything else     -> agent.handle(now, Input::...)
//!     agent.commit()                                         (one for as many inputs as the host likes)
//!     while let Some(output) = agent.output():
//!         Transmit | Accept | Refuse -> output.give(now, session)
//!         Deliver       -> to the application, which answers with Input::Confirm
//!         Record        -> a row of the run's tables
//!     while let Some(octets) = session.transmit(now, room)   -> the socket
//! }
//! ```
//! Timers: call [`Agent::handle`] with [`Input::Timer`] at [`Agent::next_timer`], and [`cl::Session::timer`] at
//! [`cl::Session::next_timer`].
//!
//! # The crash contract
//! Outputs wait inside the agent until [`Agent::commit`] has stored the state that they depend on;
//! only then does [`Agent::output`] return them. So a node that is killed at any instant has
//! promised nothing that its store does not contain: a transfer is acknowledged, custody is
//! accepted, and a bundle is handed to an application only after the store has it.
//! docs/concepts/dtn.md says what follows for each kind of bundle.

mod admin;
mod agent;
mod beacon;
mod bundle;
mod cbor;
pub mod cl;
mod codec;
mod crc;
mod eid;
mod fragment;
pub mod node;
pub mod routing;
mod store;

pub use admin::{AdminRecord, CustodySignal, Reason, RoutingMessage, StatusReport};
pub use agent::{
    Agent, BundleRecord, Config, Contact, ContactId, DropCause, Held, Input, Limits, OpenError, Output,
    Refusal, Request, RequestError, Statistics, TransferEvent, TransferId,
};
pub use beacon::{BEACON_PORT, Beacon, Port};
pub use bundle::{Block, Bundle, BundleId, Crc, Created, Custody, Fragment, block_kind, flags};
pub use codec::{BundleError, ParseLimits};
pub use eid::{Eid, EidError};
pub use fragment::{Reassembly, split};
pub use store::{MemoryStore, Store, StoreError, StoreTable};
