//! A cursor that writes an option's fields.

use std::net::Ipv4Addr;

use super::AddrList;

/// Writes fields one after another; panics beyond the end, as slices do.
pub(super) struct Writer<'b> {
    pub(super) buf: &'b mut [u8],
    pub(super) at: usize,
}

impl Writer<'_> {
    pub(super) fn slice(&mut self, v: &[u8]) {
        self.buf[self.at..self.at + v.len()].copy_from_slice(v);
        self.at += v.len();
    }
    pub(super) fn put<const N: usize>(&mut self, v: [u8; N]) {
        self.slice(&v);
    }
    pub(super) fn addr(&mut self, a: Ipv4Addr) {
        self.put(a.octets());
    }
    pub(super) fn addrs(&mut self, list: AddrList<'_>) {
        list.iter().for_each(|a| self.addr(a));
    }
}
