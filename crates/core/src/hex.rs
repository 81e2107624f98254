//! Octets as text.

use core::fmt::Write as _;

/// Two lower-case hexadecimal digits an octet.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, b| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{b:02x}");
        text
    })
}
