//! Movement from waypoint to waypoint.

use wayhop_core::Span;
use wayhop_document::{Result, in_range};
use wayhop_simulator_files::MAX_DURATION_S;
use wayhop_world::{Track, Waypoint};

use crate::file::Scenario;
use crate::movement::{MAX_TRIPS, NodeTrack};
use crate::site::locate;

/// The slowest and the fastest that a node moves, m/s.
const SPEEDS_MPS: (f64, f64) = (1e-3, 1e4);

pub(crate) fn tracks(scenario: &Scenario, listed: &[NodeTrack]) -> Result<Vec<Track>> {
    let doc = &scenario.document;
    if listed.iter().map(|t| t.waypoints.len()).sum::<usize>() as f64 > MAX_TRIPS {
        let reason = format!("more than {MAX_TRIPS:.0e} waypoints");
        return Err(doc.error("movement.tracks", reason, "reduce their number"));
    }
    listed.iter().enumerate().map(|(i, t)| track(scenario, i, t)).collect()
}

fn track(scenario: &Scenario, index: usize, listed: &NodeTrack) -> Result<Track> {
    let doc = &scenario.document;
    let key = |field: &str| format!("movement.tracks[{index}].{field}");
    let start = locate(listed.start, scenario, &key("start"))?;
    in_range(doc, &key("pause_s"), listed.pause_s, 0.0, MAX_DURATION_S)?;
    let mut waypoints = Vec::with_capacity(listed.waypoints.len());
    for (k, w) in listed.waypoints.iter().enumerate() {
        let key = |field: &str| key(&format!("waypoints[{k}].{field}"));
        in_range(doc, &key("speed_mps"), w.speed_mps, SPEEDS_MPS.0, SPEEDS_MPS.1)?;
        in_range(doc, &key("pause_s"), w.pause_s, 0.0, MAX_DURATION_S)?;
        waypoints.push(Waypoint {
            to: locate(w.at, scenario, &key("at"))?,
            speed: w.speed_mps,
            pause: Span::from_secs_f64(w.pause_s),
        });
    }
    Ok(Track::through(start, Span::from_secs_f64(listed.pause_s), &waypoints))
}

#[cfg(test)]
mod tests {
    use wayhop_core::{Position, Time};

    use crate::Scenario;

    const HEAD: &str =
        "duration_s = 60\norigin = { lat = 53.0, lon = 8.0 }\n[movement]\nkind = \"waypoints\"\n";

    fn resolved(tracks: &str) -> Result<crate::Resolved, String> {
        let scenario = Scenario::from_text(&format!("{HEAD}{tracks}"), &[]).map_err(|e| e.to_string())?;
        scenario.resolve().map_err(|e| e.to_string())
    }

    #[test]
    fn nodes_go_where_the_scenario_says() {
        let r = resolved(
            "[[movement.tracks]]\nstart = { x = 1, y = 2 }\n[[movement.tracks]]\nstart = { lat = 53.0, lon = 8.0 }\n\
             pause_s = 10\nwaypoints = [{ at = { x = 30, y = 40, z = 0 }, speed_mps = 5, pause_s = 1 }]\n",
        )
        .unwrap();
        let at = |node: usize, s: f64| r.tracks[node].position(Time::from_secs_f64(s));
        assert_eq!(at(0, 50.0), Position::new(1.0, 2.0, 0.0));
        assert!(at(1, 10.0).distance(Position::default()) < 1e-6);
        assert!(at(1, 15.0).distance(Position::new(15.0, 20.0, 0.0)) < 1e-6);
        assert!(at(1, 60.0).distance(Position::new(30.0, 40.0, 0.0)) < 1e-6);
        assert_eq!(r.names, ["0", "1"]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_key() {
        let way = |w: &str| {
            format!(
                "[[movement.tracks]]\nstart = {{ x = 0, y = 0 }}\nwaypoints = [{{ at = {{ x = 1, y = 1 }}, {w} }}]\n"
            )
        };
        for (tracks, message) in [
            (
                way("speed_mps = 0"),
                "movement.tracks[0].waypoints[0].speed_mps: 0 is not a number from 0.001 to 10000",
            ),
            (way("speed_mps = nan"), "movement.tracks[0].waypoints[0].speed_mps: nan is not"),
            (way("speed_mps = 1, pause_s = -1"), "movement.tracks[0].waypoints[0].pause_s: -1 is not"),
            (way("pause_s = 1"), "the key `speed_mps` is missing"),
            ("tracks = []\n".to_owned(), "movement.tracks: the list is empty"),
            (
                "[[movement.tracks]]\nstart = { x = 1 }\n".to_owned(),
                "movement.tracks[0].start: neither x and y nor",
            ),
            (
                "[[movement.tracks]]\nstart = { x = 1, y = 1 }\n[nodes]\ncount = 2\n".to_owned(),
                "nodes.count: 2 nodes, but 1 track",
            ),
        ] {
            let e = resolved(&tracks).unwrap_err();
            assert!(e.contains(message), "{e}");
        }
    }
}
