//! Radiotap: what a capture says about the reception or transmission of an IEEE 802.11 frame (radiotap.org, version 0).
//!
//! All fields are little-endian; each starts at a multiple of its own alignment, counted from the start of the header.
//! [`Repr`] holds the fields that Wayhop writes. The reader also takes headers by others: further fields are skipped,
//! further *present* words are followed, and of a field that occurs again (one per antenna) the first counts.

mod fields;
mod repr;

pub use repr::{Channel, Repr, split};

/// Bits of the Flags field.
pub mod flags {
    /// The frame ends with its FCS.
    pub const FCS_AT_END: u8 = 0x10;
    /// There is padding between the header and the payload.
    pub const DATA_PAD: u8 = 0x20;
    /// The FCS was wrong.
    pub const BAD_FCS: u8 = 0x40;
}

/// Bits of the Channel field's flags.
pub mod channel_flags {
    /// DSSS/CCK (802.11b).
    pub const CCK: u16 = 0x0020;
    /// OFDM.
    pub const OFDM: u16 = 0x0040;
    /// 2 GHz band.
    pub const GHZ_2: u16 = 0x0080;
    /// 5 GHz band.
    pub const GHZ_5: u16 = 0x0100;
}

/// Bits of the TX Flags field.
pub mod tx_flags {
    /// A CTS to self was sent before.
    pub const CTS: u16 = 0x0002;
    /// RTS and CTS were exchanged before.
    pub const RTS: u16 = 0x0004;
}
