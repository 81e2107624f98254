//! Captures for tshark: classic pcap, link type 101 (raw IP), microseconds.

use std::io::{self, Write};

use wayhop_core::Time;

/// Writes IP packets as a capture.
pub fn write<'a>(mut to: impl Write, packets: impl IntoIterator<Item = (Time, &'a [u8])>) -> io::Result<()> {
    const MAGIC_MICROSECONDS: u32 = 0xa1b2_c3d4;
    const SNAPLEN: u32 = 65_535;
    const LINKTYPE_RAW: u32 = 101;
    let word = |w: &mut dyn Write, x: u32| w.write_all(&x.to_le_bytes());
    word(&mut to, MAGIC_MICROSECONDS)?;
    word(&mut to, 2 | (4 << 16))?; // version 2.4
    for x in [0, 0, SNAPLEN, LINKTYPE_RAW] {
        word(&mut to, x)?;
    }
    for (at, bytes) in packets {
        let us = at.as_nanos() / 1_000;
        let len = bytes.len() as u32;
        for x in [(us / 1_000_000) as u32, (us % 1_000_000) as u32, len, len] {
            word(&mut to, x)?;
        }
        to.write_all(bytes)?;
    }
    Ok(())
}
