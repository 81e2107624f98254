//! What an agent knows of a bundle that it holds.

use minicbor::decode::Error as CborError;
use sha2::{Digest as _, Sha256};
use wayhop_core::{BundleEventKind, Time};

use crate::agent::output::BundleRecord;
use crate::bundle::{BundleId, Created};
use crate::cbor::{Reader, Writer};
use crate::eid::Eid;

/// 16 octets of the SHA-256 digest of an identifier: the key of tables. Its first 8 are what neighbours tell each other.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Digest(pub(crate) [u8; 16]);

impl Digest {
    /// Of a bundle or fragment.
    pub(crate) fn of(id: &BundleId) -> Self {
        let mut w = Writer::default();
        write_id(&mut w, id);
        let hash = Sha256::digest(w.finish());
        let mut digest = [0; 16];
        digest.copy_from_slice(&hash[..16]);
        Self(digest)
    }

    /// Of the application data unit that it belongs to.
    pub(crate) fn of_whole(id: &BundleId) -> Self {
        Self::of(&BundleId { fragment: None, ..id.clone() })
    }

    /// What neighbours tell each other.
    pub(crate) fn short(self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

/// A bundle that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredBundle {
    pub(crate) id: BundleId,
    pub(crate) digest: Digest,
    pub(crate) destination: Eid,
    pub(crate) report_to: Eid,
    pub(crate) flags: u64,
    /// Of a fragment: octets of the whole application data unit.
    pub(crate) total: Option<u64>,
    /// Octets of the payload.
    pub(crate) payload: u64,
    /// Octets of the bundle, as it is encoded in the store.
    pub(crate) octets: u64,
    /// When it came.
    pub(crate) received: Time,
    /// When its lifetime is over.
    pub(crate) expires: Time,
    /// The neighbour that it came from.
    pub(crate) previous: Eid,
    /// How many copies may be spread.
    pub(crate) copies: u32,
    /// The number under which this node is its custodian.
    pub(crate) custody: Option<u64>,
    /// Whether the group's application here has it.
    pub(crate) delivered: bool,

    // What a restart forgets:
    /// Its next custodian has it, it seems, and a signal is awaited until then.
    pub(crate) waits_until: Time,
    /// It is under way to a neighbour with which it leaves this node.
    pub(crate) leaving: bool,
}

impl StoredBundle {
    /// A row for the run's tables.
    pub(crate) fn record(&self, at: Time, event: BundleEventKind) -> BundleRecord {
        BundleRecord::new(at, event, &self.id, self.destination.clone(), self.octets)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.array(13);
        write_id(&mut w, &self.id);
        w.eid(&self.destination).eid(&self.report_to).u64(self.flags);
        // 0 stands for none: a fragment is of at least one octet, and numbers of custody begin with 1.
        w.u64(self.total.unwrap_or(0)).u64(self.payload).u64(self.octets);
        w.u64(self.received.as_nanos()).u64(self.expires.as_nanos()).eid(&self.previous);
        w.u64(self.copies.into()).u64(self.custody.unwrap_or(0)).bool(self.delivered);
        w.finish()
    }

    pub(crate) fn parse(row: &[u8]) -> Result<Self, CborError> {
        let mut r = Reader::new(row);
        r.array_of(13)?;
        let id = read_id(&mut r)?;
        Ok(Self {
            digest: Digest::of(&id),
            id,
            destination: r.eid()?,
            report_to: r.eid()?,
            flags: r.u64()?,
            total: Some(r.u64()?).filter(|total| *total > 0),
            payload: r.u64()?,
            octets: r.u64()?,
            received: Time::from_nanos(r.u64()?),
            expires: Time::from_nanos(r.u64()?),
            previous: r.eid()?,
            copies: r.u64()? as u32,
            custody: Some(r.u64()?).filter(|number| *number > 0),
            delivered: r.bool()?,
            waits_until: Time::ZERO,
            leaving: false,
        })
    }
}

pub(crate) fn write_id(w: &mut Writer, id: &BundleId) {
    w.array(3 + 2 * u64::from(id.fragment.is_some()));
    w.eid(&id.source).u64(id.created.time_ms).u64(id.created.sequence);
    if let Some((offset, length)) = id.fragment {
        w.u64(offset).u64(length);
    }
}

pub(crate) fn read_id(r: &mut Reader<'_>) -> Result<BundleId, CborError> {
    let length = r.array()?;
    let source = r.eid()?;
    let created = Created { time_ms: r.u64()?, sequence: r.u64()? };
    let fragment = if length == 5 { Some((r.u64()?, r.u64()?)) } else { None };
    Ok(BundleId { source, created, fragment })
}
