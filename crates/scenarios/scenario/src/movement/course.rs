//! Movement along a line of the map.

use wayhop_core::{Position, Span, Time};
use wayhop_document::{Document, Result, in_range};
use wayhop_simulator_files::MAX_DURATION_S;
use wayhop_world::{Convoy, Course, Track};

use crate::file::Scenario;
use crate::movement::{MAX_TRIPS, Movement};
use crate::site::Map;

/// The largest distance of a stop from the line, metres: the kerb, and the error of a GPS.
const STOP_WITHIN_M: f64 = 20.0;

/// The tracks of `count` nodes; those with their own position get one that the caller replaces.
pub(crate) fn tracks(
    scenario: &Scenario,
    seed: u64,
    duration: Time,
    count: usize,
    map: Option<&Map>,
) -> Result<Vec<Track>> {
    let doc = &scenario.document;
    let Some(Movement::Course {
        line,
        speed_min_mps,
        speed_max_mps,
        stop_s,
        separation_m,
        separation_s,
        jitter_s,
        ..
    }) = &scenario.movement
    else {
        return Ok(Vec::new());
    };
    let map = map.ok_or_else(|| {
        doc.error("movement.line", "the scenario has no map", "add: map = \"FILE.geojson\" and an origin")
    })?;
    let course = road(line, map, doc)?;
    check_speeds(*speed_min_mps, *speed_max_mps, doc)?;
    in_range(doc, "movement.stop_s", *stop_s, 0.0, 1e6)?;
    let mut convoy = Convoy {
        course,
        speed_min: *speed_min_mps,
        speed_max: *speed_max_mps,
        halt: Span::from_secs_f64(*stop_s),
        separation: Span::ZERO,
        jitter: Span::ZERO,
        duration,
    };
    let separation_s = separation_s_of(*separation_m, *separation_s, convoy.mean_speed(), doc)?;
    convoy.separation = Span::from_secs_f64(separation_s);
    // So that cars keep their order, and none changes its speed for the jitter by more than a tenth.
    check_jitter(*jitter_s, (separation_s / 4.0).min(convoy.mean_lap_s() / 20.0), doc)?;
    convoy.jitter = Span::from_secs_f64(*jitter_s);
    let drivers = drivers(scenario, count, map);
    let legs = convoy.expected_legs(drivers.len());
    if legs > MAX_TRIPS {
        let reason = format!("the cars would drive about {legs:.1e} stretches; the limit is {MAX_TRIPS:.0e}");
        return Err(doc.error("movement", reason, "simplify the line, use fewer nodes, or shorten the run"));
    }
    let mut driven = convoy.tracks(seed, drivers.len()).into_iter();
    let mut all = vec![Track::fixed(Position::default()); count];
    for i in drivers {
        all[i] = driven.next().expect("a track for each driver");
    }
    Ok(all)
}

fn road(line: &str, map: &Map, doc: &Document) -> Result<Course> {
    let points = map.line(line, "movement.line", doc)?;
    let stops: Vec<Position> = map.points("stop").map(|(_, at)| at).collect();
    Course::new(points, &stops, STOP_WITHIN_M).ok_or_else(|| {
        let reason = format!("line {line:?} is shorter than a metre");
        doc.error("movement.line", reason, "give it at least two different points")
    })
}

fn check_speeds(min_mps: f64, max_mps: f64, doc: &Document) -> Result<()> {
    in_range(doc, "movement.speed_min_mps", min_mps, 0.01, 1e4)?;
    in_range(doc, "movement.speed_max_mps", max_mps, 0.01, 1e4)?;
    check_speed_order(min_mps, max_mps, doc)
}

/// Checks that the higher speed of a movement is not below the lower one.
pub(crate) fn check_speed_order(min_mps: f64, max_mps: f64, doc: &Document) -> Result<()> {
    if min_mps <= max_mps {
        return Ok(());
    }
    let reason = format!("{max_mps} is below speed_min_mps = {min_mps}");
    Err(doc.error("movement.speed_max_mps", reason, "swap the two values"))
}

/// From car to car, seconds: given as a time, or as a distance at the mean speed.
fn separation_s_of(metres: Option<f64>, seconds: Option<f64>, mean_mps: f64, doc: &Document) -> Result<f64> {
    match (metres, seconds) {
        (Some(m), None) => in_range(doc, "movement.separation_m", m, 0.0, 1e6).map(|m| m / mean_mps),
        (None, Some(s)) => in_range(doc, "movement.separation_s", s, 0.0, MAX_DURATION_S),
        _ => {
            let reason = "exactly one of separation_m and separation_s is required";
            Err(doc.error("movement", reason, "set one of them"))
        }
    }
}

fn check_jitter(jitter_s: f64, most_s: f64, doc: &Document) -> Result<()> {
    if (0.0..=most_s).contains(&jitter_s) {
        return Ok(());
    }
    let most = format!("{most_s:.3} (a quarter of the separation, a twentieth of a lap)");
    Err(doc.error("movement.jitter_s", format!("{jitter_s} is not between 0 and {most}"), "reduce it"))
}

/// The nodes without a place of their own, in order.
fn drivers(scenario: &Scenario, count: usize, map: &Map) -> Vec<usize> {
    let stands = |i: usize| {
        let own = scenario.nodes.single.iter().find(|n| n.id as usize == i);
        let name = own.and_then(|n| n.name.clone()).unwrap_or_else(|| i.to_string());
        own.is_some_and(|n| n.position.is_some()) || map.points("node").any(|(n, _)| n == name)
    };
    (0..count).filter(|&i| !stands(i)).collect()
}
