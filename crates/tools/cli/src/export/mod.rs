//! `wayhop export`.

mod args;

use std::fs::{self, File};
use std::io::{BufWriter, Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;

use wayhop_merge::{ShownClock, split};
use wayhop_scenario::export_ns2;
use wayhop_simulator_files::ns2::ExportOptions;
use wayhop_trace::{Tables, export_csv};

use crate::failure::{Failure, output, warn};
use crate::merge::merge_failure;
use crate::recover;
use crate::scenario_args::SourceArgs;

pub(crate) use args::ExportArgs;

pub(crate) fn export(a: &ExportArgs) -> Result<ExitCode, Failure> {
    match a {
        ExportArgs::Ns2 { source, out, no_god } => ns2(source, out, !no_god),
        #[cfg(feature = "linux")]
        ExportArgs::Macfilter { source, range, out } => macfilter(source, *range, out.as_deref()),
        ExportArgs::Dissector { out } => text(&wayhop_protocols::dissector(), out.as_deref()),
        ExportArgs::Nodes { run, out, clock } => nodes(run, out, clock),
        ExportArgs::Csv { run, table, out } => csv(run, table, out.as_deref()),
    }
}

fn ns2(source: &SourceArgs, dir: &Path, god: bool) -> Result<ExitCode, Failure> {
    let scenario = source.load()?.resolve()?;
    let files = export_ns2(&scenario, ExportOptions { god })?;
    warn(scenario.warnings.iter().chain(&files.warnings));
    fs::create_dir_all(dir).map_err(Failure::write(dir))?;
    for (kind, text) in [("movement", &files.movement), ("traffic", &files.traffic)] {
        let path = dir.join(format!("{}.{kind}.tcl", scenario.name));
        fs::write(&path, text).map_err(Failure::write(&path))?;
        output(writeln!(stdout(), "{}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "linux")]
fn macfilter(source: &SourceArgs, range_m: Option<f64>, out: Option<&Path>) -> Result<ExitCode, Failure> {
    let scenario = source.load()?.resolve()?;
    text(&scenario.macfilter(range_m).to_string(), out)
}

/// Writes a text to a file or standard output.
fn text(text: &str, out: Option<&Path>) -> Result<ExitCode, Failure> {
    match out {
        Some(path) => fs::write(path, text).map_err(Failure::write(path))?,
        None => output(stdout().write_all(text.as_bytes()))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn nodes(run: &Path, out: &Path, clocks: &[String]) -> Result<ExitCode, Failure> {
    let run = recover::open(run)?;
    let summary = run.summary().map_err(Failure::trace)?;
    let nodes = Tables::of(&run, summary.protocol).nodes().map_err(Failure::trace)?;
    let names: Vec<String> = nodes.into_iter().map(|n| n.name).collect();
    let mut shown = vec![ShownClock::default(); names.len()];
    for text in clocks {
        let (node, clock) = clock(text, &names)?;
        shown[node] = clock;
    }
    fs::create_dir_all(out).map_err(Failure::write(out))?;
    let is_ours = |entry: &str| names.iter().any(|n| wayhop_core::file_name(n) == entry);
    for entry in fs::read_dir(out).map_err(Failure::write(out))? {
        let entry = entry.map_err(Failure::write(out))?.file_name();
        let entry = entry.to_string_lossy();
        if !is_ours(&entry) {
            // `wayhop merge DIR/*` would take it for a node of this run.
            return Err(Failure::Usage(format!(
                "--out {} contains {entry}, which is not a node of this run; choose a new or empty directory",
                out.display()
            )));
        }
    }
    for path in split(&run, out, &shown).map_err(merge_failure)? {
        output(writeln!(stdout(), "{}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `NODE=S,PPM`.
fn clock(text: &str, names: &[String]) -> Result<(usize, ShownClock), Failure> {
    let wrong = |what: &str| Failure::Usage(format!("--clock {text}: {what}"));
    let form = "give NODE=SECONDS,PPM, such as left=2.5,-40";
    let (node, clock) = text.split_once('=').ok_or_else(|| wrong(form))?;
    let (begins, drift) = clock.split_once(',').ok_or_else(|| wrong(form))?;
    let number = |t: &str| t.trim().parse::<f64>().ok().filter(|v| v.is_finite());
    let begins_s = number(begins).filter(|s| (0.0..1e9).contains(s));
    let drift_ppm = number(drift).filter(|p| p.abs() <= 1000.0);
    let (Some(begins_s), Some(drift_ppm)) = (begins_s, drift_ppm) else {
        return Err(wrong("the start must be from 0 s and the drift from -1000 to 1000 ppm"));
    };
    let node = wayhop_core::node_named(names, node)
        .ok_or_else(|| wrong(&format!("no such node; the nodes are {}", names.join(", "))))?;
    Ok((node, ShownClock { begins_s, drift_ppm }))
}

fn csv(run: &Path, table: &str, out: Option<&Path>) -> Result<ExitCode, Failure> {
    let run = recover::open(run)?;
    if let Some(path) = out {
        let mut file = BufWriter::new(File::create(path).map_err(Failure::write(path))?);
        export_csv(&run, table, &mut file).map_err(Failure::trace)?;
        file.flush().map_err(Failure::write(path))?;
    } else {
        let mut to = Closing(BufWriter::new(stdout().lock()), false);
        let outcome = export_csv(&run, table, &mut to);
        if !to.1 {
            outcome.map_err(Failure::trace)?;
            output(to.flush())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Standard output that remembers whether its reader closed it.
struct Closing<W>(W, bool);

impl<W: std::io::Write> std::io::Write for Closing<W> {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.0.write(buf).inspect_err(|e| self.1 |= e.kind() == std::io::ErrorKind::BrokenPipe)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush().inspect_err(|e| self.1 |= e.kind() == std::io::ErrorKind::BrokenPipe)
    }
}
