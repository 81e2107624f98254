//! Changes to the DSR header of a packet in place.
//!
//! Every function takes an IP packet (its bytes begin with the IPv4 header), keeps the lengths and the IP header checksum
//! right, and on an error leaves the packet as it was.

use core::ops::Range;
use std::net::Ipv4Addr;

use wayhop_core::Packet as Buffer;

use super::build::padding;
use super::header::{HEADER_LEN, Packet};
use super::option::MAX_REQUEST_ADDRESSES;
use super::{DsrOption, LinkMetrics};
use crate::bytes::u8_at;
use crate::ipv4::{self, protocol};
use crate::{Error, bytes, refuse_if};

/// The IP header and the DSR header of a packet; an error if its protocol is not DSR.
#[inline]
pub fn parse(ip_packet: &[u8]) -> Result<(ipv4::Packet<'_>, Packet<'_>), Error> {
    let ip = ipv4::Packet::new_checked(ip_packet)?;
    refuse_if(ip.protocol() != protocol::DSR, Error::Value("protocol"))?;
    Packet::new_checked(ip.payload()).map(|dsr| (ip, dsr))
}

/// Puts a header (from [`super::Builder`]) between the IP header and its payload (section 8.1.2). The header's Next Header
/// becomes the packet's protocol, and that becomes 48.
pub fn insert_header(p: &mut Buffer, header: &[u8]) -> Result<(), Error> {
    Packet::new_checked(header)?;
    let ip = ipv4::Packet::new_checked(p.bytes())?;
    let (at, payload_len, next) = (ip.header_len(), ip.payload().len(), ip.protocol());
    ipv4::set_payload(p.bytes_mut(), protocol::DSR, payload_len + header.len())?;
    p.insert(at, header.len());
    let gap = &mut p.bytes_mut()[at..at + header.len()];
    gap.copy_from_slice(header);
    gap[0] = next;
    Ok(())
}

/// Takes the DSR header out; the packet's protocol becomes what the header's Next Header says.
pub fn remove_header(p: &mut Buffer) -> Result<(), Error> {
    let (ip, dsr) = parse(p.bytes())?;
    let (at, n, next, left) = (ip.header_len(), dsr.header_len(), dsr.next_header(), dsr.payload().len());
    ipv4::set_payload(p.bytes_mut(), next, left)?;
    p.remove(at, n);
    Ok(())
}

/// Replaces the packet's DSR header by `header`, and keeps its Next Header.
pub fn replace_header(p: &mut Buffer, header: &[u8]) -> Result<(), Error> {
    Packet::new_checked(header)?;
    let (ip, dsr) = parse(p.bytes())?;
    let (at, old, next) = (ip.header_len(), dsr.header_len(), dsr.next_header());
    let payload_len = dsr.payload().len() + header.len();
    ipv4::set_payload(p.bytes_mut(), protocol::DSR, payload_len)?;
    match header.len().checked_sub(old) {
        Some(more) => p.insert(at, more),
        None => p.remove(at, old - header.len()),
    }
    let gap = &mut p.bytes_mut()[at..at + header.len()];
    gap.copy_from_slice(header);
    gap[0] = next;
    Ok(())
}

/// Appends an address to the packet's Route Request (section 8.2.2): four octets more in the option and in every length.
pub fn append_request_address(p: &mut Buffer, a: Ipv4Addr) -> Result<(), Error> {
    let range = find(parse(p.bytes())?.1, |o| matches!(o, DsrOption::RouteRequest(_)))?;
    refuse_if((range.len() - 8) / 4 >= MAX_REQUEST_ADDRESSES, Error::Full)?;
    append(p, range, a.octets())
}

/// Appends a cost to the packet's link metrics, if it has any: four octets more in the option and in every length.
pub fn append_link_metric(p: &mut Buffer, cost: u32) -> Result<(), Error> {
    let range = find(parse(p.bytes())?.1, |o| matches!(o, DsrOption::LinkMetrics(_)))?;
    refuse_if((range.len() - 4) / 4 >= LinkMetrics::MAX_COSTS, Error::Full)?;
    append(p, range, cost.to_be_bytes())
}

/// Appends four octets to the option in this range, which has room for them.
fn append(p: &mut Buffer, range: Range<usize>, octets: [u8; 4]) -> Result<(), Error> {
    let (ip, dsr) = parse(p.bytes())?;
    let options_at = ip.header_len() + HEADER_LEN;
    let (at, ip_payload_len) = (ip.header_len(), ip.payload().len());
    let options_len = u16::try_from(dsr.options_bytes().len() + 4).map_err(|_| Error::Full)?;
    ipv4::set_payload(p.bytes_mut(), protocol::DSR, ip_payload_len + 4)?;
    p.insert(options_at + range.end, 4);
    let b = p.bytes_mut();
    b[options_at + range.start + 1] += 4;
    bytes::put(b, options_at + range.end, octets);
    bytes::put(b, at + 2, options_len.to_be_bytes());
    Ok(())
}

/// Takes out the option in this range (from [`super::OptionRanges`]). Up to three octets of padding take its place, so that the
/// header's length changes by a multiple of four.
pub fn remove_option(p: &mut Buffer, range: Range<usize>) -> Result<(), Error> {
    let (ip, dsr) = parse(p.bytes())?;
    let options = dsr.options_bytes();
    refuse_if(range.start >= range.end || range.end > options.len(), Error::Value("option range"))?;
    let (at, ip_payload_len) = (ip.header_len(), ip.payload().len());
    let take = range.len() / 4 * 4;
    let options_len = (options.len() - take) as u16;
    let start = at + HEADER_LEN + range.start;
    ipv4::set_payload(p.bytes_mut(), protocol::DSR, ip_payload_len - take)?;
    p.remove(start, take);
    let b = p.bytes_mut();
    bytes::put(b, at + 2, options_len.to_be_bytes());
    let left = range.len() - take;
    b[start..start + left].copy_from_slice(padding(left));
    Ok(())
}

/// Sets the top bit behind the length octet of the option that starts at `start` (from [`super::OptionRanges`]), as section 6.1
/// asks for unknown options of the kind *mark*. An option without data stays as it is.
pub fn mark_option(ip_packet: &mut [u8], start: usize) -> Result<(), Error> {
    let (ip, dsr) = parse(ip_packet)?;
    let len_at = ip.header_len() + HEADER_LEN + start + 1;
    refuse_if(start + 1 >= dsr.options_bytes().len(), Error::Value("option range"))?;
    if start + 2 < dsr.options_bytes().len() && u8_at(ip_packet, len_at) > 0 {
        ip_packet[len_at + 1] |= 0x80;
    }
    Ok(())
}

/// Where the first well-formed option that `is` one looked for is.
fn find(dsr: Packet<'_>, is: impl Fn(&DsrOption<'_>) -> bool) -> Result<Range<usize>, Error> {
    dsr.options()
        .located()
        .find_map(|(range, o)| o.ok().filter(&is).map(|_| range))
        .ok_or(Error::Value("option"))
}
