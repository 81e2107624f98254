//! Blocks of the pcapng format (draft-ietf-opsawg-pcapng), as written here: little-endian.

use wayhop_core::IfaceId;
use wayhop_wire::radiotap;

use super::blocks::CapturedFrame;
use crate::{Direction, FrameEvent, InterfaceInfo, LinkKind, NodeInfo};

/// IEEE 802.11 frames, each behind a radiotap header.
const LINKTYPE_RADIOTAP: u16 = 127;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Ethernet frames without FCS.
const LINKTYPE_ETHERNET: u16 = 1;

/// Appends the section and the interfaces of a node. `snaplen` is that of the frame without radiotap header.
pub(super) fn put_header(to: &mut Vec<u8>, node: &NodeInfo, snaplen: u32) {
    put_section(to);
    for i in &node.interfaces {
        put_interface_of(to, capture_name(&node.name, &node.interfaces, i), i.kind, snaplen);
    }
}

/// The name of a node's interface in captures: the only one bears the node's.
pub(super) fn capture_name<'a>(
    node: &'a str,
    all: &[InterfaceInfo],
    interface: &'a InterfaceInfo,
) -> &'a str {
    if all.len() == 1 { node } else { &interface.name }
}

pub(super) fn put_interface_of(to: &mut Vec<u8>, name: &str, kind: LinkKind, snaplen: u32) {
    match kind {
        LinkKind::Ieee80211 => {
            put_interface(to, name, snaplen.saturating_add(MAX_RADIOTAP as u32), LINKTYPE_RADIOTAP);
        }
        LinkKind::Ethernet => put_interface(to, name, snaplen, LINKTYPE_ETHERNET),
    }
}

/// Appends how many frames an interface has had since the beginning, and how many of them are missing.
pub(super) fn put_statistics(to: &mut Vec<u8>, interface: u32, time_ns: u64, frames: u64, dropped: u64) {
    let statistics = begin(to, INTERFACE_STATISTICS);
    for word in [interface, (time_ns >> 32) as u32, time_ns as u32] {
        to.extend(word.to_le_bytes());
    }
    option(to, 4, &frames.to_le_bytes()); // isb_ifrecv
    option(to, 5, &dropped.to_le_bytes()); // isb_ifdrop
    end(to, statistics);
}

/// Appends the beginning of a capture of Ethernet interfaces: section and interfaces.
pub fn put_ethernet_headers<'a>(
    to: &mut Vec<u8>,
    interface_names: impl IntoIterator<Item = &'a str>,
    snaplen: u32,
) {
    put_section(to);
    for name in interface_names {
        put_interface(to, name, snaplen, LINKTYPE_ETHERNET);
    }
}

/// A frame of an Ethernet interface, as [`put_ethernet_frame`] writes it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct EthernetFrame<'a> {
    /// On which of the file's interfaces.
    pub iface: IfaceId,
    /// Nanoseconds since 1970.
    pub time_ns: u64,
    /// Sent or heard.
    pub direction: Direction,
    /// The frame without its FCS, or its beginning.
    pub bytes: &'a [u8],
    /// Length of the whole frame, in octets.
    pub original_len: u32,
    /// Received power in dBm, told in a comment; NaN where it is not known.
    pub signal_dbm: f32,
}

/// Appends a frame of an Ethernet interface.
pub fn put_ethernet_frame(to: &mut Vec<u8>, f: &EthernetFrame<'_>) {
    let packet = Packet {
        interface: f.iface.0.into(),
        time_ns: f.time_ns,
        head: &[],
        bytes: f.bytes,
        original_len: f.original_len,
        direction: Some(f.direction),
    };
    let comment = dbm(f.signal_dbm).map(|dbm| format!("signal {dbm} dBm"));
    put_packet(to, &packet, comment.as_deref());
}

pub(super) struct Packet<'a> {
    pub(super) interface: u32,
    pub(super) time_ns: u64,
    /// What stands before the frame.
    pub(super) head: &'a [u8],
    pub(super) bytes: &'a [u8],
    /// Length of the whole frame, if that is more than what was captured.
    pub(super) original_len: u32,
    pub(super) direction: Option<Direction>,
}

pub(super) fn put_packet(to: &mut Vec<u8>, p: &Packet<'_>, comment: Option<&str>) {
    let packet = begin(to, ENHANCED_PACKET);
    let (head, captured) = (p.head.len() as u32, p.bytes.len() as u32);
    let lengths = [head + captured, head + p.original_len.max(captured)];
    for word in [p.interface, (p.time_ns >> 32) as u32, p.time_ns as u32].into_iter().chain(lengths) {
        to.extend(word.to_le_bytes());
    }
    let at = to.len();
    to.extend_from_slice(p.head);
    to.extend_from_slice(p.bytes);
    pad(to, at);
    if let Some(direction) = p.direction {
        let flags: u32 = match direction {
            Direction::Rx => 1,
            Direction::Tx => 2,
        };
        option(to, 2, &flags.to_le_bytes()); // epb_flags
    }
    if let Some(comment) = comment {
        option(to, 1, comment.as_bytes()); // opt_comment
    }
    end(to, packet);
}

pub(super) fn put_section(to: &mut Vec<u8>) {
    let section = begin(to, SECTION_HEADER);
    to.extend(0x1a2b_3c4d_u32.to_le_bytes()); // says which byte order this is
    to.extend([1, 0, 0, 0]); // version 1.0
    to.extend(u64::MAX.to_le_bytes()); // the section's length is not known yet
    option(to, 4, format!("wayhop {}", wayhop_core::version::full()).as_bytes());
    end(to, section);
}

pub(super) fn put_interface(to: &mut Vec<u8>, name: &str, snaplen: u32, link_type: u16) {
    let interface = begin(to, INTERFACE_DESCRIPTION);
    to.extend(link_type.to_le_bytes());
    to.extend([0, 0]);
    to.extend(snaplen.to_le_bytes());
    option(to, 2, name.as_bytes()); // if_name
    option(to, 9, &[9]); // if_tsresol: 10^-9 s
    end(to, interface);
}

/// The longest radiotap header that [`radiotap_of`] makes.
const MAX_RADIOTAP: usize = 24;

pub(super) fn put_frame(to: &mut Vec<u8>, f: &FrameEvent<'_>, kind: LinkKind) {
    let mut head = [0; MAX_RADIOTAP];
    let mut head_len = 0;
    if kind == LinkKind::Ieee80211 {
        let tap = radiotap_of(f);
        head_len = tap.buffer_len();
        tap.emit(&mut head[..head_len]);
    }
    let packet = Packet {
        interface: f.iface.0.into(),
        time_ns: f.time.as_nanos(),
        head: &head[..head_len],
        bytes: f.bytes,
        original_len: f.original_len,
        direction: Some(f.direction),
    };
    put_packet(to, &packet, Some(f.comment).filter(|c| !c.is_empty()));
}

fn radiotap_of(f: &FrameEvent<'_>) -> radiotap::Repr {
    use radiotap::{channel_flags, flags};
    let band = match f.channel_mhz {
        2_400..2_500 => channel_flags::GHZ_2,
        4_900..6_000 => channel_flags::GHZ_5,
        _ => 0,
    };
    let dsss = matches!(f.rate_100kbps, 10 | 20 | 55 | 110);
    let modulation = if dsss { channel_flags::CCK } else { channel_flags::OFDM };
    let sent = f.direction == Direction::Tx;
    radiotap::Repr {
        flags: Some(if f.bad_fcs { flags::BAD_FCS } else { 0 }),
        rate_500kbps: Some((f.rate_100kbps / 5).min(255) as u8),
        channel: Some(radiotap::Channel { mhz: f.channel_mhz, flags: band | modulation }),
        signal_dbm: dbm(f.signal_dbm),
        noise_dbm: dbm(f.noise_dbm),
        tx_flags: sent.then_some(0),
        data_retries: sent.then_some(f.retries),
    }
}

/// Whole decibels, as radiotap has them.
fn dbm(v: f32) -> Option<i8> {
    (!v.is_nan()).then(|| v.round() as i8)
}

/// Starts a block and tells where it is.
fn begin(to: &mut Vec<u8>, kind: u32) -> usize {
    let at = to.len();
    to.extend(kind.to_le_bytes());
    to.extend([0; 4]);
    at
}

/// Ends the options of the block that starts at `at`, and writes its length before and after.
fn end(to: &mut Vec<u8>, at: usize) {
    to.extend([0; 4]); // opt_endofopt
    let len = ((to.len() + 4 - at) as u32).to_le_bytes();
    to[at + 4..at + 8].copy_from_slice(&len);
    to.extend(len);
}

/// Appends an option; a value longer than its length field can say is cut.
fn option(to: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    to.extend(code.to_le_bytes());
    to.extend((value.len() as u16).to_le_bytes());
    let at = to.len();
    to.extend_from_slice(value);
    pad(to, at);
}

/// Fills what was written since `at` up to 32 bits.
fn pad(to: &mut Vec<u8>, at: usize) {
    let len = (to.len() - at).next_multiple_of(4);
    to.resize(at + len, 0);
}

/// A pcapng file in memory. Each frame keeps its time, its direction and its comment.
#[derive(Debug)]
pub struct Excerpt {
    octets: Vec<u8>,
    /// Name and link type of those that are in the file.
    interfaces: Vec<(String, u16)>,
}

impl Default for Excerpt {
    fn default() -> Self {
        let mut octets = Vec::new();
        put_section(&mut octets);
        Self { octets, interfaces: Vec::new() }
    }
}

impl Excerpt {
    /// Appends a frame, on the interface of this name. A frame without a time gets time 0.
    pub fn put(&mut self, interface: &str, f: &CapturedFrame) {
        let is_it = |(name, link_type): &(String, u16)| name == interface && *link_type == f.link_type;
        let number = self.interfaces.iter().position(is_it).unwrap_or_else(|| {
            put_interface(&mut self.octets, interface, 0, f.link_type);
            self.interfaces.push((interface.to_owned(), f.link_type));
            self.interfaces.len() - 1
        });
        let packet = Packet {
            interface: number as u32,
            time_ns: f.time_ns.unwrap_or(0),
            head: &[],
            bytes: &f.bytes,
            original_len: f.original_len,
            direction: f.sent.map(|sent| if sent { Direction::Tx } else { Direction::Rx }),
        };
        put_packet(&mut self.octets, &packet, f.comment.as_deref());
    }

    /// Octets so far.
    pub fn size(&self) -> usize {
        self.octets.len()
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        self.octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::{NodeId, Time};

    #[test]
    fn no_radiotap_header_is_longer_than_the_snap_length_allows_for() {
        let f = FrameEvent {
            time: Time::ZERO,
            node: NodeId(0),
            iface: IfaceId(0),
            direction: Direction::Tx,
            bytes: &[],
            original_len: 0,
            signal_dbm: -70.4,
            noise_dbm: -100.0,
            rate_100kbps: 20,
            channel_mhz: 914,
            retries: 3,
            bad_fcs: true,
            comment: "",
        };
        assert!(radiotap_of(&f).buffer_len() <= MAX_RADIOTAP);
    }
}
