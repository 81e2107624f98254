//! What attackers of a scenario say in AODV. No engine uses it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_core::{Addr, BROADCAST, Claim, Forged, Forger as Forge, Lure};
use wayhop_wire::aodv::{self, Message, Rerr, Rrep, Rreq, Unreachable};
use wayhop_wire::{Datagram, datagram, ipv4};

use crate::forwarding::output::reply_to;
use crate::routing_table::seq::newest;

/// The most destinations whose numbers are remembered.
const MAX_NUMBERS: usize = 4_096;
/// NET_DIAMETER (RFC 3561, section 10).
const NET_DIAMETER: u8 = 35;
/// The lifetime of a forged route, ms.
const LIFETIME_MS: u32 = 60_000;

/// What it has heard of destinations' sequence numbers.
#[derive(Default)]
pub(crate) struct Forger {
    newest: BTreeMap<Ipv4Addr, u32>,
}

impl Forger {
    fn learn(&mut self, destination: Ipv4Addr, seq: u32) {
        let room = self.newest.len() < MAX_NUMBERS;
        if let Some(known) = self.newest.get_mut(&destination) {
            *known = newest(*known, seq);
        } else if room {
            self.newest.insert(destination, seq);
        }
    }

    fn number(&self, destination: Ipv4Addr) -> u32 {
        self.newest.get(&destination).copied().unwrap_or(0)
    }
}

/// The message of a packet.
fn message(packet: &[u8]) -> Option<Message<'_>> {
    let head = Datagram::of_bytes(packet, aodv::PORT)?;
    Message::parse(packet.get(head.payload)?).ok()
}

fn packet(from: Ipv4Addr, to: Ipv4Addr, ttl: u8, message: &Message<'_>) -> Option<Vec<u8>> {
    let mut payload = vec![0; message.buffer_len()];
    message.emit(&mut payload).ok()?;
    Some(datagram(from, to, aodv::PORT, ttl, &payload))
}

impl Forge for Forger {
    fn hear(&mut self, packet: &[u8]) {
        match message(packet) {
            Some(Message::Rreq(m)) => {
                self.learn(m.originator, m.originator_seq);
                if !m.unknown_seq {
                    self.learn(m.destination, m.destination_seq);
                }
            }
            Some(Message::Rrep(m)) => self.learn(m.destination, m.destination_seq),
            Some(Message::Rerr(m)) => m.unreachable.iter().for_each(|u| self.learn(u.destination, u.seq)),
            _ => {}
        }
    }

    /// A Route Reply to the neighbour that the request came from (section 6.6.2), with a number that is newer than any heard.
    fn lure(&mut self, bytes: &[u8], from: Ipv4Addr, claim: &Claim) -> Option<Lure> {
        let Message::Rreq(m) = message(bytes)? else { return None };
        if m.destination == claim.speaker || m.originator == claim.speaker || !ipv4::is_host(m.destination) {
            return None;
        }
        let destination_seq = self.number(m.destination).wrapping_add(claim.ahead);
        let reply = Rrep { hop_count: claim.hops, ..reply_to(&m, destination_seq, LIFETIME_MS) };
        let reply = Message::Rrep(reply);
        let packet = packet(claim.speaker, from, NET_DIAMETER, &reply)?;
        Some(Lure {
            question: u64::from(m.originator.to_bits()) << 32 | u64::from(m.id),
            is_answer: true,
            message: Forged { packet, to: from.into() },
        })
    }

    /// A Route Error of the next hop (section 6.11): its users take it from there only.
    fn deny(&mut self, bytes: &[u8], _: Ipv4Addr, to: Ipv4Addr) -> Option<Forged> {
        let (_, destination) = ipv4::ends(bytes)?;
        if !ipv4::is_host(destination) {
            return None;
        }
        let seq = self.number(destination).wrapping_add(1);
        self.learn(destination, seq);
        let lost = [Unreachable { destination, seq }];
        let error = Message::Rerr(Rerr { no_delete: false, unreachable: lost[..].into() });
        Some(Forged { packet: packet(to, BROADCAST, 1, &error)?, to: Addr::BROADCAST })
    }

    fn flood(&mut self, originator: Ipv4Addr, target: Ipv4Addr, number: u32) -> Option<Forged> {
        let request = Rreq::new((target, None), number, (originator, number));
        let request = Message::Rreq(Rreq { destination_only: true, ..request });
        let packet = packet(originator, BROADCAST, NET_DIAMETER, &request)?;
        Some(Forged { packet, to: Addr::BROADCAST })
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
    fn a_lie_is_newer_than_all_that_was_heard() {
        let mut f = Forger::default();
        let told = Rrep { hop_count: 2, ..Rrep::new(C, u32::MAX, A, 1) };
        f.hear(&packet(B, A, 5, &Message::Rrep(told)).unwrap());
        let request = f.flood(A, C, 9).unwrap().packet;
        let claim = Claim { speaker: B, hops: 1, ahead: 3 };
        let lure = f.lure(&request, A, &claim).unwrap();
        let Some(Message::Rrep(r)) = message(&lure.message.packet) else { panic!("no reply") };
        // Over the roll: u32::MAX + 3.
        assert_eq!((r.destination_seq, r.hop_count, r.originator), (2, 1, A));
        assert_eq!(lure.message.to, Addr::from(A));
        assert_eq!(f.lure(&request, A, &Claim { speaker: C, ..claim }), None);
    }

    proptest! {
        #[test]
        fn nothing_from_the_air_makes_it_panic(
            payload in proptest::collection::vec(any::<u8>(), 0..200),
            cut in 0usize..64,
        ) {
            let mut f = Forger::default();
            let whole = datagram(A, B, aodv::PORT, 3, &payload);
            for bytes in [&whole[..], &whole[..whole.len().saturating_sub(cut)], &payload[..]] {
                f.hear(bytes);
                f.lure(bytes, A, &Claim { speaker: C, hops: 1, ahead: 100 });
                f.deny(bytes, A, B);
            }
        }
    }
}
