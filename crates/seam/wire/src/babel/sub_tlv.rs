//! Sub-TLVs (section 4.4).

use core::fmt;

use crate::Error;

const PAD1: u8 = 0;
const PAD_N: u8 = 1;
/// From this type on, a node that does not know the sub-TLV may not act on its TLV.
const MANDATORY: u8 = 128;

/// A sub-TLV other than padding.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SubTlv<'a> {
    /// Its type.
    pub kind: u8,
    /// Its body.
    pub data: &'a [u8],
}

impl SubTlv<'_> {
    /// Whether a node that does not know its type has to ignore the TLV.
    pub const fn is_mandatory(&self) -> bool {
        self.kind >= MANDATORY
    }
}

/// The sub-TLVs of a TLV, each of them whole.
#[derive(Copy, Clone, Default, PartialEq, Eq)]
pub struct SubTlvs<'a>(&'a [u8]);

impl<'a> SubTlvs<'a> {
    /// Checks the lengths.
    ///
    /// # Errors
    /// [`Error::Length`] if one passes the end.
    pub fn parse(octets: &'a [u8]) -> Result<Self, Error> {
        let mut rest = octets;
        while !rest.is_empty() {
            rest = split(rest).ok_or(Error::Length)?.1;
        }
        Ok(Self(octets))
    }

    /// All of them in order, without padding.
    pub fn iter(&self) -> impl Iterator<Item = SubTlv<'a>> + use<'a> {
        let mut rest = self.0;
        let all = std::iter::from_fn(move || {
            let (sub_tlv, behind) = split(rest)?;
            rest = behind;
            Some(sub_tlv)
        });
        all.filter(|s| !matches!(s.kind, PAD1 | PAD_N))
    }

    pub(super) const fn octets(&self) -> &'a [u8] {
        self.0
    }
}

/// The first one, padding included, and the octets behind it.
fn split(b: &[u8]) -> Option<(SubTlv<'_>, &[u8])> {
    match b {
        [PAD1, rest @ ..] => Some((SubTlv { kind: PAD1, data: &[] }, rest)),
        [kind, len, rest @ ..] => {
            let (data, rest) = rest.split_at_checked(usize::from(*len))?;
            Some((SubTlv { kind: *kind, data }, rest))
        }
        [] | [_] => None,
    }
}

impl fmt::Debug for SubTlvs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
