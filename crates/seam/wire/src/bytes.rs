//! Reading and writing big-endian fields.
//!
//! The readers return zero beyond the end instead of panicking: every caller has checked the length, and a mistake there
//! must not become a way to stop a node from outside.

use std::net::Ipv4Addr;

#[inline]
pub(crate) fn u8_at(b: &[u8], at: usize) -> u8 {
    b.get(at).copied().unwrap_or(0)
}

#[inline]
pub(crate) fn array_at<const N: usize>(b: &[u8], at: usize) -> [u8; N] {
    b.get(at..).and_then(|tail| tail.first_chunk::<N>()).copied().unwrap_or([0; N])
}

#[inline]
pub(crate) fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(array_at(b, at))
}

#[inline]
pub(crate) fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(array_at(b, at))
}

#[inline]
pub(crate) fn addr_at(b: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::from(array_at::<4>(b, at))
}

/// Writes `v` at `at`; panics beyond the end, as slices do.
pub(crate) fn put<const N: usize>(b: &mut [u8], at: usize, v: [u8; N]) {
    b[at..at + N].copy_from_slice(&v);
}
