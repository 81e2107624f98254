//! Other networks of this host that have addresses of the mesh: what comes from the mesh would reach them, or would go around the mesh.

use std::net::Ipv4Addr;

use wayhop_linux::Error;

use crate::config::settings::Settings;

/// Whether the network of an interface's address has addresses in common with the mesh; a host's address has no network.
/// `is_in_mesh`: whether the interface is one of the node's.
pub(crate) fn check(
    settings: &Settings,
    name: &str,
    addr: Ipv4Addr,
    len: u8,
    is_in_mesh: bool,
) -> Result<(), Error> {
    let own = settings.address;
    let mask = |len: u8| u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
    let both = mask(settings.prefix_len.min(len));
    if len >= 32 || addr.to_bits() & both != own.to_bits() & both {
        return Ok(());
    }
    if is_in_mesh {
        return Err(Error::System(format!(
            "{name} has the address {addr}/{len}, whose route would lead around the mesh; take it away: \
             ip address del {addr}/{len} dev {name}"
        )));
    }
    let mesh = Ipv4Addr::from_bits(own.to_bits() & mask(settings.prefix_len));
    let network = Ipv4Addr::from_bits(addr.to_bits() & mask(len));
    Err(Error::System(format!(
        "the mesh {mesh}/{} and the network {network}/{len} of {name} have addresses in common: what comes from the mesh \
         would reach that network; give the mesh a prefix of its own (`address`)",
        settings.prefix_len
    )))
}
