//! What is known of the nodes around: Hellos, acknowledgements that are due, the blacklist (sections 6.8 and 6.9).

use std::net::Ipv4Addr;

use wayhop_core::{AddressList, Addressed, Span, Time};

use crate::params::Params;

/// What is known of the nodes around.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct NeighbourTable {
    /// Senders of Hellos.
    pub(crate) hellos: AddressList<Neighbour>,
    /// Until when requests of a neighbour are ignored.
    pub(crate) blacklist: Vec<(Ipv4Addr, Time)>,
    /// Until when a neighbour may acknowledge a reply.
    pub(crate) acks: Vec<(Ipv4Addr, Time)>,
    pub(crate) last_broadcast: Option<Time>,
}

#[derive(Clone, Debug, Hash)]
pub(crate) struct Neighbour {
    pub(crate) addr: Ipv4Addr,
    /// How often it says to send Hellos, ms.
    pub(crate) interval_ms: u32,
    pub(crate) heard: Time,
}

impl Addressed for Neighbour {
    fn address(&self) -> Ipv4Addr {
        self.addr
    }
}

impl NeighbourTable {
    /// More than this many neighbours are not remembered.
    pub(crate) const LIMIT: usize = 1_024;
    /// The default `HELLO_INTERVAL` of section 10, which a sender without the extension uses.
    pub(crate) const INTERVAL_MS: u32 = 1_000;

    /// Whether its Hellos tell that it is there.
    pub(crate) fn greets(&self, n: Ipv4Addr) -> bool {
        self.hellos.find(n).is_some()
    }
    /// A sign of life.
    pub(crate) fn heard(&mut self, n: Ipv4Addr, now: Time) {
        if let Some(n) = self.hellos.get_mut(n) {
            n.heard = now;
        }
    }
    pub(crate) fn acknowledged(&mut self, n: Ipv4Addr) {
        self.acks.retain(|(a, _)| *a != n);
    }
    pub(crate) fn is_blacklisted(&self, n: Ipv4Addr, now: Time) -> bool {
        self.blacklist.iter().any(|&(a, until)| a == n && now < until)
    }
    /// When the first neighbour is lost if it stays silent.
    pub(crate) fn next_loss(&self, p: &Params) -> Option<Time> {
        let usual = allowed_silence(Self::INTERVAL_MS, p);
        let silence = |n: &Neighbour| match n.interval_ms {
            Self::INTERVAL_MS => usual,
            other => allowed_silence(other, p),
        };
        self.hellos.rows().iter().map(|n| n.heard + silence(n)).min()
    }
}

/// How long a neighbour that says to send Hellos this often may be silent (section 6.9).
fn allowed_silence(interval_ms: u32, p: &Params) -> Span {
    let allowed = u64::from(p.allowed_hello_loss);
    let stated = Span::from_millis(u64::from(interval_ms.max(1))) * allowed.max(1);
    p.believed(stated) / allowed.max(1) * allowed
}

impl Neighbour {
    pub(crate) fn lost_at(&self, p: &Params) -> Time {
        self.heard + allowed_silence(self.interval_ms, p)
    }
}
