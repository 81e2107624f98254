//! A node's record of bundles and contacts. A host with the tables `bundles` and `contacts` takes
//! it as it is; a real host writes JSON objects, with times in nanoseconds of the node's clock.

use serde::{Deserialize, Serialize};
use wayhop_core::{BundleEventKind, Time};

use crate::agent::{BundleEvent, DropCause};
use crate::bundle::BundleId;
use crate::eid::Eid;

/// One thing that is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub enum Record {
    /// Something happened to a bundle.
    Bundle(BundleRecord),
    /// A contact ended.
    Contact(ContactRecord),
}

/// What happened to a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleRecord {
    /// When.
    #[serde(rename = "time_ns")]
    pub at: Time,
    /// What.
    pub event: BundleEventKind,
    /// The bundle's name, a fragment's that of the whole.
    pub bundle: String,
    /// Of a fragment: where its payload begins in that of the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Who made it.
    pub source: Eid,
    /// Where it goes.
    pub destination: Eid,
    /// The neighbour, where there is one.
    pub peer: Eid,
    /// Its length, octets.
    pub bytes: u64,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<DropCause>,
}

/// What a contact carried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactRecord {
    /// Its begin.
    #[serde(rename = "from_ns")]
    pub from: Time,
    /// Its end.
    #[serde(rename = "time_ns")]
    pub until: Time,
    /// The other end.
    pub peer: Eid,
    /// Bundles that went whole to it.
    pub sent: u64,
    /// Their octets.
    pub sent_bytes: u64,
    /// Bundles that came whole from it.
    pub received: u64,
    /// Their octets.
    pub received_bytes: u64,
}

impl From<BundleEvent> for Record {
    fn from(row: BundleEvent) -> Self {
        Self::Bundle(BundleRecord {
            at: row.at,
            event: row.kind,
            bundle: name(&row.id),
            offset: row.id.fragment.map(|(offset, _)| offset),
            source: row.id.source,
            destination: row.destination,
            peer: row.peer,
            bytes: row.octets,
            reason: row.cause,
        })
    }
}

/// The name of a bundle, the same for all of its fragments: source, creation time in milliseconds, and number.
pub(super) fn name(id: &BundleId) -> String {
    format!("{}-{}-{}", id.source, id.created.time_ms, id.created.sequence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::Created;

    #[test]
    fn a_record_reads_as_it_was_written_and_names_things_as_tables_do() {
        let row = BundleEvent {
            at: Time::from_nanos(5),
            kind: BundleEventKind::CustodyTaken,
            id: BundleId {
                source: "dtn://mesh-3/flow-7".parse().expect("an endpoint"),
                created: Created { time_ms: 8, sequence: 9 },
                fragment: Some((100, 50)),
            },
            destination: Eid::None,
            peer: Eid::None,
            octets: 77,
            cause: Some(DropCause::LifetimeExpired),
        };
        let record = Record::from(row);
        let text = serde_json::to_string(&record).expect("JSON");
        assert_eq!(serde_json::from_str::<Record>(&text).expect("a record"), record);
        for words in [
            r#""row":"bundle""#,
            r#""time_ns":5"#,
            r#""event":"custody_taken""#,
            r#""bundle":"dtn://mesh-3/flow-7-8-9""#,
            r#""offset":100"#,
            r#""reason":"lifetime_expired""#,
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
