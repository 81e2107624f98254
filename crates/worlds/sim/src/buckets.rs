//! Events that wait, by when they are due: unsorted, in buckets of the same length.
//!
//! In a heap, each event costs a walk through memory, twice: of a large network through memory that is in no cache. Here it is written
//! once behind others of its bucket, and read once when that comes up.

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

/// Events by bucket. Buckets are numbered from time zero.
pub(crate) struct Buckets<E> {
    /// A bucket is 2^`shift` ns long.
    shift: u32,
    /// All entries are in this bucket or later ones.
    first: u64,
    len: usize,
    /// By bucket, modulo their number, which is a power of two: its first block.
    heads: Vec<u32>,
    /// A bit for each bucket with a block.
    occupied: Vec<u64>,
    blocks: Vec<Block<E>>,
    /// Blocks for reuse, threaded through their `next`.
    free: u32,
}

impl<E: Copy> Buckets<E> {
    /// This many buckets of 2^`shift` ns, from time zero on.
    pub(crate) fn new(shift: u32, buckets: usize) -> Self {
        let mut empty = Self {
            shift: 0,
            first: 0,
            len: 0,
            heads: Vec::new(),
            occupied: Vec::new(),
            blocks: Vec::new(),
            free: NONE,
        };
        empty.restart(shift, buckets, Time::ZERO);
        empty
    }

    /// With nothing in it, divides time again: from the bucket of `from` on.
    pub(crate) fn restart(&mut self, shift: u32, buckets: usize, from: Time) {
        debug_assert!(self.len == 0 && buckets.is_power_of_two());
        self.shift = shift;
        self.first = self.bucket(from);
        self.heads.resize(buckets, NONE);
        self.occupied.resize(buckets.div_ceil(64), 0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The number of the bucket of what is due then.
    #[inline]
    pub(crate) fn bucket(&self, at: Time) -> u64 {
        at.as_nanos() >> self.shift
    }

    /// Takes an entry in, unless it is due before the first bucket or after the last one.
    #[inline]
    pub(crate) fn put(&mut self, entry: QueuedEvent<E>) -> bool {
        let bucket = self.bucket(time_of(entry.key));
        if bucket.wrapping_sub(self.first) >= self.heads.len() as u64 {
            return false;
        }
        self.len += 1;
        let place = self.place(bucket);
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
        let mut number = self.heads[self.place(self.first_occupied()?)];
        let mut first = Time::NEVER;
        while number != NONE {
            let block = &self.blocks[number as usize];
            let entries = &block.entries[..block.len as usize];
            first = entries.iter().map(|entry| time_of(entry.key)).fold(first, Time::min);
            number = block.next;
        }
        Some(first)
    }

    /// Takes out all entries of this bucket, before which there are none.
    pub(crate) fn take(&mut self, bucket: u64, mut taken: impl FnMut(QueuedEvent<E>)) {
        let place = self.place(bucket);
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
        self.first = bucket + 1;
    }

    /// Takes in nothing any more that is due before a bucket's begin, before which it has nothing.
    pub(crate) fn skip_to(&mut self, begin: Time) {
        self.first = self.bucket(begin);
    }

    /// When this bucket begins, which is when the one before it is over.
    #[inline]
    pub(crate) fn begin(&self, bucket: u64) -> Time {
        Time::from_nanos(bucket.saturating_mul(1 << self.shift))
    }

    /// How many entries this bucket has.
    pub(crate) fn count(&self, bucket: u64) -> usize {
        let (mut number, mut entries) = (self.heads[self.place(bucket)], 0);
        while number != NONE {
            let block = &self.blocks[number as usize];
            entries += block.len as usize;
            number = block.next;
        }
        entries
    }

    #[inline]
    fn place(&self, bucket: u64) -> usize {
        (bucket & self.mask()) as usize
    }

    #[inline]
    fn mask(&self) -> u64 {
        self.heads.len() as u64 - 1
    }

    /// The first bucket with entries.
    #[inline]
    pub(crate) fn first_occupied(&self) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let begin = self.place(self.first);
        // The word in which it begins comes twice: from that bucket on, and last the buckets before it.
        let mut word = begin / 64;
        let mut bits = self.occupied[word] & !0 << (begin % 64);
        while bits == 0 {
            word = if word + 1 == self.occupied.len() { 0 } else { word + 1 };
            bits = self.occupied[word];
        }
        let place = (word * 64) as u64 + u64::from(bits.trailing_zeros());
        Some(self.first + (place.wrapping_sub(self.first) & self.mask()))
    }
}
