//! The event sources of the event loop.

use std::os::fd::AsFd as _;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signalfd::SignalFd;
use nix::sys::time::TimeSpec;
use wayhop_core::{IfaceId, Span};
use wayhop_linux::Error;
use wayhop_linux::netlink::NeighbourNews;

use crate::gateway::probe::Probe;
use crate::run::rooms::Rooms;
use crate::run::watch::HostWatch;

/// Places in what is polled, before the interfaces.
const TUN: usize = 0;
const NEWS: usize = 1;
const SIGNALS: usize = 2;
const CONTROL: usize = 3;
const STDIN: usize = 4;
const MISSING: usize = 5;
const UNDO: usize = 6;
const PROBE: usize = 7;
const INTERFACES: usize = 8;

/// What there is to do.
pub(crate) struct Readiness {
    pub(crate) tun: bool,
    /// Changes of the host.
    pub(crate) news: bool,
    pub(crate) signals: bool,
    pub(crate) control: bool,
    pub(crate) stdin: bool,
    /// Neighbours that the kernel does not find.
    pub(crate) missing: bool,
    /// The process that sets the host back is no more.
    pub(crate) undo: bool,
    pub(crate) probe: bool,
    /// Of each interface: frames, ARP.
    pub(crate) interfaces: Vec<[bool; 2]>,
}

/// Waits for something to do, for so long at most. If the node is `tied`, standard input ends it.
pub(crate) fn wait(
    rooms: &Rooms,
    watch: &HostWatch,
    signals: &SignalFd,
    tied: bool,
    limit: Option<Span>,
) -> Result<Readiness, Error> {
    let limit = limit.map(|span| TimeSpec::from_duration(Duration::from_nanos(span.as_nanos())));
    let Rooms { host, kernel, interfaces, router, control, undo, .. } = rooms;
    let read = PollFlags::POLLIN;
    let stdin = std::io::stdin();
    let probe = router.as_ref().and_then(|r| r.probe.as_ref());
    let mut fds = Vec::with_capacity(INTERFACES + 2 * interfaces.all.len());
    fds.extend([
        PollFd::new(kernel.tun.fd(), read),
        PollFd::new(watch.news.fd(), read),
        PollFd::new(signals.as_fd(), read),
        // Without a control socket, one more look at the signals does no harm.
        PollFd::new(control.as_ref().map_or(signals.as_fd(), |(server, _)| server.fd()), read),
        // Its place is kept, so that the others keep theirs.
        PollFd::new(if tied { stdin.as_fd() } else { signals.as_fd() }, PollFlags::empty()),
        PollFd::new(interfaces.missing.as_ref().map_or(signals.as_fd(), NeighbourNews::fd), read),
        // Nothing is read from it: what comes is its end.
        PollFd::new(undo.fd().unwrap_or(signals.as_fd()), PollFlags::empty()),
        PollFd::new(probe.map_or(signals.as_fd(), Probe::fd), read),
    ]);
    for (iface, a) in (0..).map(IfaceId).zip(&interfaces.all) {
        let waits = a.is_up && host.node.queued(iface) > 0;
        let frames = if waits { read | PollFlags::POLLOUT } else { read };
        fds.extend([PollFd::new(a.sockets.frames_fd(), frames), PollFd::new(a.sockets.arp_fd(), read)]);
    }
    match ppoll(&mut fds, limit, None) {
        Ok(_) | Err(nix::Error::EINTR) => {}
        Err(e) => return Err(Error::system("wait for packets")(e.into())),
    }
    if fds[TUN].revents().is_some_and(|r| r.contains(PollFlags::POLLERR)) {
        let tun = "the TUN interface of this node was removed; restart the node";
        return Err(Error::System(tun.to_owned()));
    }
    let is_ready = |fd: &PollFd<'_>| fd.any().unwrap_or(false);
    let (own, of_interfaces) = fds.split_at(INTERFACES);
    let at = |place: usize| is_ready(&own[place]);
    Ok(Readiness {
        tun: at(TUN),
        news: at(NEWS),
        signals: at(SIGNALS),
        control: at(CONTROL),
        stdin: at(STDIN),
        missing: at(MISSING),
        undo: at(UNDO),
        probe: at(PROBE),
        interfaces: of_interfaces.chunks(2).map(|both| [is_ready(&both[0]), is_ready(&both[1])]).collect(),
    })
}
