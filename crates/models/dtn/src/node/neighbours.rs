//! Who is near: by beacons, by links of the mesh, or because a configuration says so.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use crate::{Beacon, Eid, Port};
use wayhop_core::{Span, Time};

use super::layer::Layer;
use super::settings::Ports;

/// More neighbours than a radio can have: forged ones do not fill the memory.
const MAX_NEIGHBOURS: usize = 1_024;

/// One of them.
#[derive(Clone, Debug, Default)]
pub(super) struct DiscoveredNeighbour {
    /// `Eid::None` until it is known.
    pub(super) node: Eid,
    /// The routing whose messages it understands.
    pub(super) routing: Option<u8>,
    /// Where it listens for each layer.
    ports: BTreeMap<Layer, u16>,
    heard: Time,
    /// A configuration names it: it never goes.
    is_fixed: bool,
    /// It has sent a beacon: it knows of this node, too, or will.
    pub(super) has_beacons: bool,
    /// When a connection to it was last asked for.
    pub(super) called: Option<Time>,
}

impl DiscoveredNeighbour {
    fn new(now: Time, node: Eid) -> Self {
        Self { node, heard: now, ..Self::default() }
    }

    /// Where it listens for a layer.
    pub(super) fn port(&self, layer: Layer) -> Option<u16> {
        self.ports.get(&layer).copied()
    }
}

/// The neighbours of a node, by address.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    pub(super) all: BTreeMap<IpAddr, DiscoveredNeighbour>,
}

impl Neighbours {
    /// A neighbour's beacon came. Whether it says anything that is new.
    pub(super) fn hear(&mut self, now: Time, from: IpAddr, beacon: &Beacon) -> bool {
        if self.all.len() >= MAX_NEIGHBOURS && !self.all.contains_key(&from) {
            return false;
        }
        let old = self.all.get(&from);
        let is_new = old.is_none_or(|n| n.node != beacon.node);
        let (is_fixed, called) = old.map_or((false, None), |n| (n.is_fixed, n.called));
        let port = |port: &Port| match *port {
            Port::Udpcl(n) => (Layer::Udpcl, n),
            Port::Ltp(n, _) => (Layer::Ltp, n),
            Port::Tcpcl(n) => (Layer::Tcpcl, n),
        };
        let neighbour = DiscoveredNeighbour {
            routing: beacon.routing,
            ports: beacon.ports.iter().map(port).collect(),
            is_fixed,
            has_beacons: true,
            called,
            ..DiscoveredNeighbour::new(now, beacon.node.clone())
        };
        self.all.insert(from, neighbour);
        is_new
    }

    /// A configuration names one that is always there.
    pub(super) fn fix(&mut self, now: Time, node: Eid, layer: Layer, at: SocketAddr) {
        let ports = BTreeMap::from([(layer, at.port())]);
        let neighbour = DiscoveredNeighbour { ports, is_fixed: true, ..DiscoveredNeighbour::new(now, node) };
        self.all.insert(at.ip(), neighbour);
    }

    /// The mesh has a link to this address, where an agent may be running. Returns whether it is new.
    pub(super) fn link(&mut self, now: Time, at: IpAddr, ports: Ports) -> bool {
        if self.all.contains_key(&at) || self.all.len() >= MAX_NEIGHBOURS {
            return false;
        }
        let ports = BTreeMap::from([(Layer::Tcpcl, ports.tcpcl)]);
        let neighbour = DiscoveredNeighbour { ports, ..DiscoveredNeighbour::new(now, Eid::None) };
        self.all.insert(at, neighbour);
        true
    }

    /// Something else than a beacon came from there.
    pub(super) fn touch(&mut self, now: Time, from: IpAddr) {
        if let Some(n) = self.all.get_mut(&from) {
            n.heard = now;
        }
    }

    /// The link to this address is gone. Whether that matters.
    pub(super) fn unlink(&mut self, at: IpAddr) -> bool {
        match self.all.get(&at) {
            Some(n) if !n.is_fixed => self.all.remove(&at).is_some(),
            _ => false,
        }
    }

    /// The neighbour that is this node.
    pub(super) fn of(&self, node: &Eid) -> Option<&DiscoveredNeighbour> {
        self.all.values().find(|n| n.node == *node)
    }

    /// Takes out one that was silent for too long.
    pub(super) fn silent(&mut self, now: Time, silence: Span) -> Option<IpAddr> {
        let is_gone = |n: &DiscoveredNeighbour| !n.is_fixed && now.since(n.heard) >= silence;
        let at = self.all.iter().find(|(_, n)| is_gone(n)).map(|(at, _)| *at)?;
        self.all.remove(&at);
        Some(at)
    }

    /// When the next one will have been silent for too long.
    pub(super) fn next_silence(&self, silence: Span) -> Option<Time> {
        self.all.values().filter(|n| !n.is_fixed).map(|n| n.heard + silence).min()
    }
}
