//! The frames of an ad hoc network.

use wayhop_core::Mac;

use super::frame::{Frame, FrameType};
use super::{CTS_LEN, DATA_HEADER_LEN, RTS_LEN};
use crate::bytes::put;
use crate::{Error, refuse_if};

/// A data frame's header, To DS = From DS = 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// How long the medium stays taken after this frame, in microseconds.
    pub duration_us: u16,
    /// The frame was sent before.
    pub retry: bool,
    /// More fragments follow.
    pub more_fragments: bool,
    /// Who shall receive it.
    pub receiver: Mac,
    /// Who sends it.
    pub transmitter: Mac,
    /// The network.
    pub bssid: Mac,
    /// Sequence number; 12 bits.
    pub sequence: u16,
    /// Fragment number; 4 bits.
    pub fragment: u8,
}

/// A frame's header. A control frame is nothing more.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Repr {
    /// Data; the payload follows the header.
    Data(Data),
    /// Request to send.
    Rts {
        /// How long the medium stays taken after this frame, in microseconds.
        duration_us: u16,
        /// The frame was sent before.
        retry: bool,
        /// Who shall answer.
        receiver: Mac,
        /// Who asks.
        transmitter: Mac,
    },
    /// Clear to send.
    Cts {
        /// How long the medium stays taken after this frame, in microseconds.
        duration_us: u16,
        /// Who asked.
        receiver: Mac,
    },
    /// Acknowledgement.
    Ack {
        /// How long the medium stays taken after this frame, in microseconds.
        duration_us: u16,
        /// Who sent the data.
        receiver: Mac,
    },
}

impl Repr {
    /// Reads a header; an error for frames of other kinds, of infrastructure networks, and for encrypted ones.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let f = Frame::new_checked(bytes)?;
        let (duration_us, receiver) = (f.duration_us(), f.receiver());
        refuse_if(f.to_ds() || f.from_ds() || f.protected(), Error::Value("frame control"))?;
        match (f.kind(), f.transmitter(), f.address3(), f.sequence()) {
            (FrameType::Data, Some(transmitter), Some(bssid), Some((sequence, fragment)))
                if f.subtype() == 0 =>
            {
                Ok(Self::Data(Data {
                    duration_us,
                    retry: f.retry(),
                    more_fragments: f.more_fragments(),
                    receiver,
                    transmitter,
                    bssid,
                    sequence,
                    fragment,
                }))
            }
            (FrameType::Rts, Some(transmitter), ..) => {
                Ok(Self::Rts { duration_us, retry: f.retry(), receiver, transmitter })
            }
            (FrameType::Cts, ..) => Ok(Self::Cts { duration_us, receiver }),
            (FrameType::Ack, ..) => Ok(Self::Ack { duration_us, receiver }),
            _ => Err(Error::Value("frame type")),
        }
    }

    /// Length of the header without FCS, in octets.
    pub const fn buffer_len(&self) -> usize {
        match self {
            Self::Data(_) => DATA_HEADER_LEN,
            Self::Rts { .. } => RTS_LEN,
            Self::Cts { .. } | Self::Ack { .. } => CTS_LEN,
        }
    }

    /// Writes the header. Sequence and fragment number are cut to their bits.
    /// Panics if `buf` is shorter than [`Repr::buffer_len`].
    pub fn emit(&self, buf: &mut [u8]) {
        let buf = &mut buf[..self.buffer_len()];
        let (control, flags, duration_us, receiver) = match *self {
            Self::Data(d) => {
                put(buf, 10, d.transmitter.0);
                put(buf, 16, d.bssid.0);
                put(buf, 22, (d.sequence << 4 | u16::from(d.fragment & 0xf)).to_le_bytes());
                let flags = u8::from(d.retry) << 3 | u8::from(d.more_fragments) << 2;
                (0x08, flags, d.duration_us, d.receiver)
            }
            Self::Rts { duration_us, retry, receiver, transmitter } => {
                put(buf, 10, transmitter.0);
                (0xb4, u8::from(retry) << 3, duration_us, receiver)
            }
            Self::Cts { duration_us, receiver } => (0xc4, 0, duration_us, receiver),
            Self::Ack { duration_us, receiver } => (0xd4, 0, duration_us, receiver),
        };
        put(buf, 0, [control, flags]);
        put(buf, 2, duration_us.to_le_bytes());
        put(buf, 4, receiver.0);
    }
}
