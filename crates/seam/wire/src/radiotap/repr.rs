//! The fields that Wayhop writes, and reads from everyone's captures.

use super::fields::{
    CHANNEL, DATA_RETRIES, DBM_NOISE, DBM_SIGNAL, FLAGS, RATE, TX_FLAGS, for_each, header, layout,
};
use crate::Error;
use crate::bytes::{array_at, put, u8_at};

/// The Channel field.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Centre frequency in MHz.
    pub mhz: u16,
    /// See [`super::channel_flags`].
    pub flags: u16,
}

/// A header; `None` is a field that is absent.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Repr {
    /// See [`super::flags`].
    pub flags: Option<u8>,
    /// Data rate in units of 500 kb/s.
    pub rate_500kbps: Option<u8>,
    /// Channel.
    pub channel: Option<Channel>,
    /// Received power, in dBm.
    pub signal_dbm: Option<i8>,
    /// Noise power, in dBm.
    pub noise_dbm: Option<i8>,
    /// For a transmitted frame; see [`super::tx_flags`].
    pub tx_flags: Option<u16>,
    /// For a transmitted frame: how often it was sent again.
    pub data_retries: Option<u8>,
}

/// The fields present, and the octets of each.
type Fields = [Option<(u8, [u8; 4])>; 7];

impl Repr {
    /// Reads a header, which may have been written by anyone.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut r = Self::default();
        for_each(header(bytes)?, |bit, b| match bit {
            FLAGS => first(&mut r.flags, u8_at(b, 0)),
            RATE => first(&mut r.rate_500kbps, u8_at(b, 0)),
            CHANNEL => first(&mut r.channel, Channel { mhz: u16_le(b, 0), flags: u16_le(b, 2) }),
            DBM_SIGNAL => first(&mut r.signal_dbm, u8_at(b, 0).cast_signed()),
            DBM_NOISE => first(&mut r.noise_dbm, u8_at(b, 0).cast_signed()),
            TX_FLAGS => first(&mut r.tx_flags, u16_le(b, 0)),
            DATA_RETRIES => first(&mut r.data_retries, u8_at(b, 0)),
            _ => {}
        })?;
        Ok(r)
    }

    /// Length of the emitted header, in octets.
    pub fn buffer_len(&self) -> usize {
        self.place(|_, _| {})
    }

    /// Writes the header. Panics if `buf` is shorter than [`Repr::buffer_len`].
    pub fn emit(&self, buf: &mut [u8]) {
        let len = self.buffer_len();
        let buf = &mut buf[..len];
        buf.fill(0);
        let present = self.fields().iter().flatten().fold(0u32, |p, (bit, _)| p | 1 << bit);
        put(buf, 2, (len as u16).to_le_bytes());
        put(buf, 4, present.to_le_bytes());
        self.place(|at, octets| buf[at..at + octets.len()].copy_from_slice(octets));
    }

    /// Whether the frame behind this header ends with its FCS.
    pub fn has_fcs(&self) -> bool {
        self.flags.is_some_and(|f| f & super::flags::FCS_AT_END != 0)
    }

    /// Calls `f` with place and octets of each present field and returns where they end.
    fn place(&self, mut f: impl FnMut(usize, &[u8])) -> usize {
        let mut at = 8usize;
        for (bit, octets) in self.fields().iter().flatten() {
            let (align, size) = layout(*bit).unwrap_or((1, 0));
            at = at.next_multiple_of(align);
            f(at, &octets[..size]);
            at += size;
        }
        at
    }

    fn fields(&self) -> Fields {
        let one = |v: u8| [v, 0, 0, 0];
        let two = |v: u16| v.to_le_bytes();
        [
            self.flags.map(|v| (FLAGS, one(v))),
            self.rate_500kbps.map(|v| (RATE, one(v))),
            self.channel.map(|c| {
                let ([m0, m1], [f0, f1]) = (two(c.mhz), two(c.flags));
                (CHANNEL, [m0, m1, f0, f1])
            }),
            self.signal_dbm.map(|v| (DBM_SIGNAL, one(v.cast_unsigned()))),
            self.noise_dbm.map(|v| (DBM_NOISE, one(v.cast_unsigned()))),
            self.tx_flags.map(|v| (TX_FLAGS, [two(v)[0], two(v)[1], 0, 0])),
            self.data_retries.map(|v| (DATA_RETRIES, one(v))),
        ]
    }
}

/// A header and the IEEE 802.11 octets behind it (with FCS if [`Repr::has_fcs`]).
pub fn split(bytes: &[u8]) -> Result<(Repr, &[u8]), Error> {
    let r = Repr::parse(bytes)?;
    Ok((r, &bytes[header(bytes)?.len()..]))
}

fn first<T>(slot: &mut Option<T>, v: T) {
    slot.get_or_insert(v);
}

fn u16_le(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(b, at))
}
