//! Iterating over the options of a header.

use core::ops::Range;

use super::DsrOption;
use super::option_type::PAD_1;
use crate::Error;

/// The options in the octets behind a header's fixed portion.
pub fn options(bytes: &[u8]) -> Options<'_> {
    Options { bytes, at: 0 }
}

/// Iterates over options, padding included. After an option whose length passes the end it yields one error and ends.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Options<'a> {
    /// The same options, each with the range of octets that it takes up, counted from the first option.
    pub fn located(self) -> OptionRanges<'a> {
        OptionRanges(self)
    }

    #[inline]
    fn step(&mut self) -> Option<(Range<usize>, Result<DsrOption<'a>, Error>)> {
        let start = self.at;
        let kind = *self.bytes.get(start)?;
        let (data_at, len) = match self.bytes.get(start + 1) {
            _ if kind == PAD_1 => (start + 1, 0),
            Some(len) => (start + 2, usize::from(*len)),
            None => (start + 1, usize::MAX / 2),
        };
        let end = data_at + len;
        let Some(data) = self.bytes.get(data_at..end) else {
            self.at = self.bytes.len();
            return Some((start..self.at, Err(Error::Truncated)));
        };
        self.at = end;
        Some((start..end, DsrOption::parse(kind, data)))
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<DsrOption<'a>, Error>;
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.step().map(|(_, o)| o)
    }
}

/// Iterates over options and where they are; see [`Options::located`].
#[derive(Clone, Debug)]
pub struct OptionRanges<'a>(Options<'a>);

impl<'a> Iterator for OptionRanges<'a> {
    type Item = (Range<usize>, Result<DsrOption<'a>, Error>);
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.step()
    }
}
