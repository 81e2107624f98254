//! `wayhop bundle list`.

use std::fmt::Write as _;

use wayhop_bundle_agent::messages::{Ask, HeldBundle, Listing};
use wayhop_report::columns;

use super::args::{SocketArgs, failure};
use crate::failure::{Failure, harmless, print_object, put};

pub(super) fn list(at: &SocketArgs) -> Result<(), Failure> {
    let listing: Listing = at.connect()?.ask(&Ask::List {}, Vec::new()).map_err(failure)?;
    if at.json { print_object(&listing) } else { put(words(&listing)) }
}

fn words(l: &Listing) -> String {
    let mut text = format!("{}\n", harmless(&l.node));
    for c in &l.contacts {
        let _ = writeln!(text, "contact {} at {} over {}", harmless(&c.node), c.address, c.layer);
    }
    if l.bundles.is_empty() {
        return text + "no bundles\n";
    }
    let head = ["bundle", "offset", "for", "octets", "expires s", "custody"].map(str::to_owned);
    let row = |b: &HeldBundle| {
        vec![
            harmless(&b.bundle),
            b.offset.map_or_else(|| "-".to_owned(), |n| n.to_string()),
            harmless(&b.destination),
            b.octets.to_string(),
            format!("{:.0}", b.expires_s),
            if b.custody { "here" } else { "-" }.to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(l.bundles.iter().map(row)).collect();
    text += &columns(&rows, 1);
    if l.left_out > 0 {
        let _ = writeln!(text, "... and {} more", l.left_out);
    }
    text
}
