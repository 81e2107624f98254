//! What the host is set to: sysctls of interfaces, facts about them, and orders to the programs that set more.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use wayhop_core::Mac;
use wayhop_netns::Namespace;

/// Where the kernel keeps this setting of an interface (or of `all`).
pub(crate) fn ipv4_setting(interface: &str, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/sys/net/ipv4/conf/{interface}/{name}"))
}

/// Reads a setting.
pub(crate) fn read(path: &PathBuf) -> io::Result<String> {
    fs::read_to_string(path).map(|s| s.trim().to_owned())
}

/// What an interface is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct InterfaceFacts {
    pub(crate) index: u32,
    pub(crate) mac: Mac,
    pub(crate) mtu: usize,
    /// A driver of the mac80211 kind, which may tell of acknowledgements.
    pub(crate) wireless: bool,
}

/// Looks at an interface.
pub(crate) fn interface(name: &str) -> io::Result<InterfaceFacts> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    let index = nix::net::if_::if_nametoindex(name)?;
    let (mac, mtu) = crate::sys::interface(std::os::fd::AsFd::as_fd(&socket), name)?;
    let wireless = fs::metadata(format!("/sys/class/net/{name}/phy80211")).is_ok();
    Ok(InterfaceFacts { index, mac: Mac(mac), mtu, wireless })
}

/// Whether an interface is up. One that nobody knows of is not said to be down.
pub(crate) fn is_up(name: &str) -> bool {
    let mut all = nix::ifaddrs::getifaddrs().into_iter().flatten();
    all.find(|i| i.interface_name == name)
        .is_none_or(|i| i.flags.contains(nix::net::if_::InterfaceFlags::IFF_UP))
}

/// Gives a program, which reads orders from its standard input, these orders inside of a namespace.
pub(crate) fn order(
    namespace: &Namespace,
    program: &str,
    arguments: &[&str],
    orders: &str,
) -> io::Result<()> {
    let mut child = namespace.within(|| {
        Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C at a terminal is for this process; an order that was begun is carried out.
            .process_group(0)
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
