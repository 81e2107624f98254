//! A static chain with the radio and the protocol of a scenario.

use std::net::Ipv4Addr;

use wayhop_core::{NodeId, Position, Time};
use wayhop_transport::FlowConfig;
use wayhop_world::Track;

use crate::output::{CapturePlan, ReceptionPlan};
use crate::resolve::Resolved;

impl Resolved {
    /// The scenario's network as a chain: identical static nodes in the open, and one flow from end to end.
    #[must_use]
    pub fn as_chain(&self, flow: &FlowConfig, hops: u32, spacing_m: f64, duration: Time, seed: u64) -> Self {
        let place = |i: u32| Track::fixed(Position::new(f64::from(i) * spacing_m, 0.0, 0.0));
        let address = |i: u32| -> Ipv4Addr { NodeId(i).default_addr() };
        let mut interfaces = self.interfaces.clone();
        interfaces.radios[0].config.site = None;
        Self {
            seed,
            duration,
            area: [f64::from(hops) * spacing_m, 0.0, 0.0],
            tracks: (0..=hops).map(place).collect(),
            names: (0..=hops).map(|i| i.to_string()).collect(),
            addresses: (0..=hops).map(address).collect(),
            ipv6: None,
            routes: Vec::new(),
            edge: None,
            flows: vec![FlowConfig { src: NodeId(0), dst: NodeId(hops), ip6: false, ..flow.clone() }],
            interfaces,
            cards: Vec::new(),
            stalls: Vec::new(),
            outages: Vec::new(),
            attacks: Vec::new(),
            energy: Vec::new(),
            orders: Vec::new(),
            applications: Vec::new(),
            programs: Vec::new(),
            captures: CapturePlan::default(),
            receptions: ReceptionPlan::default(),
            identities: false,
            ns2_trace: false,
            warnings: Vec::new(),
            ..self.clone()
        }
    }
}
