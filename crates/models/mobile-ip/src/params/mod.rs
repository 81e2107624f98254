//! The parameters of home agents, foreign agents and mobile nodes, and their checks.

pub(crate) mod foreign_agent;
pub(crate) mod home_agent;
pub(crate) mod mobile_node;

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wayhop_core::parameters::{object, of};
use wayhop_core::{LinkNeeds, LinkReach, ParameterError, Prefix, from_hex};
use wayhop_wire::ipv4;

use crate::security::{Association, Replay};

/// Shortest key, in octets: RFC 5944, section 5.1, has keys of 128 bits.
const SHORTEST_KEY: usize = 16;
/// Lower indices are reserved (RFC 5944, section 3.5.1).
const LOWEST_SPI: u32 = 256;
/// Agents of a mesh that are asked by address.
pub(crate) const MOST_ASKED: usize = 8;
/// More of anything are hardly meant for one host.
const MOST: usize = 1_024;
/// More links are hardly meant, either.
const MOST_LINKS: usize = 31;

/// Which ICMP messages are heard: router advertisements, or solicitations.
pub(crate) const ADVERTISEMENTS: &[u8] = &[9];
pub(crate) const SOLICITATIONS: &[u8] = &[10];

/// A peer with a shared key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Its address; for a mobile node, the home address.
    pub address: Ipv4Addr,
    /// Security Parameter Index of the key, from 256 on.
    pub spi: u32,
    /// The key, hexadecimal, of at least 16 octets.
    pub key: String,
    /// Replay protection between mobile node and home agent: `timestamps` or `nonces`.
    #[serde(default)]
    pub replay: Replay,
}

impl Peer {
    pub(crate) fn association(&self) -> Association {
        association(self.spi, &self.key, self.replay)
    }
}

/// What two share, by address.
pub(crate) fn associations<C: FromIterator<(Ipv4Addr, Association)>>(peers: &[Peer]) -> C {
    peers.iter().map(|p| (p.address, p.association())).collect()
}

/// What two share. A key that was checked is hexadecimal.
pub(crate) fn association(spi: u32, key: &str, replay: Replay) -> Association {
    Association { spi, key: from_hex(key).unwrap_or_default(), replay }
}

pub(crate) fn advertise_every_ms() -> u64 {
    1_000
}
pub(crate) fn lifetime_s() -> u16 {
    300
}

/// The values of keys that need not be given. `required` has some value for each of the others.
pub(crate) fn defaults<P: Serialize + DeserializeOwned>(required: Value) -> Map<String, Value> {
    let Value::Object(required) = required else { return Map::new() };
    let mut all = of::<P>(required.clone()).map(|p| object(&p)).unwrap_or_default();
    all.retain(|key, _| !required.contains_key(key));
    all
}

/// What is wrong with the value of a key.
pub(crate) fn wrong(key: impl Into<String>, problem: impl Into<String>, remedy: &str) -> ParameterError {
    ParameterError { key: Some(key.into().into()), problem: problem.into(), remedy: remedy.to_owned() }
}

/// An address with the length of its network's prefix.
pub(crate) fn with_prefix(text: &str) -> Option<(Ipv4Addr, Prefix)> {
    let (addr, len) = text.split_once('/')?;
    let (addr, len): (Ipv4Addr, u8) = (addr.parse().ok()?, len.parse().ok()?);
    let net = Prefix::around(addr, len);
    ((1..=30).contains(&len) && has_host(net, addr)).then_some((addr, net))
}

/// The same, checked.
pub(crate) fn check_with_prefix(key: &str, text: &str) -> Result<(Ipv4Addr, Prefix), ParameterError> {
    with_prefix(text).ok_or_else(|| {
        let what = format!("{text:?} is not an address of a host with a prefix length from 1 to 30");
        wrong(key, what, "give one such as 10.1.0.9/24")
    })
}

/// Whether an address can be a host's in a network: neither the network's own nor its broadcast address.
pub(crate) fn has_host(net: Prefix, addr: Ipv4Addr) -> bool {
    let hosts = u32::MAX.checked_shr(net.len.into()).unwrap_or(0);
    let own = addr.to_bits() & hosts;
    net.contains(addr) && ipv4::is_host(addr) && own != 0 && own != hosts
}

/// Checks an address of a host.
pub(crate) fn check_host(key: impl Into<String>, addr: Ipv4Addr) -> Result<(), ParameterError> {
    if ipv4::is_host(addr) {
        return Ok(());
    }
    Err(wrong(key, format!("{addr} is not the address of a host"), "give one such as 10.1.0.1"))
}

/// Checks a key with its index.
pub(crate) fn check_key(at: &str, spi: u32, key: &str) -> Result<(), ParameterError> {
    if spi < LOWEST_SPI {
        let what = format!("{spi} is reserved (RFC 5944, section 3.5.1)");
        return Err(wrong(format!("{at}spi"), what, "give 256 or more"));
    }
    if from_hex(key).is_none_or(|k| k.len() < SHORTEST_KEY) {
        let what = "not hexadecimal, or shorter than 16 bytes";
        return Err(wrong(format!("{at}key"), what, "generate one: openssl rand -hex 16"));
    }
    Ok(())
}

/// Checks the keys of a list.
pub(crate) fn check_peers(list: &str, peers: &[Peer]) -> Result<(), ParameterError> {
    if peers.len() > MOST {
        let what = format!("{} are too many", peers.len());
        return Err(wrong(list, what, "give at most 1024"));
    }
    for (i, p) in peers.iter().enumerate() {
        let at = format!("{list}[{i}].");
        check_host(format!("{at}address"), p.address)?;
        if peers[..i].iter().any(|other| other.address == p.address) {
            let what = format!("{} already has a key", p.address);
            return Err(wrong(format!("{at}address"), what, "remove one of them"));
        }
        check_key(&at, p.spi, &p.key)?;
    }
    Ok(())
}

/// An agent's link to which the host's own routes lead.
pub(crate) fn uplink(interface: &str) -> LinkNeeds {
    LinkNeeds {
        interface: interface.to_owned(),
        radio: None,
        reach: LinkReach::Routes,
        icmp_types: SOLICITATIONS,
        groups: &[],
        port: wayhop_wire::mobile_ip::PORT,
        arp: false,
    }
}

/// Checks that each interface is used for one link only. `key` gives a link's key by its number.
pub(crate) fn check_links(links: &[LinkNeeds], key: impl Fn(usize) -> String) -> Result<(), ParameterError> {
    for (i, link) in links.iter().enumerate() {
        let name = &link.interface;
        let others = |l: &LinkNeeds| l.interface == *name || l.radio.as_ref() == Some(name);
        if links[..i].iter().any(others) {
            return Err(wrong(key(i), format!("{name} is given twice"), "give each interface once"));
        }
    }
    if links.len() > MOST_LINKS {
        return Err(wrong(key(MOST_LINKS), "too many interfaces", "give at most 31"));
    }
    Ok(())
}

/// Checks the radio of a link.
pub(crate) fn check_radio(i: usize, is_mesh: bool, radio: Option<&str>) -> Result<(), ParameterError> {
    if is_mesh || radio.is_none() {
        return Ok(());
    }
    let key = format!("links[{i}].radio");
    Err(wrong(key, "only for a mesh", "remove it"))
}

pub(crate) fn check_numbers(advertise_every_ms: Option<u64>, lifetime_s: u16) -> Result<(), ParameterError> {
    if let Some(ms) = advertise_every_ms.filter(|ms| !(100..=600_000).contains(ms)) {
        let what = format!("{ms} ms is not between 100 and 600000");
        return Err(wrong("advertise_every_ms", what, "RFC 5944, section 2.3, recommends 1000"));
    }
    if lifetime_s < 2 {
        return Err(wrong("lifetime_s", "too short to be renewed in time", "give at least 2"));
    }
    Ok(())
}
