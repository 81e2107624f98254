//! IP packets in recycled buffers.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::{Time, bytes};

/// Names one packet of one run, from the application that made it to its end; every copy carries the same one.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PacketId(pub u64);

/// Which traffic flow a packet belongs to, and its number in that flow.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FlowTag {
    /// The flow's index in the scenario.
    pub flow: u32,
    /// The packet's number in the flow, from 0.
    pub seq: u32,
}

/// What the host remembers of a packet besides its bytes. None of it is on the air, and no protocol may decide by it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketMeta {
    /// The packet's name in the trace.
    pub id: PacketId,
    /// Its flow; `None` for control packets.
    pub flow: Option<FlowTag>,
    /// When its application or protocol made it.
    pub born: Time,
}

/// The bytes of one IP packet, with room in front for headers, and the host's notes on it.
///
/// A packet that a handler is given must leave it by an effect: sent, delivered, dropped with a reason, consumed, or
/// kept in a buffer that `inspect` reports. The host counts.
///
/// A clone is a copy outside of any pool, for a model checker, which keeps whole states of a node.
/// The packet path copies with [`Pool::copy`].
#[derive(Clone)]
pub struct Packet {
    buf: Vec<u8>,
    head: u32,
    has_checked_sums: bool,
    /// The host's notes.
    pub meta: PacketMeta,
}

/// Room kept in front of a new packet: the largest DSR header that 16 hops need, and the link headers.
const HEADROOM: usize = 128;

impl Packet {
    /// The packet's bytes, from the IP header on.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buf[self.head as usize..]
    }
    /// The packet's bytes, to be changed in place.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.has_checked_sums = false;
        &mut self.buf[self.head as usize..]
    }
    /// Whether the host found the checksums right of these very bytes, as a network card may tell it (Linux's `CHECKSUM_UNNECESSARY`).
    /// They need not be checked again.
    #[inline]
    pub fn has_checked_sums(&self) -> bool {
        self.has_checked_sums
    }
    /// Marks the checksums as right until the bytes change. Copies keep the mark.
    pub fn set_checked_sums(&mut self) {
        self.has_checked_sums = true;
    }
    /// Length in octets.
    pub fn len(&self) -> usize {
        self.buf.len() - self.head as usize
    }
    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Opens a gap of `n` zero octets at offset `at` (for instance between the IP header and the payload).
    ///
    /// # Panics
    /// If `at` is beyond the end.
    pub fn insert(&mut self, at: usize, n: usize) {
        assert!(at <= self.len());
        self.has_checked_sums = false;
        let head = self.head as usize;
        if n <= head {
            self.buf.copy_within(head..head + at, head - n);
            self.head = (head - n) as u32;
        } else {
            let from = head + at;
            let old = self.buf.len();
            self.buf.resize(old + n, 0);
            self.buf.copy_within(from..old, from + n);
        }
        let gap = self.head as usize + at;
        self.buf[gap..gap + n].fill(0);
    }
    /// Removes `n` octets at offset `at`.
    ///
    /// # Panics
    /// If the range is not inside the packet.
    pub fn remove(&mut self, at: usize, n: usize) {
        assert!(at + n <= self.len());
        self.has_checked_sums = false;
        let head = self.head as usize;
        self.buf.copy_within(head..head + at, head + n);
        self.head = (head + n) as u32;
    }
    /// Appends octets.
    pub fn extend(&mut self, tail: &[u8]) {
        self.has_checked_sums = false;
        self.buf.extend_from_slice(tail);
    }
    /// Cuts the packet to `len` octets if it is longer.
    pub fn truncate(&mut self, len: usize) {
        self.has_checked_sums = false;
        self.buf.truncate(self.head as usize + len);
    }
}

/// A packet in a log: its octets and the node's notes.
#[derive(Serialize, Deserialize)]
struct Logged {
    octets: String,
    #[serde(flatten)]
    meta: PacketMeta,
}

impl Serialize for Packet {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        Logged { octets: crate::hex(self.bytes()), meta: self.meta }.serialize(s)
    }
}

/// Outside of any pool, as a clone is.
impl<'de> Deserialize<'de> for Packet {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let logged = Logged::deserialize(d)?;
        let octets = bytes::from_hex(&logged.octets)
            .ok_or_else(|| serde::de::Error::custom("a packet's bytes are not hexadecimal"))?;
        Ok(Pool::new().packet(&octets, logged.meta))
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packet {{ {:?}, {} B }}", self.meta.id, self.len())
    }
}

/// Buffers for reuse: after a short warm-up nothing on the packet path allocates.
///
/// The pool also counts the packets that are out, which is how a host asserts that none is lost unseen.
#[derive(Default)]
pub struct Pool {
    free: Vec<Vec<u8>>,
    made: u64,
    ended: u64,
}

impl Pool {
    /// A pool with no buffers yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// A packet with these bytes.
    pub fn packet(&mut self, bytes: &[u8], meta: PacketMeta) -> Packet {
        let mut p = self.empty(meta);
        p.buf.extend_from_slice(bytes);
        p
    }
    /// A packet of `len` zero octets.
    pub fn zeroed(&mut self, len: usize, meta: PacketMeta) -> Packet {
        let mut p = self.empty(meta);
        p.buf.resize(HEADROOM + len, 0);
        p
    }
    /// A second packet with the same bytes and notes.
    pub fn copy(&mut self, p: &Packet) -> Packet {
        let mut copy = self.packet(p.bytes(), p.meta);
        copy.has_checked_sums = p.has_checked_sums;
        copy
    }
    /// Takes a packet's buffer back.
    #[inline]
    pub fn recycle(&mut self, mut p: Packet) {
        self.ended += 1;
        // What is in the room in front may stay: it is filled before it is used.
        p.buf.truncate(HEADROOM);
        self.free.push(p.buf);
    }
    /// Gives another pool buffers until that has as many free ones, as far as there are any. What the two count is in this one from now on.
    pub fn share(&mut self, other: &mut Self, buffers: usize) {
        let lacking = buffers.saturating_sub(other.free.len()).min(self.free.len());
        other.free.extend(self.free.drain(self.free.len() - lacking..));
        self.made = self.made.wrapping_add(std::mem::take(&mut other.made));
        self.ended = self.ended.wrapping_add(std::mem::take(&mut other.ended));
    }
    /// These packets ended together with their holder: a protocol that its node's reboot ended.
    pub fn forget(&mut self, packets: u64) {
        self.ended += packets;
    }
    /// How many packets are out. Clones and packets of other pools that came back here are nobody's: where there are any,
    /// the number says nothing.
    pub fn live(&self) -> u64 {
        self.made.wrapping_sub(self.ended)
    }
    fn empty(&mut self, meta: PacketMeta) -> Packet {
        self.made += 1;
        let mut buf = self.free.pop().unwrap_or_default();
        if buf.len() < HEADROOM {
            buf.resize(HEADROOM, 0);
        }
        Packet { buf, head: HEADROOM as u32, has_checked_sums: false, meta }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_recycled_buffer_carries_nothing_over() {
        let mut pool = Pool::new();
        let p = pool.packet(&[1, 2, 3], PacketMeta::default());
        pool.recycle(p);
        let q = pool.zeroed(5, PacketMeta::default());
        assert_eq!(q.bytes(), [0; 5]);
        assert_eq!(pool.live(), 1);
    }

    #[test]
    fn checksums_that_were_checked_are_not_any_more_when_the_bytes_change() {
        let mut pool = Pool::new();
        let changes: [fn(&mut Packet); 5] = [
            |p| p.bytes_mut()[0] ^= 1,
            |p| p.insert(1, 2),
            |p| p.remove(0, 1),
            |p| p.extend(&[7]),
            |p| p.truncate(1),
        ];
        for change in changes {
            let mut p = pool.packet(&[1, 2, 3], PacketMeta::default());
            assert!(!p.has_checked_sums());
            p.set_checked_sums();
            let mut copy = pool.copy(&p);
            change(&mut copy);
            assert!(p.has_checked_sums() && !copy.has_checked_sums());
            pool.recycle(copy);
            pool.recycle(p);
        }
    }

    #[test]
    fn a_packet_is_one_cache_line() {
        assert_eq!(size_of::<Packet>(), 64);
    }

    proptest! {
        #[test]
        fn insert_and_remove_do_what_they_do_on_a_vector(
            start in proptest::collection::vec(any::<u8>(), 0..100),
            ops in proptest::collection::vec((any::<bool>(), any::<prop::sample::Index>(), 0usize..90), 0..12),
        ) {
            let mut pool = Pool::new();
            let mut p = pool.packet(&start, PacketMeta::default());
            let mut v = start;
            for (insert, at, n) in ops {
                let at = at.index(v.len() + 1);
                if insert {
                    p.insert(at, n);
                    v.splice(at..at, std::iter::repeat_n(0, n));
                } else {
                    let n = n.min(v.len() - at);
                    p.remove(at, n);
                    v.drain(at..at + n);
                }
                prop_assert_eq!(p.bytes(), &v[..]);
            }
        }
    }
}
