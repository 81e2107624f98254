//! The location option: where the packet's originator was when it sent the packet.
//!
//! RFC 4728 has no such option; CMU's testbed piggybacked one of 44 octets - latitude, longitude,
//! heading and speed - on its packets, in a format that was not published. This one uses an
//! unregistered option type that other implementations skip (`type & 0xE0 == 0`, section 6.1); the
//! first octet of its data is a subtype, so that other experiments can share the type.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 30   |Opt Data Len=42|  Subtype = 1  |   Reserved    |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |            Latitude, 10^-9 degrees north (64 bits)            |
//! +                                                               +
//! |            Longitude, 10^-9 degrees east (64 bits)            |
//! +              Heading, 10^-6 degrees (32 bits)                 +
//! |              Speed, 10^-3 m/s (32 bits)                       |
//! +              Reserved, zero (16 octets)                       +
//! ```

use super::writer::Writer;
use crate::bytes::{array_at, u32_at};
use crate::{Error, refuse_if};

/// Where a node is and how it moves (WGS 84).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Latitude in 10^-9 degrees, north positive; within 90 degrees.
    pub latitude_ndeg: i64,
    /// Longitude in 10^-9 degrees, east positive; within 180 degrees.
    pub longitude_ndeg: i64,
    /// Heading in 10^-6 degrees, clockwise from north; below 360 degrees.
    pub heading_udeg: u32,
    /// Speed over ground, in millimetres per second.
    pub speed_mm_per_s: u32,
}

/// Octets of the data, without type and length.
const DATA_LEN: usize = 42;

impl Location {
    /// Octets of the option, with type and length.
    pub const OPTION_LEN: usize = 2 + DATA_LEN;
    /// The first octet of the data.
    pub const SUBTYPE: u8 = 1;

    /// Reads the option's data; `None` when it is something else that shares the option's type.
    pub(super) fn parse(data: &[u8]) -> Option<Self> {
        if data.len() != DATA_LEN || data[0] != Self::SUBTYPE {
            return None;
        }
        let l = Self {
            latitude_ndeg: i64::from_be_bytes(array_at(data, 2)),
            longitude_ndeg: i64::from_be_bytes(array_at(data, 10)),
            heading_udeg: u32_at(data, 18),
            speed_mm_per_s: u32_at(data, 22),
        };
        l.check().is_ok().then_some(l)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        refuse_if(self.latitude_ndeg.unsigned_abs() > 90_000_000_000, Error::Value("latitude"))?;
        refuse_if(self.longitude_ndeg.unsigned_abs() > 180_000_000_000, Error::Value("longitude"))?;
        refuse_if(self.heading_udeg >= 360_000_000, Error::Value("heading"))?;
        Ok(())
    }

    /// Writes the data, zeros for what is reserved; readers ignore it.
    pub(super) fn emit(&self, w: &mut Writer<'_>) {
        w.put([Self::SUBTYPE, 0]);
        w.put(self.latitude_ndeg.to_be_bytes());
        w.put(self.longitude_ndeg.to_be_bytes());
        w.put(self.heading_udeg.to_be_bytes());
        w.put(self.speed_mm_per_s.to_be_bytes());
        w.put([0; DATA_LEN - 26]);
    }
}
