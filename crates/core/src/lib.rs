//! The vocabulary that every part of Wayhop shares, and the seam between a routing protocol and its host.
//!
//! * [`Time`] and [`Span`]: integer nanoseconds of the run's own clock.
//! * [`Addr`], [`Mac`], [`NodeId`]: who is who.
//! * [`Rng`] and [`stream`]: random streams keyed by (seed, purpose, node), so that one consumer's draws never move
//!   another's.
//! * [`Packet`] and [`Pool`]: the bytes of an IP packet, in buffers that are recycled.
//! * [`Protocol`] and [`Cx`]: inputs in, effects out. A protocol sees its own node only; it has no clock, socket,
//!   thread or global list. The host applies the effects in order after the handler returns.
//!
//! Nothing in here does I/O.

mod addr;
mod command;
mod cx;
mod effect;
mod inspect;
mod leg;
mod packet;
pub mod parameters;
mod position;
mod protocol;
mod reason;
mod rng;
mod send_state;
mod time;

pub use addr::{Addr, BROADCAST, Mac, NodeId, node_named};
pub use command::{Command, Refused};
pub use cx::{Cx, Interface};
pub use effect::{Effect, Priority, Route, TimerKey, TraceNote, TxId, TxSpec};
pub use inspect::{HeldPackets, Inspect};
pub use leg::Leg;
pub use packet::{FlowTag, Packet, PacketId, PacketMeta, Pool};
pub use position::{Fix, Position};
pub use protocol::{DataPlane, Interests, Protocol, RouteUse, RxMeta, TxStatus};
pub use reason::DropReason;
pub use rng::{Purpose, Rng, draw, stream};
pub use send_state::{Decision, SendState};
pub use time::{Span, Time};
