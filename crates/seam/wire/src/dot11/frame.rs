//! A view of any frame.

use wayhop_core::Mac;

use crate::bytes::{array_at, u8_at};
use crate::{Error, refuse_if};

/// What a frame is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FrameType {
    /// Beacons and their kin.
    Management,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgement.
    Ack,
    /// Any other control frame.
    OtherControl,
    /// Data, of any subtype.
    Data,
    /// Type 3.
    Extension,
}

/// A frame with a complete header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    bytes: &'a [u8],
    header_len: usize,
}

impl<'a> Frame<'a> {
    /// Checks the protocol version and that the header is complete. `bytes` are without FCS; the
    /// payload may be truncated.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        refuse_if(bytes.len() < 2, Error::Truncated)?;
        refuse_if(bytes[0] & 3 != 0, Error::Value("protocol version"))?;
        let mut f = Self { bytes, header_len: 0 };
        f.header_len = match f.kind() {
            FrameType::Cts | FrameType::Ack => 10,
            FrameType::Rts | FrameType::OtherControl => 16,
            FrameType::Management => 24 + if f.order() { 4 } else { 0 },
            FrameType::Data => {
                let qos = f.is_qos();
                24 + if f.to_ds() && f.from_ds() { 6 } else { 0 }
                    + if qos { 2 } else { 0 }
                    + if qos && f.order() { 4 } else { 0 }
            }
            FrameType::Extension => 2,
        };
        refuse_if(bytes.len() < f.header_len, Error::Truncated)?;
        Ok(f)
    }

    /// What it is.
    pub fn kind(&self) -> FrameType {
        match (u8_at(self.bytes, 0) >> 2 & 3, self.subtype()) {
            (0, _) => FrameType::Management,
            (1, 11) => FrameType::Rts,
            (1, 12) => FrameType::Cts,
            (1, 13) => FrameType::Ack,
            (1, _) => FrameType::OtherControl,
            (2, _) => FrameType::Data,
            _ => FrameType::Extension,
        }
    }
    /// The subtype's number.
    pub fn subtype(&self) -> u8 {
        u8_at(self.bytes, 0) >> 4
    }
    fn flags(&self) -> u8 {
        u8_at(self.bytes, 1)
    }
    /// The frame goes to an access point's distribution system.
    pub fn to_ds(&self) -> bool {
        self.flags() & 0x01 != 0
    }
    /// The frame comes from an access point's distribution system.
    pub fn from_ds(&self) -> bool {
        self.flags() & 0x02 != 0
    }
    /// More fragments follow.
    pub fn more_fragments(&self) -> bool {
        self.flags() & 0x04 != 0
    }
    /// The frame was sent before.
    pub fn retry(&self) -> bool {
        self.flags() & 0x08 != 0
    }
    /// The payload is encrypted.
    pub fn protected(&self) -> bool {
        self.flags() & 0x40 != 0
    }
    fn order(&self) -> bool {
        self.flags() & 0x80 != 0
    }
    /// A data frame with a QoS control field.
    pub fn is_qos(&self) -> bool {
        self.kind() == FrameType::Data && self.subtype() & 8 != 0
    }
    /// A data frame that carries a payload (not a Null frame).
    pub fn has_payload(&self) -> bool {
        self.kind() == FrameType::Data && self.subtype() & 4 == 0
    }
    /// The Duration field as it is: microseconds in the frames of an IBSS.
    pub fn duration_us(&self) -> u16 {
        u16::from_le_bytes(array_at(self.bytes, 2))
    }
    /// Who shall receive it (address 1).
    pub fn receiver(&self) -> Mac {
        Mac(array_at(self.bytes, 4))
    }
    /// Who sent it (address 2), where the frame says so.
    pub fn transmitter(&self) -> Option<Mac> {
        (self.header_len >= 16).then(|| Mac(array_at(self.bytes, 10)))
    }
    /// Address 3: in an IBSS, the network's BSSID.
    pub fn address3(&self) -> Option<Mac> {
        (self.header_len >= 24).then(|| Mac(array_at(self.bytes, 16)))
    }
    /// Sequence number (12 bits) and fragment number (4 bits), where the frame has them.
    pub fn sequence(&self) -> Option<(u16, u8)> {
        let v = u16::from_le_bytes(array_at(self.bytes, 22));
        (self.header_len >= 24).then_some((v >> 4, (v & 0xf) as u8))
    }
    /// Length of the header, in octets.
    pub fn header_len(&self) -> usize {
        self.header_len
    }
    /// What follows the header.
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[self.header_len..]
    }
}
