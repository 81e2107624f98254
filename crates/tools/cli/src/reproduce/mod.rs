//! `wayhop reproduce`.

pub(crate) mod args;

use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use wayhop_report::{rows_json, rows_text};
use wayhop_reproduce::holland_vaidya::{self, Mechanism};
#[cfg(feature = "linux")]
use wayhop_reproduce::pran;
use wayhop_reproduce::{Options, cmu, das, meshtest, mule};
use wayhop_runs::interruption::stop_on_signal;
use wayhop_trace::Status;

use crate::failure::{Failure, output, say};
use crate::job_progress::JobProgress;
#[cfg(feature = "linux")]
use args::PranPart;
use args::{MechanismName, Paper};

pub(crate) use args::{EXAMPLES, ReproduceArgs};

pub(crate) fn reproduce(a: &ReproduceArgs) -> Result<ExitCode, Failure> {
    let name = match a.paper {
        Paper::Cmu => "cmu",
        Paper::Das => "das",
        #[cfg(feature = "linux")]
        Paper::Pran => "pran",
        Paper::HollandVaidya => "holland-vaidya",
        Paper::Mule => "mule",
        Paper::Meshtest => "meshtest",
    };
    if a.paper != Paper::HollandVaidya && !(a.mechanisms.is_empty() && a.pattern.is_empty()) {
        return Err(Failure::Usage(format!(
            "--mechanisms and --pattern apply only to holland-vaidya, not to {name}; remove them"
        )));
    }
    #[cfg(feature = "linux")]
    if a.paper != Paper::Pran && (a.part.is_some() || a.duration.is_some()) {
        return Err(Failure::Usage(format!(
            "--part and --duration apply only to pran, not to {name}; remove them"
        )));
    }
    let emulate = emulation(a, name)?;
    let dir = a.out.clone().unwrap_or_else(|| PathBuf::from(format!("runs/reproduce-{name}")));
    let threads =
        a.jobs.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), |n| n as usize);
    let seeds = match a.paper {
        Paper::Meshtest => meshtest::PAPER_RUNS,
        Paper::Mule => mule::SEEDS,
        _ => Options::SEEDS,
    };
    let options = Options {
        first_seed: a.first_seed,
        seeds: a.seeds.unwrap_or(seeds),
        threads,
        keep_runs: a.keep_runs,
    };
    #[cfg(feature = "linux")]
    let on_the_clock = pran_options(a, threads);
    let study = study_options(a, threads)?;
    let stop = stop_on_signal()?;
    let progress = match a.paper {
        Paper::Cmu => JobProgress::new(cmu::runs(&options), "runs", a.quiet),
        Paper::Das => JobProgress::new(das::runs(&options), "runs", a.quiet),
        #[cfg(feature = "linux")]
        Paper::Pran => JobProgress::new(pran::seconds(&on_the_clock), "s", a.quiet),
        Paper::HollandVaidya => JobProgress::new(holland_vaidya::runs(&study), "runs", a.quiet),
        Paper::Mule => JobProgress::new(mule::runs(&options), "runs", a.quiet),
        Paper::Meshtest => JobProgress::new(meshtest::runs(&options), "runs", a.quiet),
    };
    progress.at(0);
    let done = |n| progress.at(n);
    let outcome = match a.paper {
        Paper::Cmu => cmu::reproduce(&options, &dir, &stop, done),
        Paper::Das => das::reproduce(&options, &dir, &stop, done),
        #[cfg(feature = "linux")]
        Paper::Pran => pran::reproduce(&on_the_clock, &dir, &stop, done),
        Paper::Meshtest => meshtest::reproduce(&options, emulate, &dir, &stop, done),
        Paper::HollandVaidya => {
            let began = Instant::now();
            holland_vaidya::reproduce(&study, &dir, &stop, || began.elapsed().as_secs_f64(), done)
        }
        Paper::Mule => mule::reproduce(&options, &dir, &stop, done),
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
    if let Some(trouble) = outcome.trouble {
        return Err(Failure::Run(format!("{trouble}; the results up to then are in {}", dir.display())));
    }
    if outcome.complete {
        return Ok(ExitCode::SUCCESS);
    }
    say!("wayhop: interrupted; the results so far are in {}", dir.display());
    Ok(Status::Interrupted.into())
}

/// Whether experiments run in real time, too.
#[cfg(feature = "linux")]
fn emulation(a: &ReproduceArgs, name: &str) -> Result<bool, Failure> {
    if a.emulate && a.paper != Paper::Meshtest {
        return Err(Failure::Usage(format!("--emulate applies only to meshtest, not to {name}; remove it")));
    }
    Ok(a.emulate)
}

#[cfg(not(feature = "linux"))]
#[allow(clippy::unnecessary_wraps, reason = "same signature as on Linux")]
fn emulation(_: &ReproduceArgs, _: &str) -> Result<bool, Failure> {
    Ok(false)
}

#[cfg(feature = "linux")]
fn pran_options(a: &ReproduceArgs, threads: usize) -> pran::Options {
    pran::Options {
        first_seed: a.first_seed,
        seeds: a.seeds.unwrap_or(pran::Options::SEEDS),
        duration_s: a.duration.unwrap_or(pran::Options::PAPER_DURATION_S),
        threads,
        part: match a.part {
            Some(PranPart::Demonstration) => pran::Part::Demonstration,
            Some(PranPart::Forwarding) => pran::Part::Forwarding,
            Some(PranPart::All) | None => pran::Part::All,
        },
    }
}

fn study_options(a: &ReproduceArgs, threads: usize) -> Result<holland_vaidya::Options, Failure> {
    let patterns = a.seeds.unwrap_or(holland_vaidya::Options::PAPER_PATTERNS);
    let run = a.first_seed..a.first_seed + patterns;
    if let Some(other) = a.pattern.iter().find(|p| !run.contains(p)) {
        let last = run.end - 1;
        return Err(Failure::Usage(format!(
            "--pattern {other} does not run; choose one from {} to {last}, or change the range with --first-seed and \
             --seeds",
            run.start
        )));
    }
    let none = a.mechanisms.contains(&MechanismName::None);
    if none && a.mechanisms.len() > 1 {
        return Err(Failure::Usage("--mechanisms: none cannot be combined with others".to_owned()));
    }
    let profiles = if a.pattern.is_empty() {
        run.take(holland_vaidya::Options::PROFILES).collect()
    } else {
        a.pattern.clone()
    };
    let mechanisms = if a.mechanisms.is_empty() {
        Mechanism::ALL.to_vec()
    } else {
        a.mechanisms.iter().filter_map(|m| mechanism(*m)).collect()
    };
    let (first_pattern, keep_runs) = (a.first_seed, a.keep_runs);
    Ok(holland_vaidya::Options { first_pattern, patterns, mechanisms, profiles, threads, keep_runs })
}

const fn mechanism(name: MechanismName) -> Option<Mechanism> {
    Some(match name {
        MechanismName::Elfn => Mechanism::Elfn,
        MechanismName::ElfnHalf => Mechanism::ElfnHalf,
        MechanismName::FixedRto => Mechanism::FixedRto,
        MechanismName::TcpF => Mechanism::TcpF,
        MechanismName::WindowByHops => Mechanism::WindowByHops,
        MechanismName::Pacing => Mechanism::Pacing,
        MechanismName::Rfc6069 => Mechanism::Rfc6069,
        MechanismName::None => return None,
    })
}
