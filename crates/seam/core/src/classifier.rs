//! The interface for recording, reading and comparing packets of any protocol.

use std::fmt::Debug;

use crate::{Class, DecodedMessage, Description, Messages};

/// Knows the packets of every routing protocol. The registry of protocols has one; run directories and captures are
/// opened with it, so that what reads them depends on no protocol.
///
/// Octets come from strangers: no method panics on them.
pub trait Classifier: Debug + Sync {
    /// The class of this name among those of a protocol.
    fn class(&self, protocol: &str, class: &str) -> Option<Class>;

    /// A set of a protocol's types of messages; `None` for an unknown name.
    fn messages(&self, protocol: &str, types: &[&str]) -> Option<Messages>;

    /// Names the classes and types of a protocol that this process may not have loaded: those that a run directory lists.
    ///
    /// # Errors
    /// If this process knows too many protocols.
    fn learn(&self, protocol: &str, classes: &[String], types: &[(u8, String)]) -> Result<(), String>;

    /// The class of a routing packet, and the routing messages in it. The class is `None` for a packet with application data.
    fn classify(&self, ip_packet: &[u8]) -> (Option<Class>, Messages);

    /// The protocol whose packet this is, and its messages. The end of the packet may be missing.
    fn decode(&self, ip_packet: &[u8]) -> Option<(&'static Description, Vec<DecodedMessage>)>;

    /// The packet without the block that authenticates it; `None` if it has none.
    fn without_authentication(&self, ip_packet: &[u8]) -> Option<Vec<u8>>;

    /// The part of the packet that each node on its way changes: `None` if its protocol has none, the inner `None` if it was
    /// not captured whole.
    #[allow(clippy::option_option, reason = "a protocol without such a part differs from a truncated packet")]
    fn route_header<'a>(&self, ip_packet: &'a [u8]) -> Option<Option<&'a [u8]>>;
}
