//! DSDV updates as JSON.

use serde_json::{Value, json};
use wayhop_core::{Datagram, DecodedMessage};
use wayhop_wire::dsdv::{Update, UpdateEntry};

/// The update of a datagram. One whose end was not captured tells the entries that are wholly there.
pub(crate) fn decode(d: &Datagram<'_>) -> Vec<DecodedMessage> {
    let whole =
        if d.is_cut() { d.payload.len() - d.payload.len() % UpdateEntry::LEN } else { d.payload.len() };
    let message = match Update::parse(&d.payload[..whole]) {
        Ok(u) => {
            let mut out = DecodedMessage::whole("update", json!({ "entries": entries(&u) }));
            out.truncated = d.is_cut();
            out
        }
        Err(_) if d.is_cut() => DecodedMessage::cut("update"),
        Err(e) => DecodedMessage::malformed("update", e.to_string()),
    };
    vec![message]
}

fn entries(u: &Update<'_>) -> Vec<Value> {
    let entry = |e: UpdateEntry| json!({ "destination": e.destination.to_string(), "hop_count": e.hop_count, "seq": e.seq });
    u.iter().map(entry).collect()
}
