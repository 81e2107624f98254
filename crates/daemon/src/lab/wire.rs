//! The wire: one namespace a node, a bridge in one more, and the filter on it.
//!
//! The bridge forgets at once where it heard whom, so that every frame reaches every port, as on a shared medium. The
//! macfilter sits where the bridge hands a frame to a node's port: what a node ignores never reaches its interface.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Command, Stdio};
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};
use wayhop_core::{Addr, Mac};

use super::link_address;
use crate::error::Error;

/// The name of the interface in each node's namespace.
pub(super) const INTERFACE: &str = "eth1";

/// A network namespace that lives as long as this value, or a program in it.
pub(super) struct Namespace(OwnedFd);

impl Namespace {
    fn new() -> io::Result<Self> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net").map(|f| Self(f.into()))
        })
    }

    /// Calls something inside of it, on a thread of its own. What is opened or started there stays there.
    pub(super) fn within<T: Send>(&self, f: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        in_thread(|| {
            setns(&self.0, CloneFlags::CLONE_NEWNET)?;
            f()
        })
    }

    /// Where other processes find it.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Gives a program, which reads orders from its standard input, these orders inside of it.
    fn order(&self, program: &str, arguments: &[&str], orders: &str) -> io::Result<()> {
        let mut child = self.within(|| {
            Command::new(program)
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
        })?;
        if let Some(mut to) = child.stdin.take() {
            to.write_all(orders.as_bytes())?;
        }
        let done = child.wait_with_output()?;
        if done.status.success() {
            return Ok(());
        }
        Err(io::Error::other(String::from_utf8_lossy(&done.stderr).trim().to_owned()))
    }
}

fn in_thread<T: Send>(f: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|s| s.spawn(f).join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked"))))
}

/// The wire and the nodes' namespaces.
pub(super) struct Wire {
    hub: Namespace,
    nodes: Vec<Namespace>,
    /// Node and link address: what is ignored now, and what is to be.
    applied: BTreeSet<(u32, Mac)>,
    wanted: BTreeSet<(u32, Mac)>,
}

impl Wire {
    /// Makes them.
    pub(super) fn new(addresses: &[Addr]) -> Result<Self, Error> {
        let made = || Namespace::new().map_err(Error::system("make a network namespace"));
        let hub = made()?;
        let nodes = addresses.iter().map(|_| made()).collect::<Result<Vec<_>, _>>()?;
        let mut orders =
            "link add br0 type bridge ageing_time 0 mcast_snooping 0\nlink set br0 up\n".to_owned();
        for (i, (node, addr)) in nodes.iter().zip(addresses).enumerate() {
            orders += &[
                format!("link add p{i} type veth peer name {INTERFACE} "),
                format!("address {} netns {}\n", link_address(*addr), node.path()),
                format!("link set p{i} master br0 up\n"),
            ]
            .concat();
        }
        let failed =
            |what| Error::system(format!("{what} (Debian's packages iproute2 and nftables are needed)"));
        hub.order("ip", &["-batch", "-"], &orders).map_err(failed("make the wire"))?;
        for node in &nodes {
            let orders = format!("link set lo up\nlink set {INTERFACE} up\n");
            node.order("ip", &["-batch", "-"], &orders).map_err(failed("raise a node's interface"))?;
        }
        let table = "table bridge macfilter {\n set ignored {\n type ifname . ether_addr\n }\n chain forward {\n \
                     type filter hook forward priority 0;\n oifname . ether saddr @ignored drop\n }\n}\n";
        hub.order("nft", &["-f", "-"], table).map_err(failed("make the macfilter"))?;
        Ok(Self { hub, nodes, applied: BTreeSet::new(), wanted: BTreeSet::new() })
    }

    /// A node's namespace.
    pub(super) fn node(&self, i: usize) -> &Namespace {
        &self.nodes[i]
    }

    /// From the next [`Wire::apply`] on, a node ignores these, and nobody else.
    pub(super) fn ignore(&mut self, node: u32, from: Vec<Mac>) -> Result<(), Error> {
        if node as usize >= self.nodes.len() {
            return Err(Error::Config(format!("the macfilter names a node {node} that there is not")));
        }
        self.wanted.retain(|(n, _)| *n != node);
        self.wanted.extend(from.into_iter().map(|m| (node, m)));
        Ok(())
    }

    /// Makes it so, at one moment for all nodes.
    pub(super) fn apply(&mut self) -> Result<(), Error> {
        let list = |verb: &str, some: Vec<&(u32, Mac)>| {
            let elements: Vec<String> = some.iter().map(|(n, m)| format!("\"p{n}\" . {m}")).collect();
            match elements.len() {
                0 => String::new(),
                _ => format!("{verb} element bridge macfilter ignored {{ {} }}\n", elements.join(", ")),
            }
        };
        let gone = list("delete", self.applied.difference(&self.wanted).collect());
        let new = list("add", self.wanted.difference(&self.applied).collect());
        if !(gone.is_empty() && new.is_empty()) {
            self.hub
                .order("nft", &["-f", "-"], &(gone + &new))
                .map_err(Error::system("change the macfilter"))?;
            self.applied.clone_from(&self.wanted);
        }
        Ok(())
    }
}
