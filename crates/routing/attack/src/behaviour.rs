//! What an attacker does.

use std::net::Ipv4Addr;

use wayhop_core::{Rng, Span, Time};
use wayhop_wire::ipv4;

/// What an attacker does, and when. A kind of attack is one or several of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Behaviour {
    /// Before this it is an ordinary node.
    pub from: Time,
    /// From this on, too.
    pub until: Time,
    /// The packets of others that it keeps.
    pub drops: Drops,
    /// Whether it draws routes to itself.
    pub pretence: Option<Pretence>,
    /// The addresses in whose names it speaks, one after the other; its own if there are none.
    pub identities: Vec<Ipv4Addr>,
    /// Whether it reports others' links broken: for one destination once in this time.
    pub denies_every: Option<Span>,
    /// Whether it floods.
    pub flood: Option<Flood>,
    /// Whether it sends routing messages of others again, so long after it heard them.
    pub replays_after: Option<Span>,
}

impl Behaviour {
    /// Nothing but the time.
    pub fn between(from: Time, until: Time) -> Self {
        Self { from, until, ..Self::default() }
    }

    /// Whether it attacks now.
    pub(crate) fn is_on(&self, now: Time) -> bool {
        self.from <= now && now < self.until
    }
    /// Whether it needs what its neighbours say to others.
    pub(crate) fn overhears(&self) -> bool {
        self.denies_every.is_some() || self.replays_after.is_some()
    }
}

/// Which packets of others end at an attacker.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Drops {
    /// None.
    #[default]
    Nothing,
    /// All.
    All,
    /// Each with this probability.
    Share(f64),
    /// All for some time, then none for some time.
    Periodic {
        /// How long it keeps them.
        on: Span,
        /// How long it forwards them.
        off: Span,
    },
    /// Those from and to these nodes; from or to all if it is not said.
    Flow {
        /// Their source.
        source: Option<Ipv4Addr>,
        /// Their destination.
        destination: Option<Ipv4Addr>,
    },
}

impl Drops {
    /// Whether a data packet ends here. `since` is when the attack began.
    pub(crate) fn hit(&self, since: Time, now: Time, packet: &[u8], rng: &mut Rng) -> bool {
        match self {
            Self::Nothing => false,
            Self::All => true,
            Self::Share(p) => rng.unit() < *p,
            Self::Periodic { on, off } => {
                now.since(since).as_nanos() % (*on + *off).as_nanos().max(1) < on.as_nanos()
            }
            Self::Flow { source, destination } => ipv4::ends(packet).is_some_and(|(from, to)| {
                source.is_none_or(|s| s == from) && destination.is_none_or(|d| d == to)
            }),
        }
    }
}

/// A route that an attacker claims to have, to whatever it hears of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pretence {
    /// Hops to the destination, 1 at least.
    pub hops: u8,
    /// By how much it is newer than the newest known.
    pub ahead: u32,
}

/// Messages that all nodes pass on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Flood {
    /// From one to the next.
    pub every: Span,
    /// Whether each comes from an address of its own, which no node has.
    pub forged: bool,
}
