//! The scenario, and how fast the robot drives in it.

use std::path::Path;

use wayhop_scenario::{Map, Scenario, Shape};

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
