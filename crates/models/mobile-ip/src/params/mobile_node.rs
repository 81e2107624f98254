//! A mobile node's.

use std::net::Ipv4Addr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wayhop_core::parameters::{object, of};
use wayhop_core::{
    Application, ApplicationDescription, ApplicationParameters, LinkNeeds, LinkReach, ParameterError, Prefix,
};

use super::{MOST_ASKED, Peer, wrong};
use crate::mobile::MobileNode;
use crate::security::Replay;

/// A mobile node of Mobile IP.
pub static MOBILE_NODE: ApplicationDescription = ApplicationDescription {
    name: "mobile-node",
    about: "a mobile node of Mobile IP (RFC 5944): keeps its home address on whichever link is the best one",
    schema: || schemars::schema_for!(MobileNodeParams).to_value(),
    defaults: || {
        super::defaults::<MobileNodeParams>(
            json!({"home": "", "home_agent": "0.0.0.0", "spi": 0, "key": "", "links": []}),
        )
    },
    nodes: &["home_agent", "router"],
    notes: &[
        "mip_agent_found",
        "mip_agent_lost",
        "mip_registers",
        "mip_denied",
        "mip_at_home",
        "mip_by_foreign_agent",
        "mip_co_located",
        "mip_nowhere",
        "mip_not_believed",
    ],
    read: |values| Ok(Arc::new(of::<MobileNodeParams>(values)?)),
};

/// The configuration of a mobile node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MobileNodeParams {
    /// The address by which all others know this host, with the length of the home network's prefix: `10.1.0.9/24`. No interface
    /// has it: the mobile node gives it to its TUN interface, and at home to the link there.
    pub home: String,
    /// The home agent's address; in a scenario also its node.
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
    pub replay: Replay,
    /// The links, the one that the mobile node likes best first.
    pub links: Vec<OwnLink>,
    /// The lifetime that the mobile node asks for, in seconds; it asks again when half of it is over.
    #[serde(default = "super::lifetime_s")]
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

fn yes() -> bool {
    true
}

impl MobileNodeParams {
    /// The home address, and its network; nothing if they are wrong.
    pub fn home(&self) -> Option<(Ipv4Addr, Prefix)> {
        super::with_prefix(&self.home)
    }
}

impl ApplicationParameters for MobileNodeParams {
    fn application(&self) -> Box<dyn Application> {
        Box::new(MobileNode::new(self.clone()))
    }
    fn links(&self) -> Vec<LinkNeeds> {
        let link = |l: &OwnLink| LinkNeeds {
            interface: l.interface.clone(),
            radio: l.radio.clone(),
            reach: match l.kind {
                OwnLinkKind::Link => LinkReach::Neighbours,
                OwnLinkKind::Mesh => LinkReach::Mesh,
                OwnLinkKind::CoLocated => LinkReach::Routes,
            },
            icmp_types: super::ADVERTISEMENTS,
            groups: &[],
            port: wayhop_wire::mobile_ip::PORT,
            arp: true,
        };
        self.links.iter().map(link).collect()
    }
    fn home_address(&self) -> Option<Ipv4Addr> {
        self.home().map(|(addr, _)| addr)
    }
    fn values(&self) -> Map<String, Value> {
        object(self)
    }
    fn check(&self) -> Result<(), ParameterError> {
        let (home, net) = super::check_with_prefix("home", &self.home)?;
        for (key, addr) in
            [("home_agent", self.home_agent), ("router", self.router.unwrap_or(self.home_agent))]
        {
            if !super::has_host(net, addr) || addr == home {
                let what = format!("{addr} is no other host's address in {}/{}", net.addr, net.len);
                return Err(wrong(key, what, "give one of the home network"));
            }
        }
        super::check_links(&self.links(), |i| format!("links[{i}].interface"))?;
        super::check_numbers(None, self.lifetime_s)?;
        if self.links.is_empty() {
            return Err(wrong("links", "there is none", "name the links, the best one first"));
        }
        for (i, l) in self.links.iter().enumerate() {
            check_asked(i, l)?;
        }
        super::check_key("", self.spi, &self.key)?;
        super::check_peers("foreign_agents", &self.foreign_agents)
    }
}

/// Checks the agents of a link that are asked by their addresses.
fn check_asked(i: usize, link: &OwnLink) -> Result<(), ParameterError> {
    let key = format!("links[{i}].agents");
    let is_mesh = link.kind == OwnLinkKind::Mesh;
    if !is_mesh && !link.agents.is_empty() {
        return Err(wrong(key, "only in a mesh agents are asked by address", "leave it out"));
    }
    super::check_radio(i, is_mesh, link.radio.as_deref())?;
    if link.agents.len() > MOST_ASKED {
        return Err(wrong(key, "these are more than are asked", "give at most 8"));
    }
    link.agents.iter().try_for_each(|a| super::check_host(key.clone(), *a))
}
