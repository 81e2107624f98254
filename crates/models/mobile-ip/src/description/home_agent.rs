//! A home agent as everything outside of this crate knows it.

use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use wayhop_core::parameters::{object, of};
use wayhop_core::{
    Application, ApplicationDescription, ApplicationParameters, LinkNeeds, LinkReach, ParameterError,
};

use crate::groups::ALL_ROUTERS;
use crate::home::HomeAgent;
use crate::params::home_agent::HomeAgentParams;
use crate::params::{self, Peer, wrong};

/// A home agent of Mobile IP.
pub static HOME_AGENT: ApplicationDescription = ApplicationDescription {
    name: "home-agent",
    about: "the home agent of Mobile IP (RFC 5944): tunnels packets for mobile nodes to where they are",
    schema: || schemars::schema_for!(HomeAgentParams).to_value(),
    defaults: || params::defaults::<HomeAgentParams>(json!({"interface": "", "address": "", "mobiles": []})),
    nodes: &[],
    notes: &["mip_bound", "mip_resumed", "mip_returned", "mip_expired", "mip_refused", "mip_not_believed"],
    read: |values| Ok(Arc::new(of::<HomeAgentParams>(values)?)),
};

impl ApplicationParameters for HomeAgentParams {
    fn application(&self, _: Option<u32>) -> Box<dyn Application> {
        Box::new(HomeAgent::new(self.clone()))
    }
    fn links(&self) -> Vec<LinkNeeds> {
        let (reach, arp) = (LinkReach::Neighbours, true);
        let home = LinkNeeds { groups: &[ALL_ROUTERS], reach, arp, ..params::uplink(&self.interface) };
        [home].into_iter().chain(self.uplinks.iter().map(|name| params::uplink(name))).collect()
    }
    fn own_address(&self) -> Option<Ipv4Addr> {
        self.home().map(|(addr, _)| addr)
    }
    fn values(&self) -> Map<String, Value> {
        object(self)
    }
    fn check(&self) -> Result<(), ParameterError> {
        let (addr, net) = params::check_with_prefix("address", &self.address)?;
        let key = |i: usize| i.checked_sub(1).map_or("interface".to_owned(), |i| format!("uplinks[{i}]"));
        params::check_links(&self.links(), key)?;
        params::check_numbers(Some(self.advertise_every_ms), self.lifetime_s)?;
        params::check_peers("mobiles", &self.mobiles)?;
        params::check_peers("foreign_agents", &self.foreign_agents)?;
        let is_elsewhere = |m: &Peer| !params::has_host(net, m.address) || m.address == addr;
        if let Some(i) = self.mobiles.iter().position(is_elsewhere) {
            let what = format!(
                "{} is not the address of a mobile node in {}/{}",
                self.mobiles[i].address, net.addr, net.len
            );
            return Err(wrong(format!("mobiles[{i}].address"), what, "give one of the home network"));
        }
        Ok(())
    }
}
