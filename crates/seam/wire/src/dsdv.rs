//! Destination-Sequenced Distance Vector routing (Perkins and Bhagwat, SIGCOMM 1994), in the format of ns-3.37: datagrams of
//! UDP port 269 with one or more entries of 12 octets, all fields in network byte order.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                      Destination address                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                           Hop count                           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                        Sequence number                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! The paper gives no format. A message has no type, no version and no count: its length says how many entries there are.

use std::net::Ipv4Addr;

use wayhop_core::Authentication;

use crate::bytes::{addr_at, array_at, put};
use crate::list::{List, ListItem};
use crate::{Error, refuse_if};

/// How DSDV's updates are authenticated: by a block behind the entries, with two octets in front so that no number of entries is as
/// long, and others drop the datagram.
pub static AUTHENTICATION: Authentication = Authentication::behind_message(3, 101, &[0xff; 2]);

/// The UDP port of DSDV.
pub const PORT: u16 = 269;

/// The hop count from which on a destination is out of reach; what an entry with an odd number says at any hop count.
pub const UNREACHABLE: u32 = 250;

/// What the sender knows of one destination.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UpdateEntry {
    /// The destination.
    pub destination: Ipv4Addr,
    /// Hops from the receiver to the destination by way of the sender: 1 for the sender itself. ns-3 adds the last hop
    /// when it sends, not when it receives.
    pub hop_count: u32,
    /// Even: the destination's own number. Odd: set by a node that lost its route to it.
    pub seq: u32,
}

impl UpdateEntry {
    /// Length in octets.
    pub const LEN: usize = 12;

    /// Whether the sender says that it cannot reach the destination.
    pub const fn is_unreachable(&self) -> bool {
        self.seq % 2 == 1 || self.hop_count >= UNREACHABLE
    }
}

impl ListItem for UpdateEntry {
    type Octets = [u8; UpdateEntry::LEN];
    fn read(b: &[u8; UpdateEntry::LEN]) -> Self {
        Self {
            destination: addr_at(b, 0),
            hop_count: u32::from_be_bytes(array_at(b, 4)),
            seq: u32::from_be_bytes(array_at(b, 8)),
        }
    }
}

/// A routing update: its entries.
pub type Update<'a> = List<'a, UpdateEntry>;

impl<'a> List<'a, UpdateEntry> {
    /// Reads the payload of a datagram.
    ///
    /// # Errors
    /// [`Error::Truncated`] without a whole entry, [`Error::Length`] where the last entry is cut short.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        match bytes.as_chunks() {
            ([], _) => Err(Error::Truncated),
            (entries, []) => Ok(Self::from_wire(entries)),
            _ => Err(Error::Length),
        }
    }

    /// Length in octets.
    pub fn buffer_len(&self) -> usize {
        UpdateEntry::LEN * self.len()
    }

    /// Writes the entries. Panics if `buf` is shorter than [`Update::buffer_len`].
    ///
    /// # Errors
    /// [`Error::Value`] without an entry; nothing is written then.
    pub fn emit(&self, buf: &mut [u8]) -> Result<(), Error> {
        refuse_if(self.is_empty(), Error::Value("number of entries"))?;
        for (i, e) in self.iter().enumerate() {
            let at = i * UpdateEntry::LEN;
            put(buf, at, e.destination.octets());
            put(buf, at + 4, e.hop_count.to_be_bytes());
            put(buf, at + 8, e.seq.to_be_bytes());
        }
        Ok(())
    }
}
