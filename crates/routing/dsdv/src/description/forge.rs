//! What attackers of a scenario say in DSDV. No engine uses it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_core::{Addr, BROADCAST, Claim, Forged, Forger as Forge, Lure};
use wayhop_wire::dsdv::{PORT, UNREACHABLE, Update, UpdateEntry};
use wayhop_wire::{Datagram, datagram, ipv4};

use crate::routing_table::seq::{before_next, lost, newer};

/// The most destinations whose numbers are remembered.
const MAX_NUMBERS: usize = 4_096;
/// The most entries in a forged update: what fits a packet of 1500 octets.
const MAX_ENTRIES: usize = (1_500 - ipv4::HEADER_LEN - 8) / UpdateEntry::LEN;

/// What it has heard of destinations' sequence numbers.
#[derive(Default)]
pub(crate) struct Forger {
    newest: BTreeMap<Ipv4Addr, u32>,
}

/// The sender and the entries of a packet's update.
fn update(packet: &[u8]) -> Option<(Ipv4Addr, Update<'_>)> {
    let head = Datagram::of_bytes(packet, PORT)?;
    Some((head.source, Update::parse(packet.get(head.payload)?).ok()?))
}

fn packet(from: Ipv4Addr, entries: &[UpdateEntry]) -> Option<Forged> {
    let update = Update::from(entries);
    let mut payload = vec![0; update.buffer_len()];
    update.emit(&mut payload).ok()?;
    Some(Forged { packet: datagram(from, BROADCAST, PORT, 1, &payload), to: Addr::BROADCAST })
}

impl Forge for Forger {
    fn hear(&mut self, packet: &[u8]) {
        let Some((_, update)) = update(packet) else { return };
        for e in &update {
            let room = self.newest.len() < MAX_NUMBERS;
            match self.newest.get_mut(&e.destination) {
                Some(known) if newer(e.seq, *known) => *known = e.seq,
                None if room => drop(self.newest.insert(e.destination, e.seq)),
                Some(_) | None => {}
            }
        }
    }

    /// An update with a newer number for each destination of the one heard: there are no questions to answer.
    fn lure(&mut self, bytes: &[u8], from: Ipv4Addr, claim: &Claim) -> Option<Lure> {
        let (_, update) = update(bytes)?;
        let ahead = claim.ahead.next_multiple_of(2);
        let entry = |e: UpdateEntry| UpdateEntry {
            destination: e.destination,
            // Counted from the receiver: the speaker itself is one hop away.
            hop_count: u32::from(claim.hops) + 1,
            seq: before_next(self.newest.get(&e.destination).copied().unwrap_or(e.seq)).wrapping_add(ahead),
        };
        let others = update.iter().filter(|e| e.destination != claim.speaker);
        let forged: Vec<UpdateEntry> = others.take(MAX_ENTRIES).map(entry).collect();
        Some(Lure {
            question: u64::from(from.to_bits()),
            is_answer: false,
            message: packet(claim.speaker, &forged)?,
        })
    }

    /// An update of the next hop, that it has lost the way.
    fn deny(&mut self, bytes: &[u8], _: Ipv4Addr, to: Ipv4Addr) -> Option<Forged> {
        let (_, destination) = ipv4::ends(bytes)?;
        let seq = lost(self.newest.get(&destination).copied()?);
        packet(to, &[UpdateEntry { destination, hop_count: UNREACHABLE, seq }])
    }

    /// News of a node that does not exist, as its neighbour `originator` tells it: each node passes it on. There are no requests.
    fn flood(&mut self, originator: Ipv4Addr, target: Ipv4Addr, number: u32) -> Option<Forged> {
        let own = UpdateEntry { destination: originator, hop_count: 1, seq: number.wrapping_mul(2) };
        let other = UpdateEntry { destination: target, hop_count: 2, seq: number.wrapping_mul(2) };
        packet(originator, &[own, other])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
    const C: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);

    #[test]
    fn a_lie_has_an_even_number_that_is_newer_and_a_loss_an_odd_one() {
        let mut f = Forger::default();
        let heard = packet(A, &[UpdateEntry { destination: C, hop_count: 4, seq: 41 }]).unwrap().packet;
        f.hear(&heard);
        let claim = Claim { speaker: B, hops: 1, ahead: 3 };
        let lure = f.lure(&heard, A, &claim).unwrap().message.packet;
        assert_eq!(
            update(&lure).unwrap().1.at(0),
            Some(UpdateEntry { destination: C, hop_count: 2, seq: 44 })
        );
        f.hear(&lure);
        let data = datagram(A, C, 9, 5, &[]);
        let loss = f.deny(&data, A, B).unwrap().packet;
        let (from, entries) = update(&loss).unwrap();
        assert_eq!((from, entries.at(0).unwrap().seq), (B, 45));
        assert!(entries.at(0).unwrap().is_unreachable());
    }

    proptest! {
        #[test]
        fn nothing_from_the_air_makes_it_panic(
            payload in proptest::collection::vec(any::<u8>(), 0..200),
            cut in 0usize..64,
        ) {
            let mut f = Forger::default();
            let whole = datagram(A, B, PORT, 3, &payload);
            for bytes in [&whole[..], &whole[..whole.len().saturating_sub(cut)], &payload[..]] {
                f.hear(bytes);
                f.lure(bytes, A, &Claim { speaker: C, hops: 1, ahead: u32::MAX - 1 });
                f.deny(bytes, A, B);
            }
        }
    }
}
