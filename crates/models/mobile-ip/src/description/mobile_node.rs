//! A mobile node as everything outside of this crate knows it.

use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use wayhop_core::parameters::{object, of};
use wayhop_core::{
    Application, ApplicationDescription, ApplicationParameters, LinkNeeds, LinkReach, ParameterError,
};

use crate::mobile::MobileNode;
use crate::params::mobile_node::{MobileNodeParams, OwnLink, OwnLinkKind};
use crate::params::{self, MOST_ASKED, wrong};

/// A mobile node of Mobile IP.
pub static MOBILE_NODE: ApplicationDescription = ApplicationDescription {
    name: "mobile-node",
    about: "a mobile node of Mobile IP (RFC 5944): keeps its home address on whichever link is the best one",
    schema: || schemars::schema_for!(MobileNodeParams).to_value(),
    defaults: || {
        params::defaults::<MobileNodeParams>(
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

impl ApplicationParameters for MobileNodeParams {
    fn application(&self, _: Option<u32>) -> Box<dyn Application> {
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
            icmp_types: params::ADVERTISEMENTS,
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
        let (home, net) = params::check_with_prefix("home", &self.home)?;
        for (key, addr) in
            [("home_agent", self.home_agent), ("router", self.router.unwrap_or(self.home_agent))]
        {
            if !params::has_host(net, addr) || addr == home {
                let what = format!("{addr} is not the address of another host in {}/{}", net.addr, net.len);
                return Err(wrong(key, what, "give one of the home network"));
            }
        }
        params::check_links(&self.links(), |i| format!("links[{i}].interface"))?;
        params::check_numbers(None, self.lifetime_s)?;
        if self.links.is_empty() {
            return Err(wrong("links", "none given", "give the links, the preferred one first"));
        }
        for (i, l) in self.links.iter().enumerate() {
            check_asked(i, l)?;
        }
        params::check_key("", self.spi, &self.key)?;
        params::check_peers("foreign_agents", &self.foreign_agents)
    }
}

/// Checks the agents of a link that are asked by their addresses.
fn check_asked(i: usize, link: &OwnLink) -> Result<(), ParameterError> {
    let key = format!("links[{i}].agents");
    let is_mesh = link.kind == OwnLinkKind::Mesh;
    if !is_mesh && !link.agents.is_empty() {
        return Err(wrong(key, "only for links of kind mesh", "remove it"));
    }
    params::check_radio(i, is_mesh, link.radio.as_deref())?;
    if link.agents.len() > MOST_ASKED {
        return Err(wrong(key, "too many agents", "give at most 8"));
    }
    link.agents.iter().try_for_each(|a| params::check_host(key.clone(), *a))
}
