//! Errors of invalid headers.

use core::fmt;

/// Why a header could not be read, or a representation not be written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// There are fewer octets than the header, or than its own length field says.
    Truncated,
    /// A length field contradicts the format.
    Length,
    /// The checksum does not match.
    Checksum,
    /// The field of this name has a value that the format does not allow.
    Value(&'static str),
    /// There is no room: a list or a header would pass the limit of its length field.
    Full,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("truncated"),
            Self::Length => f.write_str("a length field contradicts the format"),
            Self::Checksum => f.write_str("wrong checksum"),
            Self::Value(field) => write!(f, "illegal value in field {field}"),
            Self::Full => f.write_str("too long for its length field"),
        }
    }
}

impl core::error::Error for Error {}

/// Ends a reader with this error where the input is wrong.
#[inline]
pub(crate) fn refuse_if(is_wrong: bool, error: Error) -> Result<(), Error> {
    if is_wrong { Err(error) } else { Ok(()) }
}
