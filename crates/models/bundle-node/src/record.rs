//! What is written down of bundles and contacts, and the lines of the file in which a real agent does so.

use serde::{Deserialize, Serialize};
use wayhop_core::Time;
use wayhop_dtn::{BundleId, Eid, Row};

/// One thing to be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Something happened to a bundle.
    Bundle(Row),
    /// A contact ended.
    Contact(ContactRow),
}

/// What a contact carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactRow {
    /// Its begin.
    pub from: Time,
    /// Its end.
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

/// A line of the record of a real agent: a JSON object. Times are nanoseconds of the host's clock, since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub enum Line {
    /// Something happened to a bundle.
    Bundle {
        /// When.
        time_ns: u64,
        /// What: an event of the table `bundles`.
        event: String,
        /// The bundle's name, a fragment's that of the whole.
        bundle: String,
        /// Of a fragment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// Who made it.
        source: Eid,
        /// Where it goes.
        destination: Eid,
        /// The neighbour, where there is one.
        peer: Eid,
        /// Its length, octets.
        bytes: u64,
        /// Why it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A contact ended.
    Contact {
        /// Its begin.
        from_ns: u64,
        /// Its end.
        time_ns: u64,
        /// The other end.
        peer: Eid,
        /// Bundles that went to it.
        sent: u64,
        /// Their octets.
        sent_bytes: u64,
        /// Bundles that came from it.
        received: u64,
        /// Their octets.
        received_bytes: u64,
    },
}

impl Line {
    /// The line of a record.
    pub fn of(record: &Record) -> Self {
        match record {
            Record::Bundle(row) => Self::Bundle {
                time_ns: row.at.as_nanos(),
                event: word(&row.kind),
                bundle: name(&row.id),
                offset: row.id.fragment.map(|(offset, _)| offset),
                source: row.id.source.clone(),
                destination: row.destination.clone(),
                peer: row.peer.clone(),
                bytes: row.octets,
                reason: row.cause.as_ref().map(word),
            },
            Record::Contact(c) => Self::Contact {
                from_ns: c.from.as_nanos(),
                time_ns: c.until.as_nanos(),
                peer: c.peer.clone(),
                sent: c.sent,
                sent_bytes: c.sent_bytes,
                received: c.received,
                received_bytes: c.received_bytes,
            },
        }
    }
}

/// A kind or a cause as its word.
fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        // Kinds and causes are words.
        _ => String::new(),
    }
}

/// The name of a bundle, the same for all of its fragments: source, creation time in milliseconds, and number.
fn name(id: &BundleId) -> String {
    format!("{}-{}-{}", id.source, id.created.time_ms, id.created.sequence)
}

/// The service of the application of a scenario's flow, at both of its ends.
pub fn flow_service(flow: u32) -> String {
    format!("flow-{flow}")
}

/// The scenario's flow whose application has this endpoint.
pub fn flow_of(endpoint: &Eid) -> Option<u32> {
    let text = endpoint.to_string();
    text.rsplit_once('/')?.1.strip_prefix("flow-")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_dtn::{Created, DropCause, RecordKind};

    #[test]
    fn a_line_reads_as_it_was_written_and_names_things_as_tables_do() {
        let source: Eid = "dtn://mesh-3/flow-7".parse().expect("an endpoint");
        let row = Row {
            at: Time::from_nanos(5),
            kind: RecordKind::CustodyTaken,
            id: BundleId {
                source: source.clone(),
                created: Created { time_ms: 8, sequence: 9 },
                fragment: Some((100, 50)),
            },
            destination: Eid::None,
            peer: Eid::None,
            octets: 77,
            cause: Some(DropCause::LifetimeExpired),
        };
        let line = Line::of(&Record::Bundle(row));
        let text = serde_json::to_string(&line).expect("JSON");
        assert_eq!(serde_json::from_str::<Line>(&text).expect("a line"), line);
        let words =
            [r#""event":"custody_taken""#, r#""bundle":"dtn://mesh-3/flow-7-8-9""#, r#""offset":100"#];
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
        assert!(text.contains(r#""reason":"lifetime_expired""#), "{text}");
        assert_eq!(flow_of(&source), Some(7));
        assert_eq!(flow_of(&"dtn://flow-7/x".parse().expect("an endpoint")), None);
    }
}
