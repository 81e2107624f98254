//! What a user chooses.

use super::plan::Mechanism;

/// What a user chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The first pattern: a seed.
    pub first_pattern: u64,
    /// How many, one after the other; the paper has 50.
    pub patterns: u64,
    /// Which mechanisms run besides plain Reno.
    pub mechanisms: Vec<Mechanism>,
    /// The patterns whose profile is drawn.
    pub profiles: Vec<u64>,
    /// Runs at a time.
    pub threads: usize,
    /// Whether each run leaves its run directory; those that `runs.jsonl` has are made again then.
    pub keep_runs: bool,
}

impl Options {
    /// How many patterns the paper has.
    pub const PAPER_PATTERNS: u64 = 50;
    /// How many profiles are drawn unless they are named.
    pub const PROFILES: usize = 3;

    pub(super) fn patterns(&self) -> Vec<u64> {
        (self.first_pattern..).take(self.patterns as usize).collect()
    }

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
        let mut words = vec![format!("wayhop reproduce holland-vaidya --seeds {}", self.patterns)];
        if self.first_pattern != 1 {
            words.push(format!("--first-seed {}", self.first_pattern));
        }
        let others = self.others();
        if others.is_empty() {
            words.push("--mechanisms none".to_owned());
        } else if others.len() + 1 < Mechanism::ALL.len() {
            let names: Vec<&str> = others.iter().map(|m| m.name()).collect();
            words.push(format!("--mechanisms {}", names.join(",")));
        }
        if !(self.first_pattern..).take(Self::PROFILES).eq(self.profiles.iter().copied()) {
            words.extend(self.profiles.iter().map(|p| format!("--pattern {p}")));
        }
        if self.keep_runs {
            words.push("--keep-runs".to_owned());
        }
        words.join(" ")
    }
}
