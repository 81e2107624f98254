//! `wayhop reproduce`.

use std::io::{IsTerminal as _, Write as _, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wayhop_report::{rows_json, rows_text};
use wayhop_reproduce::{Options, cmu, das};

use crate::args::{Paper, ReproduceArgs};
use crate::failure::{Failure, output};
use crate::run::{INTERRUPTED, stop_on_signal};

pub(crate) fn reproduce(a: &ReproduceArgs) -> Result<ExitCode, Failure> {
    let name = match a.paper {
        Paper::Cmu => "cmu",
        Paper::Das => "das",
    };
    let dir = a.out.clone().unwrap_or_else(|| PathBuf::from(format!("runs/reproduce-{name}")));
    let threads =
        a.jobs.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), |n| n as usize);
    let options = Options { first_seed: a.first_seed, seeds: a.seeds, threads };
    let stop = stop_on_signal()?;
    let runs = match a.paper {
        Paper::Cmu => cmu::runs(&options),
        Paper::Das => das::runs(&options),
    };
    let progress = Progress::new(runs, a.quiet);
    let outcome = match a.paper {
        Paper::Cmu => cmu::reproduce(&options, &dir, &stop, |n| progress.at(n)),
        Paper::Das => das::reproduce(&options, &dir, &stop, |n| progress.at(n)),
    };
    progress.done();
    let outcome = outcome.map_err(Failure::Run)?;
    outcome.write(&dir).map_err(Failure::run)?;
    if a.json {
        output(writeln!(stdout(), "{}", rows_json(outcome.paper, &outcome.rows)))?;
    } else if !a.quiet {
        let text = rows_text(&outcome.rows);
        output(write!(stdout(), "{text}\nreport in {}\n", dir.join("report.html").display()))?;
    }
    if outcome.complete {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("wayhop: stopped; what was done is in {}", dir.display());
    Ok(ExitCode::from(INTERRUPTED))
}

/// How many runs are made: a bar on a terminal, a line each ten per cent elsewhere.
enum Progress {
    Nothing,
    Bar(ProgressBar),
    Lines(usize),
}

impl Progress {
    fn new(runs: usize, quiet: bool) -> Self {
        if quiet {
            Self::Nothing
        } else if stderr().is_terminal() {
            let bar =
                ProgressBar::with_draw_target(Some(runs as u64), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("[{wide_bar}] {pos} of {len} runs, {eta} to go");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            Self::Bar(bar)
        } else {
            Self::Lines(runs)
        }
    }
    fn at(&self, n: usize) {
        match self {
            Self::Nothing => {}
            Self::Bar(bar) => bar.set_position(n as u64),
            Self::Lines(of) => {
                if n == *of || n.is_multiple_of((of / 10).max(1)) {
                    eprintln!("{n} of {of} runs");
                }
            }
        }
    }
    fn done(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
