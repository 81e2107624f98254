//! Agent advertisements and solicitations (section 2): router discovery (RFC 1256) with extensions.

use core::ops::BitOr;
use std::net::Ipv4Addr;

use crate::bytes::{addr_at, put, u8_at, u16_at, u32_at};
use crate::{Error, checksum, refuse_if};

const ADVERTISEMENT: u8 = 9;
const SOLICITATION: u8 = 10;
const HEADER_LEN: usize = 8;
/// Octets of a router's address with its preference.
const ENTRY_LEN: usize = 8;

/// One octet of padding, without a length (section 1.9).
const PAD: u8 = 0;
/// Mobility Agent Advertisement (section 2.1.1).
const MOBILITY_AGENT: u8 = 16;
/// Prefix-Lengths (section 2.1.2).
const PREFIX_LENGTHS: u8 = 19;
/// Extensions from here on may be skipped by who does not know them (section 1.8).
const SKIPPABLE: u8 = 128;
/// Octets of the extension's fixed part, behind type and length.
const AGENT_FIXED: usize = 6;

/// A message of agent discovery.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Discovery<'a> {
    /// Which agents are here?
    Solicitation,
    /// A router, which may be a mobility agent.
    Advertisement(Advertisement<'a>),
}

/// A router advertisement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Advertisement<'a> {
    /// Whether the router forwards other traffic than that of mobile nodes (code 0), too; code 16 otherwise.
    pub routes_common_traffic: bool,
    /// For how long the router's addresses hold, in seconds.
    pub lifetime_s: u16,
    /// Its addresses: pairs of address and preference, as they stand in the message.
    routers: &'a [u8],
    /// Length of the prefix of each of these addresses, if the router says so.
    prefix_lengths: Option<&'a [u8]>,
    /// What makes the router a mobility agent.
    pub agent: Option<MobilityAgent<'a>>,
}

/// An address of a router.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RouterAddress {
    /// The address.
    pub addr: Ipv4Addr,
    /// The higher, the better: a signed number.
    pub preference: i32,
    /// How many bits its network's addresses share, if the router says so.
    pub prefix_len: Option<u8>,
}

/// The Mobility Agent Advertisement extension.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MobilityAgent<'a> {
    /// How many advertisements the agent has sent since it began; after 0xffff follows 256 (section 2.3.2).
    pub sequence: u16,
    /// The longest lifetime that a foreign agent accepts, in seconds.
    pub registration_lifetime_s: u16,
    /// What it offers.
    pub flags: AgentFlags,
    /// Its care-of addresses, four octets each.
    care_of: &'a [u8],
}

/// Flags of a mobility agent (section 2.1.1).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFlags(u16);

impl AgentFlags {
    /// R: register with this agent, also with a co-located care-of address.
    pub const REGISTRATION_REQUIRED: Self = Self(0x8000);
    /// B: it takes no further mobile nodes.
    pub const BUSY: Self = Self(0x4000);
    /// H: it is a home agent on this link.
    pub const HOME_AGENT: Self = Self(0x2000);
    /// F: it is a foreign agent on this link.
    pub const FOREIGN_AGENT: Self = Self(0x1000);
    /// M: minimal encapsulation (RFC 2004).
    pub const MINIMAL_ENCAPSULATION: Self = Self(0x0800);
    /// G: generic routing encapsulation.
    pub const GRE: Self = Self(0x0400);
    /// T: reverse tunnels (RFC 3024).
    pub const REVERSE_TUNNEL: Self = Self(0x0100);
    /// U: tunnels in UDP (RFC 3519).
    pub const UDP_TUNNEL: Self = Self(0x0080);
    /// X: registration revocation (RFC 3543).
    pub const REVOCATION: Self = Self(0x0040);
    /// I: regional registration (RFC 4857).
    pub const REGIONAL: Self = Self(0x0020);
    const KNOWN: u16 = 0xfde0;

    /// Whether all of these are set.
    pub const fn has(self, of: Self) -> bool {
        self.0 & of.0 == of.0
    }
}

impl BitOr for AgentFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl<'a> Discovery<'a> {
    /// Reads the payload of an IP packet of protocol 1 and checks its checksum.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        refuse_if(bytes.len() < HEADER_LEN, Error::Truncated)?;
        refuse_if(checksum::sum(0, bytes) != 0xffff, Error::Checksum)?;
        match (u8_at(bytes, 0), u8_at(bytes, 1)) {
            (SOLICITATION, 0) => Ok(Self::Solicitation),
            (ADVERTISEMENT, code @ (0 | 16)) => advertisement(bytes, code == 0).map(Self::Advertisement),
            (SOLICITATION | ADVERTISEMENT, _) => Err(Error::Value("code")),
            _ => Err(Error::Value("type")),
        }
    }

    /// Length of the message, in octets.
    pub fn buffer_len(&self) -> usize {
        match self {
            Self::Solicitation => HEADER_LEN,
            Self::Advertisement(a) => {
                let agent = a.agent.map_or(0, |agent| 2 + AGENT_FIXED + agent.care_of.len());
                let prefixes = a.prefix_lengths.map_or(0, |lengths| 2 + lengths.len());
                HEADER_LEN + a.routers.len() + agent + prefixes
            }
        }
    }

    /// Writes the message with its checksum. Panics if `buf` is shorter than [`Discovery::buffer_len`].
    pub fn emit(&self, buf: &mut [u8]) {
        let buf = &mut buf[..self.buffer_len()];
        match self {
            Self::Solicitation => put(buf, 0, [SOLICITATION, 0, 0, 0, 0, 0, 0, 0]),
            Self::Advertisement(a) => a.emit(buf),
        }
        let c = !checksum::sum(0, buf);
        put(buf, 2, c.to_be_bytes());
    }
}

/// Reads an advertisement whose checksum is right.
fn advertisement(bytes: &[u8], routes_common_traffic: bool) -> Result<Advertisement<'_>, Error> {
    let (count, words) = (usize::from(u8_at(bytes, 4)), usize::from(u8_at(bytes, 5)));
    // RFC 1256, section 5.1. An entry that is longer could not be written again as it was read: no router sends one.
    refuse_if(words != ENTRY_LEN / 4, Error::Value("address entry size"))?;
    let rest = &bytes[HEADER_LEN..];
    let (routers, mut rest) = rest.split_at_checked(count * ENTRY_LEN).ok_or(Error::Truncated)?;
    let mut a = Advertisement {
        routes_common_traffic,
        lifetime_s: u16_at(bytes, 6),
        routers,
        prefix_lengths: None,
        agent: None,
    };
    while let [kind, tail @ ..] = rest {
        if *kind == PAD {
            rest = tail;
            continue;
        }
        let [len, tail @ ..] = tail else { return Err(Error::Truncated) };
        let (value, tail) = tail.split_at_checked(usize::from(*len)).ok_or(Error::Truncated)?;
        match *kind {
            MOBILITY_AGENT if a.agent.is_none() => a.agent = Some(MobilityAgent::parse(value)?),
            PREFIX_LENGTHS if value.len() == count => a.prefix_lengths = Some(value),
            PREFIX_LENGTHS => return Err(Error::Length),
            // An unknown one that must not be skipped makes the message invalid (section 1.8).
            other if other < SKIPPABLE => return Err(Error::Value("extension")),
            _ => {}
        }
        rest = tail;
    }
    Ok(a)
}

impl<'a> Advertisement<'a> {
    /// An advertisement of a router with these addresses: pairs of address and preference, eight octets each, as they stand
    /// in the message.
    ///
    /// # Errors
    /// If they are no such pairs, or too many.
    pub fn new(lifetime_s: u16, routers: &'a [u8]) -> Result<Self, Error> {
        refuse_if(!routers.len().is_multiple_of(ENTRY_LEN), Error::Length)?;
        refuse_if(routers.len() / ENTRY_LEN > usize::from(u8::MAX), Error::Full)?;
        Ok(Self { routes_common_traffic: true, lifetime_s, routers, prefix_lengths: None, agent: None })
    }

    /// An address of a router as it stands in the message.
    pub fn entry(addr: Ipv4Addr, preference: i32) -> [u8; ENTRY_LEN] {
        let mut entry = [0; ENTRY_LEN];
        put(&mut entry, 0, addr.octets());
        put(&mut entry, 4, preference.to_be_bytes());
        entry
    }

    /// Says how long the prefixes of the addresses are, one octet each.
    ///
    /// # Errors
    /// If there are not as many as addresses.
    pub fn with_prefix_lengths(self, lengths: &'a [u8]) -> Result<Self, Error> {
        refuse_if(lengths.len() != self.routers.len() / ENTRY_LEN, Error::Length)?;
        Ok(Self { prefix_lengths: Some(lengths), ..self })
    }

    /// Its addresses.
    pub fn routers(&self) -> impl Iterator<Item = RouterAddress> + 'a {
        let lengths = self.prefix_lengths;
        self.routers.chunks_exact(ENTRY_LEN).enumerate().map(move |(i, entry)| RouterAddress {
            addr: addr_at(entry, 0),
            preference: u32_at(entry, 4).cast_signed(),
            prefix_len: lengths.and_then(|l| l.get(i)).copied(),
        })
    }

    fn emit(&self, buf: &mut [u8]) {
        let code = if self.routes_common_traffic { 0 } else { 16 };
        let count = (self.routers.len() / ENTRY_LEN) as u8;
        put(buf, 0, [ADVERTISEMENT, code, 0, 0, count, (ENTRY_LEN / 4) as u8]);
        put(buf, 6, self.lifetime_s.to_be_bytes());
        let mut at = HEADER_LEN + self.routers.len();
        buf[HEADER_LEN..at].copy_from_slice(self.routers);
        if let Some(agent) = self.agent {
            let len = AGENT_FIXED + agent.care_of.len();
            put(buf, at, [MOBILITY_AGENT, len as u8]);
            put(buf, at + 2, agent.sequence.to_be_bytes());
            put(buf, at + 4, agent.registration_lifetime_s.to_be_bytes());
            put(buf, at + 6, agent.flags.0.to_be_bytes());
            buf[at + 8..at + 2 + len].copy_from_slice(agent.care_of);
            at += 2 + len;
        }
        if let Some(lengths) = self.prefix_lengths {
            put(buf, at, [PREFIX_LENGTHS, lengths.len() as u8]);
            buf[at + 2..].copy_from_slice(lengths);
        }
    }
}

impl<'a> MobilityAgent<'a> {
    /// What an agent advertises. The care-of addresses are four octets each, as they stand in the message.
    ///
    /// # Errors
    /// If they are not, or do not fit; or a foreign agent has none (section 2.1.1).
    pub fn new(
        sequence: u16,
        registration_lifetime_s: u16,
        flags: AgentFlags,
        care_of: &'a [u8],
    ) -> Result<Self, Error> {
        refuse_if(!care_of.len().is_multiple_of(4), Error::Length)?;
        refuse_if(care_of.len() + AGENT_FIXED > usize::from(u8::MAX), Error::Full)?;
        if flags.has(AgentFlags::FOREIGN_AGENT) && care_of.is_empty() {
            return Err(Error::Value("care-of addresses"));
        }
        Ok(Self { sequence, registration_lifetime_s, flags, care_of })
    }

    fn parse(value: &'a [u8]) -> Result<Self, Error> {
        let care_of = value.get(AGENT_FIXED..).ok_or(Error::Length)?;
        let flags = AgentFlags(u16_at(value, 4) & AgentFlags::KNOWN);
        Self::new(u16_at(value, 0), u16_at(value, 2), flags, care_of)
    }

    /// Its care-of addresses.
    pub fn care_of(&self) -> impl Iterator<Item = Ipv4Addr> + 'a {
        self.care_of.chunks_exact(4).map(|octets| addr_at(octets, 0))
    }
}
