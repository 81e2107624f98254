//! Bundles as octets (RFC 9171, section 4.1 to 4.3).
//!
//! This crate has its own codec, on a library for CBOR; tests exchange bundles with dtn7, which uses the
//! crate `bp7`. `bp7` lacks what the agent needs: it checks the CRC of a re-encoded bundle rather than of the
//! received bytes, clones the payload for that, adds hops in 8 bits without a check for overflow, accepts
//! endpoint identifiers without `//`, and panics when asked for their node, cannot read the first octets of a
//! bundle (reactive fragmentation), and reads the wall clock and the system's entropy. It also depends on
//! `serde_cbor`, which is not maintained (RUSTSEC-2021-0127).

use minicbor::decode::Error as CborError;
use serde::{Deserialize, Serialize};

use crate::bundle::{Block, Bundle, Crc, Created, Fragment, block_kind, flags};
use crate::cbor::{self, Reader, Writer};

/// Bounds on one bundle.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub struct ParseLimits {
    /// Octets, as it is encoded.
    pub octets: usize,
    /// Extension blocks.
    pub blocks: usize,
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self { octets: 64 << 20, blocks: 32 }
    }
}

/// Why octets are no bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// There are more of them than allowed.
    #[error("a bundle of {octets} bytes (at most {limit})")]
    TooLarge {
        /// How many there are.
        octets: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// More blocks than allowed.
    #[error("a bundle of more than {0} extension blocks")]
    TooManyBlocks(usize),
    /// Not the CBOR that is expected there.
    #[error("at octet {at}: {what}")]
    Cbor {
        /// Where.
        at: usize,
        /// What is wrong.
        what: String,
    },
    /// Another version of the protocol.
    #[error("version {0} of the bundle protocol; this node has 7")]
    Version(u64),
    /// A check does not fit.
    #[error("the CRC of block {0} is wrong")]
    Crc(u64),
    /// The blocks contradict each other or the protocol.
    #[error("{0}")]
    Contradiction(&'static str),
    /// The octets end within the bundle.
    #[error("truncated after {0} bytes")]
    Truncated(usize),
}

impl Bundle {
    /// Reads a bundle.
    pub fn parse(octets: &[u8], limits: &ParseLimits) -> Result<Self, BundleError> {
        let mut r = start(octets, limits)?;
        let mut bundle = primary(&mut r)?;
        while !block(&mut r, &mut bundle, limits)? {}
        if !r.is_break() {
            return Err(BundleError::Contradiction("the payload block is not the last one"));
        }
        r.end().map_err(|error| at(&r, &error))?;
        check(&bundle)?;
        Ok(bundle)
    }

    /// Reads the first octets of a bundle whose rest did not arrive: `None` if not one octet of its payload is there, else a
    /// fragment (or the whole, if nothing of the payload is missing). The check of its payload cannot be checked; the
    /// convergence layer's has to do.
    pub fn parse_prefix(octets: &[u8], limits: &ParseLimits) -> Result<Option<Self>, BundleError> {
        let mut r = start(octets, limits)?;
        let mut bundle = primary(&mut r)?;
        while !is_payload(r.rest()) {
            if block(&mut r, &mut bundle, limits)? {
                return Err(BundleError::Contradiction("a payload block of another number than 1"));
            }
        }
        let Some((head, length)) = payload_head(r.rest(), &mut bundle) else { return Ok(None) };
        let here = &r.rest()[head..];
        let here = &here[..here.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
        if here.is_empty() {
            return Ok(None);
        }
        bundle.payload = here.to_vec();
        if (here.len() as u64) < length && bundle.fragment.is_none() {
            bundle.flags |= flags::FRAGMENT;
            bundle.fragment = Some(Fragment { offset: 0, total: length });
        }
        check(&bundle)?;
        Ok(Some(bundle))
    }

    /// The bundle as octets.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_with_header().0
    }

    /// The bundle as octets, and how many there are before the payload's first one.
    pub fn encode_with_header(&self) -> (Vec<u8>, usize) {
        let mut w = Writer::default();
        w.raw(&[0x9f]);
        write_primary(self, &mut w);
        for b in &self.blocks {
            write_block(&mut w, [b.kind, b.number, b.flags], b.crc, &b.data);
        }
        let before = w.len();
        write_block(&mut w, [block_kind::PAYLOAD, 1, self.payload_flags], self.payload_crc, &self.payload);
        let check = if self.payload_crc == Crc::None { 0 } else { 1 + self.payload_crc.octets() };
        let header = w.len() - check - self.payload.len();
        debug_assert!(header >= before);
        w.raw(&[0xff]);
        (w.finish(), header)
    }
}

fn at(r: &Reader<'_>, error: &CborError) -> BundleError {
    if error.is_end_of_input() {
        BundleError::Truncated(r.input().len())
    } else {
        BundleError::Cbor { at: r.position(), what: error.to_string() }
    }
}

fn start<'a>(octets: &'a [u8], limits: &ParseLimits) -> Result<Reader<'a>, BundleError> {
    if octets.len() > limits.octets {
        return Err(BundleError::TooLarge { octets: octets.len(), limit: limits.octets });
    }
    let mut r = Reader::new(octets);
    r.indefinite_array().map_err(|error| at(&r, &error))?;
    Ok(r)
}

/// Section 4.3.1.
fn primary(r: &mut Reader<'_>) -> Result<Bundle, BundleError> {
    let start = r.position();
    let head = |r: &mut Reader<'_>| -> Result<(u64, u64), CborError> { Ok((r.array()?, r.u64()?)) };
    let (length, version) = head(r).map_err(|error| at(r, &error))?;
    if version != 7 {
        return Err(BundleError::Version(version));
    }
    let bundle = primary_fields(r).map_err(|error| at(r, &error))?;
    let expected = 8 + 2 * u64::from(bundle.fragment.is_some()) + u64::from(bundle.crc != Crc::None);
    if length != expected {
        return Err(BundleError::Contradiction("a primary block of another length than its flags say"));
    }
    check_crc(r, start, bundle.crc, 0)?;
    Ok(bundle)
}

/// The fields after the version, without the check.
fn primary_fields(r: &mut Reader<'_>) -> Result<Bundle, CborError> {
    let flags = r.u64()?;
    let crc = Crc::from_code(r.u64()?).ok_or_else(|| CborError::message("a CRC of an unknown type"))?;
    let (destination, source, report_to) = (r.eid()?, r.eid()?, r.eid()?);
    r.array_of(2)?;
    let created = Created { time_ms: r.u64()?, sequence: r.u64()? };
    let lifetime_ms = r.u64()?;
    let fragment = match flags & flags::FRAGMENT {
        0 => None,
        _ => Some(Fragment { offset: r.u64()?, total: r.u64()? }),
    };
    Ok(Bundle {
        flags,
        crc,
        destination,
        source,
        report_to,
        created,
        lifetime_ms,
        fragment,
        ..Bundle::default()
    })
}

/// Reads the CRC of a block that began at `start`, after all its other fields.
fn check_crc(r: &mut Reader<'_>, start: usize, crc: Crc, number: u64) -> Result<(), BundleError> {
    if crc == Crc::None {
        return Ok(());
    }
    let end = r.position() + 1;
    let octets = r.bytes().map_err(|error| at(r, &error))?;
    // The head of the check's octet string counts, its content counts as zero.
    if octets.len() != crc.octets() || r.position() != end + octets.len() {
        return Err(BundleError::Crc(number));
    }
    if crc.over(&r.input()[start..end]) == octets { Ok(()) } else { Err(BundleError::Crc(number)) }
}

/// One canonical block (section 4.3.2); whether it is the payload.
fn block(r: &mut Reader<'_>, bundle: &mut Bundle, limits: &ParseLimits) -> Result<bool, BundleError> {
    let start = r.position();
    let read = block_fields(r);
    let (length, [kind, number, flags], crc, data) = read.map_err(|error| at(r, &error))?;
    if length != 5 + u64::from(crc != Crc::None) {
        return Err(BundleError::Contradiction("a block of another length than its CRC type says"));
    }
    check_crc(r, start, crc, number)?;
    if kind == block_kind::PAYLOAD {
        if number != 1 {
            return Err(BundleError::Contradiction("a payload block of another number than 1"));
        }
        bundle.payload_flags = flags;
        bundle.payload_crc = crc;
        bundle.payload = data.to_vec();
        return Ok(true);
    }
    if bundle.blocks.len() == limits.blocks {
        return Err(BundleError::TooManyBlocks(limits.blocks));
    }
    bundle.blocks.push(Block { kind, number, flags, crc, data: data.to_vec() });
    Ok(false)
}

type Fields<'a> = (u64, [u64; 3], Crc, &'a [u8]);

fn block_fields<'a>(r: &mut Reader<'a>) -> Result<Fields<'a>, CborError> {
    let length = r.array()?;
    let numbers = [r.u64()?, r.u64()?, r.u64()?];
    let crc = Crc::from_code(r.u64()?).ok_or_else(|| CborError::message("a CRC of an unknown type"))?;
    Ok((length, numbers, crc, r.bytes()?))
}

/// Whether these octets begin a payload block: an array of 5 or 6 whose first item is 1.
fn is_payload(octets: &[u8]) -> bool {
    matches!(octets, [0x85 | 0x86, 0x01, ..])
}

/// Reads what precedes the payload's octets, into the bundle: the length of that, and of the payload. `None` if it is cut off.
fn payload_head(octets: &[u8], bundle: &mut Bundle) -> Option<(usize, u64)> {
    let mut at = 2;
    let mut next = |major: u8| {
        let (is, value, length) = cbor::head(octets.get(at..)?)?;
        at += length;
        (is == major).then_some(value)
    };
    let (number, flags, crc, length) = (next(0)?, next(0)?, next(0)?, next(2)?);
    bundle.payload_flags = flags;
    bundle.payload_crc = Crc::from_code(crc)?;
    (number == 1).then_some((at, length))
}

/// What the blocks may not say together.
fn check(bundle: &Bundle) -> Result<(), BundleError> {
    let wrong = |why| Err(BundleError::Contradiction(why));
    for (position, block) in bundle.blocks.iter().enumerate() {
        if block.number < 2 {
            return wrong("a block other than the payload with number 0 or 1");
        }
        let before = &bundle.blocks[..position];
        if before.iter().any(|b| b.number == block.number) {
            return wrong("two blocks of the same number");
        }
        let once =
            [block_kind::PREVIOUS_NODE, block_kind::BUNDLE_AGE, block_kind::HOP_COUNT, block_kind::CUSTODY];
        if once.contains(&block.kind) && before.iter().any(|b| b.kind == block.kind) {
            return wrong("two blocks of a type that may occur once");
        }
        if !bundle.understands(block) {
            return wrong("a block whose data are not of its type");
        }
    }
    if bundle.created.time_ms == 0 && bundle.age_ms().is_none() {
        return wrong("creation time 0 without a Bundle Age block");
    }
    if let Some(Fragment { offset, total }) = bundle.fragment {
        let end = offset.checked_add(bundle.payload.len() as u64);
        if bundle.flags & flags::MUST_NOT_FRAGMENT != 0 || end.is_none_or(|end| end > total) {
            return wrong("a fragment that cannot be one");
        }
    }
    let asks =
        flags::REPORT_RECEPTION | flags::REPORT_FORWARDING | flags::REPORT_DELIVERY | flags::REPORT_DELETION;
    if (bundle.source.is_none() || bundle.flags & flags::ADMIN_RECORD != 0) && bundle.flags & asks != 0 {
        return wrong("an administrative record, or a bundle without a source, that requests reports");
    }
    if bundle.source.is_none() && bundle.flags & flags::MUST_NOT_FRAGMENT == 0 {
        return wrong("a bundle without a source that allows fragmentation");
    }
    Ok(())
}

fn write_primary(b: &Bundle, w: &mut Writer) {
    let start = w.len();
    let flags = if b.fragment.is_some() { b.flags | flags::FRAGMENT } else { b.flags & !flags::FRAGMENT };
    w.array(8 + 2 * u64::from(b.fragment.is_some()) + u64::from(b.crc != Crc::None));
    w.u64(7).u64(flags).u64(b.crc.code());
    w.eid(&b.destination).eid(&b.source).eid(&b.report_to);
    w.array(2).u64(b.created.time_ms).u64(b.created.sequence);
    w.u64(b.lifetime_ms);
    if let Some(Fragment { offset, total }) = b.fragment {
        w.u64(offset).u64(total);
    }
    write_crc(w, start, b.crc);
}

fn write_block(w: &mut Writer, numbers: [u64; 3], crc: Crc, data: &[u8]) {
    let start = w.len();
    w.array(5 + u64::from(crc != Crc::None));
    for n in numbers {
        w.u64(n);
    }
    w.u64(crc.code()).bytes(data);
    write_crc(w, start, crc);
}

fn write_crc(w: &mut Writer, start: usize, crc: Crc) {
    if crc != Crc::None {
        // The head of the octet string is part of what is checked.
        w.raw(&[0x40 | crc.octets() as u8]);
        let check = crc.over(w.since(start));
        w.raw(&check);
    }
}
