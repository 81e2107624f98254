//! BonnMotion's movement files (`.movements`): a line for each node, `time x y time x y ...`, or with heights `time x y z ...`.
//! Between two waypoints a node moves in a straight line; before the first and behind the last it stands.

use wayhop_core::{Position, Time};
use wayhop_world::{Track, TrackBuilder};

use crate::error::{Error, Place};
use crate::limits::MAX_NODES;

/// Waypoints of all nodes together.
const MAX_WAYPOINTS: usize = 20_000_000;
/// Beyond these nothing is a time, seconds, or a coordinate, metres.
const MAX_TIME_S: f64 = 1e9;
const MAX_METRES: f64 = 1e9;

/// The tracks of a file, and when the last node arrives.
#[derive(Clone, Debug)]
pub struct BonnMotion {
    /// One for each line.
    pub tracks: Vec<Track>,
    /// The latest time in the file.
    pub end: Time,
}

impl BonnMotion {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// The line and column of what is no waypoint, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut lines = Vec::new();
        let mut room = MAX_WAYPOINTS * 4;
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            if lines.len() == MAX_NODES {
                let many = Error::new(format!("more than {MAX_NODES} nodes"), "leave some out");
                return Err(many.at(Place { line: number, column: 1 }));
            }
            lines.push((number, numbers(line, number, &mut room)?));
        }
        if lines.is_empty() {
            return Err(Error::new("has no nodes", "write a line of waypoints for each node"));
        }
        // Nothing in the file says whether there are heights.
        let wrong = match read(&lines, 3) {
            Ok(read) => return Ok(read),
            Err(wrong) => wrong,
        };
        read(&lines, 4).map_err(|_| wrong)
    }

    /// Whether a text looks like such a file, and not like ns-2's: it begins with a number.
    pub fn is_likely(text: &str) -> bool {
        text.split_ascii_whitespace().next().is_some_and(|word| word.parse::<f64>().is_ok())
    }
}

fn numbers(line: &str, number: u32, room: &mut usize) -> Result<Vec<f64>, Error> {
    let mut all = Vec::new();
    for word in line.split_ascii_whitespace() {
        let at =
            || Place { line: number, column: (word.as_ptr() as usize - line.as_ptr() as usize) as u32 + 1 };
        let value = word.parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(|| {
            let short: String = word.chars().take(40).collect();
            Error::new(
                format!("{short:?} is no number"),
                "write time, x and y of each waypoint, one node a line",
            )
            .at(at())
        })?;
        *room = room.checked_sub(1).ok_or_else(|| {
            Error::new(format!("more than {MAX_WAYPOINTS} waypoints"), "leave some out").at(at())
        })?;
        all.push(value);
    }
    Ok(all)
}

fn read(lines: &[(u32, Vec<f64>)], width: usize) -> Result<BonnMotion, Error> {
    let mut end = Time::ZERO;
    let mut tracks = Vec::with_capacity(lines.len());
    for (number, values) in lines {
        let wrong =
            |what: String, remedy: &str| Err(Error::new(what, remedy).at(Place { line: *number, column: 1 }));
        if values.len() % width != 0 {
            let what = format!("{} numbers are no waypoints of three or four", values.len());
            return wrong(what, "write time, x and y, or time, x, y and z of each waypoint");
        }
        let mut waypoints = values
            .chunks_exact(width)
            .map(|w| (w[0], Position::new(w[1], w[2], w.get(3).copied().unwrap_or(0.0))));
        let Some((mut at_s, mut here)) = waypoints.next() else { continue };
        let fits = |at_s: f64, p: Position| {
            (0.0..=MAX_TIME_S).contains(&at_s) && [p.x, p.y, p.z].iter().all(|v| v.abs() <= MAX_METRES)
        };
        if !fits(at_s, here) {
            return wrong(
                format!("a waypoint at {at_s} s at {}, {}", here.x, here.y),
                "give times from 0 on, and metres",
            );
        }
        let mut track = TrackBuilder::new(here);
        for (next_s, next) in waypoints {
            if !fits(next_s, next) {
                return wrong(
                    format!("a waypoint at {next_s} s at {}, {}", next.x, next.y),
                    "give times from 0 on, and metres",
                );
            }
            if next_s < at_s {
                return wrong(
                    format!("{next_s} s comes after {at_s} s"),
                    "put the waypoints in order of time",
                );
            }
            let way = [next.x - here.x, next.y - here.y, next.z - here.z];
            let way_m = way.iter().map(|d| d * d).sum::<f64>().sqrt();
            if next_s == at_s && way_m > 0.0 {
                return wrong(format!("two places at {at_s} s"), "leave one of them out");
            }
            if way_m > 0.0 {
                track.set_destination_3d(Time::from_secs_f64(at_s), next, way_m / (next_s - at_s));
            }
            (at_s, here) = (next_s, next);
        }
        end = end.max(Time::from_secs_f64(at_s));
        tracks.push(track.finish());
    }
    Ok(BonnMotion { tracks, end })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// Two nodes as BonnMotion 3 writes them; the first one pauses from 10 s to 15 s.
    const TWO: &str =
        "0.0 10.0 20.0 10.0 110.0 20.0 15.0 110.0 20.0 25.0 110.0 70.0\n5.0 0.0 0.0 6.0 3.0 4.0\n";

    fn at(file: &BonnMotion, node: usize, s: f64) -> [f64; 3] {
        let p = file.tracks[node].position(Time::from_secs_f64(s));
        [p.x, p.y, p.z]
    }

    #[test]
    fn nodes_go_from_waypoint_to_waypoint_and_stand_before_and_after() {
        let f = BonnMotion::parse(TWO).unwrap();
        assert_eq!(f.end, Time::from_secs_f64(25.0));
        assert_eq!(at(&f, 0, 5.0), [60.0, 20.0, 0.0]);
        assert_eq!(at(&f, 0, 12.0), [110.0, 20.0, 0.0]);
        assert_eq!(at(&f, 0, 20.0), [110.0, 45.0, 0.0]);
        assert_eq!(at(&f, 0, 99.0), [110.0, 70.0, 0.0]);
        assert_eq!((at(&f, 1, 2.0), at(&f, 1, 5.5)), ([0.0; 3], [1.5, 2.0, 0.0]));
    }

    #[test]
    fn four_numbers_have_a_height() {
        let f = BonnMotion::parse("0 0 0 0 10 30 0 40\n").unwrap();
        assert_eq!(at(&f, 0, 5.0), [15.0, 0.0, 20.0]);
    }

    #[test]
    fn mistakes_are_told_with_line_and_column() {
        for (text, message) in [
            ("", "has no nodes; write a line of waypoints for each node"),
            (
                "0 1 2\n0 1\n",
                "line 2, column 1: 2 numbers are no waypoints of three or four; write time, x and y, or time, x, y and z of each waypoint",
            ),
            (
                "0 1 x\n",
                "line 1, column 5: \"x\" is no number; write time, x and y of each waypoint, one node a line",
            ),
            ("5 0 0 4 1 1\n", "line 1, column 1: 4 s comes after 5 s; put the waypoints in order of time"),
            ("1 0 0 1 1 1\n", "line 1, column 1: two places at 1 s; leave one of them out"),
            ("-1 0 0\n", "line 1, column 1: a waypoint at -1 s at 0, 0; give times from 0 on, and metres"),
        ] {
            assert_eq!(BonnMotion::parse(text).unwrap_err().to_string(), message);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-0-9. e\\n]{0,120}|\\PC{0,20}") {
            let _ = BonnMotion::parse(&text);
        }

        #[test]
        fn nodes_are_at_their_waypoints_at_their_times(
            legs in proptest::collection::vec((0.01..50.0_f64, -1e4..1e4_f64, -1e4..1e4_f64), 1..20),
        ) {
            let mut at_s = 0.0;
            let mut text = String::new();
            let mut points = Vec::new();
            for (dt, x, y) in legs {
                at_s += dt;
                let _ = write!(text, "{at_s} {x} {y} ");
                points.push((at_s, x, y));
            }
            // A line of a multiple of four numbers may be read with heights only where it cannot be read without.
            let f = BonnMotion::parse(&text).unwrap();
            for (at_s, x, y) in points {
                let [px, py, pz] = at(&f, 0, at_s);
                prop_assert!((px - x).abs() < 0.01 && (py - y).abs() < 0.01 && pz == 0.0, "{px} {py} {x} {y}");
            }
        }
    }
}
