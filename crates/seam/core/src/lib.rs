//! The vocabulary shared by all of Wayhop, and the interface between a routing protocol and its node.
//!
//! * [`Time`] and [`Span`]: integer nanoseconds of the run's own clock.
//! * [`Addr`], [`Mac`], [`NodeId`]: identities.
//! * [`Rng`] and [`stream`]: random streams keyed by (seed, purpose, node), so that one consumer's draws never move
//!   another's.
//! * [`Packet`] and [`Pool`]: the bytes of an IP packet, in buffers that are recycled.
//! * [`Protocol`] and [`Cx`]: inputs in, effects out. A protocol sees only its own node; it has no
//!   clock, socket, thread or global list. The node applies the effects in order after the handler
//!   returns.
//! * [`Application`] and [`ApplicationCx`]: the same for programs above the routing protocol.
//! * [`Description`]: a protocol's description for everything outside its crate, and
//!   [`Configured`]: one with its parameters.
//! * [`NormalEquations`]: least squares.
//!
//! Nothing in here does I/O.

mod addr;
mod addr_map;
mod address_list;
mod application;
mod authentication;
mod bundle_event;
mod bytes;
mod class;
mod classifier;
mod command;
mod cx;
mod description;
mod effect;
mod file_name;
mod fix_quality;
mod forge;
mod frame;
mod hex;
mod hop_kind;
mod input;
mod inspect;
mod interface;
mod leg;
mod limits;
mod message_types;
mod messages;
mod names;
mod normal_equations;
mod outside;
mod packet;
pub mod parameters;
mod place;
mod position;
mod protocol;
mod reason;
mod rng;
mod route;
mod send_buffer;
mod send_state;
mod socket;
mod tcp_connection;
mod time;
pub mod version;
mod words;

pub use addr::{Addr, BROADCAST, Mac, NodeId, NotIpv4, node_named};
pub use addr_map::AddrMap;
pub use address_list::{AddressList, Addressed};
pub use application::{
    Application, ApplicationCx, ApplicationDatagram, ApplicationDescription, ApplicationEffect,
    ApplicationInput, ApplicationParameters, ApplicationRow, ConfiguredApplication, EchoReply, EchoRequest,
    Ending, HomeRoute, LinkId, LinkNeeds, LinkReach, LinkState, NetworkEffect, NetworkInput, ProgramEffect,
    ProgramInput, ProgramMessage, ReadApplication, STREAM_ROOM, StreamEffect, StreamEnd, StreamId,
    StreamInput,
};
pub use authentication::Authentication;
pub use bundle_event::BundleEventKind;
pub use bytes::from_hex;
pub use class::Class;
pub use classifier::Classifier;
pub use command::{Command, Refused};
pub use cx::Cx;
pub use description::{
    Adapt, Configured, Description, HostNeeds, HostRules, LibraryFile, NodeContext, ParameterError,
    Parameters, Profile, ReadParameters,
};
pub use effect::{Effect, Priority, TimerKey, TraceNote, TxId, TxSpec};
pub use file_name::file_name;
pub use fix_quality::{AccuracyFrom, FixQuality, FixStatus};
pub use forge::{Claim, Forged, Forger, Lure, NewForger};
pub use frame::{Frame, Payload, Reporting};
pub use hex::hex;
pub use hop_kind::HopKind;
pub use input::{Input, RxMeta, TxReport, TxStatus};
pub use inspect::{HeldPackets, Inspect, Maybe, Sizes};
pub use interface::{IfaceId, Interface, LinkChange};
pub use leg::Leg;
pub use limits::Limits;
pub use message_types::{MessageCounts, Messages};
pub use messages::{
    Carrier, Classified, Datagram, DecodedMessage, MessageFormat, Ns2Format, Ns2Packet, RouteHeader, ends,
};
pub use normal_equations::NormalEquations;
pub use outside::Outside;
pub use packet::{FlowTag, Packet, PacketId, PacketMeta, Pool};
pub use position::{Fix, Position};
pub use protocol::{DataPlane, Interests, Protocol};
pub use reason::DropReason;
pub use rng::{Purpose, Rng, draw, mix, stream};
pub use route::{Prefix, Route, RouteUse};
pub use send_buffer::{SendBuffer, WaitingPacket};
pub use send_state::{Decision, SendState};
pub use socket::{Opened, Socket};
pub use tcp_connection::{TcpConnection, TcpEnds};
pub use time::{Span, Time};
pub use words::{nearest, plain};
