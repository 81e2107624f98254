//! `wayhop matrix drive`: new positions, path losses and settings each second.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use wayhop_core::Position;
use wayhop_matrix::device::{DeviceError, Rack};
use wayhop_matrix::{Effort, Quality, Settings, SettingsReport, Switch, follow, solve};
use wayhop_radio::RadioConfig;
use wayhop_runs::interruption::stop_on_signal;

use super::args::{BoxArgs, QualityName};
use super::layout;
use super::places::{PositionSource, feed, run_of};
use crate::failure::{Failure, json_line, put, say, usage};
use crate::scenario_args::{SourceArgs, metres, whole};

pub(crate) const EXAMPLES: &str = "\
Each second reads the nodes' positions, computes path losses and settings, and sets the box. Without SCENARIO the radios are 802.11g \
in free space. Stop with Ctrl-C; the box keeps its last settings.

Examples:
  wayhop matrix drive scenarios/first.toml --box 192.168.1.20:23 --out runs/matrix
  wayhop matrix drive --run chain-5 --box http://192.168.1.20
  wayhop matrix drive --feed - --radios 12 --box 192.168.1.20:23 < positions.xml
  wayhop matrix drive scenarios/first.toml                        without a box: errors only";

#[derive(Debug, clap::Args)]
pub(crate) struct DriveArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Follow the positions in this running emulation, lab or paced simulation
    #[arg(long, value_name = "NAME", conflicts_with = "feed")]
    run: Option<String>,
    /// Read positions from a file, a FIFO, or - for standard input: one line of XML or JSON per update
    #[arg(long, value_name = "FILE", requires = "radios")]
    feed: Option<PathBuf>,
    /// With --feed: number of radios
    #[arg(long, value_name = "N", requires = "feed", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    radios: Option<usize>,
    /// Address of a box: HOST:PORT (telnet), telnet://HOST:PORT or http://HOST:PORT (repeatable; each further box continues the
    /// numbering of channels)
    #[arg(long = "box", value_name = "ADDRESS")]
    boxes: Vec<String>,
    /// Channels per box. Default: all in one box, or with two boxes one per switch. Radio i on bus k of B buses is channel
    /// i B + k + 1, counted over all boxes; the second switch follows the first, its joined buses before its radios
    #[arg(long, value_name = "N", requires = "boxes", value_parser = whole(1..=4096_u16), allow_negative_numbers = true)]
    channels: Option<u16>,
    #[command(flatten)]
    of_box: BoxArgs,
    /// Distance beyond which links must not appear, in metres. Default: the carrier-sense range of the radio
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    range: Option<f64>,
    /// Solver effort per second, counted in tries, so settings are the same on any machine
    #[arg(long, value_enum, default_value = "normal")]
    quality: QualityName,
    /// Write DIR/matrix.jsonl, one line per second
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object per second
    #[arg(long)]
    json: bool,
}

/// From layout to layout.
const SECOND: Duration = Duration::from_secs(1);
/// How often the loop checks for an interruption.
const LOOK: Duration = Duration::from_millis(20);

/// What is printed and logged each second.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DriveRecord {
    /// Version of the program that wrote this object.
    wayhop: &'static str,
    /// Seconds since the start.
    time_s: u64,
    /// Mean absolute error of the wanted links, dB; null without such a link.
    mean_error_db: Option<f64>,
    /// Largest absolute error of the wanted links, dB.
    max_error_db: Option<f64>,
    /// Links that exist beyond the range.
    false_links: usize,
    /// Time taken by the solver, milliseconds.
    solve_ms: f64,
    /// Time until the boxes had answered, milliseconds.
    set_ms: f64,
    /// Number of attenuators that were set.
    set: usize,
    /// Number of attenuators that could not be set: they have an older or unknown setting.
    unset: usize,
    /// Seconds skipped since the last line because the boxes or the solver were too slow.
    missed: u64,
    /// Position of each radio, metres east, north and up.
    places_m: Vec<[f64; 3]>,
    /// What is connected to each input: the number of a radio or, with two switches, a bus of the first.
    inputs: Vec<String>,
    /// Attenuation of each input at each bus, dB.
    settings_db: Vec<Vec<f64>>,
    /// Wanted path loss of each link (0, 1), (0, 2), ..., to 0.01 dB.
    wanted_db: Vec<f64>,
    /// Path loss of each link with these settings, to 0.01 dB.
    made_db: Vec<f64>,
    /// Path loss from which links must not exist, dB; null if all links must exist.
    beyond_db: Option<f64>,
}

/// Rounded to 0.01 dB, finer than any attenuator.
fn hundredths(all_db: &[f64]) -> Vec<f64> {
    all_db.iter().map(|db| (db * 100.0).round() / 100.0).collect()
}

pub(super) fn drive(a: &DriveArgs) -> Result<(), Failure> {
    let resolved = match (&a.source.scenario, &a.source.movement) {
        (None, None) => None,
        _ => Some(a.source.load()?.resolve()?),
    };
    let radio = match &resolved {
        Some(resolved) => layout::radio(resolved)?.clone(),
        None => layout::meshtest()?,
    };
    let stop = stop_on_signal()?;
    let mut places = match (&a.run, &a.feed, resolved) {
        (Some(name), ..) => {
            let (client, about) = run_of(name)?;
            PositionSource::Run(client, about.nodes.len())
        }
        (None, Some(path), _) => PositionSource::Feed(feed(path, a.radios.unwrap_or(2))?),
        (None, None, Some(resolved)) => PositionSource::Scenario(Box::new(resolved)),
        (None, None, None) => {
            return Err(usage!("no positions: give a scenario, --run NAME or --feed FILE"));
        }
    };
    let switch = a.of_box.switch(places.radios())?;
    let all = switch.attenuators();
    let switches = switch.junction().map_or(vec![all], |j| {
        let first = j.first_attenuators();
        vec![first, all - first]
    });
    let rack = Rack::connect(&a.boxes, a.channels, &switches).map_err(|e| match e {
        DeviceError::TooFewChannels { .. } => Failure::usage(e),
        e => Failure::run(e),
    })?;
    let log = a.out.as_deref().map(Log::create).transpose()?;
    let Some(first) = places.first(&stop)? else { return Ok(()) };
    let wanted = layout::wanted(&radio, &first, a.range);
    let settings = solve(&switch, &wanted, Effort::THOROUGH, 1);
    let effort = Quality::from(a.quality).motion(&switch);
    Drive { a, radio, switch, rack, log, settings, effort }.run(first, &mut places, &stop)
}

struct Drive<'a> {
    a: &'a DriveArgs,
    radio: RadioConfig,
    switch: Switch,
    rack: Rack,
    log: Option<Log>,
    settings: Settings,
    /// For each second.
    effort: Effort,
}

impl Drive<'_> {
    /// Runs from the first layout to the last, or until interrupted.
    fn run(
        &mut self,
        first: Vec<Position>,
        places: &mut PositionSource,
        stop: &Arc<AtomicBool>,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let (mut second, mut missed) = (0_u64, 0);
        let mut next = Some(first);
        while let Some(at) = next {
            self.step(second, missed, &at)?;
            // A late layout is skipped.
            let now = begun.elapsed().as_secs() + 1;
            missed = now - second - 1;
            second = now;
            if missed > 0 {
                say!("wayhop: {missed} s without new settings: the boxes or the solver are too slow");
            }
            while begun.elapsed() < SECOND * second as u32 {
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                thread::sleep(LOOK);
            }
            next = places.at(second)?;
        }
        Ok(())
    }

    fn step(&mut self, second: u64, missed: u64, at: &[Position]) -> Result<(), Failure> {
        let wanted = layout::wanted(&self.radio, at, self.a.range);
        let begun = Instant::now();
        self.settings = follow(&self.switch, &wanted, &self.settings, self.effort, second);
        let solve_ms = begun.elapsed().as_secs_f64() * 1e3;
        let report = SettingsReport::of(&self.switch, &wanted, &self.settings);
        let settings_db = self.switch.settings_db(&self.settings);
        let made_db = self.switch.path_losses_db(&self.settings);
        let begun = Instant::now();
        let update = self.rack.set(&settings_db.concat());
        for notice in &update.notices {
            say!("wayhop: {notice}");
        }
        let line = DriveRecord {
            wayhop: wayhop_core::version::full(),
            time_s: second,
            mean_error_db: report.mean_error_db,
            max_error_db: report.max_error_db,
            false_links: report.false_links,
            solve_ms,
            set_ms: begun.elapsed().as_secs_f64() * 1e3,
            set: update.set,
            unset: update.unset,
            missed,
            places_m: at.iter().map(|p| [p.x, p.y, p.z]).collect(),
            inputs: self.switch.input_names(),
            settings_db,
            wanted_db: hundredths(&wanted.loss_db),
            made_db: hundredths(&made_db),
            beyond_db: wanted.beyond_db.is_finite().then_some(wanted.beyond_db),
        };
        let json = json_line(&line)?;
        if let Some(log) = &mut self.log {
            log.line(&json)?;
        }
        put(if self.a.json { json } else { words(&line) })
    }
}

fn words(l: &DriveRecord) -> String {
    let db = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}"));
    let unset = if l.unset > 0 { format!(", {} failed", l.unset) } else { String::new() };
    format!(
        "{:>5} s  error mean {} dB, max {} dB  {} false links  solved in {:.1} ms  {} attenuators set in {:.0} ms{unset}\n",
        l.time_s,
        db(l.mean_error_db),
        db(l.max_error_db),
        l.false_links,
        l.solve_ms,
        l.set,
        l.set_ms
    )
}

/// DIR/matrix.jsonl: a line per second.
struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Creates the log in a folder, which may be a run directory; an older one is renamed to matrix.jsonl.old.
    fn create(dir: &Path) -> Result<Self, Failure> {
        let path = dir.join("matrix.jsonl");
        fs::create_dir_all(dir).map_err(Failure::write(&path))?;
        if path.exists() {
            fs::rename(&path, dir.join("matrix.jsonl.old")).map_err(Failure::write(&path))?;
        }
        let file = File::create(&path).map_err(Failure::write(&path))?;
        Ok(Self { path, file })
    }

    fn line(&mut self, json: &str) -> Result<(), Failure> {
        self.file.write_all(json.as_bytes()).map_err(Failure::write(&self.path))
    }
}
