//! Saha, To, PalChaudhuri, Du, Johnson: *Design and Performance of PRAN: A System for Physical
//! Implementation of Ad Hoc Network Routing Protocols*.
//!
//! Two parts, both with real programs on the real clock: [`Part::Forwarding`] is what a packet costs at a node in the middle
//! (section 6.1), [`Part::Demonstration`] a robot that is driven around a building while its video crosses the mesh
//! (sections 6.2 and 6.3). Each is a file that hands sections to this one.

mod demonstration;
mod forwarding;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_report::Page;

use crate::Outcome;

/// What of the paper is to be run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Figures 5 and 7 to 9.
    Demonstration,
    /// Table 1 and Figure 3.
    Forwarding,
    /// Both.
    All,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Demonstration => "demonstration",
            Self::Forwarding => "forwarding",
            Self::All => "all",
        }
    }
}

/// What a user chooses.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The first seed of the demonstration.
    pub first_seed: u64,
    /// How often it is run, with one seed after the other; each takes `duration_s` on the clock.
    pub seeds: u64,
    /// How long the robot takes around the building, seconds.
    pub duration_s: f64,
    /// What is run.
    pub part: Part,
}

impl Options {
    /// How long the paper's robot took, seconds.
    pub const PAPER_DURATION_S: f64 = 780.0;
    /// How long ours takes unless it is told otherwise, seconds.
    pub const DURATION_S: f64 = 180.0;

    /// The command that does the same again.
    fn command(&self) -> String {
        let first =
            if self.first_seed == 1 { String::new() } else { format!(" --first-seed {}", self.first_seed) };
        let (part, seeds, duration_s) = (self.part.name(), self.seeds, self.duration_s);
        // Forwarding has no laps.
        let laps = match self.part {
            Part::Forwarding => String::new(),
            Part::Demonstration | Part::All => format!("{first} --seeds {seeds} --duration {duration_s}"),
        };
        format!("wayhop reproduce pran --part {part}{laps}")
    }
}

/// How long [`reproduce`] takes, seconds.
pub fn seconds(options: &Options) -> usize {
    let laps = (options.seeds as f64 * options.duration_s) as usize;
    match options.part {
        Part::Demonstration => laps,
        Part::Forwarding => forwarding::seconds(),
        Part::All => laps + forwarding::seconds(),
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
    let fact = |what: &str, value: String| (what.to_owned(), value);
    let mut facts = vec![fact(
        "Paper",
        "Saha, To, PalChaudhuri, Du, Johnson: Design and Performance of PRAN, a system for physical implementation of \
         ad hoc network routing protocols"
            .to_owned(),
    )];
    let mut complete = true;
    let mut sections = Vec::new();
    let mut trouble = None;
    if matches!(options.part, Part::Demonstration | Part::All) {
        let found = demonstration::run(options, dir, stop, &done)?;
        complete &= found.complete;
        facts.push(fact("Demonstration", found.fact));
        sections.extend(found.sections);
    }
    if matches!(options.part, Part::Forwarding | Part::All) {
        let before = seconds(options) - forwarding::seconds();
        let outcome = forwarding::run(stop, |s| done(before + s));
        match outcome {
            Ok(found) => {
                complete &= found.complete;
                sections.extend(found.sections);
                facts.extend(found.facts);
            }
            Err(e) if sections.is_empty() => return Err(e),
            // The laps before it are shown all the same.
            Err(e) => {
                complete = false;
                facts.push(fact("Forwarding", format!("failed: {e}")));
                trouble = Some(format!("forwarding: {e}"));
            }
        }
    }
    let mut rows: Vec<_> = sections.iter().flat_map(|s| s.rows.iter().cloned()).collect();
    for r in rows.iter_mut().filter(|r| r.ours.is_none() && r.note.is_empty()) {
        "No run that was made showed it.".clone_into(&mut r.note);
    }
    facts.push(fact("Version", format!("wayhop {}", env!("CARGO_PKG_VERSION"))));
    let page = Page {
        title: "PRAN's measurements, reproduced".to_owned(),
        lead: "The routing protocols of the simulator as routers of real programs: what forwarding a packet costs, and a robot \
               that is driven around a building by the video that it sends over the mesh."
            .to_owned(),
        facts,
        command: options.command(),
        sections,
    };
    Ok(Outcome { paper: "pran", rows, page, complete, trouble })
}
