//! Which packets an attacker drops.

use wayhop_core::{Rng, Time};
use wayhop_wire::ipv4;

use crate::behaviour::Drops;

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
