//! `wayhop export`.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use wayhop_merge::{ShownClock, split};
use wayhop_scenario::export_ns2;
use wayhop_simulator_files::ns2::ExportOptions;
use wayhop_trace::{Error, RunDir, Tables, export_csv, export_parquet};

use crate::failure::{Failure, json_line, out, output, put_into, usage, warn};
use crate::merge::merge_failure;
use crate::recover;
use crate::scenario_args::SourceArgs;
#[cfg(feature = "linux")]
use crate::scenario_args::metres;

#[derive(Debug, Subcommand)]
pub(crate) enum ExportArgs {
    /// Export movement and traffic files for ns-2
    Ns2 {
        #[command(flatten)]
        source: SourceArgs,
        /// Directory for NAME.movement.tcl and NAME.traffic.tcl
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
        /// Leave out the `$god_ set-dist` lines
        #[arg(long)]
        no_god: bool,
    },
    #[cfg(feature = "linux")]
    /// Export a MAC filter file for `wayhop lab`, in which nodes hear each other only within range
    Macfilter {
        #[command(flatten)]
        source: SourceArgs,
        /// Range of all radios, in metres. Default: each radio's range in free space over flat ground
        #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
        range: Option<f64>,
        /// File to write. Default: standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Export a run directory per node, as the nodes would have recorded it in the field, for `wayhop merge`
    Nodes {
        /// Run directory, recorded with --identities
        run: PathBuf,
        /// Directory for the nodes' run directories
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Give a node its own clock: its record starts S seconds into the run, and its clock runs fast by PPM parts per million
        /// (repeatable)
        #[arg(long, value_name = "NODE=S,PPM", allow_hyphen_values = true)]
        clock: Vec<String>,
    },
    /// Export a Lua plugin with which Wireshark and tshark decode Wayhop's routing packets: DSDV, authentication, and
    /// non-standard DSR options
    Dissector {
        /// File to write. Default: standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Export the results of a run as JSON, as `--json` prints them; those of a killed or running run are counted from its tables
    Summary {
        /// Run directory
        run: PathBuf,
        /// File to write. Default: standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Export a table of a killed or running run as a complete Parquet file
    Parquet {
        /// Run directory
        run: PathBuf,
        /// Table, as for `wayhop export csv`
        table: String,
        /// File to write. Default: standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Export a table of a run directory as CSV
    Csv {
        /// Run directory
        run: PathBuf,
        /// Table: packets, positions, flows, counters, events, sends, sizes, tcp, connections, outcomes, receptions, bundles, contacts, gps,
        /// identities or nodes
        table: String,
        /// File to write. Default: standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

pub(crate) fn export(a: &ExportArgs) -> Result<(), Failure> {
    match a {
        ExportArgs::Ns2 { source, out, no_god } => ns2(source, out, !no_god),
        #[cfg(feature = "linux")]
        ExportArgs::Macfilter { source, range, out } => macfilter(source, *range, out.as_deref()),
        ExportArgs::Dissector { out } => put_into(out.as_deref(), &wayhop_protocols::dissector()),
        ExportArgs::Nodes { run, out, clock } => nodes(run, out, clock),
        ExportArgs::Summary { run, out } => summary(run, out.as_deref()),
        ExportArgs::Parquet { run, table, out } => copy(run, table, out.as_deref(), export_parquet),
        ExportArgs::Csv { run, table, out } => copy(run, table, out.as_deref(), export_csv),
    }
}

fn ns2(source: &SourceArgs, dir: &Path, god: bool) -> Result<(), Failure> {
    let scenario = source.load()?.resolve()?;
    let files = export_ns2(&scenario, ExportOptions { god })?;
    warn(scenario.warnings.iter().chain(&files.warnings));
    fs::create_dir_all(dir).map_err(Failure::write(dir))?;
    for (kind, text) in [("movement", &files.movement), ("traffic", &files.traffic)] {
        let path = dir.join(format!("{}.{kind}.tcl", scenario.name));
        fs::write(&path, text).map_err(Failure::write(&path))?;
        out!("{}", path.display())?;
    }
    Ok(())
}

#[cfg(feature = "linux")]
fn macfilter(source: &SourceArgs, range_m: Option<f64>, out: Option<&Path>) -> Result<(), Failure> {
    let scenario = source.load()?.resolve()?;
    put_into(out, &scenario.macfilter(range_m).to_string())
}

fn nodes(run: &Path, out: &Path, clocks: &[String]) -> Result<(), Failure> {
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
            return Err(usage!(
                "--out {} contains {entry}, which is not a node of this run; choose a new or empty directory",
                out.display()
            ));
        }
    }
    for path in split(&run, out, &shown).map_err(merge_failure)? {
        out!("{}", path.display())?;
    }
    Ok(())
}

/// `NODE=S,PPM`.
fn clock(text: &str, names: &[String]) -> Result<(usize, ShownClock), Failure> {
    let wrong = |what: &str| usage!("--clock {text}: {what}");
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

fn summary(run: &Path, out: Option<&Path>) -> Result<(), Failure> {
    let summary = recover::open(run)?.summary().map_err(Failure::trace)?;
    put_into(out, &json_line(&summary)?)
}

/// Writes a table in another form.
fn copy(
    run: &Path,
    table: &str,
    out: Option<&Path>,
    export: fn(&RunDir, &str, &mut dyn Write) -> Result<(), Error>,
) -> Result<(), Failure> {
    let run = recover::open(run)?;
    if let Some(path) = out {
        let mut file = BufWriter::new(File::create(path).map_err(Failure::write(path))?);
        export(&run, table, &mut file).map_err(Failure::trace)?;
        file.flush().map_err(Failure::write(path))?;
    } else {
        let mut to = BufWriter::new(stdout().lock());
        match export(&run, table, &mut to) {
            // Nobody reads any more (`| head`).
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => {}
            exported => {
                exported.map_err(Failure::trace)?;
                output(to.flush())?;
            }
        }
    }
    Ok(())
}
