//! Frames of RTCM 10403 ("RTCM 3"): corrections from a GNSS reference station.
//!
//! A frame is the preamble 0xD3, six reserved zeros, ten bits of length, a message of that many
//! bytes, and CRC-24Q over all of that (RTCM 10403, section 4). Messages are passed on as they are;
//! only station and time are read from them.

use crate::bytes::{array_at, u8_at, u16_at, u32_at};
use crate::{Error, refuse_if};

/// The first octet of a frame.
pub const PREAMBLE: u8 = 0xd3;
/// Octets before the message.
pub const HEADER_LEN: usize = 3;
/// Octets after it.
pub const CRC_LEN: usize = 3;
/// The longest frame, octets: ten bits of length.
pub const MAX_LEN: usize = HEADER_LEN + 0x3ff + CRC_LEN;

/// x^24 + x^23 + x^18 + x^17 + x^14 + x^11 + x^10 + x^7 + x^6 + x^5 + x^4 + x^3 + x + 1.
const POLYNOMIAL: u32 = 0x0186_4cfb;

/// What each value of the register's highest octet adds.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < table.len() {
        let mut crc = (i as u32) << 16;
        let mut bit = 0;
        while bit < 8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= POLYNOMIAL;
            }
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
};

/// CRC-24Q, beginning with zero.
pub fn crc24q(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |crc, b| (crc << 8 & 0x00ff_ffff) ^ TABLE[usize::from((crc >> 16) as u8 ^ b)])
}

/// A frame whose checksum is right.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a>(&'a [u8]);

impl<'a> Frame<'a> {
    /// The frame with which these octets begin.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        if u8_at(bytes, 0) != PREAMBLE {
            return Err(if bytes.is_empty() { Error::Truncated } else { Error::Value("preamble") });
        }
        refuse_if(bytes.len() < HEADER_LEN, Error::Truncated)?;
        let length = u16_at(bytes, 1);
        refuse_if(length > 0x3ff, Error::Value("reserved"))?;
        let covered = HEADER_LEN + usize::from(length);
        let frame = bytes.get(..covered + CRC_LEN).ok_or(Error::Truncated)?;
        let [a, b, c] = array_at(frame, covered);
        refuse_if(crc24q(&frame[..covered]) != u32::from_be_bytes([0, a, b, c]), Error::Checksum)?;
        Ok(Self(frame))
    }

    /// All of it.
    pub const fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// The message in it.
    pub fn message(&self) -> &'a [u8] {
        self.0.get(HEADER_LEN..self.0.len() - CRC_LEN).unwrap_or_default()
    }

    /// The message number (DF002); none if there is no room for one.
    pub fn number(&self) -> Option<u16> {
        (self.message().len() >= 2).then(|| u16_at(self.message(), 0) >> 4)
    }

    /// The reference station (DF003), where the message names one: observations, the station's place and antenna, its text.
    pub fn station(&self) -> Option<u16> {
        let names_one = matches!(self.number()?, 1001..=1013 | 1029 | 1032 | 1033 | 1071..=1137 | 1230);
        (names_one && self.message().len() >= 3).then(|| u16_at(self.message(), 1) & 0xfff)
    }

    /// The moment of GPS observations (DF004): milliseconds since the GPS week began.
    pub fn gps_epoch_ms(&self) -> Option<u32> {
        let has_one = matches!(self.number()?, 1001..=1004 | 1071..=1077);
        (has_one && self.message().len() >= 7).then(|| u32_at(self.message(), 3) >> 2)
    }
}

/// What a stream of octets begins with.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StreamHead<'a> {
    /// Bytes that belong to no frame.
    pub skipped: usize,
    /// The frame after them; without one, what follows may become one.
    pub frame: Option<Frame<'a>>,
}

/// Looks for the first frame, among whatever else a receiver sends.
pub fn find(bytes: &[u8]) -> StreamHead<'_> {
    let mut skipped = 0;
    while let Some(rest) = bytes.get(skipped..).filter(|rest| !rest.is_empty()) {
        match Frame::new_checked(rest) {
            Ok(frame) => return StreamHead { skipped, frame: Some(frame) },
            Err(Error::Truncated) => break,
            Err(_) => skipped += 1,
        }
    }
    StreamHead { skipped, frame: None }
}
