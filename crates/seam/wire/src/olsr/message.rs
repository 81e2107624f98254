//! Messages: their header (section 3.3.2), and what TC, MID and HNA carry.

use std::net::Ipv4Addr;

use super::items::{items, put_items};
use super::{Hello, TimeCode};
use crate::bytes::{addr_at, put, u16_at};
use crate::list::{List, ListItem};
use crate::{Error, refuse_if};

/// Length of the message header, in octets.
pub(super) const HEADER_LEN: usize = 12;

/// Message Types (section 18.4).
pub mod message_type {
    /// Links of the originator (section 6).
    pub const HELLO: u8 = 1;
    /// Topology Control (section 9).
    pub const TC: u8 = 2;
    /// Multiple Interface Declaration (section 5).
    pub const MID: u8 = 3;
    /// Host and Network Association (section 12).
    pub const HNA: u8 = 4;
}

/// A message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// For how long its contents are valid after reception.
    pub vtime: TimeCode,
    /// The main address of the node that made it.
    pub originator: Ipv4Addr,
    /// The hops that it may make; 1 in a HELLO.
    pub ttl: u8,
    /// The hops that it has made.
    pub hop_count: u8,
    /// With the originator, names this message.
    pub seq: u16,
    /// What it says.
    pub body: Body<'a>,
}

/// What a message says, by its type.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// The originator's links.
    Hello(Hello<'a>),
    /// Topology Control.
    Tc {
        /// Advertised Neighbour Sequence Number: one more with each change of the list.
        ansn: u16,
        /// Main addresses of neighbours that reach the network through the originator.
        advertised: List<'a, Ipv4Addr>,
    },
    /// Multiple Interface Declaration: the addresses of the originator's other interfaces.
    Mid(List<'a, Ipv4Addr>),
    /// Host and Network Association: networks that the originator is a gateway to.
    Hna(List<'a, Network>),
    /// A message of a type that RFC 3626 does not define.
    Other {
        /// Its type.
        kind: u8,
        /// What follows the message header.
        data: &'a [u8],
    },
}

/// A network of an HNA message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its netmask.
    pub netmask: Ipv4Addr,
}

impl ListItem for Network {
    type Octets = [u8; 8];
    fn read(octets: &[u8; 8]) -> Self {
        Self { address: addr_at(octets, 0), netmask: addr_at(octets, 4) }
    }
}

impl<'a> Message<'a> {
    /// Reads the octets of one message.
    ///
    /// # Errors
    /// [`Error::Truncated`] if there are fewer than its length says, [`Error::Length`] if its lists do not fill it.
    pub fn parse(b: &'a [u8]) -> Result<Self, Error> {
        refuse_if(b.len() < HEADER_LEN, Error::Truncated)?;
        let len = usize::from(u16_at(b, 2));
        refuse_if(len < HEADER_LEN, Error::Length)?;
        let data = b.get(HEADER_LEN..len).ok_or(Error::Truncated)?;
        Ok(Self {
            vtime: TimeCode(b[1]),
            originator: addr_at(b, 4),
            ttl: b[8],
            hop_count: b[9],
            seq: u16_at(b, 10),
            body: Body::parse(b[0], data)?,
        })
    }

    /// Length in octets.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN + self.body.buffer_len()
    }

    /// Writes the message, or says which field does not fit. Panics if `buf` is shorter than [`Message::buffer_len`].
    pub(super) fn emit(&self, buf: &mut [u8]) -> Result<(), Error> {
        let len = u16::try_from(self.buffer_len()).map_err(|_| Error::Full)?;
        put(buf, 0, [self.body.kind(), self.vtime.0]);
        put(buf, 2, len.to_be_bytes());
        put(buf, 4, self.originator.octets());
        put(buf, 8, [self.ttl, self.hop_count]);
        put(buf, 10, self.seq.to_be_bytes());
        self.body.emit(&mut buf[HEADER_LEN..])
    }
}

impl<'a> Body<'a> {
    fn parse(kind: u8, data: &'a [u8]) -> Result<Self, Error> {
        Ok(match kind {
            message_type::HELLO => Self::Hello(Hello::parse(data)?),
            message_type::TC => {
                let advertised = items(data.get(4..).ok_or(Error::Length)?)?;
                Self::Tc { ansn: u16_at(data, 0), advertised }
            }
            message_type::MID => Self::Mid(items(data)?),
            message_type::HNA => match data.as_chunks() {
                (networks, []) => Self::Hna(List::from_wire(networks)),
                _ => return Err(Error::Length),
            },
            kind => Self::Other { kind, data },
        })
    }

    /// The Message Type.
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Hello(_) => message_type::HELLO,
            Self::Tc { .. } => message_type::TC,
            Self::Mid(_) => message_type::MID,
            Self::Hna(_) => message_type::HNA,
            Self::Other { kind, .. } => *kind,
        }
    }

    fn buffer_len(&self) -> usize {
        match self {
            Self::Hello(h) => h.buffer_len(),
            Self::Tc { advertised, .. } => 4 + 4 * advertised.len(),
            Self::Mid(interfaces) => 4 * interfaces.len(),
            Self::Hna(networks) => 8 * networks.len(),
            Self::Other { data, .. } => data.len(),
        }
    }

    fn emit(&self, b: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Hello(h) => h.emit(b)?,
            Self::Tc { ansn, advertised } => {
                put(b, 0, ansn.to_be_bytes());
                put(b, 2, [0; 2]);
                put_items(&mut b[4..], *advertised);
            }
            Self::Mid(interfaces) => put_items(b, *interfaces),
            Self::Hna(networks) => {
                for (i, n) in networks.iter().enumerate() {
                    put(b, 8 * i, n.address.octets());
                    put(b, 8 * i + 4, n.netmask.octets());
                }
            }
            Self::Other { kind: message_type::HELLO..=message_type::HNA, .. } => {
                return Err(Error::Value("message type"));
            }
            Self::Other { data, .. } => b[..data.len()].copy_from_slice(data),
        }
        Ok(())
    }
}
