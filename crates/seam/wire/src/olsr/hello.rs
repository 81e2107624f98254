//! HELLO messages: the originator's links and neighbours (section 6.1).

use core::fmt;
use std::net::Ipv4Addr;

use super::TimeCode;
use super::items::{Address, items, put_items};
use crate::bytes::{put, u8_at, u16_at};
use crate::list::List;
use crate::{Error, refuse_if};

/// Octets before the link messages, and before the addresses of each.
const HEAD_LEN: usize = 4;

/// What a HELLO says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Hello<'a, A: Address = Ipv4Addr> {
    /// The time between two HELLOs of this interface.
    pub htime: TimeCode,
    /// Willingness to forward for others: 0 never, 3 by default, 7 always (section 18.8).
    pub willingness: u8,
    /// The links, by their state.
    pub links: LinkMessages<'a, A>,
}

/// Neighbours whose links have the same state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LinkMessage<'a, A: Address = Ipv4Addr> {
    /// The state.
    pub code: LinkCode,
    /// Addresses of the neighbours' interfaces.
    pub neighbours: List<'a, A>,
}

/// State of links and their neighbours: two fields of two bits, where the value is at most 15 (section 6.1.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LinkCode(pub u8);

/// State of a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// Nothing is said of the link.
    Unspecified = 0,
    /// The neighbour is heard.
    Asymmetric = 1,
    /// The neighbour is heard, and hears.
    Symmetric = 2,
    /// The link was lost.
    Lost = 3,
}

/// State of a neighbour.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NeighbourType {
    /// No link to it is symmetric, now or yet.
    Not = 0,
    /// A link to it is symmetric.
    Symmetric = 1,
    /// As before, and it is a multipoint relay of the sender.
    Mpr = 2,
}

impl LinkCode {
    /// The state of the links; `None` in a code above 15.
    pub const fn link(self) -> Option<LinkType> {
        match self.0 {
            16.. => None,
            code => Some(match code & 3 {
                0 => LinkType::Unspecified,
                1 => LinkType::Asymmetric,
                2 => LinkType::Symmetric,
                _ => LinkType::Lost,
            }),
        }
    }
    /// The state of the neighbours; `None` in a code above 11.
    pub const fn neighbour(self) -> Option<NeighbourType> {
        match self.0 >> 2 {
            0 => Some(NeighbourType::Not),
            1 => Some(NeighbourType::Symmetric),
            2 => Some(NeighbourType::Mpr),
            _ => None,
        }
    }
}

impl<'a, A: Address> Hello<'a, A> {
    pub(super) fn parse(b: &'a [u8]) -> Result<Self, Error> {
        refuse_if(b.len() < HEAD_LEN, Error::Length)?;
        let links = LinkMessages(Inner::Wire(&b[HEAD_LEN..]));
        let mut rest = &b[HEAD_LEN..];
        while !rest.is_empty() {
            rest = split::<A>(rest)?.1;
        }
        Ok(Self { htime: TimeCode(b[2]), willingness: b[3], links })
    }

    pub(super) fn buffer_len(&self) -> usize {
        HEAD_LEN + self.links.iter().map(|l| l.buffer_len()).sum::<usize>()
    }

    pub(super) fn emit(&self, b: &mut [u8]) -> Result<(), Error> {
        put(b, 0, [0, 0, self.htime.0, self.willingness]);
        let mut at = HEAD_LEN;
        for link in self.links.iter() {
            let len = u16::try_from(link.buffer_len()).map_err(|_| Error::Full)?;
            put(b, at, [link.code.0, 0]);
            put(b, at + 2, len.to_be_bytes());
            put_items(&mut b[at + HEAD_LEN..], link.neighbours);
            at += link.buffer_len();
        }
        Ok(())
    }
}

impl<A: Address> LinkMessage<'_, A> {
    fn buffer_len(&self) -> usize {
        HEAD_LEN + A::LEN * self.neighbours.len()
    }
}

/// The first link message of these octets, and the octets behind it.
fn split<A: Address>(b: &[u8]) -> Result<(LinkMessage<'_, A>, &[u8]), Error> {
    let len = usize::from(u16_at(b, 2));
    refuse_if(len < HEAD_LEN, Error::Length)?;
    let (link, rest) = b.split_at_checked(len).ok_or(Error::Length)?;
    Ok((LinkMessage { code: LinkCode(u8_at(b, 0)), neighbours: items(&link[HEAD_LEN..])? }, rest))
}

/// The link messages of a HELLO.
#[derive(Copy, Clone)]
pub struct LinkMessages<'a, A: Address = Ipv4Addr>(Inner<'a, A>);

#[derive(Copy, Clone)]
enum Inner<'a, A: Address> {
    /// Checked by [`Hello::parse`].
    Wire(&'a [u8]),
    Slice(&'a [LinkMessage<'a, A>]),
}

impl<'a, A: Address> LinkMessages<'a, A> {
    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = LinkMessage<'a, A>> + use<'a, A> {
        let (mut octets, slice) = match self.0 {
            Inner::Wire(octets) => (octets, &[][..]),
            Inner::Slice(slice) => (&[][..], slice),
        };
        let wire = std::iter::from_fn(move || {
            let (link, rest) = split(octets).ok()?;
            octets = rest;
            Some(link)
        });
        wire.chain(slice.iter().copied())
    }
}

impl<'a, A: Address> From<&'a [LinkMessage<'a, A>]> for LinkMessages<'a, A> {
    fn from(links: &'a [LinkMessage<'a, A>]) -> Self {
        Self(Inner::Slice(links))
    }
}
impl<A: Address> PartialEq for LinkMessages<'_, A> {
    fn eq(&self, o: &Self) -> bool {
        self.iter().eq(o.iter())
    }
}
impl<A: Address> Eq for LinkMessages<'_, A> {}
impl<A: Address> fmt::Debug for LinkMessages<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
