//! Forged messages of a protocol, for a scenario's attackers. No node uses them for itself.

use core::net::Ipv4Addr;

use crate::Addr;

/// A routing message that an attacker sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forged {
    /// The IP packet.
    pub packet: Vec<u8>,
    /// The neighbour that shall receive it, or [`Addr::BROADCAST`].
    pub to: Addr,
}

/// A route that does not exist.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The node that claims to have it.
    pub speaker: Ipv4Addr,
    /// Hops from there to the destination, 1 at least.
    pub hops: u8,
    /// By how much it is newer than what is known, where a protocol counts that.
    pub ahead: u32,
}

/// The answer to a message that asks for routes or announces some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lure {
    /// Names the question: an attacker answers each once in a while.
    pub question: u64,
    /// Whether it was a question, which goes no further.
    pub is_answer: bool,
    /// The answer.
    pub message: Forged,
}

/// Forges a protocol's messages at one node. All it is given are octets from the air: it must not panic.
pub trait Forger: Send {
    /// A routing message was heard, from which numbers and addresses may be learned.
    fn hear(&mut self, packet: &[u8]) {
        let _ = packet;
    }
    /// Answers a routing message with a false route by way of the claim's speaker. `from` is the neighbour that sent it.
    fn lure(&mut self, packet: &[u8], from: Ipv4Addr, claim: &Claim) -> Option<Lure>;
    /// Reports, in the name of the `to` that shall receive this data packet now, that the way ends there.
    fn deny(&mut self, packet: &[u8], from: Ipv4Addr, to: Ipv4Addr) -> Option<Forged>;
    /// A message that all nodes pass on: a request by `originator` for `target`, or news of it. `number` differs from one to
    /// the next.
    fn flood(&mut self, originator: Ipv4Addr, target: Ipv4Addr, number: u32) -> Option<Forged>;
}

/// Makes the forger of one node.
pub type NewForger = fn() -> Box<dyn Forger>;
