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
    /// A mac80211 driver, which may report acknowledgements.
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

/// Where the kernel shows its devices.
const SYS: &str = "/sys";
/// Interfaces on interfaces: a VLAN on a bond on two cards has two.
const MOST_LAYERS: u32 = 8;

/// Whether what is sent on an interface leaves this machine by a card, as far as the kernel tells: it is one, or is on one, as bridges and VLANs
/// are. Tunnels and devices for tests (veth, dummy, lo, hwsim) are virtual, and on none.
pub fn leads_out(name: &str) -> bool {
    leads_out_in(Path::new(SYS), name, MOST_LAYERS)
}

fn leads_out_in(sys: &Path, name: &str, layers: u32) -> bool {
    let Ok(device) = fs::canonicalize(sys.join("class/net").join(name)) else { return false };
    let Ok(devices) = fs::canonicalize(sys.join("devices")) else { return false };
    if !device.starts_with(devices.join("virtual")) {
        return true;
    }
    let entries = fs::read_dir(device).into_iter().flatten().filter_map(Result::ok);
    let mut lower = entries.filter_map(|e| Some(e.file_name().to_str()?.strip_prefix("lower_")?.to_owned()));
    layers > 0 && lower.any(|below| leads_out_in(sys, &below, layers - 1))
}

/// Whether an interface is up. One that nobody knows of is not said to be down.
pub fn is_up(name: &str) -> bool {
    let mut all = nix::ifaddrs::getifaddrs().into_iter().flatten();
    all.find(|i| i.interface_name == name)
        .is_none_or(|i| i.flags.contains(nix::net::if_::InterfaceFlags::IFF_UP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_lead_out_and_so_does_what_is_on_them() {
        let sys = tempfile::tempdir().expect("a folder");
        let net = sys.path().join("class/net");
        fs::create_dir_all(&net).expect("room");
        for (name, device) in [
            ("wlan0", "devices/pci0000:00/0000:00:03.0/net/wlan0"),
            ("veth0", "devices/virtual/net/veth0"),
            ("hwsim1", "devices/virtual/mac80211_hwsim/hwsim0/net/hwsim1"),
            ("br0", "devices/virtual/net/br0"),
            ("br1", "devices/virtual/net/br1"),
            ("br0.5", "devices/virtual/net/br0.5"),
            ("ring", "devices/virtual/net/ring"),
        ] {
            let device = sys.path().join(device);
            fs::create_dir_all(&device).expect("room");
            std::os::unix::fs::symlink(device, net.join(name)).expect("room");
        }
        for (upper, lower) in [("br0", "wlan0"), ("br1", "veth0"), ("br0.5", "br0"), ("ring", "ring")] {
            std::os::unix::fs::symlink(net.join(lower), net.join(upper).join(format!("lower_{lower}")))
                .expect("room");
        }
        let out = |name: &str| leads_out_in(sys.path(), name, MOST_LAYERS);
        assert!(["wlan0", "br0", "br0.5"].into_iter().all(out));
        assert!(!["veth0", "hwsim1", "br1", "ring", "none"].into_iter().any(out));
    }

    #[test]
    fn the_loopback_does_not_lead_out() {
        assert!(!leads_out("lo"));
    }
}
