//! Setting the host back, also after `kill -9`.
//!
//! A second process holds the end of a pipe. The node tells it, before each change, how to undo it, and then seals the
//! list: what comes later is ignored, so that a node that an attacker has taken over cannot give it orders. When the pipe
//! ends, because the node ends it or because the node is no more, the list is carried out. There is no second way: an
//! orderly end undoes its changes the same way.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _, stdin};
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use nix::net::if_::if_nametoindex;
use nix::unistd::dup;
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{Error, interface};

/// The command, hidden from users, that runs [`undo`].
pub const UNDO_COMMAND: &str = "node-undo";

/// The setting that turns the kernel's own IPv6 off.
pub(crate) const DISABLE_IPV6: &str = "disable_ipv6";
const SEALED: &str = "sealed";
/// Longest list, octets.
const MAX_LIST: u64 = 64 << 10;

/// The node's end of the pipe.
pub(crate) struct Undo {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Undo {
    /// Starts the other process. What it is to hold stays open until its work is done.
    pub(crate) fn start<'a>(hold: impl Iterator<Item = BorrowedFd<'a>>) -> Result<Self, Error> {
        let start = || {
            // Duplicates that are inherited: they have no flag to be closed when another program is executed.
            let _inherited = hold.map(dup).collect::<Result<Vec<_>, _>>()?;
            let mut child = Command::new("/proc/self/exe")
                .arg(UNDO_COMMAND)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                // Signals to the node's group, as from a terminal, are not for it.
                .process_group(0)
                .spawn()?;
            let pipe = child.stdin.take();
            Ok(Self { child, pipe })
        };
        start().map_err(Error::system("start the process that sets the host back"))
    }

    fn tell(&mut self, line: &str) -> Result<(), Error> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        writeln!(pipe, "{line}").map_err(Error::system("talk to the process that sets the host back"))
    }

    /// Changes a setting of an interface, if it is not so already.
    pub(crate) fn set(&mut self, interface: &str, name: &str, value: &str) -> Result<(), Error> {
        self.change(&interface::ipv4_setting(interface, name), &format!("set {interface} {name}"), value)
    }

    /// Turns the kernel's own IPv6 off at an interface.
    pub(crate) fn disable_ipv6(&mut self, interface: &str) -> Result<(), Error> {
        let path = interface::ipv6_setting(interface, DISABLE_IPV6);
        self.change(&path, &format!("set6 {interface}"), "1")
    }

    fn change(&mut self, path: &Path, what: &str, value: &str) -> Result<(), Error> {
        let failed = |verb| Error::system(format!("{verb} {}", path.display()));
        let old = interface::read(path).map_err(failed("read"))?;
        if old == value {
            return Ok(());
        }
        self.tell(&format!("{what} {old}"))?;
        fs::write(path, value).map_err(failed("write"))
    }

    /// The node will make routes by this interface, and by one that takes its place under its name.
    pub(crate) fn routes(&mut self, interface: &str, ifindex: u32) -> Result<(), Error> {
        self.tell(&format!("routes {interface} {ifindex}"))
    }

    /// The node will confine what comes by this interface.
    pub(crate) fn rules(&mut self, interface: &str) -> Result<(), Error> {
        self.tell(&format!("rules {interface}"))
    }

    /// The node gives this interface its address, and one that takes its place.
    pub(crate) fn address(&mut self, addr: Ipv4Addr, interface: &str, ifindex: u32) -> Result<(), Error> {
        self.tell(&format!("address {addr} {interface} {ifindex}"))
    }

    /// The node makes a socket here, in a folder that it will not be able to write to.
    pub(crate) fn unlink(&mut self, socket: &Path) -> Result<(), Error> {
        self.tell(&format!("unlink {}", socket.display()))
    }

    /// No more changes will come.
    pub(crate) fn seal(&mut self) -> Result<(), Error> {
        self.tell(SEALED)
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        self.pipe = None;
        let _ = self.child.wait();
    }
}

/// Reads a list from standard input and carries it out, the last change first, when the pipe ends.
pub fn undo() -> Result<(), Error> {
    // Whoever ends the node may mean this process, too, and must not get it before its work is done.
    let _ = nix::sys::signal::SigSet::all().thread_block();
    crate::privileges::keep_network_admin()?;
    let mut input = BufReader::new(stdin().lock().take(MAX_LIST));
    let mut changes = VecDeque::new();
    let mut line = String::new();
    while input.read_line(&mut line).is_ok_and(|n| n > 0) {
        if line.trim_end() == SEALED {
            break;
        }
        changes.push_front(std::mem::take(&mut line));
    }
    let mut rest = input.into_inner().into_inner();
    let _ = std::io::copy(&mut rest, &mut std::io::sink());
    for c in &changes {
        carry_out(c);
    }
    Ok(())
}

fn carry_out(change: &str) {
    let words: Vec<&str> = change.split_whitespace().collect();
    match words[..] {
        // An interface that is gone has taken its settings with it.
        ["set", interface, name, value] => {
            let path = interface::ipv4_setting(interface, name);
            if Path::new("/proc/sys/net/ipv4/conf").join(interface).is_dir() {
                let _ = fs::write(path, value);
            }
        }
        ["set6", interface, value] => {
            let path = interface::ipv6_setting(interface, DISABLE_IPV6);
            if path.is_file() {
                let _ = fs::write(path, value);
            }
        }
        ["address", addr, interface, ifindex] => {
            if let Ok(addr) = addr.parse() {
                for index in indexes(interface, ifindex) {
                    let _ = Netlink::open().and_then(|mut n| n.remove_address(addr, index));
                }
            }
        }
        ["unlink", socket] => {
            let is_socket = |m: fs::Metadata| m.file_type().is_socket();
            if fs::symlink_metadata(socket).is_ok_and(is_socket) {
                let _ = fs::remove_file(socket);
            }
        }
        ["rules", interface] => {
            let _ = Netlink::open().and_then(|mut n| n.free(interface));
        }
        ["routes", interface, ifindex] => {
            for index in indexes(interface, ifindex) {
                let _ = Netlink::open().and_then(|mut n| n.remove_all(index));
            }
        }
        _ => {}
    }
}

/// The interface that was meant, and the one that has its name now.
fn indexes(interface: &str, ifindex: &str) -> Vec<u32> {
    let mut all: Vec<u32> = ifindex.parse().into_iter().chain(if_nametoindex(interface)).collect();
    all.dedup();
    all
}
