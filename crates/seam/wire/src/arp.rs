//! Address resolution for IPv4 over IEEE 802 (RFC 826).

use std::net::Ipv4Addr;

use wayhop_core::Mac;

use crate::bytes::{addr_at, array_at, put, u16_at};
use crate::{Error, refuse_if};

/// Length of a message, in octets.
pub const LEN: usize = 28;

/// What a message is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Who has the target's address?
    Request,
    /// The sender has it.
    Reply,
}

/// A message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Request or reply.
    pub operation: Operation,
    /// The sender's link address.
    pub sender_mac: Mac,
    /// The sender's network address.
    pub sender: Ipv4Addr,
    /// The target's link address; without meaning in a request.
    pub target_mac: Mac,
    /// The target's network address.
    pub target: Ipv4Addr,
}

impl Repr {
    /// Asks who has the target's address.
    pub const fn request(sender_mac: Mac, sender: Ipv4Addr, target: Ipv4Addr) -> Self {
        Self { operation: Operation::Request, sender_mac, sender, target_mac: Mac([0; 6]), target }
    }

    /// The answer to a request: its target is at this link address.
    #[must_use]
    pub const fn reply(&self, mac: Mac) -> Self {
        let (sender, target, target_mac) = (self.target, self.sender, self.sender_mac);
        Self { operation: Operation::Reply, sender_mac: mac, sender, target_mac, target }
    }

    /// Reads a message; octets behind it (padding) are ignored.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        refuse_if(bytes.len() < LEN, Error::Truncated)?;
        refuse_if(u16_at(bytes, 0) != 1, Error::Value("hardware type"))?;
        refuse_if(u16_at(bytes, 2) != 0x0800, Error::Value("protocol type"))?;
        refuse_if(bytes[4] != 6 || bytes[5] != 4, Error::Length)?;
        let operation = match u16_at(bytes, 6) {
            1 => Operation::Request,
            2 => Operation::Reply,
            _ => return Err(Error::Value("operation")),
        };
        Ok(Self {
            operation,
            sender_mac: Mac(array_at(bytes, 8)),
            sender: addr_at(bytes, 14),
            target_mac: Mac(array_at(bytes, 18)),
            target: addr_at(bytes, 24),
        })
    }

    /// Length of the message, in octets.
    pub const fn buffer_len(&self) -> usize {
        LEN
    }

    /// Writes the message. Panics if `buf` is shorter than [`LEN`].
    pub fn emit(&self, buf: &mut [u8]) {
        let operation = match self.operation {
            Operation::Request => 1,
            Operation::Reply => 2,
        };
        put(buf, 0, [0, 1, 8, 0, 6, 4, 0, operation]);
        put(buf, 8, self.sender_mac.0);
        put(buf, 14, self.sender.octets());
        put(buf, 18, self.target_mac.0);
        put(buf, 24, self.target.octets());
    }
}
