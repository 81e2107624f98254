//! The configurations of the three roles: an application's parameters, and the settings of its host.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wayhop_core::{ApplicationParameters, LinkNeeds, ParameterError, nearest};
use wayhop_document::Document;
use wayhop_linux::Error;
use wayhop_mobile_ip::{ForeignAgentParams, HomeAgentParams, MobileNodeParams};

use crate::config::interface_name::is_interface_name;
use crate::config::settings;
use crate::log::Level;

/// Shortest and longest MTU of the tunnel's interface: what IPv4 asks of a link, and what fits into an IP packet with a header.
const MTU: std::ops::RangeInclusive<u16> = 576..=65_515;

/// The configuration of a home agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HomeAgentConfig {
    /// How it tunnels.
    #[serde(flatten)]
    pub tunnel: TunnelConfig,
    /// How it runs.
    #[serde(flatten)]
    pub host: HostConfig,
    /// What it remembers.
    #[serde(flatten)]
    pub memory: MemoryConfig,
    /// What it is.
    #[serde(flatten)]
    pub agent: HomeAgentParams,
}

/// The configuration of a foreign agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ForeignAgentConfig {
    /// How it runs.
    #[serde(flatten)]
    pub host: HostConfig,
    /// What it is.
    #[serde(flatten)]
    pub agent: ForeignAgentParams,
}

/// The configuration of a mobile node.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MobileNodeConfig {
    /// How it tunnels.
    #[serde(flatten)]
    pub tunnel: TunnelConfig,
    /// How it runs.
    #[serde(flatten)]
    pub host: HostConfig,
    /// What it is.
    #[serde(flatten)]
    pub agent: MobileNodeParams,
}

/// How a host runs an agent or a mobile node.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostConfig {
    /// The user to switch to once the sockets are open, if started as root.
    #[serde(default = "user")]
    pub user: String,
    /// Log level: `error`, `warning`, `info` or `debug`.
    #[serde(default)]
    pub log: Level,
    /// A file for these lines, instead of standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<PathBuf>,
}

/// The end of the tunnels at this host.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TunnelConfig {
    /// The TUN interface of the tunnels, for programs' packets of a mobile node that is away.
    #[serde(default = "tun")]
    pub tun: String,
    /// Its MTU, bytes. All links, and the paths to the mobile nodes' networks, must carry 20 bytes more.
    #[serde(default = "mtu")]
    pub mtu: u16,
}

/// What a home agent keeps over a restart.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MemoryConfig {
    /// The file of bindings and identifications, from which a restarted home agent resumes; by
    /// default `/var/lib/wayhop/home-agent-ADDRESS/bindings.json`. `user` must be able to write to
    /// its folder, which is created if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bindings_file: Option<PathBuf>,
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

/// What is wrong with a key of a file.
fn wrong(doc: &Document, key: &str, what: impl Into<String>, remedy: impl Into<String>) -> Error {
    config_error(&doc.error(key, what, remedy))
}

/// A part of what it says.
fn part<T: DeserializeOwned>(doc: &Document) -> Result<T, Error> {
    doc.deserialize().map_err(|e| config_error(&e))
}

/// Refuses keys that the type of a whole configuration does not have.
fn check_keys<T: JsonSchema>(doc: &Document) -> Result<(), Error> {
    let schema = schemars::schema_for!(T).to_value();
    let known = || schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let table: toml::Table = part(doc)?;
    let Some(key) = table.keys().find(|key| !known().any(|k| k == *key)) else { return Ok(()) };
    let remedy = match nearest(key, known()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "docs/reference/mobile-ip.md lists all keys".to_owned(),
    };
    Err(wrong(doc, key, format!("unknown key `{key}`"), remedy))
}

/// Checks the parameters, and the names of the interfaces.
fn check(
    doc: &Document,
    agent: &impl ApplicationParameters,
    tunnel: Option<&TunnelConfig>,
) -> Result<(), Error> {
    agent.check().map_err(|ParameterError { key, problem, remedy }| {
        wrong(doc, key.as_deref().unwrap_or_default(), problem, remedy)
    })?;
    let links = agent.links();
    let names = links.iter().flat_map(LinkNeeds::interfaces);
    let tun = tunnel.map(|t| &t.tun);
    for name in names.clone().chain(tun) {
        if !is_interface_name(name) {
            let key = if Some(name) == tun { "tun" } else { "interface" };
            let what = format!("{name:?} is not an interface name");
            return Err(wrong(doc, key, what, "give 1 to 15 characters without spaces, / and :"));
        }
    }
    let Some(TunnelConfig { tun, mtu }) = tunnel else { return Ok(()) };
    if names.clone().any(|name| name == tun) {
        return Err(wrong(doc, "tun", format!("{tun} is given already"), "give each interface once"));
    }
    if !MTU.contains(mtu) {
        let what = format!("{mtu} is not between {} and {}", MTU.start(), MTU.end());
        return Err(wrong(doc, "mtu", what, "1280 works nearly everywhere"));
    }
    Ok(())
}

impl HomeAgentConfig {
    /// What a file says, checked.
    pub(super) fn read(doc: &Document) -> Result<Self, Error> {
        check_keys::<Self>(doc)?;
        let c = Self { tunnel: part(doc)?, host: part(doc)?, memory: part(doc)?, agent: part(doc)? };
        check(doc, &c.agent, Some(&c.tunnel)).map(|()| c)
    }
}

impl ForeignAgentConfig {
    /// What a file says, checked.
    pub(super) fn read(doc: &Document) -> Result<Self, Error> {
        check_keys::<Self>(doc)?;
        let c = Self { host: part(doc)?, agent: part(doc)? };
        check(doc, &c.agent, None).map(|()| c)
    }
}

impl MobileNodeConfig {
    /// What a file says, checked.
    pub(super) fn read(doc: &Document) -> Result<Self, Error> {
        check_keys::<Self>(doc)?;
        let c = Self { tunnel: part(doc)?, host: part(doc)?, agent: part(doc)? };
        check(doc, &c.agent, Some(&c.tunnel)).map(|()| c)
    }
}
