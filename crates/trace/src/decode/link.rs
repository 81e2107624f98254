//! From a captured frame to the IP packet in it.

use wayhop_core::Mac;
use wayhop_wire::dot11::{Frame, Kind};
use wayhop_wire::{llc, radiotap};

/// A frame with an IPv4 packet in it: what the layers below IP say of the packet.
#[derive(Debug, Default, PartialEq)]
pub struct Link<'a> {
    /// Who put it on the air, or on the wire.
    pub transmitter: Option<Mac>,
    /// For whom.
    pub receiver: Option<Mac>,
    /// Whether the MAC had sent it before.
    pub retry: bool,
    /// Received power in dBm.
    pub signal_dbm: Option<i8>,
    /// The IP packet, and perhaps padding or an FCS behind it.
    pub ip: &'a [u8],
}

/// LINKTYPE_IEEE802_11 of tcpdump.org: frames as a [`crate::FrameEvent`] has them.
pub const LINKTYPE_IEEE802_11: u16 = link_type::IEEE802_11;

pub(super) mod link_type {
    pub(super) const ETHERNET: u16 = 1;
    /// What OpenBSD and older files call raw IP.
    pub(super) const RAW_BSD: u16 = 12;
    pub(super) const RAW: u16 = 101;
    pub(in super::super) const IEEE802_11: u16 = 105;
    pub(super) const LINUX_SLL: u16 = 113;
    pub(in super::super) const RADIOTAP: u16 = 127;
    pub(super) const IPV4: u16 = 228;
}

/// Whether frames of this type can be decoded.
pub(super) fn is_known(t: u16) -> bool {
    use link_type::{ETHERNET, IEEE802_11, IPV4, LINUX_SLL, RADIOTAP, RAW, RAW_BSD};
    matches!(t, ETHERNET | RAW_BSD | RAW | IEEE802_11 | LINUX_SLL | RADIOTAP | IPV4)
}

/// The IPv4 packet in a frame of type `link_type` (a LINKTYPE number of tcpdump.org); `None` if there is none, if the frame
/// failed its check, or if too little was captured.
pub fn network(link_type: u16, bytes: &[u8]) -> Option<Link<'_>> {
    match link_type {
        link_type::RAW | link_type::RAW_BSD | link_type::IPV4 => Some(Link { ip: bytes, ..Link::default() }),
        link_type::ETHERNET => ethernet(bytes),
        link_type::LINUX_SLL => cooked(bytes),
        link_type::IEEE802_11 => dot11(bytes, false),
        link_type::RADIOTAP => {
            let (tap, frame) = radiotap::split(bytes).ok()?;
            let flags = tap.flags.unwrap_or(0);
            if flags & radiotap::flags::BAD_FCS != 0 {
                return None;
            }
            let link = dot11(frame, flags & radiotap::flags::DATA_PAD != 0)?;
            Some(Link { signal_dbm: tap.signal_dbm, ..link })
        }
        _ => None,
    }
}

fn dot11(bytes: &[u8], padded: bool) -> Option<Link<'_>> {
    let f = Frame::new_checked(bytes).ok()?;
    if f.kind() != Kind::Data || !f.has_payload() || f.protected() {
        return None;
    }
    let payload_at = if padded { f.header_len().next_multiple_of(4) } else { f.header_len() };
    let payload = bytes.get(payload_at..)?;
    let snap = llc::Repr::parse(payload).ok()?;
    (snap.ether_type == llc::IPV4).then(|| Link {
        transmitter: f.transmitter(),
        receiver: Some(f.receiver()),
        retry: f.retry(),
        signal_dbm: None,
        ip: &payload[llc::LEN..],
    })
}

fn ethernet(bytes: &[u8]) -> Option<Link<'_>> {
    const VLAN_TAGS: [u16; 2] = [0x8100, 0x88a8];
    let (receiver, rest) = bytes.split_first_chunk::<6>()?;
    let (transmitter, mut rest) = rest.split_first_chunk::<6>()?;
    loop {
        let (ether_type, after) = rest.split_first_chunk::<2>()?;
        let ether_type = u16::from_be_bytes(*ether_type);
        if ether_type == llc::IPV4 {
            let (transmitter, receiver) = (Some(Mac(*transmitter)), Some(Mac(*receiver)));
            return Some(Link { transmitter, receiver, ip: after, ..Link::default() });
        }
        if !VLAN_TAGS.contains(&ether_type) {
            return None;
        }
        rest = after.get(2..)?;
    }
}

/// Linux cooked capture: packet type, hardware type, address length, eight octets of sender address, protocol.
fn cooked(bytes: &[u8]) -> Option<Link<'_>> {
    let (header, ip) = bytes.split_first_chunk::<16>()?;
    let six_octets = header[4..6] == [0, 6];
    let transmitter =
        six_octets.then(|| Mac([header[6], header[7], header[8], header[9], header[10], header[11]]));
    (u16::from_be_bytes([header[14], header[15]]) == llc::IPV4).then(|| Link {
        transmitter,
        ip,
        ..Link::default()
    })
}
