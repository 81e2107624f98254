//! How far a set of runs is: a bar on a terminal, a line each ten per cent elsewhere, nothing when it is to be quiet.

use std::io::{IsTerminal as _, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::say;

/// How many runs of a set are done: a bar on a terminal, a line each ten per cent elsewhere.
pub(crate) enum JobProgress {
    Nothing,
    Bar(ProgressBar),
    Lines { of: usize, unit: &'static str, next: AtomicUsize },
}

impl JobProgress {
    /// Of so many of this unit.
    pub(crate) fn new(of: usize, unit: &'static str, quiet: bool) -> Self {
        if quiet {
            Self::Nothing
        } else if stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(of as u64), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template(&format!(
                "[{{wide_bar}}] {{pos}} of {{len}} {unit}, {{eta}} to go"
            ));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            Self::Bar(bar)
        } else {
            Self::Lines { of, unit, next: AtomicUsize::new(1) }
        }
    }
    /// So many are done.
    pub(crate) fn at(&self, n: usize) {
        match self {
            Self::Nothing => {}
            Self::Bar(bar) => bar.set_position(n as u64),
            Self::Lines { of, unit, next } => {
                let step = (of / 10).max(1);
                if (n == *of || n >= next.load(Ordering::Relaxed))
                    && next.fetch_max(n - n % step + step, Ordering::Relaxed) <= n
                {
                    say!("{n} of {of} {unit}");
                }
            }
        }
    }
    /// All are done, or it was stopped.
    pub(crate) fn done(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
