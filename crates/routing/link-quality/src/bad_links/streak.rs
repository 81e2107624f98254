//! Success as evidence against a bad mark.

/// How many packets in a row must be acknowledged over a link that is marked bad - its use was the last resort - before the
/// mark is taken back. A link that delivers three packets of ten does so once in 15 000 tries.
const REDEEMS: u8 = 8;

/// Packets acknowledged since the last failure.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Streak(u8);

impl Streak {
    /// Counts one more; true when that redeems the link.
    pub(super) fn worked(&mut self) -> bool {
        self.0 += 1;
        self.0 >= REDEEMS
    }
}
