//! Lists of addresses.

use std::net::Ipv4Addr;

use crate::Error;
use crate::bytes::put;
use crate::list::List;

/// The addresses that fill these octets.
pub(super) fn items(octets: &[u8]) -> Result<List<'_, Ipv4Addr>, Error> {
    match octets.as_chunks() {
        (addresses, []) => Ok(List::from_wire(addresses)),
        _ => Err(Error::Length),
    }
}

/// Writes addresses one behind the other.
pub(super) fn put_items(b: &mut [u8], addresses: List<'_, Ipv4Addr>) {
    for (i, a) in addresses.iter().enumerate() {
        put(b, 4 * i, a.octets());
    }
}
