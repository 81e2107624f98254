//! Mobile IP for IPv4 (RFC 5944): agent discovery by ICMP, and registration by UDP.
//!
//! * [`Discovery`]: router advertisements with what a mobility agent adds to them, and solicitations (section 2).
//! * [`Message`]: registration requests and replies (section 3), with their [`Extensions`].

mod discovery;
mod extension;
mod registration;

pub use discovery::{Advertisement, AgentFlags, Discovery, MobilityAgent, RouterAddress};
pub use extension::{AuthKind, Authentication, Extension, Extensions, emit_authentication_head};
pub use registration::{Code, Message, Reply, Request, RequestFlags};

/// The UDP port of registration (section 3.1).
pub const PORT: u16 = 434;
/// The lifetime that means "without end" (section 3.3).
pub const INFINITE: u16 = u16::MAX;
