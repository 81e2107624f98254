//! Interfaces that go down and up, disappear and return, or change: the node follows.

use wayhop_core::{DataPlane, IfaceId, LinkChange};
use wayhop_linux::Error;
use wayhop_linux::interface::InterfaceFacts;
use wayhop_linux::listing::LinkInfo;
use wayhop_linux::netlink::Netlink;

use crate::interfaces::mesh_interface::{MeshInterface, MeshInterfaces, port};
use crate::interfaces::sockets::{open_sockets, watch_tx_status};
use crate::log::Log;
use crate::node::host::Host;

impl MeshInterfaces {
    /// What the kernel says of an interface. Returns whether it is one of the node's, and has changed.
    pub(crate) fn hear(
        &mut self,
        link: &LinkInfo,
        host: &mut Host,
        netlink: &mut Netlink,
        log: &Log,
    ) -> Result<bool, Error> {
        let of = |wanted: fn(&MeshInterface, &LinkInfo) -> bool| {
            let mut all = (0..).map(IfaceId).zip(&self.all);
            all.find(|(_, a)| wanted(a, link)).map(|(iface, _)| iface)
        };
        let returned = of(|a, link| a.is_gone && a.name == link.name);
        if let Some(iface) = of(|a, link| !a.is_gone && a.facts.index == link.index) {
            let has_changed = self.follow(iface, link, host, netlink, log)?;
            return Ok(self.is_up_or_down(iface, link.is_up, host, log) || has_changed);
        }
        let Some(iface) = returned else { return Ok(false) };
        match self.take_over(iface, host, netlink, log) {
            Ok(()) => {
                let a = &mut self.all[iface.index()];
                (a.is_up, a.is_gone, a.trouble) = (link.is_up, false, None);
                log.info(format_args!("{}: the interface is back", a.name));
                if link.is_up {
                    host.link(iface, LinkChange::Up);
                    host.announce(iface);
                }
            }
            // The next look is a new occasion.
            Err(e) => {
                let trouble = &mut self.all[iface.index()].trouble;
                let e = e.to_string();
                if trouble.as_ref() != Some(&e) {
                    log.warning(&e);
                    *trouble = Some(e);
                }
            }
        }
        Ok(true)
    }

    /// There is no interface of this number any more.
    pub(crate) fn gone(&mut self, index: u32, host: &mut Host, log: &Log) {
        let gone = (0..).zip(&mut self.all).find(|(_, a)| a.facts.index == index && !a.is_gone);
        let Some((i, a)) = gone else { return };
        if std::mem::replace(&mut a.is_up, false) {
            host.link(IfaceId(i), LinkChange::Down);
            host.around.renew_routes();
        }
        a.is_gone = true;
        let waits_for = self.names.get(usize::from(i)).unwrap_or(&a.name).clone();
        let name = std::mem::replace(&mut a.name, waits_for);
        log.warning(format_args!("{name}: the interface is gone; waiting for an interface named {}", a.name));
    }

    fn is_up_or_down(&mut self, iface: IfaceId, up: bool, host: &mut Host, log: &Log) -> bool {
        let is_only_one = self.all.len() == 1;
        let a = &mut self.all[iface.index()];
        if a.is_up == up {
            return false;
        }
        a.is_up = up;
        let state = if up { "up" } else { "down" };
        log.info(format_args!("{}: the interface is {state}", a.name));
        host.link(iface, if up { LinkChange::Up } else { LinkChange::Down });
        if up {
            // It may have become another meanwhile, while nobody could be told.
            host.announce(iface);
        }
        if up || !is_only_one {
            // The kernel forgot the routes by it.
            host.around.renew_routes();
        }
        true
    }

    /// Adopts the new name, link address or MTU of an interface.
    fn follow(
        &mut self,
        iface: IfaceId,
        link: &LinkInfo,
        host: &mut Host,
        netlink: &mut Netlink,
        log: &Log,
    ) -> Result<bool, Error> {
        let own = &self.all[iface.index()];
        let (name, was) = (own.name.clone(), own.facts);
        let now = InterfaceFacts { mac: link.mac.unwrap_or(was.mac), mtu: link.mtu, ..was };
        if link.name == name && now == was {
            return Ok(false);
        }
        if link.name != name {
            self.rename(iface, &link.name, host.plane, netlink)?;
            tell(host, log, &format!("the name of {name}"), &format!("the node now uses {}", link.name));
        }
        let own = &mut self.all[iface.index()];
        own.facts = now;
        if now.mtu != was.mtu {
            // Its memory is for frames of the old length.
            own.sockets = open_sockets(host, &now, own.programs.forwarding.as_ref())?;
            watch_tx_status(host, iface, &own.sockets, now.index, log);
        }
        host.set_port(iface, &port(&link.name, &now, None));
        if now.mac != was.mac {
            host.announce(iface);
            let what = format!("the link address of {}", link.name);
            tell(host, log, &what, &format!("the node now uses {}", now.mac));
        }
        if now.mtu != was.mtu {
            let what = format!("the MTU of {}", link.name);
            tell(host, log, &what, &format!("the node's packets now have at most {} bytes", now.mtu));
        }
        Ok(true)
    }

    /// What goes by the interface's name. Sockets and programs go by its number.
    fn rename(
        &mut self,
        iface: IfaceId,
        to: &str,
        plane: DataPlane,
        netlink: &mut Netlink,
    ) -> Result<(), Error> {
        let own = &mut self.all[iface.index()];
        let from = std::mem::replace(&mut own.name, to.to_owned());
        for s in &self.signals {
            s.rename(&from, to);
        }
        if own.programs.need_rules(plane, self.outside) {
            netlink
                .confine(to, self.addresses.mesh, self.outside)
                .and_then(|()| netlink.free(&from))
                .map_err(Error::system(format!("confine packets from {to} to the mesh")))?;
        }
        Ok(())
    }
}

/// Logs what changed, and what the node did.
fn tell(host: &mut Host, log: &Log, what: &str, done: &str) {
    log.info(format_args!("{what} changed: {done}"));
    let now = host.now();
    host.around.events.host(now, what, done);
}
