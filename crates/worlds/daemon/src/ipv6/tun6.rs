//! IPv6 at the TUN interface, and conflicts at the mesh interfaces.

use std::fs;
use std::net::Ipv6Addr;

use nix::ifaddrs::InterfaceAddress;
use wayhop_core::Prefix;
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{Error, Tun, interface};
use wayhop_wire::ipv6::MIN_MTU;

use crate::config::plan::Addresses;
use crate::undo::DISABLE_IPV6;

/// Gives the TUN the node's IPv6 address, and leads there what the node has routes for.
pub(crate) fn prepare(
    tun: &Tun,
    name: &str,
    addresses: &Addresses,
    mtu: usize,
    netlink: &mut Netlink,
) -> Result<(), Error> {
    let Some((addr, prefix_len)) = addresses.own6 else { return Ok(()) };
    check_mtu(name, mtu)?;
    // No link-local address, and no search for routers. The first of them takes away what the kernel has given the interface.
    for (key, value) in [(DISABLE_IPV6, "1"), ("addr_gen_mode", "1"), ("accept_ra", "0"), (DISABLE_IPV6, "0")]
    {
        let path = interface::ipv6_setting(name, key);
        let failed = format!("write {} (address6 needs a kernel with IPv6)", path.display());
        fs::write(&path, value).map_err(Error::system(failed))?;
    }
    tun.add_address6(addr, prefix_len)
        .map_err(Error::system(format!("give {name} the address {addr}/{prefix_len}")))?;
    let mut routed = addresses.networks6().into_iter().flat_map(|(_, routed)| routed);
    routed.try_for_each(|to| lead(to, tun, name, netlink))
}

pub(crate) fn lead(to: Prefix, tun: &Tun, name: &str, netlink: &mut Netlink) -> Result<(), Error> {
    let Some(net) = to.addr.v6() else { return Ok(()) };
    match netlink.route6(net, to.len, tun.index()) {
        // An earlier life of the interface had it, too: it is there.
        Err(e) if e.raw_os_error() != Some(nix::libc::EEXIST) => {
            Err(Error::system(format!("add a route to {to} through {name}"))(e))
        }
        _ => Ok(()),
    }
}

/// Whether the TUN can carry IPv6 with this MTU.
pub(crate) fn check_mtu(name: &str, mtu: usize) -> Result<(), Error> {
    if mtu >= MIN_MTU {
        return Ok(());
    }
    Err(Error::Config(format!(
        "address6: {name} would have an MTU of {mtu}, and IPv6 needs {MIN_MTU}; give the mesh interface a \
         larger MTU, or remove address6"
    )))
}

/// A node turns the kernel's IPv6 off at its interfaces, which would take their addresses away.
pub(crate) fn check_address(a: &InterfaceAddress, tun: &str) -> Result<(), Error> {
    let name = &a.interface_name;
    let addr: Option<Ipv6Addr> = a.address.and_then(|s| Some(s.as_sockaddr_in6()?.ip()));
    match addr.filter(|addr| !addr.is_unicast_link_local()) {
        Some(addr) => Err(Error::System(format!(
            "{name} has the address {addr}, but with address6 only {tun} may have IPv6 addresses; remove \
             it: ip -6 address flush dev {name} scope global"
        ))),
        None => Ok(()),
    }
}
