//! A node's record of bundles and contacts. A host with the tables `bundles` and `contacts` takes
//! it as it is; a real host writes JSON objects, with times in nanoseconds of the node's clock.

use serde::{Deserialize, Serialize};
use wayhop_core::Time;

pub use crate::agent::BundleRecord;
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

#[cfg(test)]
mod tests {
    use wayhop_core::BundleEventKind;

    use super::*;
    use crate::DropCause;
    use crate::bundle::{BundleId, Created};

    #[test]
    fn a_record_reads_as_it_was_written_and_names_things_as_tables_do() {
        let id = BundleId {
            source: "dtn://mesh-3/flow-7".parse().expect("an endpoint"),
            created: Created { time_ms: 8, sequence: 9 },
            fragment: Some((100, 50)),
        };
        let row = BundleRecord::new(Time::from_nanos(5), BundleEventKind::CustodyTaken, &id, Eid::None, 77);
        let record = Record::Bundle(BundleRecord { reason: Some(DropCause::LifetimeExpired), ..row });
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
