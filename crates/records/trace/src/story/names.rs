//! What nodes are called.

use std::collections::BTreeMap;
use std::net::IpAddr;

use wayhop_core::Addr;

use super::read::rows;
use crate::tables::Cell as _;
use crate::{Error, RunDir};

pub(super) struct Names {
    names: Vec<String>,
    by_address: BTreeMap<String, u32>,
}

impl Names {
    pub(super) fn read(run: &RunDir) -> Result<Self, Error> {
        let (mut names, mut by_address) = (Vec::new(), BTreeMap::new());
        rows(run, "nodes", &[], |row| {
            let number = names.len() as u32;
            let name = row.text("name")?;
            // Those without a name of their own are called by their number.
            let is_number = name.bytes().all(|b| b.is_ascii_digit());
            names.push(if is_number { format!("node {name}") } else { name.to_owned() });
            for column in ["address", "address6"] {
                by_address.extend(row.text(column).map(|a| (a.to_owned(), number)));
            }
            Some(())
        })?;
        Ok(Self { names, by_address })
    }

    pub(super) fn of(&self, node: u32) -> String {
        self.names.get(node as usize).cloned().unwrap_or_else(|| format!("node {node}"))
    }

    /// Whether an address is of a single host, and none of this node's: the packet came from elsewhere, or goes on.
    pub(super) fn is_elsewhere(&self, address: &str, node: u32) -> bool {
        let is_link_local = |a: Addr| match a.ip() {
            IpAddr::V4(v4) => v4.is_link_local(),
            IpAddr::V6(v6) => v6.is_unicast_link_local(),
        };
        let is_single =
            |a: Addr| !(a.is_multicast() || a == Addr::BROADCAST || a.is_unspecified() || is_link_local(a));
        self.by_address.get(address) != Some(&node) && address.parse().is_ok_and(is_single)
    }

    pub(super) fn number(&self, address: &str) -> Option<u32> {
        self.by_address.get(address).copied()
    }

    pub(super) fn at(&self, address: &str) -> String {
        match self.by_address.get(address) {
            Some(node) => self.of(*node),
            None if address == "255.255.255.255" => "all".to_owned(),
            None => address.to_owned(),
        }
    }
}
