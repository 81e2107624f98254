//! Addresses and prefixes (sections 4.1.4 and 4.1.5).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::bytes::{addr_at, array_at};
use crate::{Error, refuse_if};

/// The first octets of an address with [`Encoding::LinkLocal`]: fe80::/64.
const LINK_LOCAL: [u8; 8] = [0xfe, 0x80, 0, 0, 0, 0, 0, 0];

/// Address Encoding (AE).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// No address: any.
    Wildcard = 0,
    /// IPv4.
    Ipv4 = 1,
    /// IPv6.
    Ipv6 = 2,
    /// IPv6 of the network fe80::/64, which is left out.
    LinkLocal = 3,
    /// A prefix of IPv4 with a next hop of IPv6 (RFC 9229).
    Ipv4ViaIpv6 = 4,
}

impl Encoding {
    pub(super) fn parse(number: u8) -> Result<Self, Error> {
        Ok(match number {
            0 => Self::Wildcard,
            1 => Self::Ipv4,
            2 => Self::Ipv6,
            3 => Self::LinkLocal,
            4 => Self::Ipv4ViaIpv6,
            _ => return Err(Error::Value("address encoding")),
        })
    }

    /// The encoding of a whole address.
    pub(super) fn of(address: Option<IpAddr>) -> Self {
        match address {
            None => Self::Wildcard,
            Some(IpAddr::V4(_)) => Self::Ipv4,
            Some(IpAddr::V6(a)) if a.octets().starts_with(&LINK_LOCAL) => Self::LinkLocal,
            Some(IpAddr::V6(_)) => Self::Ipv6,
        }
    }

    /// Octets of an address.
    pub(super) const fn width(self) -> usize {
        match self {
            Self::Wildcard => 0,
            Self::Ipv4 | Self::Ipv4ViaIpv6 => 4,
            Self::Ipv6 | Self::LinkLocal => 16,
        }
    }

    /// Octets of an address that are left out.
    pub(super) const fn implied(self) -> usize {
        if matches!(self, Self::LinkLocal) { LINK_LOCAL.len() } else { 0 }
    }
}

/// The whole address at the start of these octets, and the octets behind it.
pub(super) fn address(encoding: u8, octets: &[u8]) -> Result<(Option<IpAddr>, &[u8]), Error> {
    let encoding = Encoding::parse(encoding)?;
    let len = encoding.width() - encoding.implied();
    let (octets, rest) = octets.split_at_checked(len).ok_or(Error::Truncated)?;
    let address = match encoding {
        Encoding::Wildcard => None,
        Encoding::Ipv4 => Some(addr_at(octets, 0).into()),
        Encoding::Ipv6 => Some(Ipv6Addr::from(array_at::<16>(octets, 0)).into()),
        Encoding::LinkLocal => {
            let mut full = [0; 16];
            full[..8].copy_from_slice(&LINK_LOCAL);
            full[8..].copy_from_slice(octets);
            Some(Ipv6Addr::from(full).into())
        }
        Encoding::Ipv4ViaIpv6 => return Err(Error::Value("address encoding")),
    };
    Ok((address, rest))
}

/// Writes a whole address, without what its encoding leaves out.
pub(super) fn put_address(b: &mut [u8], address: Option<IpAddr>) {
    let implied = Encoding::of(address).implied();
    match address {
        None => {}
        Some(IpAddr::V4(a)) => b[..4].copy_from_slice(&a.octets()),
        Some(IpAddr::V6(a)) => b[..16 - implied].copy_from_slice(&a.octets()[implied..]),
    }
}

/// A prefix as it is in a TLV: its first octets may be those of an earlier Update.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Prefix<'a> {
    /// Encoding of its address.
    pub encoding: Encoding,
    /// Prefix length, in bits.
    pub len: u8,
    /// How many octets at its start are those of the default prefix; 0 except in Updates.
    pub omitted: u8,
    /// The octets behind these, up to the prefix length.
    pub octets: &'a [u8],
}

impl<'a> Prefix<'a> {
    /// Any: in requests, and in retractions.
    pub const WILDCARD: Prefix<'static> =
        Prefix { encoding: Encoding::Wildcard, len: 0, omitted: 0, octets: &[] };

    /// Reads the prefix at the start of these octets; gives the octets behind it, too.
    pub(super) fn parse(
        encoding: u8,
        len: u8,
        omitted: u8,
        octets: &'a [u8],
    ) -> Result<(Self, &'a [u8]), Error> {
        let prefix = Self { encoding: Encoding::parse(encoding)?, len, omitted, octets: &[] };
        let octets_len = prefix.octets_len()?;
        let (octets, rest) = octets.split_at_checked(octets_len).ok_or(Error::Truncated)?;
        Ok((Self { octets, ..prefix }, rest))
    }

    /// The number of its octets, if length and omitted octets are possible.
    pub(super) fn octets_len(&self) -> Result<usize, Error> {
        let (omitted, width) = (usize::from(self.omitted), self.encoding.width());
        refuse_if(usize::from(self.len) > 8 * width, Error::Value("prefix length"))?;
        let is_compressible = self.encoding != Encoding::LinkLocal;
        refuse_if(omitted > if is_compressible { width } else { 0 }, Error::Value("omitted"))?;
        Ok(usize::from(self.len).div_ceil(8).saturating_sub(omitted + self.encoding.implied()))
    }

    /// The address of the prefix, with the omitted octets of this default prefix; `None` for the wildcard, and if there is no
    /// default prefix but octets were omitted.
    pub fn resolve(&self, default: Option<IpAddr>) -> Option<IpAddr> {
        let mut full = [0; 16];
        let omitted = usize::from(self.omitted).min(full.len());
        let start = match self.encoding {
            Encoding::LinkLocal => {
                full[..8].copy_from_slice(&LINK_LOCAL);
                LINK_LOCAL.len()
            }
            _ if omitted > 0 => {
                let octets = match default? {
                    IpAddr::V4(a) => &a.octets()[..],
                    IpAddr::V6(a) => &a.octets()[..],
                };
                full[..omitted].copy_from_slice(octets.get(..omitted)?);
                omitted
            }
            _ => 0,
        };
        full.iter_mut().skip(start).zip(self.octets).for_each(|(to, from)| *to = *from);
        let bits = u128::from_be_bytes(full)
            & u128::MAX.checked_shl(128 - u32::from(self.len.min(128))).unwrap_or(0);
        match self.encoding {
            Encoding::Wildcard => None,
            Encoding::Ipv4 | Encoding::Ipv4ViaIpv6 => Some(Ipv4Addr::from_bits((bits >> 96) as u32).into()),
            Encoding::Ipv6 | Encoding::LinkLocal => Some(Ipv6Addr::from_bits(bits).into()),
        }
    }
}
