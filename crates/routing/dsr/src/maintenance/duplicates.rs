//! Packets that came again because their acknowledgement was lost: they are acknowledged again and not passed on again
//! (Maltz, Broch and Johnson 1999, section 6.2; RFC 4728 does not treat them).

use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};

use crate::maintenance::maintenance_buffer::Fingerprint;

/// A ring of what was received lately, and of which Acknowledgement Requests were answered.
#[derive(Clone, Default, Hash)]
pub(crate) struct DuplicateTable {
    packets: Vec<(Fingerprint, Time)>,
    /// A few bits of each, in the same order: most packets are new, which these alone show.
    tags: Vec<u32>,
    next: usize,
    answers: Vec<(Ipv4Addr, u16, Time)>,
    next_answer: usize,
}

const PACKETS: usize = 128;
const ANSWERS: usize = 32;
/// Identifications come round again; what is older than this is another packet.
const LIFETIME: Span = Span::from_secs(10);

impl DuplicateTable {
    /// Notes a packet; true if it was noted before. At its destination every copy is the same packet; on its way only one
    /// that is at the same place of the same way is.
    pub(crate) fn packet(&mut self, f: &Fingerprint, at_destination: bool, now: Time) -> bool {
        let same = |o: &Fingerprint| if at_destination { o.is_same_packet(f) } else { o.is_same_copy(f) };
        let tag = f.tag();
        // Counted, not searched for: then the processor compares many at a time.
        if self.tags.iter().filter(|t| **t == tag).count() > 0
            && self.packets.iter().any(|(o, at)| same(o) && now.since(*at) < LIFETIME)
        {
            return true;
        }
        let mut next = self.next;
        put(&mut self.tags, &mut next, PACKETS, tag);
        put(&mut self.packets, &mut self.next, PACKETS, (*f, now));
        false
    }
    /// Notes that a request is being answered; true if it was before.
    pub(crate) fn answered(&mut self, to: Ipv4Addr, id: u16, now: Time) -> bool {
        if let Some(row) = self.answers.iter_mut().find(|a| (a.0, a.1) == (to, id)) {
            return now.since(core::mem::replace(&mut row.2, now)) < LIFETIME;
        }
        put(&mut self.answers, &mut self.next_answer, ANSWERS, (to, id, now));
        false
    }
}

fn put<T>(ring: &mut Vec<T>, next: &mut usize, size: usize, row: T) {
    if ring.len() < size {
        ring.push(row);
    } else {
        ring[*next] = row;
        *next = (*next + 1) % size;
    }
}
