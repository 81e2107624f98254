//! The peer of a control socket.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{ControlError, ErrorCode};
use crate::messages::NodeRef;

/// The answer to `hello`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// Wayhop's version.
    pub wayhop: String,
    /// The version of the messages, [`crate::VERSION`].
    pub messages: u64,
    /// The name of the run or of the daemon.
    pub name: String,
    /// `simulation`, `emulation`, `lab` or `field`.
    pub world: String,
    /// The routing protocol.
    pub protocol: String,
    /// The process that answers.
    pub pid: u32,
    /// How far a radio reaches without fading and interference, metres, where all nodes have one modelled radio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_m: Option<f64>,
    /// Seconds of the run's time in a second, where a simulation is followed; in the other worlds the run's clock is the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// The nodes that it answers for.
    pub nodes: Vec<NodeAbout>,
}

/// One node of [`About`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeAbout {
    /// Its number.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// Whether it is up: false during an outage.
    #[serde(default = "yes")]
    pub up: bool,
}

fn yes() -> bool {
    true
}

impl NodeAbout {
    /// A node that is up.
    pub fn new(node: u32, name: &str, address: Ipv4Addr) -> Self {
        Self { node, name: name.to_owned(), address, up: true }
    }

    /// All nodes of a run, in the order of their numbers.
    pub fn all(names: &[String], addresses: &[Ipv4Addr]) -> Vec<Self> {
        let all = names.iter().zip(addresses).enumerate();
        all.map(|(i, (name, &address))| Self::new(i as u32, name, address)).collect()
    }
}

impl About {
    /// What this process answers, for these nodes.
    pub fn new(name: &str, world: &str, protocol: &str, nodes: Vec<NodeAbout>) -> Self {
        Self {
            wayhop: wayhop_core::version::full().to_owned(),
            messages: crate::VERSION,
            name: name.to_owned(),
            world: world.to_owned(),
            protocol: protocol.to_owned(),
            pid: std::process::id(),
            range_m: None,
            speed: None,
            nodes,
        }
    }

    /// The number of the node that is meant: by number, name, host name `mesh-N` or address.
    pub fn resolve(&self, node: &NodeRef) -> Result<u32, ControlError> {
        let found = match node {
            NodeRef::Number(n) => self.nodes.iter().find(|a| a.node == *n),
            NodeRef::Name(name) => {
                let address = name.parse::<Ipv4Addr>().ok();
                let number = name.strip_prefix("mesh-").and_then(|n| n.parse::<u32>().ok());
                self.nodes.iter().find(|a| a.name == *name).or_else(|| {
                    self.nodes.iter().find(|a| Some(a.address) == address || Some(a.node) == number)
                })
            }
        };
        found.map(|a| a.node).ok_or_else(|| {
            let some: Vec<&str> = self.nodes.iter().take(5).map(|a| a.name.as_str()).collect();
            let more = if self.nodes.len() > some.len() { ", ..." } else { "" };
            let what = format!("there is no node {}", clip(&node.to_string()));
            let remedy = format!("the nodes are {}{more}", some.join(", "));
            ControlError::new(ErrorCode::UnknownNode, what, remedy)
        })
    }

    /// The row of this node.
    pub fn node(&self, number: u32) -> Option<&NodeAbout> {
        self.nodes.iter().find(|a| a.node == number)
    }
}

fn clip(name: &str) -> String {
    name.chars().take(80).collect()
}
