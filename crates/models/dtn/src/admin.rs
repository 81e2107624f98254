//! Administrative records (RFC 9171, section 6.1): status reports, custody signals, and two of this project's own in the range
//! for private use.

use minicbor::decode::Error as CborError;
use serde::{Deserialize, Serialize};

use crate::bundle::{BundleId, Created};
use crate::cbor::{Reader, Writer};

/// Types of records.
const STATUS_REPORT: u64 = 1;
/// Compressed Custody Signal: the number of CCSDS 734.6-O-1.
const CUSTODY_SIGNAL: u64 = 13;
/// Custody of the first octets of a payload (RFC 9171, section 9.6: 65536 and above are for private use).
const PART_TAKEN: u64 = 65_536;
/// A message of routing.
const ROUTING: u64 = 65_537;
/// The most ranges in a custody signal.
const MAX_RANGES: u64 = 4_096;
/// The most identifiers in a message of routing.
const MAX_IDENTIFIERS: usize = 65_536;

/// What a custody signal says of the bundles in a range.
const TAKEN: i64 = 1;
const NOT_TAKEN: i64 = -1;

/// An administrative record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdminRecord {
    /// What became of a bundle.
    Status(StatusReport),
    /// Which bundles another custodian has taken.
    Custody(CustodySignal),
    /// Another custodian has the first octets of a bundle's payload.
    PartTaken {
        /// The custodian's sequence and the bundle's number in it.
        bundle: (u64, u64),
        /// How many octets.
        octets: u64,
    },
    /// A message of routing.
    Routing(RoutingMessage),
}

/// What became of a bundle at a node (RFC 9171, section 6.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusReport {
    /// Received, forwarded, delivered, deleted: `None` for what is not asserted; the DTN time in milliseconds, 0 where it is not told.
    pub asserted: [Option<u64>; 4],
    /// Why.
    pub reason: Reason,
    /// The bundle.
    pub bundle: BundleId,
}

/// Reasons of status reports (RFC 9171, section 9.5).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of the RFC's table")]
pub enum Reason {
    NoInformation = 0,
    LifetimeExpired = 1,
    ForwardedOverUnidirectionalLink = 2,
    TransmissionCanceled = 3,
    DepletedStorage = 4,
    DestinationUnavailable = 5,
    NoKnownRoute = 6,
    NoTimelyContact = 7,
    BlockUnintelligible = 8,
    HopLimitExceeded = 9,
    TrafficPared = 10,
    BlockUnsupported = 11,
}

impl Reason {
    const ALL: [Self; 12] = [
        Self::NoInformation,
        Self::LifetimeExpired,
        Self::ForwardedOverUnidirectionalLink,
        Self::TransmissionCanceled,
        Self::DepletedStorage,
        Self::DestinationUnavailable,
        Self::NoKnownRoute,
        Self::NoTimelyContact,
        Self::BlockUnintelligible,
        Self::HopLimitExceeded,
        Self::TrafficPared,
        Self::BlockUnsupported,
    ];
}

/// A Compressed Custody Signal: numbers of bundles in sequences of the custodian that it is for, as (sequence, first number, how many).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustodySignal {
    /// The sender has custody of these now.
    pub taken: Vec<(u64, u64, u64)>,
    /// It does not take custody of these.
    pub not_taken: Vec<(u64, u64, u64)>,
}

/// What nodes tell each other when they meet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoutingMessage {
    /// The routing's number.
    pub routing: u8,
    /// This message's place among those that belong together, from 0.
    pub part: u64,
    /// How many belong together.
    pub parts: u64,
    /// Whether the sender has not got the receiver's list yet.
    pub wants_answer: bool,
    /// What the routing tells; in part 0.
    pub own: Vec<u8>,
    /// Bundles that the sender has or has had: 8 octets of each identifier's digest.
    pub seen: Vec<u64>,
}

impl AdminRecord {
    /// The record as a payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.array(2);
        match self {
            Self::Status(report) => write_status(w.u64(STATUS_REPORT), report),
            Self::Custody(signal) => {
                let kinds = [(TAKEN, &signal.taken), (NOT_TAKEN, &signal.not_taken)];
                let kinds = kinds.into_iter().filter(|(_, ranges)| !ranges.is_empty());
                w.u64(CUSTODY_SIGNAL).map(kinds.clone().count() as u64);
                for (disposition, ranges) in kinds {
                    w.i64(disposition).array(ranges.len() as u64);
                    for &(sequence, first, count) in ranges {
                        w.array(3).u64(sequence).u64(first).u64(count);
                    }
                }
            }
            Self::PartTaken { bundle, octets } => {
                w.u64(PART_TAKEN).array(3).u64(bundle.0).u64(bundle.1).u64(*octets);
            }
            Self::Routing(message) => {
                w.u64(ROUTING).array(6).u64(message.routing.into()).u64(message.part).u64(message.parts);
                let seen: Vec<u8> = message.seen.iter().flat_map(|id| id.to_be_bytes()).collect();
                w.bool(message.wants_answer).bytes(&message.own).bytes(&seen);
            }
        }
        w.finish()
    }

    /// Reads a payload; `None` if it is no record of a type that is known here.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut r = Reader::new(payload);
        let record = read(&mut r).ok()?;
        r.end().ok()?;
        Some(record)
    }
}

fn read(r: &mut Reader<'_>) -> Result<AdminRecord, CborError> {
    r.array_of(2)?;
    match r.u64()? {
        STATUS_REPORT => read_status(r).map(AdminRecord::Status),
        CUSTODY_SIGNAL => read_signal(r).map(AdminRecord::Custody),
        PART_TAKEN => {
            r.array_of(3)?;
            Ok(AdminRecord::PartTaken { bundle: (r.u64()?, r.u64()?), octets: r.u64()? })
        }
        ROUTING => {
            r.array_of(6)?;
            let routing = u8::try_from(r.u64()?).map_err(|_| CborError::message("no number of a routing"))?;
            let (part, parts) = (r.u64()?, r.u64()?);
            let wants_answer = r.bool()?;
            let own = r.bytes()?.to_vec();
            let seen = r.bytes()?;
            if seen.len() % 8 != 0 || seen.len() / 8 > MAX_IDENTIFIERS || part >= parts {
                return Err(CborError::message("no list of identifiers"));
            }
            let (seen, _) = seen.as_chunks::<8>();
            let seen = seen.iter().map(|id| u64::from_be_bytes(*id)).collect();
            Ok(AdminRecord::Routing(RoutingMessage { routing, part, parts, wants_answer, own, seen }))
        }
        _ => Err(CborError::message("a record of an unknown type")),
    }
}

fn write_status(w: &mut Writer, report: &StatusReport) {
    let id = &report.bundle;
    w.array(4 + 2 * u64::from(id.fragment.is_some())).array(4);
    for asserted in report.asserted {
        match asserted {
            None => w.array(1).bool(false),
            Some(0) => w.array(1).bool(true),
            Some(time_ms) => w.array(2).bool(true).u64(time_ms),
        };
    }
    w.u64(report.reason as u64).eid(&id.source).array(2).u64(id.created.time_ms).u64(id.created.sequence);
    if let Some((offset, length)) = id.fragment {
        w.u64(offset).u64(length);
    }
}

fn read_status(r: &mut Reader<'_>) -> Result<StatusReport, CborError> {
    let length = r.array()?;
    if length != 4 && length != 6 {
        return Err(CborError::message("a status report of another length"));
    }
    r.array_of(4)?;
    let mut asserted = [None; 4];
    for assertion in &mut asserted {
        let items = r.array()?;
        let is = r.bool()?;
        let time = if items == 2 { r.u64()? } else { 0 };
        *assertion = is.then_some(time);
    }
    let reason = r.u64()?;
    let reason =
        Reason::ALL.into_iter().find(|known| *known as u64 == reason).unwrap_or(Reason::NoInformation);
    let source = r.eid()?;
    r.array_of(2)?;
    let created = Created { time_ms: r.u64()?, sequence: r.u64()? };
    let fragment = if length == 6 { Some((r.u64()?, r.u64()?)) } else { None };
    Ok(StatusReport { asserted, reason, bundle: BundleId { source, created, fragment } })
}

fn read_signal(r: &mut Reader<'_>) -> Result<CustodySignal, CborError> {
    let mut signal = CustodySignal::default();
    for _ in 0..r.map()?.min(16) {
        let disposition = r.i64()?;
        let n = r.array()?;
        if n > MAX_RANGES {
            return Err(CborError::message("more than 4096 ranges"));
        }
        for _ in 0..n {
            r.array_of(3)?;
            let range = (r.u64()?, r.u64()?, r.u64()?);
            if disposition == TAKEN { signal.taken.push(range) } else { signal.not_taken.push(range) }
        }
    }
    Ok(signal)
}

/// Numbers as ranges of a sequence.
pub(crate) fn ranges(sequence: u64, mut numbers: Vec<u64>) -> Vec<(u64, u64, u64)> {
    numbers.sort_unstable();
    numbers.dedup();
    let mut ranges: Vec<(u64, u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, first, count)) if *first + *count == number => *count += 1,
            _ => ranges.push((sequence, number, 1)),
        }
    }
    ranges
}
