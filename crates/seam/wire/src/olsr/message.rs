//! Messages: their header (section 3.3.2), and what TC, MID and HNA carry.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::items::{Address, address_at, items, put_items};
use super::{Hello, TimeCode};
use crate::bytes::{put, u8_at, u16_at};
use crate::list::{List, ListItem};
use crate::{Error, refuse_if};

/// Octets of the message header before the originator, and behind it.
const BEFORE: usize = 4;
const BEHIND: usize = 4;
/// Length of the shortest message header, that of IPv4, in octets.
pub(super) const HEADER_LEN: usize = BEFORE + 4 + BEHIND;

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
pub struct Message<'a, A: Address = Ipv4Addr> {
    /// For how long its contents are valid after reception.
    pub vtime: TimeCode,
    /// The main address of the node that made it.
    pub originator: A,
    /// The hops that it may make; 1 in a HELLO.
    pub ttl: u8,
    /// The hops that it has made.
    pub hop_count: u8,
    /// With the originator, names this message.
    pub seq: u16,
    /// What it says.
    pub body: Body<'a, A>,
}

/// What a message says, by its type.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Body<'a, A: Address = Ipv4Addr> {
    /// The originator's links.
    Hello(Hello<'a, A>),
    /// Topology Control.
    Tc {
        /// Advertised Neighbour Sequence Number: one more with each change of the list.
        ansn: u16,
        /// Main addresses of neighbours that reach the network through the originator.
        advertised: List<'a, A>,
    },
    /// Multiple Interface Declaration: the addresses of the originator's other interfaces.
    Mid(List<'a, A>),
    /// Host and Network Association: networks that the originator is a gateway to.
    Hna(List<'a, Network<A>>),
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
pub struct Network<A: Address = Ipv4Addr> {
    /// Its address.
    pub address: A,
    /// Its netmask.
    pub netmask: A,
}

impl<A: Address> ListItem for Network<A> {
    type Octets = [A::Octets; 2];
    fn read([address, netmask]: &[A::Octets; 2]) -> Self {
        Self { address: A::read(address), netmask: A::read(netmask) }
    }
}

impl<'a> Message<'a> {
    /// Reads the octets of one message in an IPv4 packet.
    ///
    /// # Errors
    /// [`Error::Truncated`] if there are fewer than its length says, [`Error::Length`] if its lists do not fill it.
    pub fn parse(b: &'a [u8]) -> Result<Self, Error> {
        Self::read(b)
    }
}

impl<'a> Message<'a, Ipv6Addr> {
    /// Reads the octets of one message in an IPv6 packet.
    ///
    /// # Errors
    /// As of [`Message::parse`].
    pub fn parse6(b: &'a [u8]) -> Result<Self, Error> {
        Self::read(b)
    }
}

impl<'a, A: Address> Message<'a, A> {
    /// Where the fields behind the originator begin, and the body.
    const TTL_AT: usize = BEFORE + A::LEN;
    const BODY_AT: usize = Self::TTL_AT + BEHIND;

    fn read(b: &'a [u8]) -> Result<Self, Error> {
        let originator = address_at(b, BEFORE).ok_or(Error::Truncated)?;
        refuse_if(b.len() < Self::BODY_AT, Error::Truncated)?;
        let len = usize::from(u16_at(b, 2));
        refuse_if(len < Self::BODY_AT, Error::Length)?;
        let data = b.get(Self::BODY_AT..len).ok_or(Error::Truncated)?;
        Ok(Self {
            vtime: TimeCode(b[1]),
            originator,
            ttl: u8_at(b, Self::TTL_AT),
            hop_count: u8_at(b, Self::TTL_AT + 1),
            seq: u16_at(b, Self::TTL_AT + 2),
            body: Body::parse(b[0], data)?,
        })
    }

    /// Length in octets.
    pub fn buffer_len(&self) -> usize {
        Self::BODY_AT + self.body.buffer_len()
    }

    /// Writes the message, or says which field does not fit. Panics if `buf` is shorter than [`Message::buffer_len`].
    pub(super) fn emit(&self, buf: &mut [u8]) -> Result<(), Error> {
        let len = u16::try_from(self.buffer_len()).map_err(|_| Error::Full)?;
        put(buf, 0, [self.body.kind(), self.vtime.0]);
        put(buf, 2, len.to_be_bytes());
        self.originator.put(buf, BEFORE);
        put(buf, Self::TTL_AT, [self.ttl, self.hop_count]);
        put(buf, Self::TTL_AT + 2, self.seq.to_be_bytes());
        self.body.emit(&mut buf[Self::BODY_AT..])
    }
}

impl<'a, A: Address> Body<'a, A> {
    fn parse(kind: u8, data: &'a [u8]) -> Result<Self, Error> {
        Ok(match kind {
            message_type::HELLO => Self::Hello(Hello::parse(data)?),
            message_type::TC => {
                let advertised = items(data.get(4..).ok_or(Error::Length)?)?;
                Self::Tc { ansn: u16_at(data, 0), advertised }
            }
            message_type::MID => Self::Mid(items(data)?),
            message_type::HNA => match A::split(data).map(<[_]>::as_chunks) {
                Some((networks, [])) => Self::Hna(List::from_wire(networks)),
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
            Self::Tc { advertised, .. } => 4 + A::LEN * advertised.len(),
            Self::Mid(interfaces) => A::LEN * interfaces.len(),
            Self::Hna(networks) => 2 * A::LEN * networks.len(),
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
                    n.address.put(b, 2 * A::LEN * i);
                    n.netmask.put(b, 2 * A::LEN * i + A::LEN);
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
