//! Saha, To, PalChaudhuri, Du, Johnson: *Design and Performance of PRAN: A System for Physical
//! Implementation of Ad Hoc Network Routing Protocols*.
//!
//! Two parts, both with real programs on the real clock: [`Part::Forwarding`] is the cost of a packet at a
//! forwarding node (section 6.1), [`Part::Demonstration`] a robot that is driven around a building while its
//! video crosses the mesh (sections 6.2 and 6.3). Each is a file that hands sections to this one.

mod bench;
mod demonstration;
mod forwarding;
mod part;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_report::{Page, Row, Source};

pub use part::{Options, Part};

use part::PartResults;

use crate::Outcome;
use crate::outcome::facts;

/// How long [`reproduce`] takes, seconds.
pub fn seconds(options: &Options) -> usize {
    let laps = (options.runs.seeds as f64 * options.duration_s) as usize;
    match options.part {
        Part::Demonstration => laps,
        Part::Forwarding => bench::seconds(),
        Part::All => laps + bench::seconds(),
    }
}

/// Runs the parts and sets what they show beside what the paper says. `done` is told now and then how many of [`seconds`]
/// have passed; a raised `stop` ends with what there is.
pub fn reproduce(
    options: &Options,
    dir: &Path,
    stop: &AtomicBool,
    done: impl Fn(usize) + Sync,
) -> Result<Outcome, String> {
    let (mut found, mut trouble) = (Vec::new(), None);
    if matches!(options.part, Part::Demonstration | Part::All) {
        found.push(demonstration::run(options, dir, stop, &done)?);
    }
    if matches!(options.part, Part::Forwarding | Part::All) {
        let before = seconds(options) - bench::seconds();
        match forwarding::run(stop, |s| done(before + s)) {
            Ok(part) => found.push(part),
            Err(e) if found.is_empty() => return Err(e),
            // The laps before it are shown all the same.
            Err(e) => {
                let facts = vec![("Forwarding", format!("failed: {e}"))];
                found.push(PartResults { sections: vec![], facts, complete: false });
                trouble = Some(format!("forwarding: {e}"));
            }
        }
    }
    let mut own = vec![(
        "Paper",
        "Saha, To, PalChaudhuri, Du, Johnson: Design and Performance of PRAN, a system for physical implementation of \
         ad hoc network routing protocols",
    )];
    own.extend(found.iter().flat_map(|part| &part.facts).map(|(what, value)| (*what, value.as_str())));
    let facts = facts(&own, None);
    let complete = found.iter().all(|part| part.complete);
    let page = Page {
        title: "PRAN's measurements, reproduced".to_owned(),
        lead: "The simulator's routing protocols as routers for real programs: the cost of forwarding a packet, and a \
               robot driven around a building by the video that it sends over the mesh."
            .to_owned(),
        facts,
        command: options.command(),
        sections: found.into_iter().flat_map(|part| part.sections).collect(),
    };
    let sources = |row: &Row| match row.artefact.as_str() {
        "Table 1" | "Figure 3" => vec![Source {
            command: format!("sudo wayhop reproduce pran --part forwarding --out {}", dir.display()),
            directory: dir.display().to_string(),
        }],
        _ => demonstration::sources(row, options, dir),
    };
    let mut outcome = Outcome::new("pran", page, complete, sources);
    outcome.trouble = trouble;
    Ok(outcome)
}
