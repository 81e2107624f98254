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
}

impl Options {
    /// Which seeds, in words.
    pub(crate) fn seeds_in_words(&self) -> String {
        match self.seeds {
            1 => self.first_seed.to_string(),
            n => format!(
                "{} to {}; intervals are Student's t over seeds, 95 %; of counts that few seeds have they may reach below zero",
                self.first_seed,
                self.first_seed + n - 1
            ),
        }
    }

    /// The command that does the same again.
    pub(crate) fn command(&self, paper: &str) -> String {
        match self.first_seed {
            1 => format!("wayhop reproduce {paper} --seeds {}", self.seeds),
            first => format!("wayhop reproduce {paper} --first-seed {first} --seeds {}", self.seeds),
        }
    }
}
