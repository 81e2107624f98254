//! Extensions of registration messages (sections 1.8 and 3.5): type, length, value.

use crate::Error;
use crate::bytes::{put, u32_at};

/// Extensions from here on may be skipped by who does not know them (section 1.8).
const SKIPPABLE: u8 = 128;
/// Encapsulating Delivery Style (RFC 3024, section 3.3).
const ENCAPSULATING_DELIVERY: u8 = 130;
/// Octets of type, length and Security Parameter Index.
const AUTH_HEAD: usize = 6;

/// Between whom an authenticator is (sections 3.5.2 to 3.5.4): its type.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum AuthKind {
    /// Mobile node and home agent: in each message.
    MobileHome = 32,
    /// Mobile node and foreign agent.
    MobileForeign = 33,
    /// Foreign agent and home agent.
    ForeignHome = 34,
}

/// An extension.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Extension<'a> {
    /// An authenticator.
    Authentication(Authentication<'a>),
    /// The mobile node sends packets for the reverse tunnel to the foreign agent in tunnels of their own (RFC 3024).
    EncapsulatingDelivery,
    /// One that a receiver skips if it does not know it.
    Other {
        /// Its type, from 128 on.
        kind: u8,
        /// Its value.
        value: &'a [u8],
    },
}

/// An authentication extension.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Authentication<'a> {
    /// Between whom.
    pub kind: AuthKind,
    /// Security Parameter Index: names key and algorithm.
    pub spi: u32,
    /// The authenticator.
    pub authenticator: &'a [u8],
    /// What it protects: the message up to and including the index (section 3.5.1).
    pub protects: &'a [u8],
}

/// The extensions of a message, each of them whole, and none that must not be skipped and is not known.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Extensions<'a> {
    message: &'a [u8],
    begin: usize,
}

impl<'a> Extensions<'a> {
    /// Checks what follows the fixed part of a message.
    pub(super) fn parse(message: &'a [u8], begin: usize) -> Result<Self, Error> {
        let mut at = begin;
        while at < message.len() {
            at = one(message, at)?.1;
        }
        Ok(Self { message, begin })
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Extension<'a>> + use<'a> {
        let (message, mut at) = (self.message, self.begin);
        std::iter::from_fn(move || {
            let (extension, next) = one(message, at).ok()?;
            at = next;
            Some(extension)
        })
    }

    /// The first authenticator of a kind.
    pub fn authentication(&self, kind: AuthKind) -> Option<Authentication<'a>> {
        self.iter().find_map(|e| match e {
            Extension::Authentication(a) if a.kind == kind => Some(a),
            _ => None,
        })
    }

    /// The message up to and including the first authenticator of a kind: what a foreign agent passes on of it.
    pub fn up_to(&self, kind: AuthKind) -> Option<&'a [u8]> {
        let a = self.authentication(kind)?;
        self.message.get(..a.protects.len() + a.authenticator.len())
    }

    /// Whether the mobile node asks for encapsulating delivery.
    pub fn asks_for_encapsulating_delivery(&self) -> bool {
        self.iter().any(|e| e == Extension::EncapsulatingDelivery)
    }
}

/// The extension at this offset, and where the next one begins.
fn one(message: &[u8], at: usize) -> Result<(Extension<'_>, usize), Error> {
    let [kind, len, rest @ ..] = message.get(at..).unwrap_or_default() else { return Err(Error::Truncated) };
    let value = rest.get(..usize::from(*len)).ok_or(Error::Truncated)?;
    let auth = match kind {
        32 => Some(AuthKind::MobileHome),
        33 => Some(AuthKind::MobileForeign),
        34 => Some(AuthKind::ForeignHome),
        _ => None,
    };
    let extension = match (auth, *kind) {
        (Some(kind), _) => {
            let authenticator = value.get(4..).ok_or(Error::Length)?;
            let protects = &message[..at + AUTH_HEAD];
            Extension::Authentication(Authentication { kind, spi: u32_at(value, 0), authenticator, protects })
        }
        (None, ENCAPSULATING_DELIVERY) if value.is_empty() => Extension::EncapsulatingDelivery,
        (None, kind) if kind >= SKIPPABLE => Extension::Other { kind, value },
        // A message with one that must not be skipped is passed over (section 1.8).
        (None, _) => return Err(Error::Value("extension")),
    };
    Ok((extension, at + 2 + value.len()))
}

impl Extension<'_> {
    /// Length of the extension, in octets.
    pub fn buffer_len(&self) -> usize {
        2 + match self {
            Self::Authentication(a) => 4 + a.authenticator.len(),
            Self::EncapsulatingDelivery => 0,
            Self::Other { value, .. } => value.len(),
        }
    }

    /// Writes the extension. Panics if `buf` is shorter than [`Extension::buffer_len`].
    ///
    /// # Errors
    /// If it is too long for its length field, or its type is one that may not be skipped.
    pub fn emit(&self, buf: &mut [u8]) -> Result<(), Error> {
        let buf = &mut buf[..self.buffer_len()];
        let len = u8::try_from(buf.len() - 2).map_err(|_| Error::Full)?;
        match self {
            Self::Authentication(a) => {
                emit_authentication_head(buf, a.kind, a.spi, len - 4);
                buf[AUTH_HEAD..].copy_from_slice(a.authenticator);
            }
            Self::EncapsulatingDelivery => put(buf, 0, [ENCAPSULATING_DELIVERY, 0]),
            Self::Other { kind, .. } if *kind < SKIPPABLE => return Err(Error::Value("extension")),
            Self::Other { kind, value } => {
                put(buf, 0, [*kind, len]);
                buf[2..].copy_from_slice(value);
            }
        }
        Ok(())
    }
}

/// Writes type, length and index of an authentication extension: the last of the bytes that its
/// authenticator, of `length` bytes, protects. Panics if `buf` is shorter than 6 octets.
pub fn emit_authentication_head(buf: &mut [u8], kind: AuthKind, spi: u32, authenticator_len: u8) {
    put(buf, 0, [kind as u8, authenticator_len.saturating_add(4)]);
    put(buf, 2, spi.to_be_bytes());
}
