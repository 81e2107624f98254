//! Traffic of the simulator: when flows send, their packets, and their arrivals.
//!
//! Plain state machines without I/O, clock or queue of their own. For each flow a host keeps
//! * a [`Source`]: says when the next packet is due and builds it;
//! * a [`Sink`]: counts arrivals, with delay and hops;
//! * and where echo requests arrive, it answers with [`echo_reply`];
//! * for a flow of TCP, a [`tcp::Connection`] instead of all these, with the sink to count.
//!
//! [`Summary`] turns a source's and a sink's counts into the figures of a run's summary.
//!
//! Packets are complete IP packets. A payload with enough room carries a [`Stamp`] with sequence number and
//! time of sending, so that captures and receivers outside of the simulator can measure, too.

mod bursts;
mod config;
mod echo;
mod histogram;
mod schedule;
mod seen;
mod sink;
mod source;
mod stamp;
mod summary;
pub mod tcp;

pub use bursts::{Lengths, OnOff};
pub use config::{DEFAULT_PORT, EVERYONE, FlowConfig, FlowError, FlowKind, GROUP, MAX_PAYLOAD};
pub use echo::echo_reply;
pub use histogram::Histogram;
pub use schedule::{Schedule, Scheduled};
pub use sink::{Arrival, Sink};
pub use source::{INITIAL_TTL, Source, next_ip_id};
pub use stamp::Stamp;
pub use summary::{Latency, Summary};
