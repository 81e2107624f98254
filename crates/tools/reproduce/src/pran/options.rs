//! What a user chooses.

use super::part::Part;

/// Which experiments of the paper are run, and how often.
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
    /// Simulated laps at a time.
    pub threads: usize,
}

impl Options {
    /// How long the paper's robot took, seconds.
    pub const PAPER_DURATION_S: f64 = 780.0;
    /// How many laps there are unless a user says otherwise.
    pub const SEEDS: u64 = 5;

    pub(super) fn command(&self) -> String {
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
