//! Reading what an interpreter writes: effects, one after the other.

use core::net::Ipv4Addr;

/// What is left of an answer.
pub(super) struct Cursor<'a>(&'a [u8]);

/// The effects in an answer, in order; `effect` reads one of a kind. After an error, which describes it, there are none.
pub(super) fn each<'a, E>(
    answer: &'a [u8],
    effect: impl Fn(&mut Cursor<'a>, u8) -> Option<E>,
) -> impl Iterator<Item = Result<E, String>> {
    let mut rest = answer;
    core::iter::from_fn(move || {
        let (kind, behind) = rest.split_first()?;
        let at = answer.len() - rest.len();
        let mut cursor = Cursor(behind);
        let read = effect(&mut cursor, *kind);
        rest = if read.is_some() { cursor.0 } else { &[] };
        Some(read.ok_or_else(|| format!("answered rubbish: byte {at} of {} begins no effect", answer.len())))
    })
}

impl<'a> Cursor<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }
    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[b]| b)
    }
    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }
    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
    pub(super) fn ipv4(&mut self) -> Option<Ipv4Addr> {
        self.array::<4>().map(Ipv4Addr::from)
    }
    /// UTF-8 of this many bytes.
    pub(super) fn text(&mut self, length: usize) -> Option<&'a str> {
        core::str::from_utf8(self.bytes(length)?).ok()
    }
}
