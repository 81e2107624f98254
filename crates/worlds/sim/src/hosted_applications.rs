//! The applications of a run, and their host's state.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::net::Ipv4Addr;

use serde_json::Value;
use wayhop_core::{
    Application, ApplicationEffect, HomeRoute, IfaceId, LinkId, LinkNeeds, NodeId, PacketMeta, Prefix,
    Purpose, Rng, Time, TimerKey, stream,
};
use wayhop_scenario::{ApplicationPlan, Attachment, DtnPlan, Resolved};
use wayhop_trace::ApplicationSummary;

use crate::bundles;

/// All applications of a run: those of flows, bundle agents, then those of the scenario's list in its order.
#[derive(Default)]
pub(crate) struct Applications {
    pub(crate) all: Vec<Hosted>,
    /// The number of applications of flows, which come first in `all`. They belong to the experiment: they receive no
    /// datagrams, and outages of their nodes do not stop their schedules.
    pub(crate) sources: u32,
    /// The numbers of the others, sorted by node: every datagram that arrives asks.
    by_node: Vec<u32>,
    /// By node, where its own begin in `by_node`; up to the last node that has any, and one more.
    starts: Vec<u32>,
    /// For reuse.
    pub(crate) effects: Vec<ApplicationEffect>,
    pub(crate) spare: Vec<u8>,
    /// Whether any is a part of its host's network layer.
    pub(crate) has_networks: bool,
    /// The mesh's addresses, in a scenario with gateways.
    pub(crate) mesh: Option<Prefix>,
    /// The packet for which an application sends just now, and whether it has sent something.
    pub(crate) carried: Option<PacketMeta>,
    pub(crate) relayed: bool,
}

/// One of them, and what its host keeps for it.
pub(crate) struct Hosted {
    pub(crate) node: u32,
    /// Its number in logs of inputs: that in the scenario's list, and behind these those of bundle agents. Sources of flows have no logs.
    pub(crate) log: Option<u32>,
    /// The flow at whose end it is: its packets are this flow's.
    pub(crate) flow: Option<u32>,
    /// The name of one in the scenario's list. Its packets are in flows of programs, and it has a summary.
    pub(crate) listed: Option<&'static str>,
    pub(crate) engine: Box<dyn Application>,
    pub(crate) rng: Rng,
    /// Where it listens.
    pub(crate) ports: Vec<u16>,
    pub(crate) timers: Vec<(TimerKey, Time)>,
    /// Of one that is a part of its host's network layer.
    pub(crate) network: Option<Box<HostNetwork>>,
}

impl Hosted {
    /// Reads what an input will need: see [`Application::look_ahead`].
    #[inline]
    pub(crate) fn look_ahead(&self) -> u8 {
        let port = self.ports.first().map_or(0, |port| *port as u8);
        let timer = self.timers.first().map_or(0, |(_, due)| due.as_nanos() as u8);
        port ^ timer ^ self.engine.look_ahead()
    }

    /// One without ports and timers, of no flow, list and log.
    pub(crate) const fn new(node: u32, engine: Box<dyn Application>, rng: Rng) -> Self {
        Self {
            node,
            log: None,
            flow: None,
            listed: None,
            engine,
            rng,
            ports: Vec::new(),
            timers: Vec::new(),
            network: None,
        }
    }
}

/// The network layer of a host, as far as an application is a part of it.
pub(crate) struct HostNetwork {
    pub(crate) links: Vec<HostLink>,
    /// Addresses whose packets go to the application.
    pub(crate) intercepted: Vec<Ipv4Addr>,
    /// The address of the host that moves, and where it is, once that was said.
    pub(crate) home_address: Option<Ipv4Addr>,
    pub(crate) home: Option<HomeRoute>,
    /// What the application has kept over a restart, by what it is about.
    pub(crate) memory: BTreeMap<Ipv4Addr, Value>,
}

/// A link of an application.
pub(crate) struct HostLink {
    pub(crate) needs: LinkNeeds,
    /// The interface; `None` for the mesh.
    pub(crate) iface: Option<IfaceId>,
    pub(crate) is_up: bool,
    /// A router there.
    pub(crate) router: Option<Ipv4Addr>,
}

impl HostNetwork {
    fn new(plan: &ApplicationPlan, scenario: &Resolved) -> Option<Box<Self>> {
        let parameters = &plan.application.parameters;
        let needed = parameters.links();
        // Most need none. For the others all interfaces are listed, which takes as long as there are nodes.
        if needed.is_empty() {
            return None;
        }
        let own = scenario.interfaces.by_node(scenario.addresses.len()).swap_remove(plan.node.index());
        let link = |(needs, at): (LinkNeeds, &Option<Attachment>)| HostLink {
            needs,
            iface: at.and_then(|at| own.iter().position(|a| *a == at)).map(|i| IfaceId(i as u8)),
            is_up: true,
            router: at.and_then(|at| router(scenario, at)),
        };
        let links = needed.into_iter().zip(&plan.links).map(link).collect();
        Some(Box::new(Self {
            links,
            intercepted: Vec::new(),
            home_address: parameters.home_address(),
            home: None,
            memory: BTreeMap::new(),
        }))
    }

    /// The interface of a link, unless that is the mesh.
    pub(crate) fn iface(&self, link: LinkId) -> Option<IfaceId> {
        self.links.get(usize::from(link))?.iface
    }
}

/// The first node outside at a wire.
fn router(scenario: &Resolved, at: Attachment) -> Option<Ipv4Addr> {
    let (Attachment::Wire(k), Some(edge)) = (at, &scenario.edge) else { return None };
    let mut nodes = scenario.interfaces.wires[usize::from(k)].nodes.iter();
    nodes.find(|n| edge.is_outside(**n)).map(|n| scenario.addresses[n.index()])
}

impl Applications {
    /// Those of a scenario and the sources of its flows, none of which has begun.
    pub(crate) fn new(scenario: &Resolved, sources: Vec<Hosted>) -> Option<Box<Self>> {
        let seed = scenario.seed;
        let listed = |(number, p): (u32, &ApplicationPlan)| {
            let rng = stream(seed, Purpose::Applications, number.into());
            Hosted {
                log: Some(number),
                listed: Some(p.application.description.name),
                network: HostNetwork::new(p, scenario),
                ..Hosted::new(p.node.0, p.application.parameters.application(Some(p.node.0)), rng)
            }
        };
        let agent = |plan: &DtnPlan, number, node: NodeId| {
            let rng = stream(seed, Purpose::Bundles, node.0.into());
            let agent = Box::new(bundles::agent(plan, node));
            Hosted { log: Some(number), ..Hosted::new(node.0, agent, rng) }
        };
        let behind = scenario.applications.len() as u32;
        let agents = scenario
            .dtn
            .iter()
            .flat_map(|plan| (behind..).zip(&plan.nodes).map(|(number, node)| agent(plan, number, *node)));
        let count = sources.len() as u32;
        let listed = (0..).zip(&scenario.applications).map(listed);
        let all: Vec<Hosted> = sources.into_iter().chain(agents).chain(listed).collect();
        let mut applications = Self {
            has_networks: all.iter().any(|h| h.network.is_some()),
            all,
            sources: count,
            mesh: scenario.edge.as_ref().map(|e| e.mesh),
            ..Self::default()
        };
        applications.note_nodes();
        (!applications.all.is_empty()).then(|| Box::new(applications))
    }

    /// Sources of flows, and those that are a part of their host's network layer, without the others.
    pub(crate) fn without_programs(mut self: Box<Self>) -> Option<Box<Self>> {
        self.all.retain(|h| h.flow.is_some() || h.network.is_some());
        self.note_nodes();
        (!self.all.is_empty()).then_some(self)
    }

    /// Lists the applications of each node, without the sources of flows.
    fn note_nodes(&mut self) {
        let node_of = |number: u32| self.all[number as usize].node;
        self.by_node = (self.sources..self.all.len() as u32).collect();
        // Stable: those of a node stay in their order.
        self.by_node.sort_by_key(|number| node_of(*number));
        self.starts.clear();
        for (place, number) in (0..).zip(&self.by_node) {
            let node = node_of(*number) as usize;
            self.starts.resize(self.starts.len().max(node + 1), place);
        }
        self.starts.push(self.by_node.len() as u32);
    }

    /// Which one at this node listens at this UDP port.
    pub(crate) fn at_port(&self, node: u32, port: u16) -> Option<u32> {
        self.of_node(node).iter().copied().find(|n| self.all[*n as usize].ports.contains(&port))
    }

    /// The numbers of those at a node.
    pub(crate) fn of_node(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let range = self.starts.get(node).zip(self.starts.get(node + 1));
        range.map_or(&[], |(from, until)| &self.by_node[*from as usize..*until as usize])
    }

    /// Reads what the applications of these nodes will need for a datagram: first what leads to the rest.
    pub(crate) fn look_ahead(&self, nodes: &(impl Iterator<Item = u32> + Clone)) {
        let numbers = || nodes.clone().flat_map(|node| self.of_node(node));
        let hosted = || numbers().map(|n| &self.all[*n as usize]);
        black_box(hosted().fold(false, |all, h| all ^ h.network.is_some()));
        black_box(hosted().fold(0, |all, h| all ^ h.look_ahead()));
    }

    /// The applications of a node without the sources of flows, with their numbers.
    pub(crate) fn at_node(&mut self, node: u32) -> impl Iterator<Item = (u32, &mut Hosted)> {
        let others = (0..).zip(&mut self.all).skip(self.sources as usize);
        others.filter(move |(_, hosted)| hosted.node == node)
    }

    /// How long the lists of a node's applications are.
    pub(crate) fn sizes(&self, node: u32, mut tell: impl FnMut(&'static str, u64)) {
        self.of_node(node).iter().for_each(|n| self.all[*n as usize].engine.sizes(&mut tell));
    }

    /// What each of the scenario's list has counted.
    pub(crate) fn summaries(&self) -> Vec<ApplicationSummary> {
        let summary = |a: &Hosted| {
            let mut s = ApplicationSummary::new(a.node, a.listed?);
            a.engine.figures(&mut |name, value| s.add(name, value));
            Some(s)
        };
        self.all.iter().filter_map(summary).collect()
    }
}
