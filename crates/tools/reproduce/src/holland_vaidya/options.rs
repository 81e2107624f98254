//! What a user chooses.

use super::plan::Mechanism;

/// What a user chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The seeds, each a pattern of movement. If run directories are kept, the runs that `runs.jsonl` has are made again.
    pub runs: crate::Options,
    /// Which mechanisms run besides plain Reno.
    pub mechanisms: Vec<Mechanism>,
    /// The patterns whose profile is drawn.
    pub profiles: Vec<u64>,
}

impl Options {
    /// How many patterns the paper has.
    pub const PAPER_PATTERNS: u64 = 50;
    /// How many profiles are drawn unless they are named.
    pub const PROFILES: usize = 3;

    /// Those besides Reno, each once, in their own order.
    pub(super) fn others(&self) -> Vec<Mechanism> {
        let wanted = |m: &Mechanism| *m != Mechanism::Reno && self.mechanisms.contains(m);
        Mechanism::ALL.into_iter().filter(wanted).collect()
    }

    /// Those that run without ARP, too.
    pub(super) fn without_arp(&self) -> Vec<Mechanism> {
        let wanted = |m: &Mechanism| *m == Mechanism::Reno || self.mechanisms.contains(m);
        [Mechanism::Reno, Mechanism::Elfn].into_iter().filter(wanted).collect()
    }

    pub(super) fn command(&self) -> String {
        let first = self.runs.first_seed;
        let mut words = vec![format!("wayhop reproduce holland-vaidya --seeds {}", self.runs.seeds)];
        if first != 1 {
            words.push(format!("--first-seed {first}"));
        }
        let others = self.others();
        if others.is_empty() {
            words.push("--mechanisms none".to_owned());
        } else if others.len() + 1 < Mechanism::ALL.len() {
            let names: Vec<&str> = others.iter().map(|m| m.name()).collect();
            words.push(format!("--mechanisms {}", names.join(",")));
        }
        if !(first..).take(Self::PROFILES).eq(self.profiles.iter().copied()) {
            words.extend(self.profiles.iter().map(|p| format!("--pattern {p}")));
        }
        if self.runs.keep_runs {
            words.push("--keep-runs".to_owned());
        }
        words.join(" ")
    }
}
