//! What a user chooses, and each experiment of a reproduction as a scenario that anybody can run.

use std::path::Path;

use wayhop_report::{Source, shell_word};

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

    pub(crate) fn each_seed(&self) -> impl Iterator<Item = u64> + Clone + use<> {
        (self.first_seed..).take(self.seeds as usize)
    }

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

/// A scenario file and what is set in it, but for the seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The name of its folder of run directories.
    pub name: String,
    /// The scenario's file.
    pub file: &'static str,
    /// What is set in it: `path.key=value`.
    pub sets: Vec<String>,
}

impl Plan {
    /// With these settings.
    pub fn new(name: impl Into<String>, file: &'static str, sets: Vec<String>) -> Self {
        Self { name: name.into(), file, sets }
    }

    /// What makes its runs with the seeds of `options` again, of a reproduction in `dir`.
    pub(crate) fn source(&self, dir: &Path, options: &Options) -> Source {
        let directory = dir.join("runs").join(&self.name).display().to_string();
        let (first, last) = (options.first_seed, options.first_seed + options.seeds.max(1) - 1);
        let mut words = vec![
            "wayhop run".to_owned(),
            shell_word(&dir.join("scenarios").join(self.file).display().to_string()),
            format!("--seeds {first}..{last}"),
        ];
        words.extend(self.sets.iter().map(|s| format!("--set {}", shell_word(s))));
        words.push(format!("--out {}", shell_word(&directory)));
        Source { command: words.join(" "), directory }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_given_to_a_shell() {
        let options = Options { first_seed: 4, seeds: 3, threads: 1, keep_runs: false };
        let plan = Plan::new("udp", "udp.toml", vec!["a.b=[{ id = 0 }]".to_owned(), "c=1.5".to_owned()]);
        let source = plan.source(Path::new("runs/das"), &options);
        assert_eq!(
            source.command,
            "wayhop run runs/das/scenarios/udp.toml --seeds 4..6 --set 'a.b=[{ id = 0 }]' --set c=1.5 --out runs/das/runs/udp"
        );
        assert_eq!(source.directory, "runs/das/runs/udp");
    }
}
