//! The nodes of a run, each created when it does something.
//!
//! A node of a large network may stay idle for long. If its protocol did nothing at its start but open sockets, it is removed
//! again, and created and started once more, at the same time and with the same random numbers, before its first input.

use std::net::Ipv4Addr;
use std::ops::Index;
use std::sync::Arc;

use wayhop_core::{Configured, Purpose, stream};
use wayhop_node::{Engine, IfaceConfig, OnDemand};

/// A node of a simulation.
pub(crate) type Node = wayhop_node::Node<OnDemand>;

/// All nodes, by number.
pub(crate) struct Nodes {
    /// `None` for one that is idle.
    made: Vec<Option<Box<Node>>>,
    /// `None` where no node is ever idle.
    alike: Option<Alike>,
    /// Nodes before this one have started.
    started: u32,
}

/// Nodes that differ in nothing but their addresses and random numbers.
pub(crate) struct Alike {
    protocol: Arc<Configured>,
    interface: Arc<IfaceConfig>,
    seed: u64,
    /// What idle ones look like.
    idle: Box<Node>,
}

impl Alike {
    pub(crate) fn new(protocol: Arc<Configured>, interface: Arc<IfaceConfig>, seed: u64) -> Self {
        let idle = Box::new(make(&protocol, &interface, seed, 0, Ipv4Addr::UNSPECIFIED));
        Self { protocol, interface, seed, idle }
    }
}

fn make(
    protocol: &Arc<Configured>,
    interface: &Arc<IfaceConfig>,
    seed: u64,
    node: u32,
    addr: Ipv4Addr,
) -> Node {
    let rng = stream(seed, Purpose::Protocol, node.into());
    Node::new(addr, Engine::new(OnDemand::new(Arc::clone(protocol)), rng), Arc::clone(interface))
}

impl Nodes {
    /// Nodes that may differ.
    pub(crate) fn different(nodes: Vec<Node>) -> Self {
        Self { made: nodes.into_iter().map(|n| Some(Box::new(n))).collect(), alike: None, started: 0 }
    }
    /// This number of nodes, all idle.
    pub(crate) fn alike(number: usize, alike: Alike) -> Self {
        Self { made: (0..number).map(|_| None).collect(), alike: Some(alike), started: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.made.len()
    }
    /// One node of each kind: those that are not idle, and what the others look like.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &Node> {
        self.active().chain(self.alike.iter().map(|alike| &*alike.idle))
    }
    /// Those that are not idle.
    pub(crate) fn active(&self) -> impl Iterator<Item = &Node> {
        self.made.iter().flatten().map(|n| &**n)
    }
    #[inline]
    pub(crate) fn is_idle(&self, node: u32) -> bool {
        self.made[node as usize].is_none()
    }
    /// A node, if it is not idle.
    #[inline]
    pub(crate) fn get_mut(&mut self, node: u32) -> Option<&mut Node> {
        self.made[node as usize].as_deref_mut()
    }

    /// Takes out a node that is not idle, for another thread, until it is given back.
    pub(crate) fn lend(&mut self, node: u32) -> Box<Node> {
        self.made[node as usize].take().expect("it is here, and not idle")
    }
    pub(crate) fn give_back(&mut self, node: u32, lent: Box<Node>) {
        let place = self.made[node as usize].replace(lent);
        assert!(place.is_none(), "an event depends on a task that was not collected");
    }
    /// A node that is neither idle nor lent.
    #[inline]
    pub(crate) fn get(&self, node: u32) -> Option<&Node> {
        self.made[node as usize].as_deref()
    }

    /// Creates an idle node, which has not started. Others stay as they are.
    pub(crate) fn create(&mut self, node: u32, addr: Ipv4Addr) {
        if let (place @ None, Some(a)) = (&mut self.made[node as usize], &self.alike) {
            *place = Some(Box::new(make(&a.protocol, &a.interface, a.seed, node, addr)));
        }
    }
    /// Whether a node has started.
    pub(crate) fn has_started(&self, node: u32) -> bool {
        node < self.started
    }
    /// A node, and all before it, have started. It is removed if it is as any other would be.
    pub(crate) fn started(&mut self, node: u32) {
        self.started = node + 1;
        let place = &mut self.made[node as usize];
        // One that somebody took down before the run began is not as the others.
        let is_idle = |n: &Node| n.is_up() && n.life() == 0 && n.protocol(0).is_replaceable();
        if self.alike.is_some() && place.as_deref().is_some_and(is_idle) {
            *place = None;
        }
    }
    /// Leaves no node idle, for those who need their addresses and random numbers. Before they start.
    pub(crate) fn create_all(&mut self, addrs: &[Ipv4Addr]) {
        debug_assert!(self.started == 0, "a node that is created later must be started");
        (0..).zip(addrs).for_each(|(node, addr)| self.create(node, *addr));
        self.alike = None;
    }
}

impl Index<usize> for Nodes {
    type Output = Node;
    /// A node to look at; of an idle one, another that is idle.
    #[inline]
    fn index(&self, node: usize) -> &Node {
        match (&self.made[node], &self.alike) {
            (Some(node), _) => node,
            (None, Some(alike)) => &alike.idle,
            (None, None) => unreachable!("no node is idle"),
        }
    }
}
