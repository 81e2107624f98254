//! What the node stands on: whether the host has it as the node made it. What somebody changed is set back, or the node leaves.
//!
//! The kernel tells of most changes, and then the node looks at once. Of most settings it does not; so the node looks each second.
//! What it does itself is done when it looks.

use std::collections::HashSet;
use std::io;
use std::net::IpAddr;
use std::path::Path;

use nix::libc;
use wayhop_core::{DataPlane, IfaceId, Prefix as MeshPrefix, Route, Span, Time};
use wayhop_linux::host_news::HostChange;
use wayhop_linux::listing::{Address, KernelRoute, Link};
use wayhop_linux::{Error, Prefix, interface};

use crate::config::settings::Settings;
use crate::gateway::router;
use crate::interfaces::follow;
use crate::interfaces::settings::{interface_settings, tun_settings};
use crate::ipv6::tun6;
use crate::kernel::overlap;
use crate::kernel::resize;
use crate::kernel::routes::KernelRoutes;
use crate::log::Level;
use crate::run::repairs::{PATIENCE, Repairs};
use crate::run::setup::Ready;
use crate::undo::DISABLE_IPV6;

/// How often to look.
const EVERY: Span = Span::from_secs(1);
/// What comes together is looked at together.
const SETTLE: Span = Span::from_millis(20);
/// News does not make the node look more often.
const REST: Span = Span::from_millis(100);

/// When to look, and what was set back.
#[derive(Default)]
pub(crate) struct Watch {
    last: Time,
    next: Time,
    /// What the interfaces were part of at the look before, with their numbers.
    part_of: Vec<(u32, Option<u32>)>,
    /// Whether to look at the routes, too, which may be many. The kernel tells what happens to them.
    routes: bool,
    repairs: Repairs,
}

impl Watch {
    /// When to look.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Has the node look at once.
    pub(crate) fn look_now(&mut self, now: Time) {
        self.next = self.next.min(now);
    }

    /// Takes the kernel's news.
    pub(crate) fn hear(
        &mut self,
        ready: &mut Ready,
        settings: &Settings,
        told: &KernelRoutes,
    ) -> Result<(), Error> {
        for change in ready.news.take() {
            let with_routes = match change {
                HostChange::Link(link) => {
                    let is_other = link.index == ready.tun.index()
                        || router::uplink(settings).is_some_and(|name| name == link.name);
                    if !follow::is(ready, settings, &link)? && !is_other {
                        continue;
                    }
                    true
                }
                HostChange::Gone(index) => {
                    follow::gone(ready, settings, index);
                    true
                }
                // An address takes routes with it without a word.
                HostChange::Address | HostChange::Lost => true,
                HostChange::Route(r) if r.ifindex == ready.tun.index() || told.has(&r) => true,
                HostChange::Route(_) => continue,
                HostChange::Other => false,
            };
            self.routes |= with_routes;
            let soon = ready.host.now() + SETTLE;
            self.next = self.next.min(soon.max(self.last + REST));
        }
        Ok(())
    }

    /// Looks whether all is as the node made it. What is left of the node's own changes has to be carried out before.
    pub(crate) fn look(
        &mut self,
        ready: &mut Ready,
        settings: &Settings,
        told: &KernelRoutes,
    ) -> Result<(), Error> {
        self.last = ready.host.now();
        self.next = self.last + EVERY;
        let links = ready.netlink.links().map_err(Error::system("list the interfaces of this host"))?;
        for i in 0..ready.attached.len() {
            let a = &ready.attached[i];
            let (index, is_gone) = (a.facts.index, a.is_gone);
            let is_it = |l: &&Link| if is_gone { l.name == a.name } else { l.index == index };
            match links.iter().find(is_it) {
                Some(link) => self.routes |= follow::is(ready, settings, link)?,
                None => follow::gone(ready, settings, index),
            }
        }
        resize::tell_protocol(ready, settings);
        self.links(ready, &links)?;
        // Before the kernel forwards.
        self.gates(ready)?;
        router::check(settings)?;
        router::watch_uplink(settings, &links, ready.probe.as_mut(), &mut ready.host, &ready.log);
        self.settings(ready, settings)?;
        self.tun(ready, settings, &links)?;
        if ready.host.node.is_up() {
            self.addresses(ready, settings, &links)?;
            if std::mem::take(&mut self.routes) {
                self.routes(ready, settings, told)?;
            }
        }
        Ok(())
    }

    /// How the interfaces work.
    fn links(&mut self, ready: &mut Ready, links: &[Link]) -> Result<(), Error> {
        let of_node = |l: &&Link| ready.attached.iter().any(|a| !a.is_gone && a.facts.index == l.index);
        let own: Vec<&Link> = links.iter().filter(of_node).collect();
        let part_of: Vec<_> = own.iter().map(|l| (l.index, l.part_of)).collect();
        let before = std::mem::replace(&mut self.part_of, part_of);
        for l in own {
            let was = before.iter().find(|(index, _)| *index == l.index);
            if was.is_some_and(|(_, was)| *was != l.part_of) {
                let whole = links.iter().find(|w| Some(w.index) == l.part_of);
                let now = whole.map_or("no other interface", |w| &w.name);
                return Err(Error::System(format!(
                    "somebody made {} a part of {now}: its packets go another way, and the node leaves the mesh",
                    l.name
                )));
            }
            if !l.has_arp {
                let what = format!("ARP at {}", l.name);
                self.repair(ready, &what, "it is on again", |r| r.netlink.set_arp_on(l.index))?;
            }
        }
        Ok(())
    }

    /// Says what was changed, and what the node did.
    fn repaired(&mut self, ready: &mut Ready, what: &str, done: &str) -> Result<(), Error> {
        ready.log.tell(Level::Warning, format_args!("somebody changed {what}: {done}"));
        let now = ready.host.now();
        ready.host.around.events.host(now, what, done);
        if self.repairs.note(now, what) {
            return Ok(());
        }
        Err(Error::System(format!(
            "somebody changes {what} again and again: the node has set it back {PATIENCE} times within a minute, and leaves the mesh; \
             find the program (NetworkManager, systemd-networkd, a script), and have it leave this interface to the node"
        )))
    }

    /// Carries out a repair. What is gone meanwhile is seen at the next look.
    fn repair(
        &mut self,
        ready: &mut Ready,
        what: &str,
        done: &str,
        repair: impl FnOnce(&mut Ready) -> io::Result<()>,
    ) -> Result<(), Error> {
        match repair(ready) {
            Ok(()) => self.repaired(ready, what, done),
            Err(e) if matches!(e.raw_os_error(), Some(libc::ENODEV | libc::ENOENT | libc::ENXIO)) => Ok(()),
            Err(e) => Err(Error::System(format!(
                "somebody changed {what}, and the node cannot set it back ({e}): it leaves the mesh"
            ))),
        }
    }

    /// The programs at the interfaces, or the rules in their place.
    fn gates(&mut self, ready: &mut Ready) -> Result<(), Error> {
        for i in 0..ready.attached.len() {
            let own = &ready.attached[i];
            if own.is_gone {
                continue;
            }
            let (name, index) = (own.name.clone(), own.facts.index);
            let is_open = own.ignoring.as_ref().is_some_and(|p| !p.is_in_place())
                || own.ebpf.as_ref().is_some_and(|e| !e.are_in_place())
                || own.closed.as_ref().is_some_and(|c| !c.is_in_place());
            if is_open {
                self.repair(ready, &format!("the eBPF programs at {name}"), "they are there again", |r| {
                    let own = &mut r.attached[i];
                    own.ignoring.as_mut().map_or(Ok(()), |p| p.move_to(index))?;
                    own.ebpf.as_mut().map_or(Ok(()), |e| e.move_to(index))?;
                    own.closed.as_mut().map_or(Ok(()), |c| c.move_to(index))
                })?;
            }
            if ready.host.plane != DataPlane::Forwarding || ready.attached[i].ebpf.is_some() {
                continue;
            }
            let listed = ready.netlink.is_confined(&name);
            if !listed.map_err(Error::system("list the rules of this host"))? {
                let mesh = ready.host.around.mesh();
                self.repair(ready, &format!("the rules of {name}"), "they are there again", |r| {
                    r.netlink.confine(&name, mesh)
                })?;
            }
        }
        Ok(())
    }

    /// Settings of the interfaces and of the TUN.
    fn settings(&mut self, ready: &mut Ready, settings: &Settings) -> Result<(), Error> {
        for i in 0..ready.attached.len() {
            let name = ready.attached[i].name.clone();
            if ready.attached[i].is_gone {
                continue;
            }
            for (key, value) in interface_settings(&name, ready.host.plane) {
                self.keep(ready, &interface::ipv4_setting(&name, key), (key, &name), value)?;
            }
            if settings.address6.is_some() {
                let path = interface::ipv6_setting(&name, DISABLE_IPV6);
                self.keep(ready, &path, (DISABLE_IPV6, &name), "1")?;
            }
        }
        self.keep(ready, &interface::ipv4_setting("all", "send_redirects"), ("send_redirects", "all"), "0")?;
        let name = ready.tun_name.clone();
        for (key, value) in tun_settings(router::uplink(settings).is_some()) {
            self.keep(ready, &interface::ipv4_setting(&name, key), (key, &name), value)?;
        }
        let (key, value) = if settings.address6.is_some() { ("accept_ra", "0") } else { (DISABLE_IPV6, "1") };
        self.keep(ready, &interface::ipv6_setting(&name, key), (key, &name), value)
    }

    fn keep(
        &mut self,
        ready: &mut Ready,
        path: &Path,
        (key, name): (&str, &str),
        value: &str,
    ) -> Result<(), Error> {
        let Ok(now) = interface::read(path) else { return Ok(()) };
        if now == value {
            return Ok(());
        }
        let done = format!("it was {now}, and is {value} again");
        self.repair(ready, &format!("{key} of {name}"), &done, |_| std::fs::write(path, value))
    }

    /// The TUN itself. One that is removed ends the node elsewhere.
    fn tun(&mut self, ready: &mut Ready, settings: &Settings, links: &[Link]) -> Result<(), Error> {
        let Some(link) = links.iter().find(|l| l.index == ready.tun.index()) else { return Ok(()) };
        if link.name != ready.tun_name {
            let old = std::mem::replace(&mut ready.tun_name, link.name.clone());
            let done = format!("programs use {}", link.name);
            self.repaired(ready, &format!("the name of {old}"), &done)?;
        }
        if let Some(mtu) = resize::resize_tun(ready, settings, link.mtu)? {
            let (name, was) = (&link.name, link.mtu);
            let done = format!("{name} carried packets of {was} octets, and carries {mtu} now");
            ready.log.tell(Level::Info, &done);
        }
        if ready.host.node.is_up() && !link.is_set_up {
            self.repair(ready, &format!("the state of {}", link.name), "it is up again", |r| {
                r.tun.set_up(true)
            })?;
            self.routes = true;
        }
        Ok(())
    }

    /// Addresses of the interfaces and of the TUN, and those that stand in the way.
    fn addresses(&mut self, ready: &mut Ready, settings: &Settings, links: &[Link]) -> Result<(), Error> {
        let own = settings.address;
        let present = ready.netlink.addresses().map_err(Error::system("list the addresses of this host"))?;
        let tun = ready.tun.index();
        for a in &present {
            let IpAddr::V4(addr) = a.addr else { continue };
            if let Some(link) = links.iter().find(|l| l.index == a.ifindex && l.index != tun) {
                let is_in_mesh =
                    ready.attached.iter().any(|own| !own.is_gone && own.facts.index == a.ifindex);
                overlap::check(settings, &link.name, addr, a.prefix_len, is_in_mesh)
                    .map_err(|e| Error::System(format!("the node leaves the mesh: {e}")))?;
            }
        }
        let lacks = |ifindex, addr, prefix_len| !present.contains(&Address { ifindex, addr, prefix_len });
        for i in 0..ready.attached.len() {
            let a = &ready.attached[i];
            let index = a.facts.index;
            if !a.is_gone && lacks(index, own.into(), 32) {
                let what = format!("the address {own} of {}", a.name);
                self.repair(ready, &what, "it is there again", |r| r.netlink.add_address(own, index))?;
                self.routes = true;
            }
        }
        let name = ready.tun_name.clone();
        if lacks(tun, own.into(), settings.prefix_len) {
            let what = format!("the address {own}/{} of {name}", settings.prefix_len);
            self.repair(ready, &what, "it is there again", |r| {
                r.netlink.add_network_address(own, settings.prefix_len, tun)
            })?;
            self.routes = true;
        }
        if let Some((own, len)) = settings.address6.filter(|(own, len)| lacks(tun, (*own).into(), *len)) {
            let mtu = links.iter().find(|l| l.index == tun).map_or(0, |l| l.mtu);
            let Ready { tun, netlink, .. } = ready;
            tun6::prepare(tun, &name, settings, mtu, netlink)?;
            self.repaired(ready, &format!("the address {own}/{len} of {name}"), "it is there again")?;
        }
        Ok(())
    }

    /// Routes: to the mesh by the TUN, and those that the protocol made.
    fn routes(&mut self, ready: &mut Ready, settings: &Settings, told: &KernelRoutes) -> Result<(), Error> {
        let tun = ready.tun.index();
        let present = ready.netlink.routes(|r| r.is_ours || r.ifindex == tun);
        let present: HashSet<KernelRoute> =
            present.map_err(Error::system("list the routes of this host"))?.into_iter().collect();
        let leads =
            |to: IpAddr, len| present.iter().any(|r| (r.to, r.prefix_len, r.ifindex) == (to, len, tun));
        let name = ready.tun_name.clone();
        let mesh = Prefix::around(settings.address, settings.prefix_len);
        if !leads(mesh.network().into(), mesh.len()) {
            let what = format!("the route to the mesh by {name}");
            self.repair(ready, &what, "it is there again", |r| {
                r.netlink.connected(mesh, tun, settings.address)
            })?;
        }
        for p in settings.edge.iter().flat_map(|e| &e.by_gateways) {
            if !leads(p.addr.ip(), p.len) {
                let what = format!("the route to {p} by {name}");
                let again = |r: &mut Ready| router::lead(settings, *p, tun, &mut r.netlink);
                self.repair(ready, &what, "it is there again", again)?;
            }
        }
        if let Some((own, len)) = settings.address6 {
            let own = MeshPrefix::around(own, len);
            let all = settings.routes.iter().map(|r| r.destination).filter(|to| !own.contains(to.addr));
            for to in std::iter::once(own).chain(all.filter(|to| to.addr.v6().is_some())) {
                if !leads(to.addr.ip(), to.len) {
                    tun6::lead(to, &ready.tun, &name, &mut ready.netlink)?;
                    self.repaired(ready, &format!("the route to {to} by {name}"), "it is there again")?;
                }
            }
        }
        for i in 0..ready.attached.len() {
            let (is_up, iface) = (ready.attached[i].is_up, IfaceId(i as u8));
            let missing: Vec<Route> = told.missing(ready, iface, &present).collect();
            if is_up && !missing.is_empty() {
                let what = format!("the routes by {}", ready.attached[i].name);
                let done = format!("{} are there again", missing.len());
                ready.host.around.route_changes.extend(missing.into_iter().map(Ok));
                self.repaired(ready, &what, &done)?;
            }
        }
        Ok(())
    }
}
