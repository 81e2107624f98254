//! Which packets have already arrived.

use wayhop_core::PacketId;

/// How far back this is remembered, in packets of the whole network. A copy that took another route comes much sooner.
const REACH: u64 = 1 << 20;

/// Of the newest packets, which have arrived. Its memory, 128 KiB, is the same however long a network runs.
pub(crate) struct Arrived {
    newest: u64,
    /// A bit for each packet, by its number modulo [`REACH`].
    bits: Box<[u64]>,
}

impl Arrived {
    pub(crate) fn new() -> Self {
        Self { newest: 0, bits: vec![0; (REACH / 64) as usize].into() }
    }

    /// Notes that a packet arrives. Whether it is for the first time, as far as this reaches back.
    pub(crate) fn first(&mut self, packet: PacketId) -> bool {
        let number = packet.0;
        if number > self.newest {
            let begin = (self.newest + 1).max(number.saturating_sub(REACH - 1));
            for n in begin..=number {
                *self.word(n) &= !bit(n);
            }
            self.newest = number;
        }
        if self.newest - number >= REACH {
            return true;
        }
        let word = self.word(number);
        let is_first = *word & bit(number) == 0;
        *word |= bit(number);
        is_first
    }

    fn word(&mut self, number: u64) -> &mut u64 {
        &mut self.bits[(number % REACH / 64) as usize]
    }
}

const fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_arrives_for_the_first_time_once() {
        let mut arrived = Arrived::new();
        let mut first = |n| arrived.first(PacketId(n));
        assert!(first(0) && first(7) && first(3));
        assert!(!first(7) && !first(3) && !first(0));
        // Others take their bits when they are that far behind.
        assert!(first(7 + REACH) && !first(7 + REACH) && first(7));
        assert!(first(100 * REACH) && first(99 * REACH + 1) && !first(99 * REACH + 1));
    }
}
