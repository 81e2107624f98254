//! Traffic of the simulator: when flows send, their packets, and their arrivals.
//!
//! Plain state machines without I/O, clock or queue of their own. For each flow a host keeps
//! * a [`Source`]: the [`wayhop_core::Application`] that sends; for a flow of TCP, a [`TcpClient`] and a [`TcpServer`] above
//!   [`tcp::HostTcp`];
//! * [`Departures`] and a [`Sink`]: count packets sent and received, with delay and hops.
//!   [`Summary`] turns them into the figures of a run's summary.
//!
//! A simulated host's stack makes packets of what applications send ([`datagram`], [`echo_request`]), and answers echo requests
//! ([`echo_reply`]).
//!
//! A payload with enough room carries a [`Stamp`] with sequence number and time of sending, so that
//! captures and receivers outside of the simulator can measure, too.

mod bursts;
mod config;
mod datagram;
mod departures;
mod echo;
mod histogram;
mod schedule;
mod seen;
mod sink;
mod source;
mod stamp;
mod summary;
pub mod tcp;
mod tcp_flow;

pub use bursts::{Lengths, OnOff};
pub use config::{DEFAULT_PORT, EVERYONE, FlowConfig, FlowError, FlowKind, GROUP, MAX_PAYLOAD};
pub use datagram::{datagram, next_ip_id};
pub use departures::Departures;
pub use echo::{echo_reply, echo_request};
pub use histogram::Histogram;
pub use schedule::{Schedule, Scheduled};
pub use sink::{Arrival, Sink};
pub use source::{INITIAL_TTL, Source};
pub use stamp::Stamp;
pub use summary::{Latency, Summary};
pub use tcp_flow::{TcpClient, TcpServer};
