//! A home agent's.

use std::net::Ipv4Addr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wayhop_core::parameters::{object, of};
use wayhop_core::{
    Application, ApplicationDescription, ApplicationParameters, LinkNeeds, LinkReach, ParameterError, Prefix,
};

use super::{Peer, wrong};
use crate::groups::ALL_ROUTERS;
use crate::home::HomeAgent;

/// A home agent of Mobile IP.
pub static HOME_AGENT: ApplicationDescription = ApplicationDescription {
    name: "home-agent",
    about: "the home agent of Mobile IP (RFC 5944): tunnels packets for mobile nodes to where they are",
    schema: || schemars::schema_for!(HomeAgentParams).to_value(),
    defaults: || super::defaults::<HomeAgentParams>(json!({"interface": "", "address": "", "mobiles": []})),
    nodes: &[],
    notes: &["mip_bound", "mip_resumed", "mip_returned", "mip_expired", "mip_refused", "mip_not_believed"],
    read: |values| Ok(Arc::new(of::<HomeAgentParams>(values)?)),
};

/// The configuration of a home agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HomeAgentParams {
    /// The interface on the home network, such as `eth0`; in a scenario the name of a wire.
    pub interface: String,
    /// The agent's address there with the length of the network's prefix, which the interface has: `10.1.0.1/24`.
    pub address: String,
    /// Further interfaces by which requests and reverse tunnels come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uplinks: Vec<String>,
    /// How often the agent advertises itself, in milliseconds.
    #[serde(default = "super::advertise_every_ms")]
    pub advertise_every_ms: u64,
    /// The longest lifetime of a binding, in seconds.
    #[serde(default = "super::lifetime_s")]
    pub lifetime_s: u16,
    /// The mobile nodes whose home this is.
    pub mobiles: Vec<Peer>,
    /// Foreign agents with a key. A request by one of these without an authenticator is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_agents: Vec<Peer>,
}

impl HomeAgentParams {
    /// The agent's address, and its network; nothing if they are wrong.
    pub fn home(&self) -> Option<(Ipv4Addr, Prefix)> {
        super::with_prefix(&self.address)
    }
}

impl ApplicationParameters for HomeAgentParams {
    fn application(&self) -> Box<dyn Application> {
        Box::new(HomeAgent::new(self.clone()))
    }
    fn links(&self) -> Vec<LinkNeeds> {
        let uplink = |name: &String| LinkNeeds {
            interface: name.clone(),
            radio: None,
            reach: LinkReach::Routes,
            icmp_types: super::SOLICITATIONS,
            groups: &[],
            port: wayhop_wire::mobile_ip::PORT,
            arp: false,
        };
        let (reach, arp) = (LinkReach::Neighbours, true);
        let home = LinkNeeds { groups: &[ALL_ROUTERS], reach, arp, ..uplink(&self.interface) };
        [home].into_iter().chain(self.uplinks.iter().map(uplink)).collect()
    }
    fn own_address(&self) -> Option<Ipv4Addr> {
        self.home().map(|(addr, _)| addr)
    }
    fn values(&self) -> Map<String, Value> {
        object(self)
    }
    fn check(&self) -> Result<(), ParameterError> {
        let (addr, net) = super::check_with_prefix("address", &self.address)?;
        let key = |i: usize| i.checked_sub(1).map_or("interface".to_owned(), |i| format!("uplinks[{i}]"));
        super::check_links(&self.links(), key)?;
        super::check_numbers(Some(self.advertise_every_ms), self.lifetime_s)?;
        super::check_peers("mobiles", &self.mobiles)?;
        super::check_peers("foreign_agents", &self.foreign_agents)?;
        let is_elsewhere = |m: &Peer| !super::has_host(net, m.address) || m.address == addr;
        if let Some(i) = self.mobiles.iter().position(is_elsewhere) {
            let what = format!(
                "{} is no address of a mobile node in {}/{}",
                self.mobiles[i].address, net.addr, net.len
            );
            return Err(wrong(format!("mobiles[{i}].address"), what, "give one of the home network"));
        }
        Ok(())
    }
}
