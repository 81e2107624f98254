//! The 802.11 frame after the headers of its card and driver.

use wayhop_wire::radiotap;

use super::link_type::{AVS, IEEE802_11, PPI, PRISM, RADIOTAP};

/// An 802.11 frame of a capture.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct RadioFrame<'a> {
    /// From its frame control on.
    pub(super) bytes: &'a [u8],
    pub(super) signal_dbm: Option<i8>,
    /// Whether it failed its check.
    pub(super) bad_fcs: bool,
    /// Whether its header is padded to a multiple of four octets.
    pub(super) padded: bool,
}

/// The 802.11 frame in a frame of type `link_type`; `None` if there is none, or what stands before it was not captured whole.
pub(super) fn radio_frame(link_type: u16, bytes: &[u8]) -> Option<RadioFrame<'_>> {
    match link_type {
        IEEE802_11 => Some(RadioFrame { bytes, ..RadioFrame::default() }),
        RADIOTAP => {
            let (tap, bytes) = radiotap::split(bytes).ok()?;
            let has = |flag| tap.flags.unwrap_or(0) & flag != 0;
            Some(RadioFrame {
                bytes,
                signal_dbm: tap.signal_dbm,
                bad_fcs: has(radiotap::flags::BAD_FCS),
                padded: has(radiotap::flags::DATA_PAD),
            })
        }
        PRISM => prism(bytes),
        AVS => avs(bytes),
        PPI => ppi(bytes).filter(|(inner, _)| *inner == IEEE802_11).map(|(_, frame)| frame),
        _ => None,
    }
}

/// A PPI header (CACE Technologies, version 1.0.10): version, flags, length and the link type of what follows, then fields of a
/// type and a length each, all little-endian.
pub(super) fn ppi(bytes: &[u8]) -> Option<(u16, RadioFrame<'_>)> {
    const FIELDS_ARE_ALIGNED: u8 = 1;
    const COMMON_80211: u16 = 2;
    const BAD_FCS: u16 = 4;
    const NO_SIGNAL: i8 = -128;
    let length = usize::from(u16_le(bytes, 2)?);
    let inner = u16::try_from(u32::from_le_bytes(*bytes.get(4..)?.first_chunk()?)).ok()?;
    let mut frame = RadioFrame { bytes: bytes.get(length..)?, ..RadioFrame::default() };
    let mut fields = bytes.get(8..length)?;
    while let (Some(kind), Some(size)) = (u16_le(fields, 0), u16_le(fields, 2)) {
        let Some(value) = fields.get(4..4 + usize::from(size)) else { break };
        // Clock (8), flags (2), rate, channel, hopping, then signal and noise.
        if kind == COMMON_80211
            && let (Some(flags), Some(signal)) = (u16_le(value, 8), value.get(18))
        {
            frame.bad_fcs = flags & BAD_FCS != 0;
            frame.signal_dbm = Some(signal.cast_signed()).filter(|dbm| *dbm != NO_SIGNAL);
        }
        let mut next = 4 + value.len();
        if bytes[1] & FIELDS_ARE_ALIGNED != 0 {
            next = next.next_multiple_of(4);
        }
        fields = fields.get(next..).unwrap_or_default();
    }
    Some((inner, frame))
}

/// A Prism header: a code and the header's length in the byte order of the host that captured, then values whose units each driver
/// chose. Some drivers write an AVS header in its place.
fn prism(bytes: &[u8]) -> Option<RadioFrame<'_>> {
    /// "DIDmsg_lnxind_wlansniffrm", with a value for each item there is and without those that are missing.
    const CODES: [u32; 2] = [0x44, 0x41];
    let words = [bytes.first_chunk::<4>()?, bytes.get(4..)?.first_chunk::<4>()?];
    let length = [u32::from_le_bytes, u32::from_be_bytes].into_iter().find_map(|read| {
        let [code, length] = words.map(|w| read(*w));
        CODES.contains(&code).then_some(length)
    });
    match length {
        Some(length) => {
            Some(RadioFrame { bytes: bytes.get(usize::try_from(length).ok()?..)?, ..RadioFrame::default() })
        }
        None => avs(bytes),
    }
}

/// An AVS header: 16 words in network byte order; the second one is its length.
fn avs(bytes: &[u8]) -> Option<RadioFrame<'_>> {
    const COOKIE: u32 = 0x8021_1000;
    const SIGNAL_IS_DBM: u32 = 2;
    let word = |at| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    if word(0)? & 0xffff_f000 != COOKIE {
        return None;
    }
    let signal_dbm = (word(44)? == SIGNAL_IS_DBM).then(|| word(48)?.cast_signed().try_into().ok()).flatten();
    let length = usize::try_from(word(4)?).ok()?;
    Some(RadioFrame { bytes: bytes.get(length..)?, signal_dbm, ..RadioFrame::default() })
}

fn u16_le(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
