//! Addresses of this host's interfaces that conflict with the mesh: packets from the mesh would
//! reach another network, or bypass the mesh.

use std::net::Ipv4Addr;

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::sys::socket::SockaddrStorage;
use wayhop_linux::Error;

use crate::config::plan::{Addresses, KernelPlan};
use crate::ipv6::tun6;

fn all() -> Result<impl Iterator<Item = InterfaceAddress>, Error> {
    getifaddrs().map_err(|e| Error::System(format!("cannot list addresses: {e}")))
}

fn v4(s: Option<SockaddrStorage>) -> Option<Ipv4Addr> {
    Some(s?.as_sockaddr_in()?.ip())
}

/// Whether an interface has an address with which it has no network.
pub(crate) fn has_address(name: &str, addr: Ipv4Addr) -> Result<bool, Error> {
    Ok(all()?.any(|a| a.interface_name == name && v4(a.address) == Some(addr)))
}

/// Whether all addresses of this host go with the mesh. `may_run`: whether the TUN may be there, as that of a node that runs.
pub(crate) fn check(plan: &KernelPlan, may_run: bool) -> Result<(), Error> {
    for a in all()?.filter(|a| !(may_run && a.interface_name == plan.tun)) {
        let name = &a.interface_name;
        let is_in_mesh = plan.interfaces.contains(name);
        if is_in_mesh && plan.addresses.own6.is_some() {
            tun6::check_address(&a, &plan.tun)?;
        }
        let (Some(addr), Some(netmask)) = (v4(a.address), v4(a.netmask)) else { continue };
        if *name == plan.tun {
            return Err(Error::System(format!(
                "interface {name} already exists; stop the other node, or set another `tun`"
            )));
        }
        check_overlap(&plan.addresses, name, (addr, netmask.to_bits().count_ones() as u8), is_in_mesh)?;
    }
    Ok(())
}

/// Whether the network of an interface's address has addresses in common with the mesh; a host's address has no network.
/// `is_in_mesh`: whether the interface is one of the node's. Its route would be one of its own, around the mesh.
pub(crate) fn check_overlap(
    own: &Addresses,
    name: &str,
    (addr, len): (Ipv4Addr, u8),
    is_in_mesh: bool,
) -> Result<(), Error> {
    let mask = |len: u8| u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
    let both = mask(own.mesh.len().min(len));
    if len >= 32 || addr.to_bits() & both != own.own.to_bits() & both {
        return Ok(());
    }
    if is_in_mesh {
        return Err(Error::System(format!(
            "{name} has the address {addr}/{len}, whose route would bypass the mesh; remove it: ip address \
             del {addr}/{len} dev {name}"
        )));
    }
    let network = Ipv4Addr::from_bits(addr.to_bits() & mask(len));
    Err(Error::System(format!(
        "the mesh {}/{} overlaps with the network {network}/{len} of {name}, which packets from the mesh \
         would reach; give the mesh a prefix of its own (`address`)",
        own.mesh.network(),
        own.mesh.len(),
    )))
}
