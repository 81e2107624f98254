//! The configurations of the three roles.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::Document;
use wayhop_linux::{Error, Prefix};
use wayhop_mobile_ip::{Association, Replay};
use wayhop_wire::ipv4;

use crate::config::interface_name::is_interface_name;
use crate::config::settings;
use crate::log::Level;

/// Shortest key, in octets: RFC 5944, section 5.1, has keys of 128 bits.
const SHORTEST_KEY: usize = 16;
/// Lower indices are reserved (RFC 5944, section 3.5.1).
const LOWEST_SPI: u32 = 256;
/// Agents of a mesh that are asked by address.
const MOST_ASKED: usize = 8;
/// More of anything are hardly meant for one host.
const MOST: usize = 1_024;
/// Shortest and longest MTU of the tunnel's interface: what IPv4 asks of a link, and what fits into an IP packet with a header.
const MTU: std::ops::RangeInclusive<u16> = 576..=65_515;

/// The configuration of a home agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HomeAgentConfig {
    /// The interface on the home network, such as `eth0`.
    pub interface: String,
    /// The agent's address there with the length of the network's prefix, which the interface has: `10.1.0.1/24`.
    pub address: String,
    /// Further interfaces by which requests and reverse tunnels come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uplinks: Vec<String>,
    /// How often the agent advertises itself, in milliseconds.
    #[serde(default = "advertise_every_ms")]
    pub advertise_every_ms: u64,
    /// The longest lifetime of a binding, in seconds.
    #[serde(default = "lifetime_s")]
    pub lifetime_s: u16,
    /// The TUN interface of the tunnels.
    #[serde(default = "tun")]
    pub tun: String,
    /// Its MTU, octets: a packet with 20 octets more has to fit on the way to where mobile nodes are.
    #[serde(default = "mtu")]
    pub mtu: u16,
    /// The user that the agent becomes once its sockets are open, if it is started as root.
    #[serde(default = "user")]
    pub user: String,
    /// How much is told: `error`, `warning`, `info` or `debug`.
    #[serde(default)]
    pub log: Level,
    /// A file that gets these lines in the place of standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<PathBuf>,
    /// The file that keeps bindings and identifications, so that a restarted home agent goes on with them; without it,
    /// `/var/lib/wayhop/home-agent-ADDRESS/bindings.json`. `user` has to be able to write to its folder, which is made if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bindings_file: Option<PathBuf>,
    /// The mobile nodes whose home this is.
    pub mobiles: Vec<Peer>,
    /// Foreign agents with a key. A request by one of these without an authenticator is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_agents: Vec<Peer>,
}

/// The configuration of a foreign agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForeignAgentConfig {
    /// The interface towards the home agents, such as `eth0`.
    pub uplink: String,
    /// The agent's address there, which becomes the care-of address of its visitors.
    pub care_of: Ipv4Addr,
    /// The links that mobile nodes visit.
    pub links: Vec<VisitedLink>,
    /// How often the agent advertises itself on links that are no mesh, in milliseconds.
    #[serde(default = "advertise_every_ms")]
    pub advertise_every_ms: u64,
    /// The longest lifetime of a visit, in seconds.
    #[serde(default = "lifetime_s")]
    pub lifetime_s: u16,
    /// How many mobile nodes may visit at a time.
    #[serde(default = "max_visitors")]
    pub max_visitors: u16,
    /// The user that the agent becomes once its sockets are open, if it is started as root.
    #[serde(default = "user")]
    pub user: String,
    /// How much is told: `error`, `warning`, `info` or `debug`.
    #[serde(default)]
    pub log: Level,
    /// A file that gets these lines in the place of standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<PathBuf>,
    /// Mobile nodes with a key, by home address. A request of one of these without an authenticator for this agent is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mobiles: Vec<Peer>,
    /// Home agents with a key. A reply of one of these without an authenticator for this agent is not believed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub home_agents: Vec<Peer>,
}

/// A link that mobile nodes visit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisitedLink {
    /// Its interface: that of a wire or a WLAN, or the TUN of a `wayhop node`. It has an IPv4 address.
    pub interface: String,
    /// Whether it is the TUN of a mesh: then the agent does not advertise itself unasked, and may be several hops away.
    #[serde(default)]
    pub mesh: bool,
    /// Of a mesh of AODV or DSDV: its radio's interface, by which their packets come. DSR's come by the TUN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<String>,
}

/// The configuration of a mobile node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MobileNodeConfig {
    /// The address by which all others know this host, with the length of the home network's prefix: `10.1.0.9/24`. No interface
    /// has it: the mobile node gives it to its TUN interface, and at home to the link there.
    pub home: String,
    /// The home agent's address.
    pub home_agent: Ipv4Addr,
    /// The router at home. Without it, the home agent is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<Ipv4Addr>,
    /// Security Parameter Index of the key, from 256 on.
    pub spi: u32,
    /// The key that the mobile node shares with its home agent, hexadecimal, of at least 16 octets.
    pub key: String,
    /// Against replays: `timestamps` or `nonces`.
    #[serde(default)]
    pub replay: ReplayKind,
    /// The links, the one that the mobile node likes best first.
    pub links: Vec<OwnLink>,
    /// The lifetime that the mobile node asks for, in seconds; it asks again when half of it is over.
    #[serde(default = "lifetime_s")]
    pub lifetime_s: u16,
    /// Whether packets from a co-located care-of address go by the home agent (RFC 3024). If not, they leave with the home address
    /// as their source, which many networks do not forward.
    #[serde(default = "yes")]
    pub reverse_tunnel: bool,
    /// Foreign agents with a key, by their addresses on the link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_agents: Vec<Peer>,
    /// Whether the mobile node takes no other foreign agents than these.
    #[serde(default)]
    pub only_known_agents: bool,
    /// The TUN interface of programs while the mobile node is away.
    #[serde(default = "tun")]
    pub tun: String,
    /// Its MTU, octets: a packet with 20 octets more has to fit on all links.
    #[serde(default = "mtu")]
    pub mtu: u16,
    /// The user that the mobile node becomes once its sockets are open, if it is started as root.
    #[serde(default = "user")]
    pub user: String,
    /// How much is told: `error`, `warning`, `info` or `debug`.
    #[serde(default)]
    pub log: Level,
    /// A file that gets these lines in the place of standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<PathBuf>,
}

/// A link of a mobile node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnLink {
    /// Its interface. One of a `mesh` or a `co-located` link need not be there yet; any may go and come back.
    pub interface: String,
    /// `link`: the home network, or one with a foreign agent. `mesh`: the TUN of a `wayhop node`, behind which a foreign agent
    /// may be. `co-located`: a network that gives the interface an address and a default route.
    pub kind: OwnLinkKind,
    /// Of a `mesh` of AODV or DSDV: its radio's interface, by which their packets come. DSR's come by the TUN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<String>,
    /// Of a `mesh`: foreign agents there. DSR floods the question who is one; where another protocol routes, they are asked by
    /// these addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Ipv4Addr>,
}

/// What a mobile node makes of a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OwnLinkKind {
    /// The home network, or one with a foreign agent.
    Link,
    /// A mesh.
    Mesh,
    /// A network that gives an address.
    CoLocated,
}

/// Whom a key is shared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Its address; of a mobile node the home address.
    pub address: Ipv4Addr,
    /// Security Parameter Index of the key, from 256 on.
    pub spi: u32,
    /// The key, hexadecimal, of at least 16 octets.
    pub key: String,
    /// Against replays, between mobile node and home agent: `timestamps` or `nonces`.
    #[serde(default)]
    pub replay: ReplayKind,
}

/// How a home agent knows an old request from a new one.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayKind {
    /// By the time of day, which both have to a few seconds.
    #[default]
    Timestamps,
    /// By numbers that each gives the other.
    Nonces,
}

fn advertise_every_ms() -> u64 {
    1_000
}
fn lifetime_s() -> u16 {
    300
}
fn max_visitors() -> u16 {
    64
}
fn tun() -> String {
    "mip0".into()
}
fn mtu() -> u16 {
    1_280
}
fn user() -> String {
    "nobody".into()
}
fn yes() -> bool {
    true
}

fn config_error(e: &wayhop_document::Error) -> Error {
    match settings::config_error(e) {
        Error::Config(text) => {
            Error::Config(text.replace("docs/reference/node.md", "docs/reference/mobile-ip.md"))
        }
        other @ Error::System(_) => other,
    }
}

/// Reads a configuration file.
pub(super) fn open(path: &Path) -> Result<Document, Error> {
    Document::load(path).map_err(|e| config_error(&e))
}

/// What it says.
pub(super) fn read<T: serde::de::DeserializeOwned>(doc: &Document) -> Result<T, Error> {
    doc.deserialize().map_err(|e| config_error(&e))
}

/// What is wrong with a key of a file.
pub(super) fn wrong(doc: &Document, key: &str, what: impl Into<String>, remedy: &str) -> Error {
    config_error(&doc.error(key, what, remedy))
}

/// An address with the length of its network's prefix.
pub(super) fn with_prefix(doc: &Document, key: &str, text: &str) -> Result<(Ipv4Addr, Prefix), Error> {
    let parsed = text.split_once('/').and_then(|(addr, len)| {
        let (addr, len): (Ipv4Addr, u8) = (addr.parse().ok()?, len.parse().ok()?);
        let net = (1..=30).contains(&len).then(|| Prefix::around(addr, len))?;
        (net.has_host(addr) && ipv4::is_host(addr)).then_some((addr, net))
    });
    parsed.ok_or_else(|| {
        let what = format!("{text:?} is not an address of a host with a prefix length from 1 to 30");
        wrong(doc, key, what, "give one such as 10.1.0.9/24")
    })
}

/// Checks an address of a host.
pub(super) fn host(doc: &Document, key: &str, addr: Ipv4Addr) -> Result<Ipv4Addr, Error> {
    if ipv4::is_host(addr) {
        return Ok(addr);
    }
    Err(wrong(doc, key, format!("{addr} is no address of a host"), "give one such as 10.1.0.1"))
}

/// Checks the agents of a link that are asked by their addresses.
pub(super) fn asked(doc: &Document, i: usize, link: &OwnLink) -> Result<(), Error> {
    let key = format!("links[{i}].agents");
    if link.kind != OwnLinkKind::Mesh && !link.agents.is_empty() {
        return Err(wrong(doc, &key, "only in a mesh agents are asked by address", "leave it out"));
    }
    only_of_a_mesh(doc, i, link.kind == OwnLinkKind::Mesh, link.radio.as_deref())?;
    if link.agents.len() > MOST_ASKED {
        return Err(wrong(doc, &key, "these are more than are asked", "give at most 8"));
    }
    link.agents.iter().try_for_each(|a| host(doc, &key, *a).map(drop))
}

/// Checks the radio of a link.
pub(super) fn only_of_a_mesh(
    doc: &Document,
    i: usize,
    is_mesh: bool,
    radio: Option<&str>,
) -> Result<(), Error> {
    if is_mesh || radio.is_none() {
        return Ok(());
    }
    Err(wrong(
        doc,
        &format!("links[{i}].radio"),
        "only a mesh has a radio besides its interface",
        "leave it out",
    ))
}

/// A key with its index.
pub(super) fn association(
    doc: &Document,
    at: &str,
    (spi, key, replay): (u32, &str, ReplayKind),
) -> Result<Association, Error> {
    if spi < LOWEST_SPI {
        let what = format!("{spi} is reserved (RFC 5944, section 3.5.1)");
        return Err(wrong(doc, &format!("{at}spi"), what, "give a number from 256 on"));
    }
    let octets = wayhop_core::from_hex(key).filter(|k| k.len() >= SHORTEST_KEY);
    let Some(key) = octets else {
        let what = "it is not hexadecimal of 16 octets or more";
        return Err(wrong(doc, &format!("{at}key"), what, "make one: openssl rand -hex 16"));
    };
    let replay = match replay {
        ReplayKind::Timestamps => Replay::Timestamps,
        ReplayKind::Nonces => Replay::Nonces,
    };
    Ok(Association { spi, key, replay })
}

/// The keys of a list.
pub(super) fn peers(
    doc: &Document,
    list: &str,
    peers: &[Peer],
) -> Result<Vec<(Ipv4Addr, Association)>, Error> {
    if peers.len() > MOST {
        let what = format!("{} are more than one host takes", peers.len());
        return Err(wrong(doc, list, what, "give at most 1024"));
    }
    let mut out: Vec<(Ipv4Addr, Association)> = Vec::with_capacity(peers.len());
    for (i, p) in peers.iter().enumerate() {
        let at = format!("{list}[{i}].");
        let addr = host(doc, &format!("{at}address"), p.address)?;
        if out.iter().any(|(other, _)| *other == addr) {
            let what = format!("{addr} has a key already");
            return Err(wrong(doc, &format!("{at}address"), what, "leave one of them out"));
        }
        out.push((addr, association(doc, &at, (p.spi, &p.key, p.replay))?));
    }
    Ok(out)
}

/// Checks the names of interfaces: each once, and the TUN's none of them.
pub(super) fn interfaces(doc: &Document, names: &[(String, &str)], tun: Option<&str>) -> Result<(), Error> {
    let tun = tun.map(|name| ("tun".to_owned(), name));
    let all: Vec<_> = names.iter().cloned().chain(tun).collect();
    for (i, (key, name)) in all.iter().enumerate() {
        if !is_interface_name(name) {
            let what = format!("{name:?} is no name of an interface");
            return Err(wrong(doc, key, what, "give 1 to 15 characters without spaces, / and :"));
        }
        if all[..i].iter().any(|(_, other)| other == name) {
            return Err(wrong(doc, key, format!("{name} is given already"), "name each interface once"));
        }
    }
    if all.len() > 32 {
        return Err(wrong(doc, &all[32].0, "more interfaces than fit", "give at most 32 in all"));
    }
    Ok(())
}

/// Checks the numbers.
pub(super) fn numbers(
    doc: &Document,
    advertise_every_ms: Option<u64>,
    lifetime_s: u16,
    mtu: Option<u16>,
) -> Result<(), Error> {
    if let Some(ms) = advertise_every_ms.filter(|ms| !(100..=600_000).contains(ms)) {
        let what = format!("{ms} ms are not between 100 and 600000");
        return Err(wrong(doc, "advertise_every_ms", what, "RFC 5944 has 1000, section 2.3"));
    }
    if lifetime_s < 2 {
        return Err(wrong(doc, "lifetime_s", "it is too short to ask again in time", "give at least 2"));
    }
    if let Some(mtu) = mtu.filter(|mtu| !MTU.contains(mtu)) {
        let what = format!("{mtu} is not between {} and {}", MTU.start(), MTU.end());
        return Err(wrong(doc, "mtu", what, "1280 fits nearly everywhere"));
    }
    Ok(())
}
