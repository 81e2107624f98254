//! Interfaces that go down and come up, go away and come back, or become others: the node follows.

use wayhop_core::{DataPlane, IfaceId, LinkChange};
use wayhop_linux::interface::InterfaceFacts;
use wayhop_linux::listing::Link;
use wayhop_linux::{Error, Prefix};

use crate::config::settings::Settings;
use crate::interfaces::attached::{Attached, numbered, port};
use crate::interfaces::remade::take_over;
use crate::log::Level;
use crate::run::setup::{Ready, open_sockets, watch_tx_status};

/// What the kernel says of an interface. Returns whether it is one of the node's, and has changed.
pub(crate) fn is(ready: &mut Ready, settings: &Settings, link: &Link) -> Result<bool, Error> {
    let of = |wanted: fn(&Attached, &Link) -> bool| {
        let mut all = (0..).map(IfaceId).zip(&ready.attached);
        all.find(|(_, a)| wanted(a, link)).map(|(iface, _)| iface)
    };
    let returned = of(|a, link| a.is_gone && a.name == link.name);
    if let Some(iface) = of(|a, link| !a.is_gone && a.facts.index == link.index) {
        let has_changed = follow(ready, settings, iface, link)?;
        return Ok(is_up_or_down(ready, iface, link.is_up) || has_changed);
    }
    let Some(iface) = returned else { return Ok(false) };
    match take_over(ready, iface, settings) {
        Ok(()) => {
            let a = &mut ready.attached[iface.index()];
            (a.is_up, a.is_gone, a.trouble) = (link.is_up, false, None);
            ready.log.tell(Level::Info, format_args!("{}: the interface is back", a.name));
            if link.is_up {
                ready.host.link(iface, LinkChange::Up);
                ready.host.announce(iface);
            }
        }
        // The next look is a new occasion.
        Err(e) => {
            let trouble = &mut ready.attached[iface.index()].trouble;
            let e = e.to_string();
            if trouble.as_ref() != Some(&e) {
                ready.log.tell(Level::Warning, &e);
                *trouble = Some(e);
            }
        }
    }
    Ok(true)
}

/// There is no interface of this number any more.
pub(crate) fn gone(ready: &mut Ready, settings: &Settings, index: u32) {
    let Ready { attached, host, log, .. } = ready;
    let gone = numbered(attached).find(|(_, a)| a.facts.index == index && !a.is_gone);
    let Some((iface, a)) = gone else { return };
    if std::mem::replace(&mut a.is_up, false) {
        host.link(iface, LinkChange::Down);
        host.around.renew_routes();
    }
    a.is_gone = true;
    let waits_for = settings.config.names().nth(iface.index()).unwrap_or(&a.name).to_owned();
    let name = std::mem::replace(&mut a.name, waits_for);
    log.tell(
        Level::Warning,
        format_args!("{name}: the interface is gone: waiting for one of the name {}", a.name),
    );
}

fn is_up_or_down(ready: &mut Ready, iface: IfaceId, up: bool) -> bool {
    let Ready { attached, host, log, .. } = ready;
    let is_only_one = attached.len() == 1;
    let a = &mut attached[iface.index()];
    if a.is_up == up {
        return false;
    }
    a.is_up = up;
    let state = if up { "up" } else { "down" };
    log.tell(Level::Info, format_args!("{}: the interface is {state}", a.name));
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

/// Goes on with an interface that has another name, link address or MTU.
fn follow(ready: &mut Ready, settings: &Settings, iface: IfaceId, link: &Link) -> Result<bool, Error> {
    let own = &ready.attached[iface.index()];
    let (name, was) = (own.name.clone(), own.facts);
    let now = InterfaceFacts { mac: link.mac.unwrap_or(was.mac), mtu: link.mtu, ..was };
    if link.name == name && now == was {
        return Ok(false);
    }
    if link.name != name {
        rename(ready, settings, iface, &link.name)?;
        tell(ready, &format!("the name of {name}"), &format!("the node goes on with {}", link.name));
    }
    let Ready { attached, host, log, .. } = ready;
    let own = &mut attached[iface.index()];
    own.facts = now;
    if now.mtu != was.mtu {
        // Its memory is for frames of the old length.
        own.sockets = open_sockets(host, &now, own.ebpf.as_ref())?;
        watch_tx_status(host, iface, &own.sockets, now.index, log);
    }
    host.set_port(iface, &port(&link.name, &now, None));
    if now.mac != was.mac {
        host.announce(iface);
        let (what, done) =
            (format!("the link address of {}", link.name), format!("the node goes on with {}", now.mac));
        tell(ready, &what, &done);
    }
    if now.mtu != was.mtu {
        let (what, done) = (
            format!("the MTU of {}", link.name),
            format!("the node's packets have at most {} octets", now.mtu),
        );
        tell(ready, &what, &done);
    }
    Ok(true)
}

/// Says what changed, and that the node goes along with it.
fn tell(ready: &mut Ready, what: &str, done: &str) {
    ready.log.tell(Level::Info, format_args!("somebody changed {what}: {done}"));
    let now = ready.host.now();
    ready.host.around.events.host(now, what, done);
}

/// What goes by the interface's name. Sockets and programs go by its number.
fn rename(ready: &mut Ready, settings: &Settings, iface: IfaceId, to: &str) -> Result<(), Error> {
    let Ready { attached, host, netlink, signals, .. } = ready;
    let own = &mut attached[iface.index()];
    let from = std::mem::replace(&mut own.name, to.to_owned());
    for s in signals.iter() {
        s.rename(&from, to);
    }
    if host.plane == DataPlane::Forwarding && own.ebpf.is_none() {
        netlink
            .confine(to, Prefix::around(settings.address, settings.prefix_len))
            .and_then(|()| netlink.free(&from))
            .map_err(Error::system(format!("confine what comes by {to} to the mesh")))?;
    }
    Ok(())
}
