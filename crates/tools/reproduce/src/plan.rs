//! One experiment of a reproduction as a scenario that anybody can run.

use std::path::Path;

use wayhop_report::Source;

use crate::Options;

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
            quoted(&dir.join("scenarios").join(self.file).display().to_string()),
            format!("--seeds {first}..{last}"),
        ];
        words.extend(self.sets.iter().map(|s| format!("--set {}", quoted(s))));
        words.push(format!("--out {}", quoted(&directory)));
        Source { command: words.join(" "), directory }
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-=/,:+@".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
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
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
