//! Parquet's RLE / bit-packing hybrid, in which definition levels and indexes of dictionaries are written
//! (Parquet's `Encodings.md`, "Run Length Encoding / Bit-Packing Hybrid").

/// Values in a group of bit-packed ones.
const GROUP: usize = 8;
/// Equal values from which on a run takes less than packed values, and is worth the header of what follows it.
const LEAST_RUN: usize = 2 * GROUP;

/// The bits of a value up to `most`; at least one, because not every reader takes none.
pub(super) fn width(most: u32) -> u8 {
    (u32::BITS - most.leading_zeros()).max(1) as u8
}

/// Appends the values, each of which has at most `width` bits.
pub(super) fn put(values: &[u32], width: u8, to: &mut Vec<u8>) {
    // Where the values that wait for being packed begin.
    let mut literals = 0;
    let mut at = 0;
    while at < values.len() {
        let value = values[at];
        let equal = values[at..].iter().take_while(|v| **v == value).count();
        if equal >= LEAST_RUN {
            // Packed values come in whole groups: the first of the equal ones fill the last group.
            let fill = (at - literals).next_multiple_of(GROUP) - (at - literals);
            put_literals(&values[literals..at + fill], width, to);
            put_run(value, equal - fill, width, to);
            literals = at + equal;
        }
        at += equal;
    }
    put_literals(&values[literals..], width, to);
}

fn put_run(value: u32, count: usize, width: u8, to: &mut Vec<u8>) {
    put_varint((count as u64) << 1, to);
    to.extend_from_slice(&value.to_le_bytes()[..usize::from(width).div_ceil(8)]);
}

/// Only the last ones may be fewer than whole groups; zeros follow them.
fn put_literals(values: &[u32], width: u8, to: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    let groups = values.len().div_ceil(GROUP);
    put_varint((groups as u64) << 1 | 1, to);
    let end = to.len() + groups * usize::from(width);
    pack(values.iter().map(|v| u64::from(*v)), width, to);
    to.resize(end, 0);
}

/// Appends values of at most 32 bits, the low bits first, and fills the last octet with zeros.
pub(super) fn pack(values: impl Iterator<Item = u64>, width: u8, to: &mut Vec<u8>) {
    let (mut waiting, mut bits) = (0_u64, 0_u32);
    for v in values {
        waiting |= v << bits;
        bits += u32::from(width);
        if bits >= u32::BITS {
            to.extend_from_slice(&(waiting as u32).to_le_bytes());
            waiting >>= u32::BITS;
            bits -= u32::BITS;
        }
    }
    to.extend_from_slice(&waiting.to_le_bytes()[..bits.div_ceil(8) as usize]);
}

/// An unsigned LEB128.
pub(super) fn put_varint(mut v: u64, to: &mut Vec<u8>) {
    while v >= 0x80 {
        to.push(v as u8 | 0x80);
        v >>= 7;
    }
    to.push(v as u8);
}
