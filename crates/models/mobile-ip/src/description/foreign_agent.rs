//! A foreign agent as everything outside of this crate knows it.

use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use wayhop_core::parameters::{object, of};
use wayhop_core::{
    Application, ApplicationDescription, ApplicationParameters, LinkNeeds, LinkReach, ParameterError,
};

use crate::foreign::ForeignAgent;
use crate::groups::{ALL_ROUTERS, MESH_AGENTS};
use crate::params::foreign_agent::{ForeignAgentParams, VisitedLink};
use crate::params::{self, wrong};

/// A foreign agent of Mobile IP.
pub static FOREIGN_AGENT: ApplicationDescription = ApplicationDescription {
    name: "foreign-agent",
    about: "a foreign agent of Mobile IP (RFC 5944): the other end of the tunnel, for mobile nodes that visit it",
    schema: || schemars::schema_for!(ForeignAgentParams).to_value(),
    defaults: || {
        params::defaults::<ForeignAgentParams>(json!({"uplink": "", "care_of": "0.0.0.0", "links": []}))
    },
    nodes: &["care_of"],
    notes: &["mip_visits", "mip_expired", "mip_refused", "mip_not_believed"],
    read: |values| Ok(Arc::new(of::<ForeignAgentParams>(values)?)),
};

impl ApplicationParameters for ForeignAgentParams {
    fn application(&self, _: Option<u32>) -> Box<dyn Application> {
        Box::new(ForeignAgent::new(self.clone()))
    }
    fn links(&self) -> Vec<LinkNeeds> {
        let visited = |l: &VisitedLink| LinkNeeds {
            radio: l.radio.clone(),
            reach: if l.mesh { LinkReach::Mesh } else { LinkReach::Neighbours },
            groups: if l.mesh { &[MESH_AGENTS] } else { &[ALL_ROUTERS] },
            ..params::uplink(&l.interface)
        };
        self.links.iter().map(visited).chain([params::uplink(&self.uplink)]).collect()
    }
    fn own_address(&self) -> Option<Ipv4Addr> {
        Some(self.care_of)
    }
    fn values(&self) -> Map<String, Value> {
        object(self)
    }
    fn check(&self) -> Result<(), ParameterError> {
        for (i, l) in self.links.iter().enumerate() {
            params::check_radio(i, l.mesh, l.radio.as_deref())?;
        }
        let visited = self.links.len();
        let key = |i: usize| if i < visited { format!("links[{i}].interface") } else { "uplink".to_owned() };
        params::check_links(&self.links(), key)?;
        params::check_host("care_of", self.care_of)?;
        params::check_numbers(Some(self.advertise_every_ms), self.lifetime_s)?;
        if self.links.is_empty() {
            return Err(wrong("links", "none given", "give the link that mobile nodes visit"));
        }
        params::check_peers("mobiles", &self.mobiles)?;
        params::check_peers("home_agents", &self.home_agents)
    }
}
