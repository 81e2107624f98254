//! The packet header (section 3.3).

use std::net::Ipv4Addr;

use super::Message;
use super::items::Address;
use super::message;
use crate::bytes::{put, u16_at};
use crate::{Error, refuse_if};

/// Length of the header, in octets.
const HEADER_LEN: usize = 4;

/// A packet whose length field agrees with the datagram.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> Packet<'a> {
    /// Checks the length. Octets after the stated length are ignored; a packet without a message is refused (section 3.4).
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        let p = Self::new_snapped(bytes)?;
        refuse_if(p.len > bytes.len(), Error::Truncated)?;
        Ok(p)
    }

    /// As [`Packet::new_checked`], but the end may be missing, as captures do.
    pub fn new_snapped(bytes: &'a [u8]) -> Result<Self, Error> {
        refuse_if(bytes.len() < HEADER_LEN, Error::Truncated)?;
        let len = usize::from(u16_at(bytes, 0));
        refuse_if(len <= HEADER_LEN, Error::Length)?;
        Ok(Self { bytes, len })
    }

    /// Length of header and messages, in octets, as stated.
    pub fn total_len(&self) -> usize {
        self.len
    }
    /// Packet Sequence Number: one more in each packet from an interface.
    pub fn seq(&self) -> u16 {
        u16_at(self.bytes, 2)
    }
    /// The octets of each message, for [`Message::parse`] or [`Message::parse6`]. The last one may be cut, or have a wrong length.
    pub fn messages(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut rest = &self.bytes[HEADER_LEN..self.len.min(self.bytes.len())];
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            // Each round takes octets off, so this ends.
            let stated = usize::from(u16_at(rest, 2));
            let len = if stated < message::HEADER_LEN { rest.len() } else { stated };
            let (message, behind) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            rest = behind;
            Some(message)
        })
    }
}

/// A packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PacketRepr<'a, A: Address = Ipv4Addr> {
    /// Packet Sequence Number.
    pub seq: u16,
    /// The messages, at least one.
    pub messages: &'a [Message<'a, A>],
}

impl<A: Address> PacketRepr<'_, A> {
    /// Length in octets.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN + self.messages.iter().map(Message::buffer_len).sum::<usize>()
    }

    /// Writes the packet. Panics if `buf` is shorter than [`PacketRepr::buffer_len`].
    ///
    /// # Errors
    /// [`Error::Value`] without a message, [`Error::Full`] if it is too long for its length field.
    pub fn emit(&self, buf: &mut [u8]) -> Result<(), Error> {
        refuse_if(self.messages.is_empty(), Error::Value("number of messages"))?;
        let len = u16::try_from(self.buffer_len()).map_err(|_| Error::Full)?;
        put(buf, 0, len.to_be_bytes());
        put(buf, 2, self.seq.to_be_bytes());
        let mut at = HEADER_LEN;
        for m in self.messages {
            m.emit(&mut buf[at..])?;
            at += m.buffer_len();
        }
        Ok(())
    }
}
