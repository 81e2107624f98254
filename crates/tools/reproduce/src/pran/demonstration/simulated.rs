//! Figure 7 in simulation: the same laps with constant flows, with and without learning by overhearing.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_report::{Row, Section};
use wayhop_scenario::{Map, Scenario, Shape};
use wayhop_trace::Lateness;

use super::lap::{LapRun, LapWatch};
use super::programs::ProgramOutputs;
use super::sections::{order, row, whole, worst};
use super::traffic::{OverheadKind, Share};
use crate::pran::Options;
use crate::simulate::each;
use crate::{Plan, Runs};

pub(super) const FILES: [(&str, &str); 2] = [
    ("demonstration.toml", include_str!("../../../../../../scenarios/pran/demonstration.toml")),
    ("floor.geojson", include_str!("../../../../../../scenarios/pran/floor.geojson")),
];

/// What makes a lap so long.
pub(super) fn lap_sets(folder: &Path, duration_s: f64) -> Result<Vec<String>, String> {
    let file = folder.join(FILES[0].0);
    let origin = Scenario::load(&file, &[]).map_err(|e| e.to_string())?.origin.unwrap_or_default();
    let map = Map::parse(FILES[1].1, origin).map_err(|e| e.to_string())?;
    let length_m = lap_length_m(&map).ok_or("the map of the demonstration has no lap")?;
    let speed = length_m / duration_s;
    Ok(vec![
        format!("duration_s={duration_s:?}"),
        format!("movement.speed_min_mps={speed:?}"),
        format!("movement.speed_max_mps={speed:?}"),
    ])
}

fn lap_length_m(map: &Map) -> Option<f64> {
    let points = map.features().iter().find_map(|f| match &f.shape {
        Shape::Line(points) => Some(points),
        _ => None,
    })?;
    Some(points.windows(2).map(|w| w[0].distance(w[1])).sum())
}

const ARTEFACT: &str = "Figure 7, simulated";

/// The programs' traffic: the video's 150 kb/s in two packets a frame, ten commands a second, and their acknowledgements.
const TRAFFIC: &str = "traffic=[{ kind = \"cbr\", src = \"M1\", dst = \"S1\", payload_bytes = 640, rate_pps = 30, start_s = 2 }, \
     { kind = \"cbr\", src = \"S1\", dst = \"M1\", payload_bytes = 10, rate_pps = 10, start_s = 2 }, \
     { kind = \"cbr\", src = \"M1\", dst = \"S1\", payload_bytes = 10, rate_pps = 10, start_s = 2 }]";

/// A name, and what is set.
type Variant = (&'static str, &'static [&'static str]);

const VARIANTS: [Variant; 3] = [
    ("as it is", &[]),
    ("no gratuitous replies", &["protocol.gratuitous_replies=false"]),
    ("nor answers from caches", &["protocol.gratuitous_replies=false", "protocol.reply_from_cache=false"]),
];

fn plan((name, sets): Variant, options: &Options, folder: &Path) -> Result<Plan, String> {
    let mut all = lap_sets(folder, options.duration_s)?;
    all.extend(["programs=[]".to_owned(), TRAFFIC.to_owned()]);
    all.extend(sets.iter().map(|s| (*s).to_owned()));
    Ok(Plan::new(format!("simulated-{}", name.replace(' ', "-")), FILES[0].0, all))
}

/// The plan behind a row of this section; `None` of others.
pub(super) fn plan_of(row: &Row, options: &Options, dir: &Path) -> Option<Plan> {
    let name = row.row.split(':').next()?;
    let variant = VARIANTS.iter().find(|v| row.artefact == ARTEFACT && name == v.0)?;
    plan(*variant, options, &dir.join("scenarios")).ok()
}

/// The section; `None` if the laps were stopped.
pub(super) fn section(options: &Options, dir: &Path, stop: &AtomicBool) -> Result<Option<Section>, String> {
    let runs = Runs::new(dir, &FILES, false, stop)?;
    let plans =
        VARIANTS.iter().map(|v| plan(*v, options, &dir.join("scenarios"))).collect::<Result<Vec<_>, _>>()?;
    let seeds = || options.runs.each_seed();
    let jobs: Vec<(usize, u64)> = (0..plans.len()).flat_map(|v| seeds().map(move |seed| (v, seed))).collect();
    let lap = |(v, seed): &(usize, u64)| runs.run(&runs.ready(&plans[*v], *seed)?, LapWatch::default());
    let mut laps: Vec<Vec<LapRun>> = VARIANTS.map(|_| Vec::new()).into();
    let add = |(v, _): &(usize, u64), LapWatch { traffic, lap }| {
        let (seen, lateness) = (ProgramOutputs::default(), Lateness::default());
        laps[*v].push(LapRun { traffic, lap, seen, lateness, duration_s: options.duration_s });
    };
    if each(&jobs, (options.runs.threads, stop), |_| (), lap, add)? > 0 {
        return Ok(None);
    }
    Ok(Some(Section::new(
        "Figure 7 in simulation",
        "Laps of the same length and with the same seeds, but simulated, with constant flows instead of the programs. \
         The second variant has no gratuitous Replies, which need a card that delivers packets for others; in the \
         third, nodes also do not answer Requests from their caches, as ns-2's DSR does. The paper's order is \
         Requests, Replies, Errors.",
    )
    .rows(VARIANTS.iter().zip(&laps).flat_map(|((name, _), laps)| rows(name, laps)).collect())))
}

fn rows(name: &str, laps: &[LapRun]) -> Vec<Row> {
    let count = |quantity: &str, kind| {
        row(ARTEFACT, name, quantity, None, laps, |r| Some(r.traffic.overhead(kind).packets as f64))
    };
    let lost = |s: &Share| s.delivered_pct().map(|v| 100.0 - v);
    let claims = ["Requests than Replies", "Replies than Errors"].map(|c| format!("{name}: more {c}"));
    let [more_requests, more_replies] = order(ARTEFACT, [&claims[0], &claims[1]], None, laps);
    vec![
        count("requests", OverheadKind::Request),
        count("replies", OverheadKind::Reply),
        count("errors", OverheadKind::Error),
        row(ARTEFACT, name, "errors_on_requests", None, laps, |r| Some(r.traffic.errors_on_requests as f64)),
        more_requests,
        more_replies,
        row(ARTEFACT, name, "delivered_pct", None, laps, |r| whole(r).delivered_pct()),
        row(ARTEFACT, name, "delivered_in_the_worst_10_s_pct", None, laps, |r| {
            worst(r, lost).map_or_else(|| whole(r).delivered_pct(), |(_, s)| s.delivered_pct())
        }),
    ]
}
