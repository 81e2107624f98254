//! From a captured frame to the IP packet in it.

use wayhop_core::Mac;
use wayhop_wire::dot11::{Frame, FrameType};
use wayhop_wire::llc;

use super::link_type;
use super::radio::{RadioFrame, ppi, radio_frame};

/// A frame with an IP packet in it: what the layers below IP say of the packet.
#[derive(Debug, Default, PartialEq)]
pub struct DecodedFrame<'a> {
    /// Who put it on the air, or on the wire.
    pub transmitter: Option<Mac>,
    /// For whom.
    pub receiver: Option<Mac>,
    /// Whether the MAC had sent it before.
    pub retry: bool,
    /// Received power in dBm.
    pub signal_dbm: Option<i8>,
    /// The IP packet of either version, and perhaps padding or an FCS behind it.
    pub ip: &'a [u8],
}

/// Why no IP packet is found in a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NoPacket {
    /// Frames of this LINKTYPE are not decoded.
    LinkType(u16),
    /// The frame failed its check.
    BadFcs,
    /// It is encrypted.
    Encrypted,
    /// It carries something else, or too little of it was captured.
    NotIp,
}

/// LINKTYPE_IEEE802_11 of tcpdump.org: frames as a [`crate::FrameEvent`] has them.
pub const LINKTYPE_IEEE802_11: u16 = link_type::IEEE802_11;

/// The IP packet in a frame of type `link_type` (a LINKTYPE number of tcpdump.org).
///
/// # Errors
/// Why there is none that can be read.
pub fn network(link_type: u16, bytes: &[u8]) -> Result<DecodedFrame<'_>, NoPacket> {
    match link_type {
        link_type::PPI => match ppi(bytes).ok_or(NoPacket::NotIp)? {
            (link_type::IEEE802_11, frame) => dot11(frame),
            (inner, frame) => unwrapped(inner, frame.bytes),
        },
        link_type::PKTAP => {
            let (inner, frame) = pktap(bytes).ok_or(NoPacket::NotIp)?;
            unwrapped(inner, frame)
        }
        _ => unwrapped(link_type, bytes),
    }
}

/// [`network`] of a type that does not name another one, so that no frame nests without end.
fn unwrapped(link_type: u16, bytes: &[u8]) -> Result<DecodedFrame<'_>, NoPacket> {
    use link_type::{
        AVS, ETHERNET, IEEE802_11, IPV4, IPV6, LINUX_SLL, LINUX_SLL2, LOOP, NULL, PRISM, RADIOTAP, RAW,
        RAW_DLT, RAW_DLT_OPENBSD,
    };
    match link_type {
        RAW | RAW_DLT | RAW_DLT_OPENBSD | IPV4 | IPV6 => {
            Ok(DecodedFrame { ip: bytes, ..DecodedFrame::default() })
        }
        ETHERNET => ethernet(bytes),
        LINUX_SLL => sll(bytes),
        LINUX_SLL2 => sll2(bytes),
        NULL | LOOP => loopback(bytes),
        IEEE802_11 | RADIOTAP | PRISM | AVS => dot11(radio_frame(link_type, bytes).ok_or(NoPacket::NotIp)?),
        other => Err(NoPacket::LinkType(other)),
    }
}

fn dot11(radio: RadioFrame<'_>) -> Result<DecodedFrame<'_>, NoPacket> {
    if radio.bad_fcs {
        return Err(NoPacket::BadFcs);
    }
    let f = Frame::new_checked(radio.bytes).map_err(|_| NoPacket::NotIp)?;
    if f.kind() != FrameType::Data || !f.has_payload() {
        return Err(NoPacket::NotIp);
    }
    if f.protected() {
        return Err(NoPacket::Encrypted);
    }
    let payload_at = if radio.padded { f.header_len().next_multiple_of(4) } else { f.header_len() };
    let payload = radio.bytes.get(payload_at..).ok_or(NoPacket::NotIp)?;
    let snap = llc::Repr::parse(payload).map_err(|_| NoPacket::NotIp)?;
    Ok(DecodedFrame {
        transmitter: f.transmitter(),
        receiver: Some(f.receiver()),
        retry: f.retry(),
        signal_dbm: radio.signal_dbm,
        ip: behind(snap.ether_type, &payload[llc::LEN..])?,
    })
}

fn ethernet(bytes: &[u8]) -> Result<DecodedFrame<'_>, NoPacket> {
    let (&[r0, r1, r2, r3, r4, r5, t0, t1, t2, t3, t4, t5, kind @ ..], payload) =
        bytes.split_first_chunk::<14>().ok_or(NoPacket::NotIp)?;
    Ok(DecodedFrame {
        transmitter: Some(Mac([t0, t1, t2, t3, t4, t5])),
        receiver: Some(Mac([r0, r1, r2, r3, r4, r5])),
        ip: behind(u16::from_be_bytes(kind), payload)?,
        ..DecodedFrame::default()
    })
}

/// The IP packet behind this EtherType (or IEEE 802.3 length), VLAN tags (IEEE 802.1Q), or LLC and SNAP.
fn behind(mut ether_type: u16, mut bytes: &[u8]) -> Result<&[u8], NoPacket> {
    const LONGEST_OF_802_3: u16 = 1500;
    // Each round takes octets off, so this ends.
    loop {
        match ether_type {
            llc::IPV4 | llc::IPV6 => return Ok(bytes),
            0x8100 | 0x88a8 | 0x9100 => {
                let ([_, _, kind @ ..], rest) = bytes.split_first_chunk::<4>().ok_or(NoPacket::NotIp)?;
                (ether_type, bytes) = (u16::from_be_bytes(*kind), rest);
            }
            0..=LONGEST_OF_802_3 => {
                let snap = llc::Repr::parse(bytes).map_err(|_| NoPacket::NotIp)?;
                (ether_type, bytes) = (snap.ether_type, &bytes[llc::LEN..]);
            }
            _ => return Err(NoPacket::NotIp),
        }
    }
}

/// Linux cooked capture: packet type, hardware type, address length, eight octets of sender address, protocol.
fn sll(bytes: &[u8]) -> Result<DecodedFrame<'_>, NoPacket> {
    let (header, payload) = bytes.split_first_chunk::<16>().ok_or(NoPacket::NotIp)?;
    let length = u16::from_be_bytes([header[4], header[5]]);
    cooked([header[2], header[3]], length, &header[6..14], [header[14], header[15]], payload)
}

/// Its version 2: protocol, two octets of nothing, interface, hardware type, packet type, address length, address.
fn sll2(bytes: &[u8]) -> Result<DecodedFrame<'_>, NoPacket> {
    let (header, payload) = bytes.split_first_chunk::<20>().ok_or(NoPacket::NotIp)?;
    cooked([header[8], header[9]], header[11].into(), &header[12..], [header[0], header[1]], payload)
}

fn cooked<'a>(
    hardware: [u8; 2],
    address_len: u16,
    address: &[u8],
    protocol: [u8; 2],
    payload: &'a [u8],
) -> Result<DecodedFrame<'a>, NoPacket> {
    // Interfaces in monitor mode (ARPHRD_IEEE80211 and so on), where the protocol says nothing.
    let monitored = match u16::from_be_bytes(hardware) {
        801 => Some(link_type::IEEE802_11),
        802 => Some(link_type::PRISM),
        803 => Some(link_type::RADIOTAP),
        _ => None,
    };
    if let Some(t) = monitored {
        return dot11(radio_frame(t, payload).ok_or(NoPacket::NotIp)?);
    }
    let transmitter = address.first_chunk::<6>().filter(|_| address_len == 6).map(|a| Mac(*a));
    let ip = behind(u16::from_be_bytes(protocol), payload)?;
    Ok(DecodedFrame { transmitter, ip, ..DecodedFrame::default() })
}

/// An address family in either byte order; IPv6 has another number on each system.
fn loopback(bytes: &[u8]) -> Result<DecodedFrame<'_>, NoPacket> {
    let (family, ip) = bytes.split_first_chunk::<4>().ok_or(NoPacket::NotIp)?;
    let family = u32::from_le_bytes(*family);
    let family = if family > 0xffff { family.swap_bytes() } else { family };
    match family {
        2 | 10 | 24 | 28 | 30 => Ok(DecodedFrame { ip, ..DecodedFrame::default() }),
        _ => Err(NoPacket::NotIp),
    }
}

/// Darwin's packet tap: its length, a kind of record, and the link type of what follows, in little-endian words.
fn pktap(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let word = |at| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let inner = u16::try_from(word(8)?).ok()?;
    Some((inner, bytes.get(usize::try_from(word(0)?).ok()?..)?))
}
