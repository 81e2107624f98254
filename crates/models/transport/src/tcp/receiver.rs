//! The receiving half of a connection: order, buffer, and acknowledgements.

use wayhop_core::{Span, Time};

/// The most blocks that are told to the sender: three and the newest fit without timestamps (RFC 2018, section 3).
const SACK_BLOCKS: usize = 4;

/// The most blocks that are kept: as many as the largest window has segments.
const MAX_BLOCKS: usize = super::config::MAX_WINDOW as usize;

/// A stretch that arrived beyond what is in order.
#[derive(Copy, Clone, Debug)]
struct Block {
    from: u64,
    to: u64,
    /// The number of the arrival that last changed it.
    touched: u64,
}

/// The receiving half.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    capacity: u64,
    /// Octets from `next` on, at their place modulo the capacity; made with the first one.
    ring: Vec<u8>,
    /// The octet that is expected next.
    next: u64,
    blocks: Vec<Block>,
    arrivals: u64,
    /// The stream's end, once a FIN told it.
    end: Option<u64>,
    fin_reached: bool,
    delay: Option<Span>,
    /// When an acknowledgement is due.
    pub(crate) ack_at: Option<Time>,
}

impl Receiver {
    /// With room for `capacity` bytes; acknowledgements are delayed by `delay`, if any.
    pub(crate) fn new(capacity: u64, delay: Option<Span>) -> Self {
        Self { capacity, delay, ..Self::default() }
    }

    /// The acknowledgement: the octet that is expected next, the end of the stream counted as one.
    pub(crate) fn expected(&self) -> u64 {
        self.next + u64::from(self.fin_reached)
    }
    /// How much more is taken. Applications here read at once, so the buffer holds nothing that is in order.
    pub(crate) fn window(&self) -> u64 {
        self.capacity
    }
    /// Whether the whole stream has arrived.
    pub(crate) fn is_done(&self) -> bool {
        self.fin_reached
    }

    /// A segment whose first octet is `from`, which may lie before the stream's begin. `deliver` gets the octets that are
    /// in order now. Returns whether the segment is to be acknowledged at once.
    pub(crate) fn accept(
        &mut self,
        now: Time,
        from: i64,
        payload: &[u8],
        fin: bool,
        deliver: &mut dyn FnMut(&[u8]),
    ) -> bool {
        if payload.is_empty() && !fin {
            return false;
        }
        let before = self.expected();
        let end = from + payload.len() as i64;
        let was_gap = !self.blocks.is_empty();
        if fin && self.end.is_none() && end >= self.next as i64 && end <= (self.next + self.capacity) as i64 {
            self.end = Some(end as u64);
        }
        self.store(from, payload, deliver);
        if self.end == Some(self.next) {
            self.fin_reached = true;
        }
        // RFC 5681 section 4.2: at once when something is missing, was missing, or came again; else every second one.
        let in_order = self.expected() > before && !was_gap && !fin;
        match self.delay {
            Some(delay) if in_order && self.ack_at.is_none() => {
                self.ack_at = Some(now + delay);
                false
            }
            _ => true,
        }
    }

    /// Keeps what is new and fits into the window, and delivers what is in order.
    fn store(&mut self, from: i64, payload: &[u8], deliver: &mut dyn FnMut(&[u8])) {
        // An end that was told is not overrun.
        let last = self.end.unwrap_or(u64::MAX).min(self.next + self.capacity);
        let end = (from + payload.len() as i64).min(last as i64);
        let start = from.max(self.next as i64);
        if start >= end {
            return;
        }
        let fresh = &payload[(start - from) as usize..(end - from) as usize];
        let (start, end) = (start as u64, end as u64);
        if start == self.next && self.blocks.is_empty() {
            // The common case needs no buffer.
            deliver(fresh);
            self.next = end;
            return;
        }
        let first = self.blocks.partition_point(|b| b.to < start);
        let after = self.blocks.partition_point(|b| b.from <= end);
        if first == after && self.blocks.len() == MAX_BLOCKS {
            return;
        }
        self.write(start, fresh);
        self.arrivals += 1;
        let joined =
            self.blocks[first..after].iter().fold((start, end), |a, b| (a.0.min(b.from), a.1.max(b.to)));
        let block = Block { from: joined.0, to: joined.1, touched: self.arrivals };
        self.blocks.splice(first..after, [block]);
        if joined.0 == self.next {
            self.blocks.remove(0);
            self.read(joined.1, deliver);
        }
    }

    fn write(&mut self, at: u64, octets: &[u8]) {
        if self.ring.is_empty() {
            self.ring.resize(self.capacity as usize, 0);
        }
        let at = (at % self.capacity) as usize;
        let first = octets.len().min(self.ring.len() - at);
        self.ring[at..at + first].copy_from_slice(&octets[..first]);
        self.ring[..octets.len() - first].copy_from_slice(&octets[first..]);
    }

    fn read(&mut self, to: u64, deliver: &mut dyn FnMut(&[u8])) {
        let at = (self.next % self.capacity) as usize;
        let len = (to - self.next) as usize;
        let first = len.min(self.ring.len() - at);
        deliver(&self.ring[at..at + first]);
        if first < len {
            deliver(&self.ring[..len - first]);
        }
        self.next = to;
    }

    /// The SACK blocks to send, the most recently changed first (RFC 2018, section 4).
    pub(crate) fn sack_blocks(&self) -> [Option<(u64, u64)>; SACK_BLOCKS] {
        let mut out = [None; SACK_BLOCKS];
        let mut newer = u64::MAX;
        for slot in &mut out {
            let next = self.blocks.iter().filter(|b| b.touched < newer).max_by_key(|b| b.touched);
            let Some(b) = next else { break };
            newer = b.touched;
            *slot = Some((b.from, b.to));
        }
        out
    }
}
