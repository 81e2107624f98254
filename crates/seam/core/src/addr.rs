//! Identities: nodes, network addresses, link addresses.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// A network address of either family. One of IPv4 is held as IPv4-mapped (RFC 4291, section 2.5.5.2), so that comparing,
/// hashing and copying never ask for the family.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "IpAddr", into = "IpAddr")]
pub struct Addr {
    /// The first 8 octets; 0 with IPv4.
    high: u64,
    /// The others; with IPv4 0x0000ffff and the address.
    low: u64,
}

/// What is before an IPv4 address in the last 8 octets of its IPv4-mapped form.
const MAPPED: u64 = 0xffff_0000_0000;

impl Addr {
    /// No address, of IPv4: 0.0.0.0.
    pub const UNSPECIFIED: Self = Self::from_v4(Ipv4Addr::UNSPECIFIED);
    /// All neighbours on a link: 255.255.255.255, as the next hop of packets of both families.
    pub const BROADCAST: Self = Self::from_v4(Ipv4Addr::BROADCAST);

    /// An IPv4 address, where `From` cannot be called.
    #[inline]
    pub const fn from_v4(a: Ipv4Addr) -> Self {
        Self { high: 0, low: MAPPED | a.to_bits() as u64 }
    }
    /// An IPv6 address, where `From` cannot be called. An IPv4-mapped one is the IPv4 address.
    #[inline]
    pub const fn from_v6(a: Ipv6Addr) -> Self {
        let bits = a.to_bits();
        Self { high: (bits >> 64) as u64, low: bits as u64 }
    }
    /// Whether it is of IPv4.
    #[inline]
    pub const fn is_v4(self) -> bool {
        self.high | (self.low >> 32 ^ MAPPED >> 32) == 0
    }
    /// The IPv4 address, if it is one.
    #[inline]
    pub const fn v4(self) -> Option<Ipv4Addr> {
        if self.is_v4() { Some(Ipv4Addr::from_bits(self.low as u32)) } else { None }
    }
    /// The IPv6 address, if it is one.
    #[inline]
    pub const fn v6(self) -> Option<Ipv6Addr> {
        if self.is_v4() { None } else { Some(Ipv6Addr::from_bits(self.to_bits())) }
    }
    /// The address in the standard library's form.
    #[inline]
    pub const fn ip(self) -> IpAddr {
        match self.v4() {
            Some(a) => IpAddr::V4(a),
            None => IpAddr::V6(Ipv6Addr::from_bits(self.to_bits())),
        }
    }
    /// All 128 bits, an IPv4 address as IPv4-mapped.
    #[inline]
    pub const fn to_bits(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }
    /// The address with these bits.
    #[inline]
    pub const fn from_bits(bits: u128) -> Self {
        Self { high: (bits >> 64) as u64, low: bits as u64 }
    }
    /// Whether it is no address: 0.0.0.0 or ::.
    #[inline]
    pub const fn is_unspecified(self) -> bool {
        self.high == 0 && (self.low == 0 || self.low == MAPPED)
    }
    /// Whether it names a multicast group.
    #[inline]
    pub const fn is_multicast(self) -> bool {
        match self.v4() {
            Some(a) => a.is_multicast(),
            None => self.high >> 56 == 0xff,
        }
    }
    /// Whether it can be one node's address: not that of nobody, of a group, of all, or of every node for itself.
    #[inline]
    pub const fn is_usable(self) -> bool {
        let loopback = match self.v4() {
            Some(a) => a.is_loopback() || a.is_broadcast(),
            None => self.high == 0 && self.low == 1,
        };
        !(loopback || self.is_unspecified() || self.is_multicast())
    }
}

/// An IPv6 address where only one of IPv4 will do.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NotIpv4(pub Addr);

impl fmt::Display for NotIpv4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not an IPv4 address", self.0)
    }
}

impl core::error::Error for NotIpv4 {}

impl TryFrom<Addr> for Ipv4Addr {
    type Error = NotIpv4;
    fn try_from(a: Addr) -> Result<Self, NotIpv4> {
        a.v4().ok_or(NotIpv4(a))
    }
}

impl From<Ipv4Addr> for Addr {
    #[inline]
    fn from(a: Ipv4Addr) -> Self {
        Self::from_v4(a)
    }
}
impl From<Ipv6Addr> for Addr {
    #[inline]
    fn from(a: Ipv6Addr) -> Self {
        Self::from_v6(a)
    }
}
impl From<IpAddr> for Addr {
    fn from(a: IpAddr) -> Self {
        match a {
            IpAddr::V4(a) => Self::from_v4(a),
            IpAddr::V6(a) => Self::from_v6(a),
        }
    }
}
impl From<Addr> for IpAddr {
    fn from(a: Addr) -> Self {
        a.ip()
    }
}

impl PartialEq<Ipv4Addr> for Addr {
    #[inline]
    fn eq(&self, other: &Ipv4Addr) -> bool {
        *self == Self::from_v4(*other)
    }
}
impl PartialEq<Addr> for Ipv4Addr {
    #[inline]
    fn eq(&self, other: &Addr) -> bool {
        other == self
    }
}

impl core::str::FromStr for Addr {
    type Err = core::net::AddrParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<IpAddr>().map(Self::from)
    }
}

impl Default for Addr {
    fn default() -> Self {
        Self::UNSPECIFIED
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ip().fmt(f)
    }
}
impl fmt::Debug for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The limited broadcast address, 255.255.255.255.
pub const BROADCAST: Ipv4Addr = Ipv4Addr::BROADCAST;

/// A node of a scenario, counted from 0 in the order of the scenario.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node's index into a table of all nodes.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// The address that the node gets unless the scenario names one: 10.0.0.1 for node 0, and so on upwards.
    pub const fn default_addr(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(0x0a00_0001 + self.0)
    }
    /// The node that [`NodeId::default_addr`] gave this address to.
    pub const fn from_default_addr(a: Ipv4Addr) -> Option<Self> {
        match a.to_bits().checked_sub(0x0a00_0001) {
            Some(n) if n < 0x00ff_fffe => Some(Self(n)),
            _ => None,
        }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The node that is meant: by its own name, its number, or `mesh-` and its number.
pub fn node_named(names: &[String], name: &str) -> Option<usize> {
    let number = name.strip_prefix("mesh-").unwrap_or(name).parse().ok();
    let own = names.iter().position(|n| n == name);
    own.or(number.filter(|&n: &usize| n < names.len()))
}

/// An IEEE 802 address.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// All stations.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// The locally administered address 02:00 followed by the four octets of `a`: a simulated interface's address.
    pub const fn from_addr(a: Ipv4Addr) -> Self {
        let [b0, b1, b2, b3] = a.octets();
        if a.to_bits() == u32::MAX { Self::BROADCAST } else { Self([2, 0, b0, b1, b2, b3]) }
    }
    /// The address of a node's interface at a medium of this number, below 16,384: [`Mac::from_addr`] at medium 0, and at the
    /// others the same with the number in the second octet and, from 256 on, in the upper six bits of the first.
    pub const fn at_medium(a: Ipv4Addr, medium: u16) -> Self {
        let Self(mut octets) = Self::from_addr(a);
        if a.to_bits() != u32::MAX {
            let [low, high] = medium.to_le_bytes();
            octets[0] |= high << 2;
            octets[1] = low;
        }
        Self(octets)
    }
    /// The network address inside an address that [`Mac::from_addr`] made.
    pub const fn to_addr(self) -> Option<Ipv4Addr> {
        match self.0 {
            [0xff, 0xff, 0xff, 0xff, 0xff, 0xff] => Some(BROADCAST),
            [2, 0, b0, b1, b2, b3] => Some(Ipv4Addr::new(b0, b1, b2, b3)),
            _ => None,
        }
    }
    /// Whether a frame to this address goes to several stations.
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
/// Six octets in hexadecimal, such as `02:00:0a:00:00:03`. The error says what is wrong, and how one looks.
impl FromStr for Mac {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let octet = |o: &str| u8::from_str_radix(o, 16).ok().filter(|_| o.len() <= 2);
        let octets: Option<Vec<u8>> = text.split(':').map(octet).collect();
        octets
            .and_then(|o| o.try_into().ok())
            .map(Self)
            .ok_or_else(|| format!("{text:?} is not a link address; write it like 02:00:0a:00:00:03"))
    }
}
impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_either_family_is_itself_again() {
        let (v4, v6) = (Ipv4Addr::new(10, 0, 0, 1), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1));
        let (a, b) = (Addr::from(v4), Addr::from(v6));
        assert_eq!((a.v4(), a.v6(), b.v4(), b.v6()), (Some(v4), None, None, Some(v6)));
        assert_eq!((a.to_string(), b.to_string()), ("10.0.0.1".into(), "fd00::1".into()));
        assert_eq!(serde_json::to_string(&(a, b)).unwrap(), r#"["10.0.0.1","fd00::1"]"#);
        assert_eq!(serde_json::from_str::<(Addr, Addr)>(r#"["10.0.0.1","fd00::1"]"#).unwrap(), (a, b));
        assert_eq!(Addr::from(v4.to_ipv6_mapped()), a);
        assert!(a < Addr::from(Ipv4Addr::new(10, 0, 1, 0)) && a < b);
        let nobody =
            [Addr::UNSPECIFIED, Addr::BROADCAST, Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::LOCALHOST.into()];
        assert!(nobody.iter().all(|n| !n.is_usable()) && a.is_usable() && b.is_usable());
        assert!(Addr::from(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1)).is_multicast());
        assert!(Addr::from(Ipv4Addr::new(224, 0, 0, 1)).is_multicast());
    }

    #[test]
    fn node_address_and_link_address_are_each_others_inverse() {
        for n in [0, 1, 254, 255, 65_535, 1_000_000] {
            let a = NodeId(n).default_addr();
            assert_eq!(NodeId::from_default_addr(a), Some(NodeId(n)));
            assert_eq!(Mac::from_addr(a).to_addr(), Some(a));
            assert!(!Mac::from_addr(a).is_group());
        }
        assert_eq!(NodeId::from_default_addr(Ipv4Addr::new(192, 168, 0, 1)), None);
        assert!(Mac::from_addr(BROADCAST).is_group());
    }
}
