//! Interfaces: facts about them, and their settings (sysctls).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wayhop_core::Mac;

/// Where the kernel keeps this setting of an interface (or of `all`).
pub fn ipv4_setting(interface: &str, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/sys/net/ipv4/conf/{interface}/{name}"))
}

/// The same of IPv6; a kernel without IPv6 has none.
pub fn ipv6_setting(interface: &str, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/sys/net/ipv6/conf/{interface}/{name}"))
}

/// Reads a setting.
pub fn read(path: &Path) -> io::Result<String> {
    fs::read_to_string(path).map(|s| s.trim().to_owned())
}

/// What an interface is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InterfaceFacts {
    /// The kernel's number of it.
    pub index: u32,
    /// Its link address.
    pub mac: Mac,
    /// The longest packet on it, octets.
    pub mtu: usize,
    /// A driver of the mac80211 kind, which may tell of acknowledgements.
    pub wireless: bool,
}

/// Looks at an interface.
pub fn facts(name: &str) -> io::Result<InterfaceFacts> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    let index = nix::net::if_::if_nametoindex(name)?;
    let (mac, mtu) = crate::syscalls::interface(std::os::fd::AsFd::as_fd(&socket), name)?;
    let wireless = fs::metadata(format!("/sys/class/net/{name}/phy80211")).is_ok();
    Ok(InterfaceFacts { index, mac: Mac(mac), mtu, wireless })
}

/// Whether an interface is up. One that nobody knows of is not said to be down.
pub fn is_up(name: &str) -> bool {
    let mut all = nix::ifaddrs::getifaddrs().into_iter().flatten();
    all.find(|i| i.interface_name == name)
        .is_none_or(|i| i.flags.contains(nix::net::if_::InterfaceFlags::IFF_UP))
}
