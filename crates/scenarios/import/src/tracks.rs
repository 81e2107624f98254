//! The positions of nodes over time, from any file, and the scenario that follows.

use std::collections::BTreeMap;

use toml::{Table, Value};
use wayhop_core::Position;
use wayhop_document::Result;
use wayhop_world::Geodetic;

use crate::ImportedScenario;
use crate::notes::Notes;
use crate::places::clean;
use crate::track::{SAME_PLACE_M, Track};

/// Speeds that a scenario accepts, m/s. A node that moves more slowly waits until it has come far enough.
const SLOWEST_MPS: f64 = 0.001;

/// What to do if a file has no places.
const GIVE_PLACES: &str = "use a file with times and positions of at least one node";

/// The scenario with this movement. Time begins at `begin_s`, by default with the earliest point of all.
pub(crate) fn scenario(
    mut tracks: Vec<Track>,
    origin: Option<Geodetic>,
    begin_s: Option<f64>,
    mut notes: Notes,
) -> Result<ImportedScenario> {
    clean(&mut tracks, &mut notes)?;
    tracks.retain(|t| !t.points.is_empty());
    if tracks.is_empty() {
        return Err(notes.nothing(GIVE_PLACES));
    }
    let times = || tracks.iter().flat_map(|t| &t.points).map(|p| p.at_s);
    let begin_s = begin_s.unwrap_or_else(|| times().fold(f64::INFINITY, f64::min));
    let end_s = times().fold(f64::NEG_INFINITY, f64::max);
    let duration_s = end_s - begin_s;
    let mut table = Table::new();
    if duration_s > 0.0 {
        table.insert("duration_s".into(), Value::Float(duration_s));
    }
    if let Some(o) = origin {
        table.insert("origin".into(), table_of([("lat", o.lat), ("lon", o.lon), ("alt", o.alt)]).into());
    }
    let (kind, key, all) = if tracks.iter().all(|t| t.points.len() == 1) {
        ("static", "positions", tracks.iter().map(|t| place(t.points[0].place)).collect())
    } else {
        ("waypoints", "tracks", tracks.iter().map(|t| waypoints(t, begin_s).into()).collect())
    };
    let movement = crate::table([("kind", kind.into()), (key, Value::Array(all))]);
    table.insert("movement".into(), movement.into());
    let outages = outages(&tracks, begin_s, end_s);
    if !outages.is_empty() {
        table.insert("outages".into(), Value::Array(outages));
    }
    table.insert("nodes".into(), crate::table([("node", Value::Array(names(&tracks)))]).into());
    Ok(ImportedScenario { table, files: Vec::new(), skipped: notes.skipped, remarks: notes.remarks })
}

/// A track as the scenario's waypoints: straight lines between points, at the speed that takes the time between.
fn waypoints(t: &Track, begin_s: f64) -> Table {
    let mut all: Vec<Table> = Vec::new();
    let first = t.points[0];
    let mut out = crate::table([("start", place(first.place))]);
    let mut pause_s = first.at_s - begin_s;
    let mut here = first;
    for p in &t.points[1..] {
        let (way_m, time_s) = (here.place.distance(p.place), p.at_s - here.at_s);
        if way_m <= SAME_PLACE_M || way_m < SLOWEST_MPS * time_s || time_s <= 0.0 {
            pause_s += time_s;
            here.at_s = p.at_s;
            continue;
        }
        if pause_s > 0.0 {
            all.last_mut().unwrap_or(&mut out).insert("pause_s".into(), Value::Float(pause_s));
        }
        pause_s = 0.0;
        all.push(crate::table([("at", place(p.place)), ("speed_mps", (way_m / time_s).into())]));
        here = *p;
    }
    if !all.is_empty() {
        out.insert("waypoints".into(), Value::Array(all.into_iter().map(Value::from).collect()));
    }
    out
}

fn place(p: Position) -> Value {
    let mut axes = vec![("x", p.x), ("y", p.y)];
    if p.z != 0.0 {
        axes.push(("z", p.z));
    }
    table_of(axes).into()
}

fn table_of<'a>(values: impl IntoIterator<Item = (&'a str, f64)>) -> Table {
    values.into_iter().map(|(key, v)| (key.to_owned(), Value::Float(v + 0.0))).collect()
}

/// Nodes that appear and disappear are down before and after.
fn outages(tracks: &[Track], begin_s: f64, end_s: f64) -> Vec<Value> {
    let mut all = Vec::new();
    for (node, t) in tracks.iter().enumerate().filter(|(_, t)| t.comes_and_goes) {
        let (first, last) = (t.points[0].at_s, t.points[t.points.len() - 1].at_s);
        let mut down = |start_s: f64, length_s: Option<f64>| {
            let mut one = crate::table([("node", (node as i64).into()), ("start_s", start_s.into())]);
            one.extend(length_s.map(|s| ("length_s".to_owned(), Value::Float(s))));
            all.push(Value::from(one));
        };
        if first > begin_s {
            down(0.0, Some(first - begin_s));
        }
        if last < end_s {
            down(last - begin_s, None);
        }
    }
    all
}

/// The nodes' names, each different; of several with the same name the later ones have a number behind it.
fn names(tracks: &[Track]) -> Vec<Value> {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for (id, t) in tracks.iter().enumerate() {
        let clean: String = t.name.chars().filter(|c| !c.is_control()).take(60).collect();
        let clean = clean.trim();
        // A number would be taken for the number of a node.
        let is_number = clean.parse::<u64>().is_ok();
        let mut name = match clean {
            "" => format!("node-{id}"),
            number if is_number => format!("n{number}"),
            name => name.to_owned(),
        };
        loop {
            let count = taken.entry(name.clone()).or_default();
            *count += 1;
            if *count == 1 {
                break;
            }
            name = format!("{name}-{count}");
        }
        all.push(crate::table([("id", (id as i64).into()), ("name", name.into())]).into());
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wayhop_core::Time;
    use wayhop_scenario::Scenario;

    use super::*;
    use crate::track::Point;

    fn track(name: &str, points: &[(f64, f64, f64)]) -> Track {
        let point = |&(at_s, x, y)| Point { at_s, place: Position::new(x, y, 0.0), line: 1 };
        let points = points.iter().map(point).collect();
        Track { name: name.to_owned(), points, ..Track::default() }
    }

    fn made(tracks: Vec<Track>) -> ImportedScenario {
        scenario(tracks, None, None, Notes::of(["f".as_ref()])).unwrap()
    }

    proptest! {
        #[test]
        fn nodes_are_at_their_places_at_their_moments(
            steps in proptest::collection::vec(
                proptest::collection::vec((2.0..100.0_f64, -5e3..5e3_f64, -5e3..5e3_f64), 1..20),
                1..4,
            ),
        ) {
            let tracks: Vec<Track> = steps
                .iter()
                .enumerate()
                .map(|(i, steps)| {
                    let mut at_s = 1e9;
                    let points: Vec<_> = steps.iter().map(|(dt, x, y)| { at_s += dt; (at_s, *x, *y) }).collect();
                    track(&format!("n{i}"), &points)
                })
                .collect();
            let begin_s = tracks.iter().map(|t| t.points[0].at_s).fold(f64::INFINITY, f64::min);
            let text = toml::to_string(&made(tracks.clone()).table).unwrap();
            let resolved = Scenario::from_text(&text, &[]).unwrap().resolve().unwrap();
            for (t, resolved) in tracks.iter().zip(resolved.tracks.iter()) {
                for p in &t.points {
                    let there = resolved.position(Time::from_secs_f64(p.at_s - begin_s));
                    // Speeds of up to 7 km/s: a leg ends at a whole nanosecond.
                    prop_assert!(there.distance(p.place) < 0.01, "{:?} {:?}", there, p);
                }
            }
        }
    }

    #[test]
    fn a_node_that_comes_later_is_down_before() {
        let mut late = track("late", &[(15.0, 0.0, 0.0), (20.0, 10.0, 0.0)]);
        late.comes_and_goes = true;
        let all = made(vec![track("a", &[(10.0, 0.0, 0.0), (30.0, 5.0, 0.0)]), late]);
        let outages = all.table["outages"].as_array().unwrap();
        let seconds = |i: usize, key: &str| outages[i][key].as_float().unwrap();
        assert_eq!([seconds(0, "start_s"), seconds(0, "length_s"), seconds(1, "start_s")], [0.0, 5.0, 10.0]);
    }
}
