//! Where the fields of a header are.

use core::ops::Range;

use crate::bytes::array_at;
use crate::{Error, refuse_if};

pub(super) const FLAGS: u8 = 1;
pub(super) const RATE: u8 = 2;
pub(super) const CHANNEL: u8 = 3;
pub(super) const DBM_SIGNAL: u8 = 5;
pub(super) const DBM_NOISE: u8 = 6;
pub(super) const TX_FLAGS: u8 = 15;
pub(super) const DATA_RETRIES: u8 = 17;

const RADIOTAP_NAMESPACE: u32 = 1 << 29;
const VENDOR_NAMESPACE: u32 = 1 << 30;
const MORE_WORDS: u32 = 1 << 31;

/// (alignment, size) of the fields by bit number, in octets.
const LAYOUT: [(u8, u8); 28] = [
    (8, 8),  // TSFT
    (1, 1),  // flags
    (1, 1),  // rate
    (2, 4),  // channel
    (2, 2),  // FHSS
    (1, 1),  // dBm signal
    (1, 1),  // dBm noise
    (2, 2),  // lock quality
    (2, 2),  // TX attenuation
    (2, 2),  // dB TX attenuation
    (1, 1),  // dBm TX power
    (1, 1),  // antenna
    (1, 1),  // dB signal
    (1, 1),  // dB noise
    (2, 2),  // RX flags
    (2, 2),  // TX flags
    (1, 1),  // RTS retries
    (1, 1),  // data retries
    (4, 8),  // extended channel
    (1, 3),  // MCS
    (4, 8),  // A-MPDU status
    (2, 12), // VHT
    (8, 12), // timestamp
    (2, 12), // HE
    (2, 12), // HE-MU
    (2, 6),  // HE-MU of another user
    (1, 1),  // zero-length PSDU
    (2, 4),  // L-SIG
];

/// (alignment, size) of a field of the radiotap namespace, in octets; `None` for bits that have no layout yet.
pub(super) fn layout(bit: u8) -> Option<(usize, usize)> {
    LAYOUT.get(usize::from(bit)).map(|(a, s)| (usize::from(*a), usize::from(*s)))
}

/// The header's octets, after a check of version and length.
pub(super) fn header(bytes: &[u8]) -> Result<&[u8], Error> {
    refuse_if(bytes.len() < 8, Error::Truncated)?;
    refuse_if(bytes[0] != 0, Error::Value("version"))?;
    let len = usize::from(u16::from_le_bytes(array_at(bytes, 2)));
    refuse_if(len < 8, Error::Length)?;
    bytes.get(..len).ok_or(Error::Truncated)
}

/// Calls `f` with bit number and octets of each field of the radiotap namespace, in order.
///
/// Ends without an error at a bit whose layout is not known: what lies behind it cannot be found.
pub(super) fn for_each(header: &[u8], mut f: impl FnMut(u8, &[u8])) -> Result<(), Error> {
    let words_end = words_end(header)?;
    let mut at = words_end;
    let mut in_radiotap = true;
    // A word continues the numbering of the one before it unless that one switched the namespace.
    let mut restarts = true;
    for word_at in (4..words_end).step_by(4) {
        let word = u32::from_le_bytes(array_at(header, word_at));
        if in_radiotap {
            let own_bits = (word & !(RADIOTAP_NAMESPACE | VENDOR_NAMESPACE | MORE_WORDS)) as u64;
            if own_bits != 0 && !restarts {
                return Ok(());
            }
            for bit in (0..29).filter(|bit| own_bits >> bit & 1 == 1) {
                let Some((align, size)) = layout(bit) else { return Ok(()) };
                let range = field(header, at, align, size)?;
                at = range.end;
                f(bit, &header[range]);
            }
        }
        restarts = word & (RADIOTAP_NAMESPACE | VENDOR_NAMESPACE) != 0;
        if word & VENDOR_NAMESPACE != 0 {
            // OUI, sub-namespace and the length of the data that the vendor's bits describe.
            let range = field(header, at, 2, 6)?;
            at = range.end + usize::from(u16::from_le_bytes(array_at(header, range.start + 4)));
            in_radiotap = false;
        } else if word & RADIOTAP_NAMESPACE != 0 {
            in_radiotap = true;
        }
    }
    Ok(())
}

/// Where the present words end.
fn words_end(header: &[u8]) -> Result<usize, Error> {
    let mut at = 4;
    loop {
        let word = header.get(at..at + 4).ok_or(Error::Truncated)?;
        at += 4;
        if u32::from_le_bytes(array_at(word, 0)) & MORE_WORDS == 0 {
            return Ok(at);
        }
    }
}

fn field(header: &[u8], at: usize, align: usize, size: usize) -> Result<Range<usize>, Error> {
    let start = at.next_multiple_of(align);
    if start + size > header.len() { Err(Error::Truncated) } else { Ok(start..start + size) }
}
