//! `wayhop bundle list`.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

use wayhop_bundle_agent::messages::{Ask, HeldBundle, Listing};
use wayhop_report::columns;

use super::args::ListArgs;
use super::connect::{connect, failure};
use crate::failure::{Failure, harmless, output, print_object};

/// What `--json` prints.
pub(crate) type List = Listing;

pub(super) fn list(a: &ListArgs) -> Result<ExitCode, Failure> {
    let listing: Listing = connect(&a.at.socket)?.ask(&Ask::List {}, Vec::new()).map_err(failure)?;
    if a.at.json {
        print_object(&listing)?;
    } else {
        output(stdout().write_all(words(&listing).as_bytes()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn words(l: &Listing) -> String {
    let mut text = format!("{}\n", harmless(&l.node));
    for c in &l.contacts {
        let _ = writeln!(text, "meets {} at {} by {}", harmless(&c.node), c.address, c.layer);
    }
    if l.bundles.is_empty() {
        return text + "holds no bundles\n";
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
