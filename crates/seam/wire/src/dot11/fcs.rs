//! The frame check sequence: CRC-32 of IEEE 802 (polynomial 0x04c11db7, reflected, inverted at both ends).

/// Length of the sequence, in octets.
pub const FCS_LEN: usize = 4;

/// The sequence for a frame; on the air it follows the frame, low octet first.
pub fn fcs(frame: &[u8]) -> u32 {
    !frame.iter().fold(!0, |crc: u32, b| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ b)])
}

/// The frame in front of its sequence, and whether the sequence is right; `None` if there is no room for one.
pub fn split_fcs(bytes: &[u8]) -> Option<(&[u8], bool)> {
    let (frame, tail) = bytes.split_last_chunk::<FCS_LEN>()?;
    Some((frame, fcs(frame) == u32::from_le_bytes(*tail)))
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut v = i as u32;
        let mut bit = 0;
        while bit < 8 {
            v = if v & 1 == 1 { v >> 1 ^ 0xedb8_8320 } else { v >> 1 };
            bit += 1;
        }
        table[i] = v;
        i += 1;
    }
    table
};
