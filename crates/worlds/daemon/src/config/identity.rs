//! Who the node is: its addresses and its names.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};

use wayhop_control::{About, NodeAbout};
use wayhop_core::{Addr, Prefix as MeshPrefix, Route};
use wayhop_linux::Prefix;

use crate::config::number::NODE;
use crate::config::settings::Settings;

/// The node's addresses, and what it reaches by them.
#[derive(Clone)]
pub(crate) struct Addresses {
    pub(crate) own: Ipv4Addr,
    pub(crate) mesh: Prefix,
    /// With the length of the prefix of its neighbours.
    pub(crate) own6: Option<(Ipv6Addr, u8)>,
    /// Static routes.
    pub(crate) routes: Vec<Route>,
}

impl Addresses {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            own: settings.address,
            mesh: Prefix::around(settings.address, settings.prefix_len),
            own6: settings.address6,
            routes: settings.routes.clone(),
        }
    }

    /// All of the node's own.
    pub(crate) fn all(&self) -> impl Iterator<Item = Addr> {
        let own6 = self.own6.map(|(addr, _)| Addr::from(addr));
        own6.into_iter().chain([self.own.into()])
    }

    /// The networks of IPv6 that programs reach by the TUN: its own, and behind it those of static routes.
    pub(crate) fn networks6(&self) -> Option<(MeshPrefix, impl Iterator<Item = MeshPrefix>)> {
        let own = self.own6.map(|(addr, len)| MeshPrefix::around(addr, len))?;
        let routed = self.routes.iter().map(|r| r.destination).filter(move |to| !own.contains(to.addr));
        Some((own, routed))
    }
}

/// By what orders about links name this node.
pub(crate) struct OwnNames {
    /// Its number in the macfilter's file.
    pub(crate) number: Option<u32>,
    pub(crate) address: Ipv4Addr,
    pub(crate) names: Vec<String>,
}

impl OwnNames {
    /// `None` without a macfilter.
    pub(crate) fn of(settings: &Settings) -> Option<Self> {
        let names = [&settings.name, &settings.config.name].into_iter().flatten().cloned().collect();
        let macfilter = settings.config.macfilter.as_ref()?;
        Some(Self { number: macfilter.node, address: settings.address, names })
    }
}

/// Who this node is to others: by its name, or that of its control socket, or that in its scenario, or else the host's.
pub(crate) fn about(settings: &Settings) -> About {
    let config = &settings.config;
    let host = || Some(fs::read_to_string("/proc/sys/kernel/hostname").ok()?.trim().to_owned());
    let given = [&config.name, &config.control, &settings.name].into_iter().flatten().next().cloned();
    let name = given.or_else(host).unwrap_or_else(|| "node".to_owned());
    let node = NodeAbout::new(NODE, &name, settings.address);
    About::new(&name, "field", settings.protocol.name(), vec![node])
}
