//! Protocols on scripted links, and oracles for tests.
//!
//! [`Net`] runs N protocol instances on links that the test switches, with a virtual clock, and
//! applies their effects as documented in `wayhop_core`: delays, timers that replace by key, an
//! interface queue with recall, a forwarding table with TTL decrement, misses and use reports for
//! `DataPlane::Forwarding`. Everything that happens goes into a [`Record`] that two runs can
//! compare, and [`Net::assert_conserved`] fails when a packet vanished.
//!
//! ```no_run
//! # use wayhop_core::{Protocol, Time};
//! # fn engine() -> Box<dyn Protocol> { unimplemented!() }
//! use wayhop_testkit::Net;
//! let mut net = Net::new(4, |_| engine());
//! net.line(); // 0 - 1 - 2 - 3
//! net.send_at(Time::from_secs_f64(1.0), 0, 3, 7); // flow 7, node 0 to node 3
//! net.down_at(Time::from_secs_f64(5.0), 1, 2);
//! net.run_until(Time::from_secs_f64(10.0));
//! assert_eq!(net.delivered(7), [0]);
//! net.assert_conserved();
//! ```
//!
//! **Deliberate simplifications.** There is no collision and no carrier sense: a node sends one
//! frame at a time, each takes [`Config::airtime`], and arrives after the link's delay. A unicast
//! frame succeeds when the link is up in both directions (the acknowledgement must come back) and
//! one of [`Config::tries`] draws survives the link's loss.
//!
//! [`tshark`] runs the Wireshark command line on a capture, as an independent oracle, and [`pcap`] writes the
//! captures for it. `explore` (feature `explore`) visits every reachable state of a few nodes. [`golden`]
//! reads packets written by hand. [`flood`] is a protocol for comparisons across languages. [`replay`] replays recorded inputs to an engine.

mod check;
mod config;
mod event;
#[cfg(feature = "explore")]
pub mod explore;
pub mod flood;
pub mod golden;
mod host;
mod links;
mod medium;
mod net;
mod octets;
mod packets;
pub mod pcap;
mod query;
mod record;
pub mod replay;
mod shorthand;
pub mod tshark;
mod world;

pub use config::Config;
pub use links::Link;
pub use net::Net;
pub use octets::Octets;
pub use packets::{TestPacket, addr, data_packet};
pub use query::Tables;
pub use record::{EventKind, Record};
pub use shorthand::{Mute, among_mutes, held, ms, own_seq, route, secs};

#[cfg(test)]
mod tests;
