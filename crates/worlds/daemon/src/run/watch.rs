//! Watches what the node depends on at its host. What somebody changes is restored, or the node exits.
//!
//! The kernel reports most changes, and the node then checks at once. It does not report most settings, so
//! the node also checks each second. What the node itself changes is up to date when it checks.

use wayhop_core::{Span, Time};
use wayhop_linux::Error;
use wayhop_linux::host_news::{HostChange, HostNews};
use wayhop_linux::listing::LinkInfo;

use crate::interfaces::watch::PartOf;
use crate::kernel::repairs::HostRepairs;
use crate::log::Log;
use crate::run::rooms::Rooms;

/// How often to look.
const EVERY: Span = Span::from_secs(1);
/// What comes together is looked at together.
const SETTLE: Span = Span::from_millis(20);
/// News does not make the node look more often.
const REST: Span = Span::from_millis(100);

/// When to look, and what was restored.
pub(crate) struct HostWatch {
    /// What the kernel tells.
    pub(crate) news: HostNews,
    last: Time,
    /// When to look.
    pub(crate) next: Time,
    part_of: PartOf,
    /// Whether to look at the routes, too, which may be many. The kernel tells what happens to them.
    routes: bool,
    repairs: HostRepairs,
}

impl HostWatch {
    /// Begins to hear of changes.
    pub(crate) fn begin(log: &Log) -> Result<Self, Error> {
        let news = HostNews::open().map_err(Error::system("subscribe to changes of this host"))?;
        let (last, next) = (Time::ZERO, Time::ZERO);
        Ok(Self { news, last, next, part_of: PartOf::new(), routes: false, repairs: HostRepairs::new(log) })
    }

    /// Has the node look at once.
    pub(crate) fn look_now(&mut self, now: Time) {
        self.next = self.next.min(now);
    }

    /// Takes the kernel's news.
    pub(crate) fn hear(&mut self, rooms: &mut Rooms) -> Result<(), Error> {
        let Rooms { host, kernel, interfaces, router, log, .. } = rooms;
        for change in self.news.take() {
            let with_routes = match change {
                HostChange::Link(link) => {
                    let is_other = link.index == kernel.tun.index()
                        || router.as_ref().is_some_and(|r| r.uplink() == link.name);
                    if !interfaces.hear(&link, host, &mut kernel.netlink, log)? && !is_other {
                        continue;
                    }
                    true
                }
                HostChange::Gone(index) => {
                    interfaces.gone(index, host, log);
                    true
                }
                // An address takes routes with it without a word.
                HostChange::Address | HostChange::Lost => true,
                HostChange::Route(r) if r.ifindex == kernel.tun.index() || kernel.routes.has(&r) => true,
                HostChange::Route(_) => continue,
                HostChange::Other => false,
            };
            self.routes |= with_routes;
            let soon = host.now() + SETTLE;
            self.next = self.next.min(soon.max(self.last + REST));
        }
        Ok(())
    }

    /// Looks whether all is as the node made it. What is left of the node's own changes has to be carried out before.
    pub(crate) fn look(&mut self, rooms: &mut Rooms) -> Result<(), Error> {
        let Rooms { host, kernel, interfaces, router, log, .. } = rooms;
        let repairs = &mut self.repairs;
        self.last = host.now();
        self.next = self.last + EVERY;
        let links = kernel.netlink.links().map_err(Error::system("list the interfaces of this host"))?;
        for i in 0..interfaces.all.len() {
            let a = &interfaces.all[i];
            let (index, is_gone) = (a.facts.index, a.is_gone);
            let is_it = |l: &&LinkInfo| if is_gone { l.name == a.name } else { l.index == index };
            match links.iter().find(is_it) {
                Some(link) => self.routes |= interfaces.hear(link, host, &mut kernel.netlink, log)?,
                None => interfaces.gone(index, host, log),
            }
        }
        kernel.tell_protocol(interfaces.shortest_mtu(), host, log);
        interfaces.check_links(&links, &mut self.part_of, &mut kernel.netlink, (repairs, host))?;
        // Before the kernel forwards.
        interfaces.check_programs(&mut kernel.netlink, repairs, host)?;
        if let Some(router) = router {
            router.check()?;
            router.watch_uplink(&links, host, log);
        }
        interfaces.check_settings(repairs, host)?;
        kernel.check_settings(repairs, host)?;
        kernel.check_rules(repairs, host)?;
        self.routes |= kernel.check_tun(&links, interfaces.shortest_mtu(), repairs, host, log)?;
        if host.node.is_up() {
            self.routes |= kernel.check_addresses(&links, interfaces, repairs, host)?;
            if std::mem::take(&mut self.routes) {
                kernel.check_routes(interfaces, repairs, host)?;
            }
        }
        Ok(())
    }
}
