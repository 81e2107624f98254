//! The kernel's part of an outage: the node's address and its TUN are removed and restored.

use wayhop_linux::Error;
use wayhop_wire::ipv6::MIN_MTU;

use crate::interfaces::mesh_interface::MeshInterface;
use crate::ipv6::tun6;
use crate::kernel::set_up::Kernel;

impl Kernel {
    /// Takes the node's addresses from this host, so that the kernel answers nobody and programs find no network; or brings them back.
    /// All that is needed was kept: CAP_NET_ADMIN.
    pub(crate) fn switch(&mut self, attached: &[MeshInterface], up: bool) -> Result<(), Error> {
        let Self { plan, netlink, tun, tun_name: name, .. } = self;
        let verb = if up { "up" } else { "down" };
        // An address that is on the TUN is answered for at every interface.
        tun.set_up(up).map_err(Error::system(format!("take {name} {verb}")))?;
        if up && plan.addresses.own6.is_some() {
            // The kernel takes IPv6 addresses and routes away from an interface that goes down.
            tun6::prepare(tun, name, &plan.addresses, MIN_MTU, netlink)?;
        }
        let address = plan.addresses.own;
        for a in attached.iter().filter(|a| !a.is_gone) {
            let index = a.facts.index;
            let done =
                if up { netlink.add_address(address, index) } else { netlink.remove_address(address, index) };
            done.map_err(Error::system(format!("take {address} at {} {verb}", a.name)))?;
        }
        Ok(())
    }
}
