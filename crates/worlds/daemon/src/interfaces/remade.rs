//! An interface that disappeared and came back under its name: a USB adapter that was plugged in
//! again, a recreated veth. The node takes it over.

use wayhop_core::IfaceId;
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{Error, interface};

use crate::interfaces::mesh_interface::{MeshInterfaces, port};
use crate::interfaces::settings::{interface_settings, write, write_settings};
use crate::interfaces::sockets::{open_sockets, watch_tx_status};
use crate::log::Log;
use crate::node::host::Host;
use crate::undo::DISABLE_IPV6;

impl MeshInterfaces {
    /// Continues with the interface of this number, which now has the configured name. The node has
    /// kept all that it needs for this: CAP_NET_ADMIN, CAP_NET_RAW, the loaded programs, the socket
    /// that holds the port.
    pub(crate) fn take_over(
        &mut self,
        iface: IfaceId,
        host: &mut Host,
        netlink: &mut Netlink,
        log: &Log,
    ) -> Result<(), Error> {
        let own = &mut self.all[iface.index()];
        let name = &own.name;
        let interface = interface::facts(name).map_err(Error::system(format!("query {name}")))?;
        // Before the kernel forwards.
        own.programs.move_to(name, interface.index).map_err(|(what, e)| Error::system(what)(e))?;
        write_settings(name, interface_settings(name, host.plane))?;
        if self.addresses.own6.is_some() {
            write(&interface::ipv6_setting(name, DISABLE_IPV6), "1")?;
        }
        // A node that is down has none.
        if host.node.is_up() {
            netlink
                .add_address(self.addresses.own, interface.index)
                .map_err(Error::system(format!("give {name} the node's address")))?;
        }
        for socket in &own.silence {
            socket
                .bind_device(Some(name.as_bytes()))
                .map_err(Error::system(format!("bind a socket to {name}")))?;
        }
        own.sockets = open_sockets(host, &interface, own.programs.forwarding.as_ref())?;
        watch_tx_status(host, iface, &own.sockets, interface.index, log);
        host.set_port(iface, &port(name, &interface, None));
        // The old one took its routes with it.
        host.around.renew_routes();
        own.facts = interface;
        Ok(())
    }
}
