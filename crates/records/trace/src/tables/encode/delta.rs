//! `DELTA_BINARY_PACKED` (Parquet's `Encodings.md`): for times, numbers of packets, and what else grows.

use super::hybrid::{pack, put_varint};

/// Differences in a block, which has one least difference.
const BLOCK: usize = 128;
/// Differences in a miniblock, which has one width.
const MINI: usize = 32;

/// An integer that differences of its own width lead to.
pub(super) trait Delta: Copy + Default + Into<i64> {
    /// The difference, wrapped to this type's width.
    fn since(self, before: Self) -> i64;
}

impl Delta for i32 {
    fn since(self, before: Self) -> i64 {
        self.wrapping_sub(before).into()
    }
}

impl Delta for i64 {
    fn since(self, before: Self) -> i64 {
        self.wrapping_sub(before)
    }
}

/// Appends the values.
pub(super) fn put<T: Delta>(values: &[T], to: &mut Vec<u8>) {
    for n in [BLOCK, BLOCK / MINI, values.len()] {
        put_varint(n as u64, to);
    }
    put_zigzag(values.first().copied().unwrap_or_default().into(), to);
    let mut before = values.first().copied().unwrap_or_default();
    for block in values.get(1..).unwrap_or_default().chunks(BLOCK) {
        let mut deltas = [0_i64; BLOCK];
        let mut least = i64::MAX;
        for (delta, v) in deltas.iter_mut().zip(block) {
            *delta = v.since(before);
            least = least.min(*delta);
            before = *v;
        }
        put_zigzag(least, to);
        let widths = to.len();
        to.extend_from_slice(&[0; BLOCK / MINI]);
        for (i, mini) in deltas[..block.len()].chunks(MINI).enumerate() {
            let above = |d: &i64| d.wrapping_sub(least).cast_unsigned();
            let width = (u64::BITS - mini.iter().fold(0, |all, d| all | above(d)).leading_zeros()) as u8;
            to[widths + i] = width;
            let end = to.len() + MINI * usize::from(width) / 8;
            put_packed(mini.iter().map(above), width, to);
            // As if it were whole.
            to.resize(end, 0);
        }
    }
}

fn put_packed(values: impl Iterator<Item = u64>, width: u8, to: &mut Vec<u8>) {
    if u32::from(width) <= u32::BITS {
        return pack(values, width, to);
    }
    let (mut waiting, mut bits) = (0_u128, 0_u32);
    for v in values {
        waiting |= u128::from(v) << bits;
        bits += u32::from(width);
        if bits >= u64::BITS {
            to.extend_from_slice(&(waiting as u64).to_le_bytes());
            waiting >>= u64::BITS;
            bits -= u64::BITS;
        }
    }
    to.extend_from_slice(&waiting.to_le_bytes()[..bits.div_ceil(8) as usize]);
}

fn put_zigzag(v: i64, to: &mut Vec<u8>) {
    put_varint((v << 1 ^ v >> (i64::BITS - 1)).cast_unsigned(), to);
}
