//! `wayhop matrix solve`.

use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;
use wayhop_core::{Span, Time};
use wayhop_matrix::{
    MovingRadios, Quality, Settings, SettingsReport, Switch, TargetLosses, anneal, coherent_error_db, follow,
    solve as settle,
};
use wayhop_report::{columns, mean};
use wayhop_runs::jobs;

use super::args::{BoxArgs, QualityName};
use super::layout;
use crate::failure::{Failure, json_line, put, usage};
use crate::scenario_args::{SourceArgs, metres, value_name, whole};

pub(crate) const EXAMPLES: &str = "\
Examples:
  wayhop matrix solve scenarios/chain.toml --buses 2
  wayhop matrix solve scenarios/first.toml --at 120 --json
  wayhop matrix solve --random-layouts 100 --area 1000 --radios 12 --buses 4 --anneal
  wayhop matrix solve --random-layouts 10 --area 1000 --radios 12 --buses 4 --follow 60 --speed 30
  wayhop matrix solve scenarios/first.toml --quality fast
  wayhop matrix solve --random-layouts 5 --radios 20 --switches 16x4,8x2";

#[derive(Debug, clap::Args)]
pub(crate) struct SolveArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Time in the scenario to solve for, in seconds
    #[arg(long, value_name = "S", default_value_t = 0.0, allow_negative_numbers = true)]
    at: f64,
    /// Solve N random layouts instead of a scenario, in free space at 2437 MHz, and print means
    #[arg(long, value_name = "N", conflicts_with_all = ["scenario", "movement", "at"], requires = "radios", value_parser = whole(1..=100_000_u32), allow_negative_numbers = true)]
    random_layouts: Option<u32>,
    /// With --random-layouts: side of the square area, in metres
    #[arg(long, value_name = "M", default_value_t = 1000.0, requires = "random_layouts", value_parser = metres, allow_negative_numbers = true)]
    area: f64,
    /// With --random-layouts: number of radios
    #[arg(long, value_name = "N", requires = "random_layouts", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    radios: Option<usize>,
    #[command(flatten)]
    of_box: BoxArgs,
    /// Distance beyond which links must not appear, in metres. Default: the carrier-sense range of the scenario's radio; none
    /// for random layouts
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    range: Option<f64>,
    /// With --random-layouts: move the nodes for S seconds, and solve each second starting from the previous settings
    #[arg(long, value_name = "S", requires = "random_layouts", value_parser = whole(1..=100_000_u32), allow_negative_numbers = true)]
    follow: Option<u32>,
    /// With --follow: speed of the nodes, in m/s
    #[arg(long, value_name = "M/S", default_value_t = 30.0, requires = "follow", value_parser = metres, allow_negative_numbers = true)]
    speed: f64,
    /// Solver effort, counted in tries, so settings are the same on any machine. Default: best; normal with --follow
    #[arg(long, value_enum)]
    quality: Option<QualityName>,
    /// Also solve by simulated annealing, as the paper's authors did
    #[arg(long)]
    anneal: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Draws of the phases of paths that add coherently.
const PHASES: u32 = 100;
/// Settings that the annealer tries, which takes about as long as the solver.
const ANNEALED: u32 = 3_000_000;

/// Output of `--json`. For several layouts, figures are means over them, except for the largest error.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Solved")]
pub(crate) struct SolveReport {
    /// Version of the program that wrote this object.
    wayhop: &'static str,
    /// Number of radios.
    radios: usize,
    /// Number of buses; with two switches, those of the first.
    buses: usize,
    /// With `--switches`: what is connected to each input, the number of a radio or a bus of the first switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Vec<String>>,
    /// With `--quality`: the solver effort, `fast`, `normal` or `best`.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<String>,
    /// Number of layouts solved.
    layouts: u32,
    /// Mean absolute error of the wanted links, dB; null without such a link.
    mean_error_db: Option<f64>,
    /// Largest absolute error over all layouts, dB.
    max_error_db: Option<f64>,
    /// Links that exist beyond the range, over all layouts.
    false_links: usize,
    /// Mean error if the paths over the buses add coherently, with random phases, dB.
    coherent_error_db: Option<f64>,
    /// Time taken by the solver for one layout, milliseconds of wall-clock time.
    solve_ms: f64,
    /// For a single layout: attenuation of each input at each bus, dB.
    settings_db: Option<Vec<Vec<f64>>>,
    /// For a single layout: error of each link (0, 1), (0, 2), ..., dB; for a link beyond the range, the missing path loss as a negative number.
    errors_db: Option<Vec<f64>>,
    /// Results of `--follow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    follow: Option<MovingLayouts>,
    /// Results of `--anneal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    anneal: Option<AnnealingReport>,
}

/// Moving layouts; each second is solved starting from the previous settings.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Followed")]
struct MovingLayouts {
    /// Seconds of movement per layout.
    seconds: u32,
    /// Speed of the nodes, m/s.
    speed_mps: f64,
    /// Mean absolute error of the wanted links over all seconds and layouts, dB.
    mean_error_db: Option<f64>,
    /// Links that exist beyond the range, over all seconds and layouts.
    false_links: usize,
    /// Time taken by the solver for one second of movement, milliseconds.
    solve_ms: f64,
    /// Time taken by the solver for the slowest second, milliseconds.
    max_solve_ms: f64,
    /// Mean error with the settings of the previous second, dB.
    stale_error_db: Option<f64>,
}

/// The same layouts solved by simulated annealing.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Annealed")]
struct AnnealingReport {
    /// Mean absolute error of the wanted links, dB.
    mean_error_db: Option<f64>,
    /// Time taken for one layout, milliseconds.
    solve_ms: f64,
}

struct Layout {
    report: SettingsReport,
    coherent_db: Option<f64>,
    ms: f64,
    settings: Settings,
    /// For each second: the report, the report with the previous settings, milliseconds.
    followed: Vec<(SettingsReport, SettingsReport, f64)>,
    annealed: Option<(SettingsReport, f64)>,
}

pub(super) fn solve(a: &SolveArgs) -> Result<(), Failure> {
    let (switch, layouts) = match a.random_layouts {
        Some(n) => random(a, n)?,
        None => of_scenario(a)?,
    };
    let solved = sum_up(a, &switch, &layouts);
    put(if a.json { json_line(&solved)? } else { words(&solved) })
}

fn of_scenario(a: &SolveArgs) -> Result<(Switch, Vec<Layout>), Failure> {
    let resolved = a.source.load()?.resolve()?;
    let radio = layout::radio(&resolved)?;
    if !(0.0..=1e9).contains(&a.at) {
        return Err(usage!("--at {}: give a time from 0 to 1e9 s", a.at));
    }
    let places = layout::places(&resolved, Time::ZERO + Span::from_secs_f64(a.at));
    let switch = a.of_box.switch(places.len())?;
    let wanted = layout::wanted(radio, &places, a.range);
    let one = one(a, &switch, &wanted, resolved.seed);
    Ok((switch, vec![one]))
}

fn random(a: &SolveArgs, n: u32) -> Result<(Switch, Vec<Layout>), Failure> {
    let switch = a.of_box.switch(a.radios.unwrap_or(2))?;
    let radio = layout::meshtest()?;
    let first = a.source.changes.seed.unwrap_or(1);
    let seeds: Vec<u64> = (0..u64::from(n)).map(|i| first.wrapping_add(i)).collect();
    let threads = available_parallelism().map_or(1, usize::from);
    let work = |&seed: &u64| {
        let mut moving = MovingRadios::random(switch.radios(), a.area, a.speed, seed);
        let mut layout = one(a, &switch, &layout::wanted(&radio, moving.positions(), a.range), seed);
        let mut now = layout.settings.clone();
        let effort = a.quality.map_or(Quality::Normal, Quality::from).motion(&switch);
        for second in 0..a.follow.unwrap_or(0) {
            moving.step();
            let wanted = layout::wanted(&radio, moving.positions(), a.range);
            let stale = SettingsReport::of(&switch, &wanted, &now);
            let begun = Instant::now();
            now = follow(&switch, &wanted, &now, effort, seed.wrapping_add(u64::from(second)));
            layout.followed.push((SettingsReport::of(&switch, &wanted, &now), stale, ms_since(begun)));
        }
        layout
    };
    let done = jobs::run(&seeds, threads, &AtomicBool::new(false), |_| (), work);
    Ok((switch.clone(), done.into_iter().flatten().collect()))
}

fn one(a: &SolveArgs, switch: &Switch, wanted: &TargetLosses, seed: u64) -> Layout {
    let begun = Instant::now();
    let settings = settle(switch, wanted, a.quality.map_or(Quality::Best, Quality::from).layout(), seed);
    let ms = ms_since(begun);
    let annealed = a.anneal.then(|| {
        let begun = Instant::now();
        let settings = anneal(switch, wanted, ANNEALED, seed);
        (SettingsReport::of(switch, wanted, &settings), ms_since(begun))
    });
    Layout {
        report: SettingsReport::of(switch, wanted, &settings),
        coherent_db: coherent_error_db(switch, wanted, &settings, PHASES, seed),
        ms,
        settings,
        followed: Vec::new(),
        annealed,
    }
}

fn ms_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}

fn sum_up(a: &SolveArgs, switch: &Switch, layouts: &[Layout]) -> SolveReport {
    let errors =
        |of: &dyn Fn(&Layout) -> Option<f64>| mean(&layouts.iter().filter_map(of).collect::<Vec<_>>());
    let followed: Vec<_> = layouts.iter().flat_map(|l| &l.followed).collect();
    let annealed: Vec<_> = layouts.iter().filter_map(|l| l.annealed.as_ref()).collect();
    let single = if let [one] = layouts { Some(one) } else { None };
    SolveReport {
        wayhop: wayhop_core::version::full(),
        radios: switch.radios(),
        buses: switch.buses(),
        inputs: switch.junction().map(|_| switch.input_names()),
        quality: a.quality.as_ref().map(value_name),
        layouts: layouts.len() as u32,
        mean_error_db: errors(&|l| l.report.mean_error_db),
        max_error_db: layouts.iter().filter_map(|l| l.report.max_error_db).max_by(f64::total_cmp),
        false_links: layouts.iter().map(|l| l.report.false_links).sum(),
        coherent_error_db: errors(&|l| l.coherent_db),
        solve_ms: errors(&|l| Some(l.ms)).unwrap_or(0.0),
        settings_db: single.map(|l| switch.settings_db(&l.settings)),
        errors_db: single.map(|l| l.report.errors_db.clone()),
        follow: a.follow.map(|seconds| MovingLayouts {
            seconds,
            speed_mps: a.speed,
            mean_error_db: mean(&followed.iter().filter_map(|f| f.0.mean_error_db).collect::<Vec<_>>()),
            false_links: followed.iter().map(|f| f.0.false_links).sum(),
            solve_ms: mean(&followed.iter().map(|f| f.2).collect::<Vec<_>>()).unwrap_or(0.0),
            max_solve_ms: followed.iter().map(|f| f.2).fold(0.0, f64::max),
            stale_error_db: mean(&followed.iter().filter_map(|f| f.1.mean_error_db).collect::<Vec<_>>()),
        }),
        anneal: a.anneal.then(|| AnnealingReport {
            mean_error_db: mean(&annealed.iter().filter_map(|r| r.0.mean_error_db).collect::<Vec<_>>()),
            solve_ms: mean(&annealed.iter().map(|r| r.1).collect::<Vec<_>>()).unwrap_or(0.0),
        }),
    }
}

fn words(s: &SolveReport) -> String {
    let db = |v: Option<f64>| v.map_or_else(|| "- dB".to_owned(), |v| format!("{v:.2} dB"));
    let of = if s.layouts == 1 { String::new() } else { format!(", mean of {} layouts", s.layouts) };
    let mut lines = vec![
        ("link error".to_owned(), format!("mean {}, max {}", db(s.mean_error_db), db(s.max_error_db))),
        ("false links".to_owned(), s.false_links.to_string()),
        ("coherent paths".to_owned(), format!("mean {} with random phases", db(s.coherent_error_db))),
        ("solved in".to_owned(), format!("{:.0} ms", s.solve_ms)),
    ];
    if let Some(f) = &s.follow {
        let stale = db(f.stale_error_db);
        let figures = format!(
            "{}, in {:.1} ms (max {:.1} ms); {stale} with the previous settings",
            db(f.mean_error_db),
            f.solve_ms,
            f.max_solve_ms
        );
        lines.push((format!("followed at {} m/s", f.speed_mps), figures));
    }
    if let Some(a) = &s.anneal {
        lines.push(("by annealing".to_owned(), format!("{}, in {:.0} ms", db(a.mean_error_db), a.solve_ms)));
    }
    let lines: Vec<String> = lines.iter().map(|(name, value)| format!("{name:<20}{value}\n")).collect();
    let wiring = match &s.inputs {
        Some(inputs) => {
            let joined = inputs.iter().filter(|i| i.starts_with("bus")).count();
            format!("two switches, {joined} of {} buses joined", s.buses)
        }
        None => format!("{} buses", s.buses),
    };
    format!("{} radios, {wiring}{of}\n{}{}", s.radios, lines.concat(), table(s))
}

fn table(s: &SolveReport) -> String {
    let Some(settings) = &s.settings_db else { return String::new() };
    let head = ["radio".to_owned()].into_iter().chain((0..s.buses).map(|k| format!("bus {k}, dB")));
    let mut rows = vec![head.collect::<Vec<_>>()];
    rows.extend(settings.iter().enumerate().map(|(i, row)| {
        let name = s.inputs.as_ref().map_or_else(|| i.to_string(), |names| names[i].clone());
        let rest = std::iter::repeat_n(String::new(), s.buses.saturating_sub(row.len()));
        [name].into_iter().chain(row.iter().map(f64::to_string)).chain(rest).collect::<Vec<_>>()
    }));
    columns(&rows, 1)
}
