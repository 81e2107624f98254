//! The little of CBOR (RFC 8949) that bundles need, on the library's decoder and encoder.

use minicbor::decode::Error;
use minicbor::{Decoder, Encoder};

use crate::eid::Eid;

/// Scheme numbers of endpoint identifiers (RFC 9171, section 9.7).
const DTN: u64 = 1;
const IPN: u64 = 2;

/// Reads items one after the other. It never allocates more than what it was given.
pub(crate) struct Reader<'a> {
    d: Decoder<'a>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(octets: &'a [u8]) -> Self {
        Self { d: Decoder::new(octets) }
    }
    pub(crate) fn position(&self) -> usize {
        self.d.position()
    }
    /// The octets that were not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.d.input()[self.d.position()..]
    }
    pub(crate) fn input(&self) -> &'a [u8] {
        self.d.input()
    }
    /// The length of an array of definite length.
    pub(crate) fn array(&mut self) -> Result<u64, Error> {
        self.d.array()?.ok_or_else(|| Error::message("an array without a length"))
    }
    pub(crate) fn array_of(&mut self, n: u64) -> Result<(), Error> {
        if self.array()? == n { Ok(()) } else { Err(Error::message("an array of another length")) }
    }
    /// The number of pairs of a map of definite length.
    pub(crate) fn map(&mut self) -> Result<u64, Error> {
        self.d.map()?.ok_or_else(|| Error::message("a map without a length"))
    }
    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        self.d.u64()
    }
    pub(crate) fn i64(&mut self) -> Result<i64, Error> {
        self.d.i64()
    }
    pub(crate) fn bool(&mut self) -> Result<bool, Error> {
        self.d.bool()
    }
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Error> {
        self.d.bytes()
    }
    /// Passes over the start of an array of indefinite length.
    pub(crate) fn indefinite_array(&mut self) -> Result<(), Error> {
        match self.d.array()? {
            None => Ok(()),
            Some(_) => Err(Error::message("an array with a length")),
        }
    }
    /// Passes over the next item, with all that it contains, whatever it is: for who needs to know only where it ends.
    pub(crate) fn skip(&mut self) -> Result<(), Error> {
        self.d.skip()
    }
    /// Whether the end of an array of indefinite length is next; passes over it.
    pub(crate) fn is_break(&mut self) -> bool {
        let is_break = self.rest().first() == Some(&0xff);
        if is_break {
            self.d.set_position(self.d.position() + 1);
        }
        is_break
    }
    /// Nothing may follow.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.rest().is_empty() { Ok(()) } else { Err(Error::message("octets after the end")) }
    }
    /// An endpoint identifier (RFC 9171, section 4.2.5.1).
    pub(crate) fn eid(&mut self) -> Result<Eid, Error> {
        self.array_of(2)?;
        match self.u64()? {
            DTN => {
                if self.rest().first().is_some_and(|head| head >> 5 == 0) {
                    return match self.u64()? {
                        0 => Ok(Eid::None),
                        _ => Err(Error::message("a dtn endpoint with a number other than 0")),
                    };
                }
                let ssp = self.d.str()?;
                Eid::check_ssp(ssp).map_err(Error::message)?;
                Ok(Eid::Dtn(ssp.into()))
            }
            IPN => {
                let parts = self.array()?;
                let (first, second) = (self.u64()?, self.u64()?);
                // RFC 9758, section 6.1: two or three numbers.
                let (node, service) = match parts {
                    2 => (first, second),
                    3 if first >> 32 == 0 && second >> 32 == 0 => (first << 32 | second, self.u64()?),
                    _ => return Err(Error::message("an ipn endpoint without two or three numbers")),
                };
                Ok(if node == 0 { Eid::None } else { Eid::Ipn { node, service } })
            }
            _ => Err(Error::message("an endpoint of a scheme other than dtn and ipn")),
        }
    }
}

/// The major type, the argument and the length of the head of the first item; `None` if it is cut off or has no argument.
pub(crate) fn head(octets: &[u8]) -> Option<(u8, u64, usize)> {
    let (&first, rest) = octets.split_first()?;
    let argument = |n: usize| Some(rest.get(..n)?.iter().fold(0, |a, &b| a << 8 | u64::from(b)));
    let (value, length) = match first & 0x1f {
        small @ 0..=23 => (u64::from(small), 0),
        24 => (argument(1)?, 1),
        25 => (argument(2)?, 2),
        26 => (argument(4)?, 4),
        27 => (argument(8)?, 8),
        _ => return None,
    };
    Some((first >> 5, value, 1 + length))
}

/// Writes items one after the other, each in its shortest form.
#[derive(Default)]
pub(crate) struct Writer {
    octets: Vec<u8>,
}

impl Writer {
    fn with(&mut self, write: impl FnOnce(&mut Encoder<&mut Vec<u8>>)) -> &mut Self {
        write(&mut Encoder::new(&mut self.octets));
        self
    }
    pub(crate) fn array(&mut self, n: u64) -> &mut Self {
        self.with(|e| drop(e.array(n)))
    }
    pub(crate) fn map(&mut self, n: u64) -> &mut Self {
        self.with(|e| drop(e.map(n)))
    }
    pub(crate) fn u64(&mut self, n: u64) -> &mut Self {
        self.with(|e| drop(e.u64(n)))
    }
    pub(crate) fn i64(&mut self, n: i64) -> &mut Self {
        self.with(|e| drop(e.i64(n)))
    }
    pub(crate) fn bool(&mut self, b: bool) -> &mut Self {
        self.with(|e| drop(e.bool(b)))
    }
    pub(crate) fn bytes(&mut self, b: &[u8]) -> &mut Self {
        self.with(|e| drop(e.bytes(b)))
    }
    /// Octets that are items already.
    pub(crate) fn raw(&mut self, b: &[u8]) -> &mut Self {
        self.octets.extend_from_slice(b);
        self
    }
    pub(crate) fn eid(&mut self, eid: &Eid) -> &mut Self {
        self.array(2);
        match eid {
            Eid::None => self.u64(DTN).u64(0),
            Eid::Dtn(ssp) => self.u64(DTN).with(|e| drop(e.str(ssp))),
            Eid::Ipn { node, service } if node >> 32 != 0 => {
                self.u64(IPN).array(3).u64(node >> 32).u64(node & 0xffff_ffff).u64(*service)
            }
            Eid::Ipn { node, service } => self.u64(IPN).array(2).u64(*node).u64(*service),
        }
    }
    pub(crate) fn len(&self) -> usize {
        self.octets.len()
    }
    pub(crate) fn since(&self, start: usize) -> &[u8] {
        &self.octets[start..]
    }
    pub(crate) fn finish(self) -> Vec<u8> {
        self.octets
    }
}
