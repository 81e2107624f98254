//! Dynamic Source Routing, RFC 4728 sections 6 and 7.
//!
//! * [`Packet`]: the payload of an IP packet of protocol 48, seen as DSR header and what follows. It gives an iterator,
//!   [`Options`], over [`DsrOption`]s; lists of addresses are borrowed from the packet ([`AddrList`]).
//! * [`Builder`]: writes a header with its options into a buffer that the caller keeps and reuses.
//! * [`edit`]: changes to a packet in place, header lengths and checksums included: put a header in, take it out, append
//!   an address to a Route Request, count down Segments Left.
//!
//! Lengths: fixed header 4 octets; Route Request 8 + 4n with n at most 62; Route Reply 3 + 4n (63); Route Error 12 and its
//! type-specific part; Acknowledgement Request 4 or 8; Acknowledgement 12; Source Route 4 + 4n (63); Pad1 1; PadN 2 + n;
//! Timeout 4; Destination and Flow ID 8; Flow State header 4; location 44; probe 4 + 5n (50); link
//! metrics 4 + 4n (63).
//!
//! An option that contradicts its format is an `Err` item of the iterator, which goes on behind it as long as the
//! option's length stays inside the header; options that RFC 4728 does not define come as [`DsrOption::Unknown`], so
//! that a protocol can obey the top three bits of their type (section 6.1).

mod addr_list;
mod authentication;
mod build;
pub mod edit;
mod emit;
mod header;
mod location;
mod option;
mod options;
mod probe;
mod writer;

pub use addr_list::AddrList;
pub use authentication::AUTHENTICATION;
pub use build::Builder;
pub use header::{FlowState, HEADER_LEN, Packet};
pub use location::Location;
pub use option::{DsrOption, RouteError, RouteErrorKind, RouteReply, RouteRequest, SourceRoute};
pub use options::{OptionRanges, Options, options};
pub use probe::{LinkMetrics, Probe};

/// Option types, as IANA registers them.
pub mod option_type {
    /// Padding of two octets or more.
    pub const PAD_N: u8 = 0;
    /// Route Request.
    pub const ROUTE_REQUEST: u8 = 1;
    /// Route Reply.
    pub const ROUTE_REPLY: u8 = 2;
    /// Route Error.
    pub const ROUTE_ERROR: u8 = 3;
    /// Experiments of this project, told apart by the first octet of the data; not registered.
    pub const EXPERIMENT: u8 = 30;
    /// Acknowledgement.
    pub const ACK: u8 = 32;
    /// DSR Source Route.
    pub const SOURCE_ROUTE: u8 = 96;
    /// What authenticates the packet; not registered. Bits 0x60: others drop the packet; bit 0x80 clear: without an error.
    pub const AUTHENTICATION: u8 = 125;
    /// Timeout of a flow.
    pub const TIMEOUT: u8 = 128;
    /// Destination and Flow ID.
    pub const FLOW_ID: u8 = 129;
    /// Acknowledgement Request.
    pub const ACK_REQUEST: u8 = 160;
    /// One octet of padding.
    pub const PAD_1: u8 = 224;
}

/// Types of Route Error.
pub mod error_type {
    /// The next hop did not acknowledge.
    pub const NODE_UNREACHABLE: u8 = 1;
    /// The node does not implement flow state.
    pub const FLOW_STATE_NOT_SUPPORTED: u8 = 2;
    /// The node does not implement an option.
    pub const OPTION_NOT_SUPPORTED: u8 = 3;
    /// The node does not know the flow.
    pub const UNKNOWN_FLOW: u8 = 129;
    /// The node knows no default flow for the packet's source and destination.
    pub const DEFAULT_FLOW_UNKNOWN: u8 = 130;
}

/// What a node that does not implement an option does with the packet: the bits 0x60 of the option's type (section 6.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum UnknownAction {
    /// Skip the option.
    Ignore,
    /// Take the option out of the packet and go on.
    Remove,
    /// Set the top bit of the first octet after the option's length, and go on.
    Mark,
    /// Drop the packet.
    Drop,
}

/// What to do with an option of this type when it is not implemented.
pub const fn unknown_action(option_type: u8) -> UnknownAction {
    match option_type & 0x60 {
        0x00 => UnknownAction::Ignore,
        0x20 => UnknownAction::Remove,
        0x40 => UnknownAction::Mark,
        _ => UnknownAction::Drop,
    }
}

/// Whether a node that does not implement an option of this type should answer with a Route Error of type
/// OPTION_NOT_SUPPORTED; never when the packet also carries a Route Request.
pub const fn unknown_wants_error(option_type: u8) -> bool {
    option_type & 0x80 != 0
}
