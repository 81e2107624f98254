//! Progress of a set of runs: a bar on a terminal, plain lines elsewhere, nothing with --quiet.

use std::io::{IsTerminal as _, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::say;
use crate::sweep_check::in_words;

/// Most time between two plain lines, as long as runs end.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Progress of a set of runs: a bar on a terminal; elsewhere a line per 10 % or per 30 s.
pub(crate) enum JobProgress {
    Nothing,
    Bar(ProgressBar),
    Lines { of: usize, unit: &'static str, lines: Mutex<Lines> },
}

/// When the next line is due.
pub(crate) struct Lines {
    /// When it began, and how many had been done before.
    begun: Option<(Instant, usize)>,
    shown_at: Instant,
    next: usize,
}

impl Lines {
    /// The line to print now that `n` are done, if one is due.
    fn at(&mut self, n: usize, of: usize, unit: &str, now: Instant) -> Option<String> {
        let Some((began, before)) = self.begun else {
            self.begun = Some((now, n));
            self.shown_at = now;
            return None;
        };
        let is_due = n >= self.next || n == of || now.duration_since(self.shown_at) >= LINE_EVERY;
        if !is_due || n <= before {
            return None;
        }
        let step = (of / 10).max(1);
        self.next = n - n % step + step;
        self.shown_at = now;
        let left_s =
            now.duration_since(began).as_secs_f64() * of.saturating_sub(n) as f64 / (n - before) as f64;
        let left = if n < of { format!(", about {} left", in_words(left_s)) } else { String::new() };
        Some(format!("{n} of {of} {unit}{left}"))
    }
}

impl JobProgress {
    pub(crate) fn new(of: usize, unit: &'static str, quiet: bool) -> Self {
        if quiet {
            Self::Nothing
        } else if stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(of as u64), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template(&format!(
                "[{{wide_bar}}] {{pos}} of {{len}} {unit}, {{eta}} left"
            ));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            Self::Bar(bar)
        } else {
            let lines = Lines { begun: None, shown_at: Instant::now(), next: 1 };
            Self::Lines { of, unit, lines: Mutex::new(lines) }
        }
    }
    /// `n` are done. The first call gives the number done before.
    pub(crate) fn at(&self, n: usize) {
        match self {
            Self::Nothing => {}
            Self::Bar(bar) => bar.set_position(n as u64),
            Self::Lines { of, unit, lines } => {
                let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(line) = lines.at(n, *of, unit, Instant::now()) {
                    say!("{line}");
                }
            }
        }
    }
    /// All are done, or the set was interrupted.
    pub(crate) fn done(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_come_each_ten_per_cent_or_half_a_minute_and_tell_the_time_left() {
        let zero = Instant::now();
        let after = |seconds: u64| zero + Duration::from_secs(seconds);
        let mut lines = Lines { begun: None, shown_at: zero, next: 1 };
        let mut at = |n, seconds| lines.at(n, 100, "runs", after(seconds));
        assert_eq!(at(20, 0), None, "those had been done before");
        assert_eq!(at(21, 2).as_deref(), Some("21 of 100 runs, about 2.6 min left"));
        assert_eq!(at(22, 4), None);
        assert_eq!(at(30, 20).as_deref(), Some("30 of 100 runs, about 2.3 min left"));
        assert_eq!(at(31, 49), None);
        assert_eq!(at(32, 60).as_deref(), Some("32 of 100 runs, about 5.7 min left"));
        assert_eq!(at(100, 80).as_deref(), Some("100 of 100 runs"));
    }
}
