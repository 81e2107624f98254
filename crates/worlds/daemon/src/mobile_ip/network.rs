//! The network layer of this host: its links, tunnels, addresses and routes.

use std::io;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use wayhop_application_host::NetworkLayer;
use wayhop_core::{LinkId, LinkState, NetworkEffect, NetworkInput};
use wayhop_linux::host_news::HostNews;
use wayhop_linux::ip_sockets::RawSender;
use wayhop_linux::{Error, Tun};

use super::memory::Memory;
use super::ports::Port;
use super::routes::Routes;
use crate::log::Log;
use crate::undo::Undo;

/// Packets of programs that are taken in one turn.
const BATCH: usize = 64;
/// Warnings that are logged in a second; strangers could fill the disk.
const WARNINGS: u64 = 10;
const SECOND: Duration = Duration::from_secs(1);

pub(super) struct KernelNetwork {
    pub(super) ports: Vec<Port>,
    pub(super) tun: Option<Tun>,
    pub(super) routes: Routes,
    /// What a home agent keeps over restarts.
    pub(super) memory: Option<Memory>,
    /// The address that belongs to none of the links.
    pub(super) home: Ipv4Addr,
    pub(super) news: HostNews,
    /// For packets of no link.
    pub(super) out: RawSender,
    pub(super) warnings: Warnings,
    pub(super) log: Log,
    /// Dropped last: it sets the host back.
    pub(super) undo: Option<Undo>,
}

/// How many warnings there were in the second that began then.
pub(super) struct Warnings(Instant, u64);

impl Warnings {
    pub(super) fn new() -> Self {
        Self(Instant::now(), 0)
    }
}

impl NetworkLayer for KernelNetwork {
    fn begin(&mut self) -> Result<Vec<NetworkInput<'static>>, Error> {
        let known = self.memory.as_ref().map_or_else(Vec::new, Memory::known);
        let mut inputs: Vec<_> = known.into_iter().map(NetworkInput::Recall).collect();
        self.look_at_links(&mut inputs)?;
        Ok(inputs)
    }

    /// News of the host first, and the undo process last.
    fn fds(&self) -> Vec<PollFd<'_>> {
        let links = self.ports.iter().flat_map(Port::fds);
        let reads = std::iter::once(self.news.fd()).chain(self.tun.as_ref().map(Tun::fd)).chain(links);
        let undo = self.undo.as_ref().and_then(Undo::fd).map(|fd| PollFd::new(fd, PollFlags::empty()));
        reads.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).chain(undo).collect()
    }

    fn serve(&mut self, ready: &[bool]) -> Result<Vec<NetworkInput<'static>>, Error> {
        if let Some(undo) = &self.undo
            && ready.last() == Some(&true)
        {
            return Err(undo.is_gone());
        }
        let mut heard = Vec::new();
        if ready.first() == Some(&true) {
            self.news.take();
            self.look_at_links(&mut heard)?;
        }
        for (link, port) in (0..).zip(&mut self.ports) {
            port.take(link, &mut heard);
        }
        for _ in 0..BATCH {
            let Some(packet) = self.tun.as_mut().and_then(Tun::receive) else { break };
            heard.push(NetworkInput::Outbound(packet.to_vec().into()));
        }
        Ok(heard)
    }

    fn carry_out(&mut self, effect: NetworkEffect) {
        let done = match effect {
            NetworkEffect::Send { link: None, packet } => self.out.send(&packet),
            NetworkEffect::Send { link: Some(link), packet } => self.port(link, |p| p.send(&packet)),
            NetworkEffect::Arp { link, to, message } => self.port(link, |p| p.send_arp(to, &message)),
            NetworkEffect::Deliver(packet) => {
                // A stack that does not take it loses it, as any interface may.
                self.tun.as_ref().map(|t| t.send(&packet));
                Ok(())
            }
            NetworkEffect::Intercept(home) => self.routes.intercept(home, true),
            NetworkEffect::Release(home) => self.routes.intercept(home, false),
            NetworkEffect::Attach(to) => {
                let on_link = (0..).zip(&self.ports).filter(|(_, p)| p.is_on_link());
                let links: Vec<_> = on_link.filter_map(|(link, p)| Some((link, p.index()?))).collect();
                self.routes.attach(&to, &links)
            }
            NetworkEffect::Remember(_, known) => {
                if let Some(memory) = &mut self.memory {
                    memory.keep(known, &self.log);
                }
                Ok(())
            }
            NetworkEffect::Log { is_warning: false, text } => {
                self.log.info(text);
                Ok(())
            }
            NetworkEffect::Log { is_warning: true, text } => {
                self.warn(&text);
                Ok(())
            }
        };
        if let Err(e) = done {
            // A link that is down loses what it is given; the engine notices by what does not come.
            self.log.debug(format_args!("the kernel rejected a change: {e}"));
        }
    }
}

impl KernelNetwork {
    /// Follows interfaces that came and went, and finds out how the links are.
    fn look_at_links(&mut self, inputs: &mut Vec<NetworkInput<'static>>) -> Result<(), Error> {
        let Self { ports, routes, home, log, .. } = self;
        let failed = || Error::system("list the interfaces");
        let links = routes.netlink.links().map_err(failed())?;
        let addresses = routes.netlink.addresses().map_err(failed())?;
        for (link, port) in (0..).zip(ports) {
            if port.follow(&links, log) {
                // Another interface in its place: nothing that was heard by the old one holds.
                inputs.push(NetworkInput::Link { link, state: LinkState::default() });
            }
            let state = port.state(&links, &addresses, *home, &mut routes.netlink);
            let state = state.map_err(Error::system("list the routes"))?;
            inputs.push(NetworkInput::Link { link, state });
        }
        Ok(())
    }

    fn port(&self, link: LinkId, f: impl FnOnce(&Port) -> io::Result<()>) -> io::Result<()> {
        self.ports.get(usize::from(link)).map_or(Ok(()), f)
    }

    fn warn(&mut self, text: &str) {
        let Warnings(since, count) = &mut self.warnings;
        if since.elapsed() >= SECOND {
            if let Some(suppressed @ 1..) = count.checked_sub(WARNINGS) {
                self.log.warning(format_args!("{suppressed} similar messages suppressed"));
            }
            (*since, *count) = (Instant::now(), 0);
        }
        *count += 1;
        if *count <= WARNINGS {
            self.log.warning(text);
        }
    }

    /// Sets the host back.
    ///
    /// # Errors
    /// If it is not as before.
    pub(super) fn end(self) -> Result<(), Error> {
        let Self { mut routes, tun, undo, .. } = self;
        // Without an undo process for a link, nobody else does it.
        let removed = routes.end().map_err(Error::system("remove the rule of the home address"));
        drop(tun);
        undo.map_or(Ok(()), |mut undo| undo.finish()).and(removed)
    }
}
