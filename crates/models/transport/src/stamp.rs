//! The mark in a payload by which receivers measure.

use wayhop_core::Time;

/// Sequence number and time of sending, in the first 16 octets of a payload: the magic `WHOP`, the number (32 bits) and
/// nanoseconds since the start of the run (64 bits), big-endian.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The packet's number in its flow, from 0.
    pub seq: u32,
    /// When it was sent.
    pub sent: Time,
}

const MAGIC: [u8; 4] = *b"WHOP";

impl Stamp {
    /// Length in octets.
    pub const LEN: usize = 16;

    /// The stamp of a payload; `None` when it is too short or begins otherwise.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let (magic, rest) = payload.split_first_chunk::<4>()?;
        let (seq, rest) = rest.split_first_chunk::<4>()?;
        let (sent, _) = rest.split_first_chunk::<8>()?;
        (*magic == MAGIC).then(|| Self {
            seq: u32::from_be_bytes(*seq),
            sent: Time::from_nanos(u64::from_be_bytes(*sent)),
        })
    }

    /// Stamps a payload, if it has room.
    pub fn emit(&self, payload: &mut [u8]) {
        if let Some(head) = payload.first_chunk_mut::<{ Self::LEN }>() {
            head[..4].copy_from_slice(&MAGIC);
            head[4..8].copy_from_slice(&self.seq.to_be_bytes());
            head[8..].copy_from_slice(&self.sent.as_nanos().to_be_bytes());
        }
    }
}
