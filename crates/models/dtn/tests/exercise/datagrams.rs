//! Octets as a row of datagrams.

/// Each is as long as the octet before it says.
pub(crate) fn datagrams(mut octets: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = octets.split_first()?;
        let (datagram, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        octets = rest;
        Some(datagram)
    })
}
