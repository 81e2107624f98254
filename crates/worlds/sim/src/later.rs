//! Events that are due later: unsorted, by some milliseconds.
//!
//! A network of many nodes has a timer or two for each of them in its queue. In a heap, each of those costs a walk through memory
//! that is in no cache, twice. Here it is written once behind others of its bucket, and read once when that comes up.

use wayhop_core::Time;

/// An entry of the queue, with what is in it.
#[derive(Copy, Clone)]
pub(crate) struct QueuedEvent<E> {
    /// Time (64 bits), node (24), sequence (40).
    pub(crate) key: u128,
    pub(crate) event: E,
}

/// When an entry with this key is due.
#[inline]
pub(crate) fn time_of(key: u128) -> Time {
    Time::from_nanos((key >> 64) as u64)
}

/// The node of an entry with this key.
#[inline]
pub(crate) fn node_of(key: u128) -> u32 {
    (key >> 40) as u32 & 0x00ff_ffff
}

/// A bucket is 2^23 ns long, about 8 ms.
const BUCKET_SHIFT: u32 = 23;
/// 4.3 s of buckets: a power of two.
const BUCKETS: u64 = 512;
/// Entries in a block.
const BLOCK: usize = 7;
/// "No block."
const NONE: u32 = u32::MAX;

/// Some entries of one bucket, and where further ones are.
struct Block<E> {
    entries: [QueuedEvent<E>; BLOCK],
    len: u32,
    next: u32,
}

/// Events within some seconds from a moment on, by bucket.
pub(crate) struct Later<E> {
    /// All of them are in this bucket or later ones, numbered from time zero, and none is [`BUCKETS`] later.
    first: u64,
    len: usize,
    /// By bucket, modulo [`BUCKETS`]: its first block. Empty before the first use.
    heads: Vec<u32>,
    /// A bit for each bucket with a block.
    occupied: Vec<u64>,
    blocks: Vec<Block<E>>,
    /// Blocks for reuse, threaded through their `next`.
    free: u32,
}

#[inline]
fn bucket(at: Time) -> u64 {
    at.as_nanos() >> BUCKET_SHIFT
}

impl<E: Copy> Later<E> {
    pub(crate) fn new() -> Self {
        Self { first: 0, len: 0, heads: Vec::new(), occupied: Vec::new(), blocks: Vec::new(), free: NONE }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether it may hold something that is due at this time or before.
    #[inline]
    pub(crate) fn may_have(&self, at: Time) -> bool {
        self.len > 0 && bucket(at) >= self.first
    }

    /// Takes an entry in, unless it is due too soon or too late for a bucket. `now` is when the last event that was taken was due.
    #[inline]
    pub(crate) fn put(&mut self, now: Time, entry: QueuedEvent<E>) -> bool {
        if self.len == 0 {
            self.first = bucket(now) + 1;
        }
        let at = bucket(time_of(entry.key));
        if at < self.first || at - self.first >= BUCKETS {
            return false;
        }
        if self.heads.is_empty() {
            self.heads.resize(BUCKETS as usize, NONE);
            self.occupied.resize(BUCKETS as usize / 64, 0);
        }
        self.len += 1;
        let place = (at % BUCKETS) as usize;
        let head = self.heads[place];
        if head != NONE {
            let block = &mut self.blocks[head as usize];
            if (block.len as usize) < BLOCK {
                block.entries[block.len as usize] = entry;
                block.len += 1;
                return true;
            }
        }
        self.heads[place] = self.new_block(entry, head);
        self.occupied[place / 64] |= 1 << (place % 64);
        true
    }

    fn new_block(&mut self, entry: QueuedEvent<E>, next: u32) -> u32 {
        let block = Block { entries: [entry; BLOCK], len: 1, next };
        let number = self.free;
        if number == NONE {
            self.blocks.push(block);
            self.blocks.len() as u32 - 1
        } else {
            self.free = self.blocks[number as usize].next;
            self.blocks[number as usize] = block;
            number
        }
    }

    /// When the first of it is due.
    pub(crate) fn next_time(&self) -> Option<Time> {
        let mut number = self.heads[self.first_occupied()?];
        let mut first = Time::NEVER;
        while number != NONE {
            let block = &self.blocks[number as usize];
            let entries = &block.entries[..block.len as usize];
            first = entries.iter().map(|entry| time_of(entry.key)).fold(first, Time::min);
            number = block.next;
        }
        Some(first)
    }

    /// Takes out all entries of the first bucket that has any.
    pub(crate) fn take_first(&mut self, mut taken: impl FnMut(QueuedEvent<E>)) {
        let Some(place) = self.first_occupied() else { return };
        self.occupied[place / 64] &= !(1 << (place % 64));
        let mut number = std::mem::replace(&mut self.heads[place], NONE);
        while number != NONE {
            let block = &mut self.blocks[number as usize];
            let entries = &block.entries[..block.len as usize];
            self.len -= entries.len();
            for entry in entries {
                taken(*entry);
            }
            let next = std::mem::replace(&mut block.next, self.free);
            self.free = number;
            number = next;
        }
        self.first += (place as u64).wrapping_sub(self.first) % BUCKETS + 1;
    }

    /// The place of the first bucket from `first` on that has a block.
    fn first_occupied(&self) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        let begin = (self.first % BUCKETS) as usize;
        let words = self.occupied.len();
        // The word in which it begins comes twice: from that bucket on, and last the buckets before it.
        let from_begin = self.occupied[begin / 64] & !0 << (begin % 64);
        let rest = (1..=words).map(|i| (begin / 64 + i) % words).map(|word| (word, self.occupied[word]));
        let mut all = std::iter::once((begin / 64, from_begin)).chain(rest);
        all.find(|(_, bits)| *bits != 0).map(|(word, bits)| word * 64 + bits.trailing_zeros() as usize)
    }
}
