//! A scenario as the simulator takes it, for the page to draw: nodes on their legs, flows, and what is wrong.

use std::path::Path;

use serde_json::{Value as Json, json};
use wayhop_core::Time;
use wayhop_document::Error;
use wayhop_scenario::{FlowConfig, Map, Resolved, Scenario, Shape};
use wayhop_topology::Oracle;
use wayhop_transport::EVERYONE;

use super::geometry::{GeometryQuery, geometry};

const MAX_LEGS: usize = 200_000;
/// The most corners of the site that are drawn.
const MAX_CORNERS: usize = 50_000;
/// The most times of nodes that are down, or attack, that are told.
const MAX_SPANS: usize = 20_000;
const MAX_FLOWS: usize = 2_000;

/// What the page shows of a text, whatever is wrong with it.
pub(crate) fn view(file: &Path, text: &str, oracle: &mut Oracle, asked: GeometryQuery<'_>) -> Json {
    let tree: Option<Json> = toml::from_str(text).ok();
    let load = |sets: &[String]| {
        let scenario = Scenario::of_file(file, text.to_owned(), sets)?;
        Ok((scenario.resolve()?, Map::load(&scenario)?))
    };
    let whole = load(&[]);
    let problem = whole.as_ref().err().map(problem);
    // What moves can be drawn, even if something else is wrong.
    let drawn = whole.ok().map(|d| (d, true)).or_else(|| {
        let rest = ["traffic=[]", "captures.nodes=[]"].map(str::to_owned);
        Some((load(&rest).ok()?, false))
    });
    json!({
        "tree": tree,
        "problem": problem,
        "drawn": drawn.map(|((r, map), is_whole)| drawing(&r, map.as_ref(), is_whole, &geometry(oracle, &r, asked))),
    })
}

fn problem(e: &Error) -> Json {
    json!({
        "message": e.to_string(),
        "line": e.place.map(|p| p.line),
        "key": e.key,
    })
}

fn drawing(r: &Resolved, map: Option<&Map>, is_whole: bool, geometry: &Json) -> Json {
    let flows = r.flows.iter().take(MAX_FLOWS).map(|f| flow(r, f));
    let range_m = (r.interfaces.radios.len() == 1).then(|| r.radio().nominal_range_m());
    json!({
        "name": r.name,
        "duration_s": r.duration.as_secs_f64(),
        "names": r.names,
        "addresses": r.addresses,
        "range_m": range_m,
        "protocol": r.protocol.name(),
        "profile": r.protocol.profile(),
        "preset": r.interfaces.radios.first().map(|p| &p.preset),
        "legs": legs(r),
        "site": map.map_or_else(Vec::new, site),
        "on_map": map.map_or_else(Vec::new, |map| on_map(r, map)),
        "flows": flows.collect::<Vec<_>>(),
        "is_whole": is_whole,
        "warnings": r.warnings,
        "outages": outages(r),
        "attackers": attackers(r),
        "geometry": geometry,
    })
}

/// Columns, sorted by node and time. `until` is null for a leg without end.
fn legs(r: &Resolved) -> Json {
    let all = || {
        let of_node =
            |(n, t): (usize, &wayhop_world::Track)| t.legs().to_vec().into_iter().map(move |l| (n, l));
        r.tracks.iter().enumerate().flat_map(of_node).filter(|(_, l)| l.from <= r.duration).take(MAX_LEGS)
    };
    let numbers = |f: &dyn Fn(&wayhop_core::Leg) -> f64| all().map(|(_, l)| f(&l)).collect::<Vec<f64>>();
    let until = all().map(|(_, l)| (l.until < Time::NEVER).then(|| l.until.as_nanos()));
    json!({
        "node": all().map(|(n, _)| n).collect::<Vec<_>>(),
        "from": all().map(|(_, l)| l.from.as_nanos()).collect::<Vec<_>>(),
        "until": until.collect::<Vec<_>>(),
        "x": numbers(&|l| l.start.x),
        "y": numbers(&|l| l.start.y),
        "z": numbers(&|l| l.start.z),
        "vx": numbers(&|l| l.velocity[0]),
        "vy": numbers(&|l| l.velocity[1]),
        "vz": numbers(&|l| l.velocity[2]),
    })
}

fn site(map: &Map) -> Vec<Json> {
    let mut left = MAX_CORNERS;
    let mut out = Vec::new();
    for feature in map.features() {
        let (shape, corners) = match &feature.shape {
            Shape::Point(p) => ("point", std::slice::from_ref(p)),
            Shape::Line(line) => ("line", &line[..]),
            Shape::Area(ring) => ("area", &ring[..]),
        };
        if corners.len() > left {
            break;
        }
        left -= corners.len();
        let corners: Vec<[f64; 2]> = corners.iter().map(|p| [p.x, p.y]).collect();
        out.push(json!({"name": feature.name, "shape": shape, "corners": corners}));
    }
    out
}

/// The nodes that stand where the scenario's map has a point of their name.
fn on_map(r: &Resolved, map: &Map) -> Vec<usize> {
    let stands_at = |node: usize, at| {
        let legs = r.tracks[node].legs();
        legs.len() == 1 && legs[0].start == at
    };
    let node = |(name, at)| {
        let node = r.names.iter().position(|n| n == name)?;
        stands_at(node, at).then_some(node)
    };
    map.points("node").filter_map(node).collect()
}

/// Who is down when: as given, or as drawn from the seed. `until_s` is null for one that does not come back.
fn outages(r: &Resolved) -> Vec<Json> {
    let one = |o: &wayhop_scenario::Outage| json!({"node": o.node.0, "from_s": o.from.as_secs_f64(), "until_s": end(o.until)});
    r.outages.iter().take(MAX_SPANS).map(one).collect()
}

fn attackers(r: &Resolved) -> Vec<Json> {
    let one = |a: &wayhop_scenario::Attack| json!({"node": a.node.0, "kind": a.kind, "from_s": a.from.as_secs_f64(), "until_s": end(a.until)});
    r.attacks.iter().take(MAX_SPANS).map(one).collect()
}

fn end(t: Time) -> Option<f64> {
    (t < Time::NEVER).then(|| t.as_secs_f64())
}

fn flow(r: &Resolved, f: &FlowConfig) -> Json {
    json!({
        "src": f.src.0,
        "dst": (f.dst != EVERYONE).then_some(f.dst.0),
        "start_s": f.start.as_secs_f64(),
        "stop_s": f.stop.unwrap_or(r.duration).as_secs_f64(),
    })
}
