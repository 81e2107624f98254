//! Extensions behind a message (section 9).

use crate::Error;
use crate::bytes::{put, u32_at};

const HELLO_INTERVAL: u8 = 1;

/// One extension.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Extension<'a> {
    /// The time between two Hello messages of the sender. (9.1)
    HelloInterval {
        /// Milliseconds.
        millis: u32,
    },
    /// An extension that RFC 3561 does not define.
    Unknown {
        /// Its type.
        kind: u8,
        /// Its data.
        data: &'a [u8],
    },
}

impl Extension<'_> {
    /// Whether a node that does not know the extension may skip it; if not, it may not handle the message.
    pub const fn may_be_skipped(&self) -> bool {
        match self {
            Self::HelloInterval { .. } => true,
            Self::Unknown { kind, .. } => *kind < 128,
        }
    }
    /// Length in octets.
    pub const fn buffer_len(&self) -> usize {
        match self {
            Self::HelloInterval { .. } => 6,
            Self::Unknown { data, .. } => 2 + data.len(),
        }
    }
    /// Writes the extension; an error, and nothing written, when the data is longer than 255 octets.
    /// Panics if `buf` is shorter than [`Extension::buffer_len`].
    pub fn emit(&self, buf: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::HelloInterval { millis } => {
                put(buf, 0, [HELLO_INTERVAL, 4]);
                put(buf, 2, millis.to_be_bytes());
            }
            Self::Unknown { kind, data } => {
                let len = u8::try_from(data.len()).map_err(|_| Error::Full)?;
                put(buf, 0, [*kind, len]);
                buf[2..2 + data.len()].copy_from_slice(data);
            }
        }
        Ok(())
    }
}

/// The extensions in the octets behind a message.
#[inline]
pub fn extensions(bytes: &[u8]) -> Extensions<'_> {
    Extensions { rest: bytes }
}

/// Iterates over extensions. After one whose length passes the end it yields an error and ends.
#[derive(Clone, Debug)]
pub struct Extensions<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Extensions<'a> {
    type Item = Result<Extension<'a>, Error>;
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (kind, len, tail) = match *self.rest {
            [] => return None,
            [kind, len, ref tail @ ..] if usize::from(len) <= tail.len() => (kind, usize::from(len), tail),
            _ => {
                self.rest = &[];
                return Some(Err(Error::Truncated));
            }
        };
        let (data, rest) = tail.split_at(len);
        self.rest = rest;
        Some(match (kind, len) {
            (HELLO_INTERVAL, 4) => Ok(Extension::HelloInterval { millis: u32_at(data, 0) }),
            (HELLO_INTERVAL, _) => Err(Error::Length),
            _ => Ok(Extension::Unknown { kind, data }),
        })
    }
}
