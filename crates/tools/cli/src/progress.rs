//! Progress of a run: a bar on a terminal, plain lines elsewhere, nothing with --quiet.

use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use wayhop_core::Time;

use crate::failure::say;

/// Time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows the progress of one run on standard error.
pub(crate) struct Progress {
    end: Time,
    begun: Instant,
    show: Show,
}

enum Show {
    Nothing,
    Bar(ProgressBar),
    Lines { next: Duration },
}

impl Progress {
    /// Starts the progress of a run to `end`.
    pub(crate) fn new(end: Time, quiet: bool) -> Self {
        let show = if quiet {
            Show::Nothing
        } else if stderr().is_terminal() {
            Show::Bar(bar(end))
        } else {
            Show::Lines { next: LINE_EVERY }
        };
        Self { end, begun: Instant::now(), show }
    }

    /// The run is at `now`.
    pub(crate) fn at(&mut self, now: Time) {
        let elapsed = self.begun.elapsed();
        match &mut self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.set_position(millis(now)),
            Show::Lines { next } => {
                if elapsed >= *next {
                    *next = elapsed + LINE_EVERY;
                    let (done, of) = (now.as_secs_f64(), self.end.as_secs_f64());
                    let speed = done / elapsed.as_secs_f64();
                    let left = (of - done) / speed.max(1e-9);
                    say!("simulated {done:.1} of {of:.1} s, {speed:.1} times real time, {left:.0} s left");
                }
            }
        }
    }

    /// The run is over.
    pub(crate) fn done(self) -> Duration {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
        self.begun.elapsed()
    }
}

fn bar(end: Time) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(millis(end)), ProgressDrawTarget::stderr_with_hz(10));
    let seconds = |s: &ProgressState, w: &mut dyn std::fmt::Write| {
        let _ = write!(w, "{:.1} of {:.1} s", s.pos() as f64 / 1e3, s.len().unwrap_or(0) as f64 / 1e3);
    };
    let speed = |s: &ProgressState, w: &mut dyn std::fmt::Write| {
        let _ = write!(w, "{:.0}x real time", s.pos() as f64 / 1e3 / s.elapsed().as_secs_f64().max(1e-9));
    };
    let style = ProgressStyle::with_template("[{wide_bar}] {seconds}, {speed}, {eta} left");
    bar.set_style(
        style
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ")
            .with_key("seconds", seconds)
            .with_key("speed", speed),
    );
    bar
}

fn millis(t: Time) -> u64 {
    t.as_nanos() / 1_000_000
}
