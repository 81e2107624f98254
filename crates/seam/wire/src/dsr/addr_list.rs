//! The addresses of a Route Request, Route Reply or Source Route.

use std::net::Ipv4Addr;

use crate::list::{Item, List};

/// Addresses in order. (RFC 4728 counts them from 1: its first address is `at(0)`.)
pub type AddrList<'a> = List<'a, Ipv4Addr>;

impl Item for Ipv4Addr {
    type Octets = [u8; 4];
    fn read(octets: &[u8; 4]) -> Self {
        Self::from(*octets)
    }
}
