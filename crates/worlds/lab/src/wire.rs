//! The wire: a bridge for each radio channel and each wire of the scenario between the nodes' namespaces, and the filter
//! on them.
//!
//! The bridges do not learn addresses, so every frame reaches every port, as on a shared medium. The
//! macfilter is at the output to a node's port: ignored frames never reach the node's interface. A node's
//! interfaces have different link addresses, so one list of addresses serves all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::RawFd;

use wayhop_control::LinkState;
use wayhop_control::answer::LinkOverride;
use wayhop_core::Mac;
use wayhop_linux::Error;
use wayhop_netns::Namespace;
use wayhop_netns::order;
use wayhop_scenario::{Attachment, Resolved};

use crate::stop::{StopFlag, go_on};

/// The name of the only interface in a node's namespace.
const INTERFACE: &str = "eth1";

const TABLE: &str = "table bridge macfilter {\n set ignored {\n type ifname . ether_addr\n }\n chain lossy {\n }\n \
                     chain forward {\n type filter hook forward priority 0;\n oifname . ether saddr @ignored drop\n \
                     jump lossy\n }\n}\n";

/// A node's interface: the medium that it is at, and its name in the node.
#[derive(Clone, Debug)]
struct Port {
    segment: u16,
    place: Attachment,
    name: String,
}

/// The bridges and their filter.
pub(super) struct Wire {
    hub: Namespace,
    addresses: Vec<Ipv4Addr>,
    /// By node, its interfaces.
    ports: Vec<Vec<Port>>,
    /// Node and link address: what the macfilter has it ignore now.
    ignored: BTreeSet<(u32, Mac)>,
    /// Medium, sender and receiver of the links that somebody overrode.
    overridden: BTreeMap<(u16, u32, u32), LinkState>,
    /// Nodes that are down: nobody hears them, and they hear nobody.
    down: BTreeSet<u32>,
    /// What the kernel was told.
    applied: BTreeSet<(u32, Mac)>,
    applied_losses: String,
}

impl Wire {
    /// Makes it, and a namespace for each node.
    pub(super) fn new(
        scenario: &Resolved,
        is_stopped: StopFlag<'_>,
    ) -> Result<(Self, Vec<Namespace>), Error> {
        let made = || {
            go_on(is_stopped)?;
            Namespace::new().map_err(Error::system("create a network namespace"))
        };
        let addresses = scenario.addresses.clone();
        let ports = ports(scenario);
        let hub = made()?;
        let nodes = addresses.iter().map(|_| made()).collect::<Result<Vec<_>, _>>()?;
        hub.within(disable_ipv6).map_err(Error::system("set up the wire (see `wayhop doctor lab`)"))?;
        let mut orders = String::new();
        for segment in ports.iter().flatten().map(|p| p.segment).collect::<BTreeSet<_>>() {
            let _ = writeln!(orders, "link add br{segment} type bridge ageing_time 0 mcast_snooping 0");
            let _ = writeln!(orders, "link set br{segment} up");
        }
        for ((i, node), own) in nodes.iter().enumerate().zip(&ports) {
            for Port { segment, name, .. } in own {
                let (mac, path) = (Mac::at_medium(addresses[i], *segment), path(node.fd()));
                let end = port_name(i as u32, *segment);
                let _ =
                    writeln!(orders, "link add {end} type veth peer name {name} address {mac} netns {path}");
                let _ = writeln!(orders, "link set {end} master br{segment} up");
            }
        }
        let failed = |what| Error::system(format!("{what} (needs Debian's packages iproute2 and nftables)"));
        order(&hub, "ip", &["-batch", "-"], &orders).map_err(failed("create the wire"))?;
        for (node, own) in nodes.iter().zip(&ports) {
            go_on(is_stopped)?;
            // Router solicitations of 100 nodes would be traffic that nobody asked for; a kernel without IPv6 sends none.
            let quiet = || {
                disable_ipv6()?;
                wayhop_netns::allow_services()
            };
            node.within(quiet)
                .map_err(Error::system("set up a node's namespace (see `wayhop doctor lab`)"))?;
            let orders = own.iter().map(|p| format!("link set {} up\n", p.name)).collect::<Vec<_>>().concat();
            order(node, "ip", &["-batch", "-"], &orders).map_err(failed("set a node's interface up"))?;
        }
        order(&hub, "nft", &["-f", "-"], TABLE).map_err(failed("create the macfilter"))?;
        let wire = Self {
            hub,
            addresses,
            ports,
            ignored: BTreeSet::new(),
            overridden: BTreeMap::new(),
            down: BTreeSet::new(),
            applied: BTreeSet::new(),
            applied_losses: String::new(),
        };
        Ok((wire, nodes))
    }

    /// From the next [`Wire::apply`] on, a node ignores these, and nobody else, where nobody says otherwise.
    pub(super) fn ignore(&mut self, node: u32, from: Vec<Mac>) -> Result<(), Error> {
        if node as usize >= self.ports.len() {
            return Err(Error::Config(format!("the macfilter contains node {node}, which does not exist")));
        }
        self.ignored.retain(|(n, _)| *n != node);
        self.ignored.extend(from.into_iter().map(|m| (node, m)));
        Ok(())
    }

    /// Overrides what one node hears of another, from the next [`Wire::apply`] on, or ends that: on the radio or wire of this
    /// name, or on all that both have. False if they have no such one in common.
    pub(super) fn set_link(&mut self, from: u32, to: u32, state: LinkState, name: Option<&str>) -> bool {
        let theirs: BTreeSet<u16> = self.ports[to as usize].iter().map(|p| p.segment).collect();
        let common = self.ports[from as usize].iter().filter(|p| theirs.contains(&p.segment));
        let meant = common.filter(|p| name.is_none_or(|name| p.name == name));
        let keys: Vec<_> = meant.map(|p| (p.segment, from, to)).collect();
        for key in &keys {
            match state {
                LinkState::Model => drop(self.overridden.remove(key)),
                other => drop(self.overridden.insert(*key, other)),
            }
        }
        !keys.is_empty()
    }

    /// Cuts a node off, from the next [`Wire::apply`] on, or ends that.
    pub(super) fn set_down(&mut self, node: u32, down: bool) {
        if down {
            self.down.insert(node);
        } else {
            self.down.remove(&node);
        }
    }

    /// The links that are overridden. Those on several radios and wires are one.
    pub(super) fn links(&self) -> Vec<LinkOverride> {
        let by_ends: BTreeMap<_, _> =
            self.overridden.iter().map(|(&(_, from, to), &state)| ((from, to), state)).collect();
        by_ends.into_iter().map(|((from, to), state)| LinkOverride { from, to, state }).collect()
    }

    /// Cuts a wire, or makes it whole: its interfaces lose their carrier, or have it again.
    pub(super) fn cut(&self, wire: u16, is_cut: bool) -> Result<(), Error> {
        let state = if is_cut { "down" } else { "up" };
        let at = |p: &&Port| p.place == Attachment::Wire(wire);
        let ends = (0..).zip(&self.ports).filter_map(|(i, own)| Some((i, own.iter().find(at)?)));
        let orders: Vec<String> =
            ends.map(|(i, p)| format!("link set {} {state}\n", port_name(i, p.segment))).collect();
        let orders = orders.concat();
        order(&self.hub, "ip", &["-batch", "-"], &orders).map_err(Error::system("cut a wire"))
    }

    /// Makes it so, at one moment for all nodes.
    pub(super) fn apply(&mut self) -> Result<(), Error> {
        let (wanted, losses) = self.effective();
        let list = |verb: &str, some: Vec<&(u32, Mac)>| {
            let element = |(n, m): &&(u32, Mac)| format!("\"{}\" . {m}", port_name(*n, segment_of(*m)));
            let elements: Vec<String> = some.iter().map(element).collect();
            match elements.len() {
                0 => String::new(),
                _ => format!("{verb} element bridge macfilter ignored {{ {} }}\n", elements.join(", ")),
            }
        };
        let gone = list("delete", self.applied.difference(&wanted).collect());
        let new = list("add", wanted.difference(&self.applied).collect());
        let mut orders = gone + &new;
        if losses != self.applied_losses {
            orders += "flush chain bridge macfilter lossy\n";
            orders += &losses;
        }
        if !orders.is_empty() {
            order(&self.hub, "nft", &["-f", "-"], &orders).map_err(Error::system("change the macfilter"))?;
            (self.applied, self.applied_losses) = (wanted, losses);
        }
        Ok(())
    }

    /// What is ignored, overrides included, and the rules of links that lose a share of their frames.
    fn effective(&self) -> (BTreeSet<(u32, Mac)>, String) {
        let mut ignored = self.ignored.clone();
        let mut losses = String::new();
        for (&(segment, from, to), state) in &self.overridden {
            let mac = Mac::at_medium(self.addresses[from as usize], segment);
            match *state {
                LinkState::Up => drop(ignored.remove(&(to, mac))),
                LinkState::Down => drop(ignored.insert((to, mac))),
                LinkState::Loss(share) => {
                    let of_a_million = (share.clamp(0.0, 1.0) * 1e6).round() as u32;
                    let _ = writeln!(
                        losses,
                        "add rule bridge macfilter lossy oifname \"{}\" ether saddr {mac} numgen random mod 1000000 < \
                         {of_a_million} drop",
                        port_name(to, segment)
                    );
                }
                // A lab has no radios: its control socket refuses path losses.
                LinkState::PathLoss(_) | LinkState::Model => {}
            }
        }
        for &node in &self.down {
            for other in (0..self.ports.len() as u32).filter(|i| *i != node) {
                for (hears, from) in [(node, other), (other, node)] {
                    let macs = self.ports[from as usize].iter();
                    let macs = macs.map(|p| Mac::at_medium(self.addresses[from as usize], p.segment));
                    ignored.extend(macs.map(|mac| (hears, mac)));
                }
            }
        }
        (ignored, losses)
    }
}

/// Turns the kernel's own IPv6 off in this network namespace. In that of the bridges nothing is a host of the mesh.
fn disable_ipv6() -> io::Result<()> {
    match std::fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1") {
        // A kernel without IPv6.
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}

/// Every node's interfaces.
fn ports(scenario: &Resolved) -> Vec<Vec<Port>> {
    let all = &scenario.interfaces;
    let port = |place: Attachment| Port {
        segment: segment(all, place),
        place,
        name: interface_name(scenario, place).to_owned(),
    };
    let by_node = all.by_node(scenario.addresses.len());
    by_node.into_iter().map(|own| own.into_iter().map(port).collect()).collect()
}

/// The name of an interface in its node.
pub(super) fn interface_name(scenario: &Resolved, place: Attachment) -> &str {
    if scenario.interfaces.is_single() { INTERFACE } else { scenario.interfaces.name(place) }
}

/// The number of a medium, which link addresses bear: radios first, then wires.
fn segment(all: &wayhop_scenario::Interfaces, place: Attachment) -> u16 {
    match place {
        Attachment::Radio(k) => u16::from(k),
        Attachment::Wire(k) => all.radios.len() as u16 + k,
    }
}

/// The number of the medium at which a link address is.
fn segment_of(Mac(octets): Mac) -> u16 {
    u16::from_le_bytes([octets[1], octets[0] >> 2])
}

/// The bridge's end of a node's interface.
fn port_name(node: u32, segment: u16) -> String {
    format!("p{node}m{segment}")
}

/// Where other processes find a namespace of this one.
fn path(fd: RawFd) -> String {
    format!("/proc/{}/fd/{fd}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_address_tells_its_medium() {
        for segment in [0, 1, 63, 64, 255, 256, 10_063] {
            assert_eq!(segment_of(Mac::at_medium(Ipv4Addr::new(10, 0, 3, 9), segment)), segment);
        }
    }
}
