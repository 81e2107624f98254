//! The parts of the reproduction, and what a user chooses of them.

use wayhop_report::Section;

/// Which experiments of the paper to run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Figures 5 and 7 to 9.
    Demonstration,
    /// Table 1 and Figure 3.
    Forwarding,
    /// Both.
    All,
}

wayhop_core::names!(Part { Demonstration = "demonstration", Forwarding = "forwarding", All = "all", });

/// What a part has to show, and whether all of it was run.
pub(super) struct PartResults {
    pub(super) sections: Vec<Section>,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) complete: bool,
}

/// Which experiments of the paper are run, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The seeds of the demonstration: one lap each, which takes `duration_s` on the clock. Simulated laps run at a time.
    pub runs: crate::Options,
    /// How long the robot takes around the building, seconds.
    pub duration_s: f64,
    /// What is run.
    pub part: Part,
}

impl Options {
    /// How long the paper's robot took, seconds.
    pub const PAPER_DURATION_S: f64 = 780.0;
    /// How many laps there are unless a user says otherwise.
    pub const SEEDS: u64 = 5;

    pub(super) fn command(&self) -> String {
        let first = Some(self.runs.first_seed).filter(|seed| *seed != 1);
        let first = first.map_or_else(String::new, |seed| format!(" --first-seed {seed}"));
        let (part, seeds, duration_s) = (self.part.name(), self.runs.seeds, self.duration_s);
        // Forwarding has no laps.
        let laps = match self.part {
            Part::Forwarding => String::new(),
            Part::Demonstration | Part::All => format!("{first} --seeds {seeds} --duration {duration_s}"),
        };
        format!("wayhop reproduce pran --part {part}{laps}")
    }
}
