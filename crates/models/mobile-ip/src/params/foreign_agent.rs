//! A foreign agent's.

use std::net::Ipv4Addr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wayhop_core::parameters::{object, of};
use wayhop_core::{
    Application, ApplicationDescription, ApplicationParameters, LinkNeeds, LinkReach, ParameterError,
};

use super::{Peer, wrong};
use crate::foreign::ForeignAgent;
use crate::groups::{ALL_ROUTERS, MESH_AGENTS};

/// A foreign agent of Mobile IP.
pub static FOREIGN_AGENT: ApplicationDescription = ApplicationDescription {
    name: "foreign-agent",
    about: "a foreign agent of Mobile IP (RFC 5944): the other end of the tunnel, for mobile nodes that visit it",
    schema: || schemars::schema_for!(ForeignAgentParams).to_value(),
    defaults: || {
        super::defaults::<ForeignAgentParams>(json!({"uplink": "", "care_of": "0.0.0.0", "links": []}))
    },
    nodes: &["care_of"],
    notes: &["mip_visits", "mip_expired", "mip_refused", "mip_not_believed"],
    read: |values| Ok(Arc::new(of::<ForeignAgentParams>(values)?)),
};

/// The configuration of a foreign agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignAgentParams {
    /// The interface towards the home agents, such as `eth0`; in a scenario the name of a wire.
    pub uplink: String,
    /// The agent's address there, which becomes the care-of address of its visitors; in a scenario also the agent's node.
    pub care_of: Ipv4Addr,
    /// The links that mobile nodes visit.
    pub links: Vec<VisitedLink>,
    /// How often the agent advertises itself on links that are no mesh, in milliseconds.
    #[serde(default = "super::advertise_every_ms")]
    pub advertise_every_ms: u64,
    /// The longest lifetime of a visit, in seconds.
    #[serde(default = "super::lifetime_s")]
    pub lifetime_s: u16,
    /// How many mobile nodes may visit at a time.
    #[serde(default = "max_visitors")]
    pub max_visitors: u16,
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

fn max_visitors() -> u16 {
    64
}

impl ApplicationParameters for ForeignAgentParams {
    fn application(&self) -> Box<dyn Application> {
        Box::new(ForeignAgent::new(self.clone()))
    }
    fn links(&self) -> Vec<LinkNeeds> {
        let uplink = LinkNeeds {
            interface: self.uplink.clone(),
            radio: None,
            reach: LinkReach::Routes,
            icmp_types: super::SOLICITATIONS,
            groups: &[],
            port: wayhop_wire::mobile_ip::PORT,
            arp: false,
        };
        let visited = |l: &VisitedLink| LinkNeeds {
            interface: l.interface.clone(),
            radio: l.radio.clone(),
            reach: if l.mesh { LinkReach::Mesh } else { LinkReach::Neighbours },
            groups: if l.mesh { &[MESH_AGENTS] } else { &[ALL_ROUTERS] },
            ..uplink.clone()
        };
        self.links.iter().map(visited).chain([uplink.clone()]).collect()
    }
    fn own_address(&self) -> Option<Ipv4Addr> {
        Some(self.care_of)
    }
    fn values(&self) -> Map<String, Value> {
        object(self)
    }
    fn check(&self) -> Result<(), ParameterError> {
        for (i, l) in self.links.iter().enumerate() {
            super::check_radio(i, l.mesh, l.radio.as_deref())?;
        }
        let visited = self.links.len();
        let key = |i: usize| if i < visited { format!("links[{i}].interface") } else { "uplink".to_owned() };
        super::check_links(&self.links(), key)?;
        super::check_host("care_of", self.care_of)?;
        super::check_numbers(Some(self.advertise_every_ms), self.lifetime_s)?;
        if self.links.is_empty() {
            return Err(wrong("links", "there is none", "name the link that mobile nodes visit"));
        }
        super::check_peers("mobiles", &self.mobiles)?;
        super::check_peers("home_agents", &self.home_agents)
    }
}
