//! What a user chooses.

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The first seed that each scenario runs with.
    pub first_seed: u64,
    /// How many seeds it runs with, one after the other.
    pub seeds: u64,
    /// Runs at a time.
    pub threads: usize,
    /// Whether each run leaves its run directory.
    pub keep_runs: bool,
}

impl Options {
    /// The seeds of a reproduction unless a user says otherwise: what intervals need to cover 95 %, as measured over 60 seeds
    /// (docs/concepts/reproductions.md).
    pub const SEEDS: u64 = 30;

    /// Which seeds, in words.
    pub(crate) fn seeds_in_words(&self) -> String {
        match self.seeds {
            1 => self.first_seed.to_string(),
            n => {
                let range = format!("{} to {}", self.first_seed, self.first_seed + n - 1);
                let few = if n < Self::SEEDS {
                    format!("; with fewer than {} seeds they contain the mean less often", Self::SEEDS)
                } else {
                    String::new()
                };
                format!("{range}; 95 % intervals over seeds (Student's t), limited to possible values{few}")
            }
        }
    }

    pub(crate) fn command(&self, paper: &str) -> String {
        let first =
            if self.first_seed == 1 { String::new() } else { format!(" --first-seed {}", self.first_seed) };
        let keep = if self.keep_runs { " --keep-runs" } else { "" };
        format!("wayhop reproduce {paper}{first} --seeds {}{keep}", self.seeds)
    }
}
