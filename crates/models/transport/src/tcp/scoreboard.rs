//! What the receiver has selectively acknowledged (RFC 6675).

/// How many duplicates, or blocks above, make a hole a loss.
const DUP_THRESH: u64 = 3;
/// What one connection remembers: more blocks than segments in the largest window cannot be.
const MAX_BLOCKS: usize = super::config::MAX_WINDOW as usize;

/// The sender's map of the octets between the cumulative acknowledgement and the highest sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    /// Acknowledged blocks in order, apart from each other.
    blocks: Vec<(u64, u64)>,
    /// The end of what was sent again in this recovery (HighRxt).
    pub(crate) resent: u64,
}

impl Scoreboard {
    /// Forgets everything, as after a timeout (RFC 2018, section 8: the receiver may have thrown blocks away).
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.resent = 0;
    }

    /// A block was acknowledged; whether that told anything new.
    pub(crate) fn add(&mut self, from: u64, to: u64) -> bool {
        if from >= to || self.blocks.iter().any(|b| b.0 <= from && to <= b.1) {
            return false;
        }
        // The blocks that touch the new one become one with it.
        let first = self.blocks.partition_point(|b| b.1 < from);
        let after = self.blocks.partition_point(|b| b.0 <= to);
        let joined = self.blocks[first..after].iter().fold((from, to), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        if first == after && self.blocks.len() == MAX_BLOCKS {
            return false;
        }
        self.blocks.splice(first..after, [joined]);
        true
    }

    /// Everything before `una` has arrived.
    pub(crate) fn advance(&mut self, una: u64) {
        self.blocks.retain_mut(|b| {
            b.0 = b.0.max(una);
            b.0 < b.1
        });
    }

    /// The end of the highest block.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.blocks.last().map(|b| b.1)
    }

    /// IsLost: whether enough arrived above this octet.
    pub(crate) fn is_lost(&self, at: u64, mss: u64) -> bool {
        let above = &self.blocks[self.blocks.partition_point(|b| b.1 <= at)..];
        above.len() as u64 >= DUP_THRESH
            || above.iter().map(|b| b.1 - b.0.max(at)).sum::<u64>() > (DUP_THRESH - 1) * mss
    }

    /// The unacknowledged stretches from `una` to `max`.
    fn holes(&self, una: u64, max: u64) -> impl Iterator<Item = (u64, u64)> {
        let starts = core::iter::once(una).chain(self.blocks.iter().map(|b| b.1));
        let ends = self.blocks.iter().map(|b| b.0).chain(core::iter::once(max));
        starts.zip(ends).filter(|(from, to)| from < to)
    }

    /// SetPipe: how much is under way, in octets.
    pub(crate) fn pipe(&self, una: u64, max: u64, mss: u64) -> u64 {
        let one = |(from, to): (u64, u64)| {
            let first = if self.is_lost(from, mss) { 0 } else { to - from };
            first + self.resent.clamp(from, to) - from
        };
        self.holes(una, max).map(one).sum()
    }

    /// NextSeg, rules 1 and 3: the first octet of the next hole to fill, one that counts as lost if `lost`, and its end.
    pub(crate) fn next_hole(&self, una: u64, mss: u64, lost: bool) -> Option<(u64, u64)> {
        let highest = self.highest()?;
        let from = |hole: (u64, u64)| (hole.0.max(self.resent), hole.1);
        self.holes(una, highest).map(from).find(|h| h.0 < h.1 && (!lost || self.is_lost(h.0, mss)))
    }

    /// How much is acknowledged above the cumulative acknowledgement, in octets.
    pub(crate) fn octets(&self) -> u64 {
        self.blocks.iter().map(|b| b.1 - b.0).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 100;

    #[test]
    fn blocks_that_touch_become_one() {
        let mut s = Scoreboard::default();
        assert!(s.add(300, 400) && s.add(100, 200) && s.add(200, 300));
        assert_eq!(s.blocks, [(100, 400)]);
        assert!(!s.add(150, 350));
        s.advance(250);
        assert_eq!(s.blocks, [(250, 400)]);
    }

    #[test]
    fn a_hole_is_lost_when_three_blocks_or_three_segments_are_above_it() {
        let mut s = Scoreboard::default();
        s.add(100, 200);
        s.add(300, 400);
        assert!(!s.is_lost(0, MSS));
        s.add(500, 510);
        assert!(s.is_lost(0, MSS) && !s.is_lost(200, MSS));
        s.add(510, 700);
        assert!(s.is_lost(200, MSS), "more than two segments above");
    }

    #[test]
    fn the_pipe_leaves_out_what_is_lost_and_counts_what_was_sent_again() {
        let mut s = Scoreboard::default();
        s.add(100, 400);
        // [0, 100) is lost, [400, 600) is under way.
        assert_eq!(s.pipe(0, 600, MSS), 200);
        s.resent = 100;
        assert_eq!(s.pipe(0, 600, MSS), 300);
        assert_eq!(s.next_hole(0, MSS, false), None);
    }
}
