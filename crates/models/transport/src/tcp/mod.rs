//! TCP (RFC 9293): a state machine without I/O, with real segments.
//!
//! A [`HostTcp`] serves the applications of a host, or the one at an end of a flow. The host calls it
//! when an application asks for something, a segment or an ICMP error has arrived, or its
//! [`HostTcp::deadline`] has come, and takes whole IP packets from it. Inside, bottom up:
//! * `rto`: the retransmission timeout (RFC 6298), exact or by ns-2's ticks;
//! * [`CongestionControl`]: how much may be under way; `congestion/` has Tahoe and Reno, Vegas, Westwood;
//! * `scoreboard`: the information of selective acknowledgements (RFC 6675);
//! * `sender`: transmissions and retransmissions: fast retransmit and recovery, timeouts, closed
//!   windows;
//! * `receiver`: order, buffer, acknowledgements; `send_buffer`: octets until they are acknowledged;
//!   [`stream`]: those of flows;
//! * `endpoint`: handshake, sequence numbers, packets; [`HostTcp`]: the ports and connections of a
//!   host;
//! * `failure`, `pacing`, and the settings of [`TcpConfig`]: proposals for mobile networks.
//!
//! What is left out: urgent data, timestamps (RFC 7323), ECN. The ends of a flow stay until the run ends.

mod app;
mod config;
mod congestion;
mod endpoint;
mod failure;
mod host;
mod note;
mod pacing;
mod receiver;
mod rto;
mod scoreboard;
mod send_buffer;
mod sender;
pub mod stream;

pub use app::App;
pub use config::{MAX_SEGMENT, MAX_WINDOW, Profile, TcpConfig, Variant};
pub use congestion::{Acked, CongestionControl, Lost};
pub use endpoint::Endpoint;
pub use failure::Failure;
pub use host::{FlowEnd, HostIo, HostTcp};
pub use note::{Note, NoteKind};
pub use pacing::Pacing;
pub use rto::RtoConfig;
pub use sender::Counts;
