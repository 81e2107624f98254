//! Fragmentation and reassembly (RFC 9171, sections 5.8 and 5.9).

use std::collections::BTreeMap;

use crate::bundle::{Bundle, Fragment, flags};

/// The octets `from..to` of a bundle's payload as a fragment.
///
/// Blocks that must be in every fragment are; others are in the first one only. So are this crate's own and those without which a
/// fragment has no age and no limit.
pub(crate) fn piece(bundle: &Bundle, from: usize, to: usize) -> Bundle {
    let whole = bundle.fragment.unwrap_or(Fragment { offset: 0, total: bundle.payload.len() as u64 });
    let mut piece = Bundle { payload: bundle.payload[from..to].to_vec(), ..without_payload(bundle) };
    if from > 0 {
        piece.blocks.retain(|b| b.flags & flags::BLOCK_REPLICATE != 0 || Bundle::knows(b.kind));
    }
    piece.flags |= flags::FRAGMENT;
    piece.fragment = Some(Fragment { offset: whole.offset + from as u64, total: whole.total });
    piece
}

fn without_payload(bundle: &Bundle) -> Bundle {
    Bundle {
        flags: bundle.flags,
        crc: bundle.crc,
        destination: bundle.destination.clone(),
        source: bundle.source.clone(),
        report_to: bundle.report_to.clone(),
        created: bundle.created,
        lifetime_ms: bundle.lifetime_ms,
        fragment: bundle.fragment,
        blocks: bundle.blocks.clone(),
        payload_flags: bundle.payload_flags,
        payload_crc: bundle.payload_crc,
        payload: Vec::new(),
    }
}

/// Splits a bundle into fragments of at most `largest` octets each, as they are encoded: proactive fragmentation. A bundle that
/// fits stays as it is. `None` if its flags forbid it, or not one octet of payload fits beside the blocks.
pub fn split(bundle: &Bundle, largest: usize) -> Option<Vec<Bundle>> {
    if bundle.encode().len() <= largest {
        return Some(vec![bundle.clone()]);
    }
    if !bundle.may_fragment() || bundle.payload.is_empty() {
        return None;
    }
    let mut pieces = Vec::new();
    let mut from = 0;
    while from < bundle.payload.len() {
        // A fragment of no octets shows what its blocks need; lengths and offsets may need up to 3 + 9 octets more.
        let blocks = piece(bundle, from, from).encode().len() + 12;
        let room = largest.checked_sub(blocks).filter(|room| *room > 0)?;
        let to = bundle.payload.len().min(from + room);
        pieces.push(piece(bundle, from, to));
        from = to;
    }
    Some(pieces)
}

/// What is there of an application data unit.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    /// Octets, by their offset; they do not overlap.
    parts: BTreeMap<u64, Vec<u8>>,
    octets: u64,
}

impl Reassembly {
    /// Adds octets; of those that are there already, the first stay.
    pub fn insert(&mut self, mut offset: u64, mut octets: &[u8]) {
        while !octets.is_empty() {
            // What is there at or before the offset.
            if let Some((&start, part)) = self.parts.range(..=offset).next_back() {
                let end = start + part.len() as u64;
                if end > offset {
                    let known = usize::try_from(end - offset).unwrap_or(usize::MAX).min(octets.len());
                    octets = &octets[known..];
                    offset += known as u64;
                    continue;
                }
            }
            let room = self.parts.range(offset..).next().map_or(u64::MAX, |(&next, _)| next - offset);
            let new = octets.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            self.parts.insert(offset, octets[..new].to_vec());
            self.octets += new as u64;
            octets = &octets[new..];
            offset += new as u64;
        }
    }

    /// How many octets are there.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// In how many parts they came.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Which octets are there, as ranges that do not touch.
    pub fn ranges(&self) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (&start, part) in &self.parts {
            let end = start + part.len() as u64;
            match ranges.last_mut() {
                Some((_, last)) if *last == start => *last = end,
                _ => ranges.push((start, end)),
            }
        }
        ranges
    }

    /// The octets from the first one to the first gap.
    pub fn prefix(&self) -> Vec<u8> {
        let mut prefix = Vec::new();
        for (&start, part) in &self.parts {
            if start != prefix.len() as u64 {
                break;
            }
            prefix.extend_from_slice(part);
        }
        prefix
    }

    /// The whole, if its `total` octets are there.
    pub fn whole(self, total: u64) -> Option<Vec<u8>> {
        if self.octets != total {
            return None;
        }
        let mut whole = Vec::with_capacity(usize::try_from(total).ok()?);
        for (offset, part) in self.parts {
            if offset != whole.len() as u64 {
                return None;
            }
            whole.extend_from_slice(&part);
        }
        Some(whole)
    }
}
