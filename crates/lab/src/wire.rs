//! The wire: a bridge between the nodes' namespaces, and the filter on it.
//!
//! The bridge forgets at once where it heard whom, so that every frame reaches every port, as on a shared medium. The
//! macfilter sits where the bridge hands a frame to a node's port: what a node ignores never reaches its interface.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::os::fd::RawFd;

use wayhop_control::LinkState;
use wayhop_control::answer::LinkOverride;
use wayhop_core::Mac;
use wayhop_linux::Error;
use wayhop_netns::Namespace;
use wayhop_netns::order;

/// The name of the interface in each node's namespace.
pub(super) const INTERFACE: &str = "eth1";

const TABLE: &str = "table bridge macfilter {\n set ignored {\n type ifname . ether_addr\n }\n chain lossy {\n }\n \
                     chain forward {\n type filter hook forward priority 0;\n oifname . ether saddr @ignored drop\n \
                     jump lossy\n }\n}\n";

/// The bridge and its filter.
pub(super) struct Wire {
    hub: Namespace,
    macs: Vec<Mac>,
    /// Node and link address: what the macfilter has it ignore now.
    ignored: BTreeSet<(u32, Mac)>,
    /// Sender and receiver of the links that somebody overrode.
    overridden: BTreeMap<(u32, u32), LinkState>,
    /// Nodes that are down: nobody hears them, and they hear nobody.
    down: BTreeSet<u32>,
    /// What the kernel was told.
    applied: BTreeSet<(u32, Mac)>,
    applied_losses: String,
}

impl Wire {
    /// Makes it, and a namespace for each node.
    pub(super) fn new(addresses: &[Ipv4Addr]) -> Result<(Self, Vec<Namespace>), Error> {
        let made = || Namespace::new().map_err(Error::system("make a network namespace"));
        let hub = made()?;
        let nodes = addresses.iter().map(|_| made()).collect::<Result<Vec<_>, _>>()?;
        let mut orders =
            "link add br0 type bridge ageing_time 0 mcast_snooping 0\nlink set br0 up\n".to_owned();
        for (i, (node, addr)) in nodes.iter().zip(addresses).enumerate() {
            orders += &[
                format!("link add p{i} type veth peer name {INTERFACE} "),
                format!("address {} netns {}\n", Mac::from_addr(*addr), path(node.fd())),
                format!("link set p{i} master br0 up\n"),
            ]
            .concat();
        }
        let failed =
            |what| Error::system(format!("{what} (Debian's packages iproute2 and nftables are needed)"));
        order(&hub, "ip", &["-batch", "-"], &orders).map_err(failed("make the wire"))?;
        for node in &nodes {
            // Router solicitations of 100 nodes would be traffic that nobody asked for; a kernel without IPv6 sends none.
            let quiet = || {
                let _ = std::fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
                // Programs without privileges may ping.
                std::fs::write("/proc/sys/net/ipv4/ping_group_range", "0 2147483647")
            };
            node.within(quiet).map_err(Error::system("set up a node's namespace"))?;
            let orders = format!("link set {INTERFACE} up\n");
            order(node, "ip", &["-batch", "-"], &orders).map_err(failed("raise a node's interface"))?;
        }
        order(&hub, "nft", &["-f", "-"], TABLE).map_err(failed("make the macfilter"))?;
        let wire = Self {
            hub,
            macs: addresses.iter().map(|a| Mac::from_addr(*a)).collect(),
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
        if node as usize >= self.macs.len() {
            return Err(Error::Config(format!("the macfilter names a node {node} that there is not")));
        }
        self.ignored.retain(|(n, _)| *n != node);
        self.ignored.extend(from.into_iter().map(|m| (node, m)));
        Ok(())
    }

    /// Overrides what one node hears of another, from the next [`Wire::apply`] on, or ends that.
    pub(super) fn set_link(&mut self, from: u32, to: u32, state: LinkState) {
        match state {
            LinkState::Model => drop(self.overridden.remove(&(from, to))),
            other => drop(self.overridden.insert((from, to), other)),
        }
    }

    /// Cuts a node off, from the next [`Wire::apply`] on, or ends that.
    pub(super) fn set_down(&mut self, node: u32, down: bool) {
        if down {
            self.down.insert(node);
        } else {
            self.down.remove(&node);
        }
    }

    /// The links that are overridden.
    pub(super) fn links(&self) -> Vec<LinkOverride> {
        let one = |(&(from, to), &state): (&(u32, u32), &LinkState)| LinkOverride { from, to, state };
        self.overridden.iter().map(one).collect()
    }

    /// Makes it so, at one moment for all nodes.
    pub(super) fn apply(&mut self) -> Result<(), Error> {
        let (wanted, losses) = self.effective();
        let list = |verb: &str, some: Vec<&(u32, Mac)>| {
            let elements: Vec<String> = some.iter().map(|(n, m)| format!("\"p{n}\" . {m}")).collect();
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
        for (&(from, to), state) in &self.overridden {
            let mac = self.macs[from as usize];
            match *state {
                LinkState::Up => drop(ignored.remove(&(to, mac))),
                LinkState::Down => drop(ignored.insert((to, mac))),
                LinkState::Loss(share) => {
                    let of_a_million = (share.clamp(0.0, 1.0) * 1e6).round() as u32;
                    let _ = writeln!(
                        losses,
                        "add rule bridge macfilter lossy oifname \"p{to}\" ether saddr {mac} numgen random mod 1000000 < \
                         {of_a_million} drop"
                    );
                }
                LinkState::Model => {}
            }
        }
        for &node in &self.down {
            for (other, mac) in self.macs.iter().enumerate().filter(|(i, _)| *i != node as usize) {
                ignored.insert((node, *mac));
                ignored.insert((other as u32, self.macs[node as usize]));
            }
        }
        (ignored, losses)
    }
}

/// Where other processes find a namespace of this one.
fn path(fd: RawFd) -> String {
    format!("/proc/{}/fd/{fd}", std::process::id())
}
