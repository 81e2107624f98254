//! BonnMotion's movement files (`.movements`): a line for each node, `time x y time x y ...`, or with heights `time x
//! y z ...`, each waypoint optionally with a status at its end (model DisasterArea).
//! Between two waypoints a node moves in a straight line; before the first and after the last it stays in place.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::{NodeId, Position, Time};
use wayhop_document::{Error, LineColumn, Problems, Result, read_text};
use wayhop_world::{Track, TrackBuilder};

use crate::MAX_NODES;

const MAX_WAYPOINTS: usize = 20_000_000;
/// Beyond these nothing is a time, seconds, or a coordinate, metres.
const MAX_TIME_S: f64 = 1e9;
const MAX_METRES: f64 = 1e9;
/// A node with this status is away ...
const AWAY: f64 = 2.0;
/// ... until a waypoint with this one. 0 changes nothing.
const PRESENT: f64 = 1.0;

/// The numbers in each waypoint of a BonnMotion file. The file does not say which.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Columns {
    /// Time, x, y.
    #[serde(rename = "2d")]
    Flat,
    /// Time, x, y, height.
    #[serde(rename = "3d")]
    Heights,
    /// Time, x, y, status: a node with status 2 is absent until a waypoint with status 1.
    #[serde(rename = "2d-status")]
    FlatStatus,
    /// Time, x, y, height, status.
    #[serde(rename = "3d-status")]
    HeightsStatus,
}

impl Columns {
    const ALL: [Self; 4] = [Self::Flat, Self::Heights, Self::FlatStatus, Self::HeightsStatus];

    fn width(self) -> usize {
        match self {
            Self::Flat => 3,
            Self::Heights | Self::FlatStatus => 4,
            Self::HeightsStatus => 5,
        }
    }

    fn has_heights(self) -> bool {
        matches!(self, Self::Heights | Self::HeightsStatus)
    }

    fn has_status(self) -> bool {
        matches!(self, Self::FlatStatus | Self::HeightsStatus)
    }

    /// The columns according to BonnMotion's own file of parameters for the movement file.
    fn of_parameters(text: &str) -> Self {
        let settings = || text.lines().rev().filter_map(|line| line.trim().split_once('='));
        let value = |key: &str| settings().find(|(k, _)| *k == key).map(|(_, v)| v);
        // As BonnMotion itself decides: without J by whether there is a z.
        let has_heights = match value("J") {
            Some(j) => j.eq_ignore_ascii_case("3d"),
            None => value("z").is_some(),
        };
        let has_status = value("model").is_some_and(|m| m.split_whitespace().next() == Some("DisasterArea"));
        match (has_heights, has_status) {
            (false, false) => Self::Flat,
            (true, false) => Self::Heights,
            (false, true) => Self::FlatStatus,
            (true, true) => Self::HeightsStatus,
        }
    }

    fn shown(self) -> &'static str {
        match self {
            Self::Flat => "time x y",
            Self::Heights => "time x y z",
            Self::FlatStatus => "time x y status",
            Self::HeightsStatus => "time x y z status",
        }
    }
}

/// The tracks of a file, and when the last node arrives.
#[derive(Clone, Debug)]
pub struct BonnMotion {
    /// One for each line.
    pub tracks: Vec<Track>,
    /// When nodes are away, by their status: from and until, which is [`Time::NEVER`] for one that does not come back.
    pub absences: Vec<(NodeId, Time, Time)>,
    /// The latest time in the file.
    pub end: Time,
    /// How the file was read.
    pub columns: Columns,
}

impl BonnMotion {
    /// Reads a file. Without `columns`, BonnMotion's own file of parameters (`NAME.params`) determines them, or the
    /// file itself if it can be read in one way only. An error says what is wrong with the file and where, or that
    /// the columns are ambiguous.
    pub fn load(path: &Path, columns: Option<Columns>) -> Result<Self> {
        let text = read_text(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let parameters =
            path.with_file_name(format!("{}.params", name.strip_suffix(".movements").unwrap_or(name)));
        if columns.is_none() && parameters.exists() {
            let columns = Columns::of_parameters(&read_text(&parameters)?);
            return Self::parse(&text, Some(columns)).map_err(|mut e| {
                let (shown, from) = (columns.shown(), parameters.display());
                e.reason = format!("{} (read as {shown}, as {from} says)", e.reason);
                e.in_file(path)
            });
        }
        Self::parse(&text, columns).map_err(|e| e.in_file(path))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// The line and column of what is no waypoint, and what is wrong with it; or that it can be read in more than one way and
    /// `columns` does not say which.
    pub fn parse(text: &str, columns: Option<Columns>) -> Result<Self> {
        let mut lines = Vec::new();
        let mut room = MAX_WAYPOINTS * 4;
        let mut problems = Problems::default();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if lines.len() == MAX_NODES {
                let many = Error::new(format!("more than {MAX_NODES} nodes"), "remove some");
                return Err(many.at(LineColumn { line: number, column: 1 }));
            }
            match numbers(line, number, &mut room) {
                Ok(values) => lines.push((number, values)),
                Err(e) => problems.note(e),
            }
        }
        problems.outcome()?;
        if lines.is_empty() {
            return Err(Error::new("has no nodes", "write one line of waypoints per node"));
        }
        if let Some(columns) = columns {
            return read(&lines, columns);
        }
        let tried = Columns::ALL.map(|c| read(&lines, c));
        // A column in which no node leaves or returns is not a status.
        let makes_sense = |c: &Columns| !c.has_status() || some_status(&lines, *c);
        let possible = tried.iter().flatten().map(|read| read.columns);
        let possible: Vec<Columns> = possible.filter(makes_sense).collect();
        match possible[..] {
            // The first message speaks of all of them.
            [] => tried.into_iter().next().unwrap_or_else(|| unreachable!("there are four")),
            [one] => read(&lines, one),
            _ => {
                let ways: Vec<&str> = possible.iter().map(|c| c.shown()).collect();
                let reason = format!("can be read in {} ways: {}", ways.len(), ways.join(", or "));
                let remedy = "choose with --2d, --3d or --status of `wayhop import bonnmotion`, movement.columns in a \
                    scenario, or BonnMotion's own file NAME.params beside it";
                Err(Error::new(reason, remedy))
            }
        }
    }

    /// Whether a text looks like such a file, and not like ns-2's: it begins with a number, possibly after comments.
    pub fn is_likely(text: &str) -> bool {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let first = lines.find_map(|line| line.split_ascii_whitespace().next());
        first.is_some_and(|word| word.parse::<f64>().is_ok())
    }
}

/// Whether a status in a file makes any node leave or return.
fn some_status(lines: &[(u32, Vec<f64>)], columns: Columns) -> bool {
    let mut waypoints = lines.iter().flat_map(|(_, values)| values.chunks_exact(columns.width()));
    waypoints.any(|w| w.last() != Some(&0.0))
}

fn numbers(line: &str, number: u32, room: &mut usize) -> Result<Vec<f64>> {
    let mut all = Vec::new();
    for word in line.split_ascii_whitespace() {
        let at = || LineColumn {
            line: number,
            column: (word.as_ptr() as usize - line.as_ptr() as usize) as u32 + 1,
        };
        let value = word.parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(|| {
            let short: String = word.chars().take(40).collect();
            let remedy = "write time, x and y of each waypoint, one node per line";
            Error::new(format!("{short:?} is not a number"), remedy).at(at())
        })?;
        *room = room.checked_sub(1).ok_or_else(|| {
            Error::new(format!("more than {MAX_WAYPOINTS} waypoints"), "remove some").at(at())
        })?;
        all.push(value);
    }
    Ok(all)
}

fn read(lines: &[(u32, Vec<f64>)], columns: Columns) -> Result<BonnMotion> {
    let mut all =
        BonnMotion { tracks: Vec::with_capacity(lines.len()), absences: vec![], end: Time::ZERO, columns };
    let mut problems = Problems::default();
    for (line, values) in lines {
        if let Err(e) = all.add(values) {
            problems.note(e.at(LineColumn { line: *line, column: 1 }));
        }
    }
    problems.outcome()?;
    Ok(all)
}

impl BonnMotion {
    fn add(&mut self, values: &[f64]) -> Result<()> {
        let width = self.columns.width();
        let wrong = |what: String, remedy: &str| Err(Error::new(what, remedy));
        if !values.len().is_multiple_of(width) {
            let (count, shown) = (values.len(), self.columns.shown());
            let what = format!("{count} numbers cannot be split into waypoints of {width} ({shown})");
            return wrong(what, "write time, x and y, or time, x, y and z of each waypoint");
        }
        if self.columns.has_status() {
            self.absences.extend(away(values, width, NodeId(self.tracks.len() as u32))?);
        }
        let height = |w: &[f64]| if self.columns.has_heights() { w[3] } else { 0.0 };
        let mut last: Option<(f64, Position)> = None;
        let mut track = None;
        for w in values.chunks_exact(width) {
            let (next_s, next) = (w[0], Position::new(w[1], w[2], height(w)));
            let fits = [next.x, next.y, next.z].iter().all(|v| v.abs() <= MAX_METRES);
            if !fits || !(0.0..=MAX_TIME_S).contains(&next_s) {
                let what = format!("waypoint {}, {} at {next_s} s is out of range", next.x, next.y);
                return wrong(what, "use times from 0 on, and metres");
            }
            let track = track.get_or_insert_with(|| TrackBuilder::new(next));
            let (at_s, here) = last.replace((next_s, next)).unwrap_or((next_s, next));
            if next_s < at_s {
                let what = format!("{next_s} s comes after {at_s} s");
                return wrong(what, "sort the waypoints by time");
            }
            let way = [next.x - here.x, next.y - here.y, next.z - here.z];
            let way_m = way.iter().map(|d| d * d).sum::<f64>().sqrt();
            if next_s == at_s && way_m > 0.0 {
                return wrong(format!("two positions at {at_s} s"), "remove one of them");
            }
            if way_m > 0.0 {
                track.set_destination_3d(Time::from_secs_f64(at_s), next, way_m / (next_s - at_s));
            }
        }
        self.end = self.end.max(last.map_or(Time::ZERO, |(at_s, _)| Time::from_secs_f64(at_s)));
        self.tracks.extend(track.map(TrackBuilder::finish));
        Ok(())
    }
}

/// When a node is away, by the status at the end of each of its waypoints.
fn away(values: &[f64], width: usize, node: NodeId) -> Result<Vec<(NodeId, Time, Time)>> {
    let (mut absences, mut since) = (Vec::new(), None);
    for w in values.chunks_exact(width) {
        let (at, status) = (Time::from_secs_f64(w[0].clamp(0.0, MAX_TIME_S)), w[width - 1]);
        if status == AWAY {
            since.get_or_insert(at);
        } else if status == PRESENT {
            absences.extend(since.take().filter(|from| *from < at).map(|from| (node, from, at)));
        } else if status != 0.0 {
            let remedy = "use 0, 1 or 2, or read the file without a status";
            return Err(Error::new(format!("{status} is not a status"), remedy));
        }
    }
    absences.extend(since.map(|from| (node, from, Time::NEVER)));
    Ok(absences)
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
        let f = BonnMotion::parse(TWO, None).unwrap();
        assert_eq!(f.end, Time::from_secs_f64(25.0));
        assert_eq!(at(&f, 0, 5.0), [60.0, 20.0, 0.0]);
        assert_eq!(at(&f, 0, 12.0), [110.0, 20.0, 0.0]);
        assert_eq!(at(&f, 0, 20.0), [110.0, 45.0, 0.0]);
        assert_eq!(at(&f, 0, 99.0), [110.0, 70.0, 0.0]);
        assert_eq!((at(&f, 1, 2.0), at(&f, 1, 5.5)), ([0.0; 3], [1.5, 2.0, 0.0]));
    }

    #[test]
    fn four_numbers_have_a_height() {
        let f = BonnMotion::parse("0 0 0 0 10 30 0 40\n", None).unwrap();
        assert_eq!(at(&f, 0, 5.0), [15.0, 0.0, 20.0]);
    }

    #[test]
    fn mistakes_are_told_with_line_and_column() {
        let write = "write time, x and y of each waypoint, one node per line";
        let split = "2 numbers cannot be split into waypoints of 3 (time x y); \
                     write time, x and y, or time, x, y and z of each waypoint";
        let early = "waypoint 0, 0 at -1 s is out of range; use times from 0 on, and metres";
        for (text, column, message) in [
            ("0 1 2\n0 1\n", "line 2, column 1", split),
            ("0 1 x\n", "line 1, column 5", &format!("\"x\" is not a number; {write}")),
            ("5 0 0 4 1 1\n", "line 1, column 1", "4 s comes after 5 s; sort the waypoints by time"),
            ("1 0 0 1 1 1\n", "line 1, column 1", "two positions at 1 s; remove one of them"),
            ("-1 0 0\n", "line 1, column 1", early),
        ] {
            let e = BonnMotion::parse(text, None).unwrap_err().to_string();
            assert_eq!(e, format!("{column}: {message}"));
        }
        let e = BonnMotion::parse("", None).unwrap_err().to_string();
        assert_eq!(e, "has no nodes; write one line of waypoints per node");
        for text in ["0 1 x\n0 1 2\n0 y 2\n", "5 0 0 4 1 1\n0 1 2\n-1 0 0\n"] {
            let lines = BonnMotion::parse(text, None).unwrap_err().in_file("b".as_ref()).lines();
            assert!(lines.len() == 2 && lines[1].starts_with("b:3:"), "{lines:?}");
        }
    }

    /// A line that is right with and without heights, as one of BonnMotion with `-J 3D`: 5 m high at the beginning.
    const BOTH: &str = "0.0 10.0 20.0 5.0 50.0 100.0 120.0 20.0 100.0 300.0 200.0 30.0\n";
    /// What its model DisasterArea writes: the first node is away from 50 s to 100 s, the second always there.
    const STATUS: &str = "0.0 10.0 20.0 1.0 50.0 100.0 120.0 2.0 100.0 300.0 200.0 1.0\n0.0 10.0 20.0 0.0 50.0 100.0 120.0 0.0\n";

    #[test]
    fn a_file_that_can_be_read_in_several_ways_is_refused_until_somebody_says_which() {
        for (text, ways) in [
            (BOTH, "2 ways: time x y, or time x y z"),
            (STATUS, "2 ways: time x y z, or time x y status"),
            // A single node that pauses; times that all rise; nodes at heights of 1 and 2 m; heights and a status.
            ("0 1 1 1 2 2 2 2 3 3 3 3\n", "2 ways: time x y, or time x y z"),
            ("0 0 0 10 10 10 20 20 20 30 30 30\n", "2 ways: time x y, or time x y z"),
            ("0 9 9 1\n0 8 8 2\n", "2 ways: time x y z, or time x y status"),
            (
                "0 9 9 0 1 10 50 50 10 1 20 60 60 30 2 21 61 61 31 1\n",
                "2 ways: time x y z, or time x y z status",
            ),
        ] {
            let e = BonnMotion::parse(text, None).unwrap_err().to_string();
            let expected = format!("can be read in {ways}; choose with --2d, --3d or --status");
            assert!(e.starts_with(&expected), "{text}: {e}");
        }
        let heights = BonnMotion::parse(BOTH, Some(Columns::Heights)).unwrap();
        let places = [0.0, 50.0, 100.0].map(|s| at(&heights, 0, s));
        assert_eq!(places, [[10.0, 20.0, 5.0], [100.0, 120.0, 20.0], [300.0, 200.0, 30.0]]);
        assert_eq!(heights.end, Time::from_secs_f64(100.0));
        let flat = BonnMotion::parse(BOTH, Some(Columns::Flat)).unwrap();
        assert_eq!((at(&flat, 0, 5.0), at(&flat, 0, 120.0)), ([50.0, 100.0, 0.0], [20.0, 100.0, 0.0]));
        // Heights of zero are no status, and three numbers have no height.
        for (text, columns) in [
            ("0 9 9 0 10 30 9 0\n", Columns::Heights),
            ("0 9 9 1.5\n0 8 8 2\n", Columns::Heights),
            ("0 9 9\n", Columns::Flat),
            ("0 9 9 30 1\n", Columns::HeightsStatus),
            ("# a comment\n0 10 10 20 20 20\n", Columns::Flat),
        ] {
            assert_eq!(BonnMotion::parse(text, None).unwrap().columns, columns, "{text}");
        }
    }

    #[test]
    fn who_has_status_2_is_away_until_a_status_of_1() {
        let seconds = |t: Time| if t == Time::NEVER { -1.0 } else { t.as_secs_f64() };
        let away = |text: &str| -> Vec<(u32, f64, f64)> {
            let f = BonnMotion::parse(text, Some(Columns::FlatStatus)).unwrap();
            f.absences.iter().map(|a| (a.0.0, seconds(a.1), seconds(a.2))).collect()
        };
        assert_eq!(away(STATUS), [(0, 50.0, 100.0)]);
        let status = BonnMotion::parse(STATUS, Some(Columns::FlatStatus)).unwrap();
        assert_eq!(at(&status, 0, 50.0), [100.0, 120.0, 0.0], "a status is no height");
        assert_eq!(away("0 1 1 2 10 2 2 1 20 3 3 2\n0 1 1 1\n"), [(0, 0.0, 10.0), (0, 20.0, -1.0)]);
        assert_eq!(away("0 1 1 2 10 2 2 0 20 3 3 2 30 4 4 1\n"), [(0, 0.0, 30.0)]);
        let f = BonnMotion::parse("0 1 1 7 2 10 2 2 9 1\n", Some(Columns::HeightsStatus)).unwrap();
        assert_eq!((at(&f, 0, 10.0), f.absences.len()), ([2.0, 2.0, 9.0], 1));
        let e = BonnMotion::parse("0 1 1 3\n", Some(Columns::FlatStatus)).unwrap_err().to_string();
        let remedy = "use 0, 1 or 2, or read the file without a status";
        assert_eq!(e, format!("line 1, column 1: 3 is not a status; {remedy}"));
    }

    #[test]
    fn bonnmotions_own_parameters_beside_the_file_say_how_to_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("drone.movements");
        std::fs::write(&path, BOTH).unwrap();
        let general =
            "model=RandomWaypoint\nignore=3600.0\nx=500.0\ny=500.0\nduration=100.0\nnn=1\ncircular=false\n";
        let columns = |parameters: &str| {
            std::fs::write(dir.path().join("drone.params"), parameters).unwrap();
            BonnMotion::load(&path, None).map(|read| read.columns)
        };
        for (parameters, expected) in [
            (format!("{general}J=2D\nminspeed=0.5\n"), Columns::Flat),
            (format!("{general}J=3D"), Columns::Heights),
            (format!("{general}z=40.0\r\nJ=3D\r\n"), Columns::Heights),
            (format!("{general}z=40.0\nJ=2D\n"), Columns::Flat),
            ("model=GPXImport v1.0\nx=1\ny=1\nz=30.0\nduration=100\nnn=1\n".to_owned(), Columns::Heights),
            ("model=GPXImport v1.0\nx=1\ny=1\nduration=100\nnn=1\n".to_owned(), Columns::Flat),
        ] {
            assert_eq!(columns(&parameters).unwrap(), expected, "{parameters}");
        }
        assert_eq!(BonnMotion::load(&path, Some(Columns::Heights)).unwrap().columns, Columns::Heights);
        std::fs::write(&path, STATUS).unwrap();
        let disaster = general.replace("RandomWaypoint", "DisasterArea");
        assert_eq!(columns(&format!("{disaster}J=2D\n")).unwrap(), Columns::FlatStatus);
        let e = columns(&format!("{disaster}J=3D\n")).unwrap_err().to_string();
        let split = "12 numbers cannot be split into waypoints of 5 (time x y z status)";
        assert!(e.contains(&format!("{split} (read as time x y z status, as ")), "{e}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-0-9. e\\n]{0,120}|\\PC{0,20}") {
            for columns in Columns::ALL.map(Some).into_iter().chain([None]) {
                let _ = BonnMotion::parse(&text, columns);
            }
            let _ = Columns::of_parameters(&text);
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
            let f = BonnMotion::parse(&text, Some(Columns::Flat)).unwrap();
            for (at_s, x, y) in points {
                let [px, py, pz] = at(&f, 0, at_s);
                prop_assert!((px - x).abs() < 0.01 && (py - y).abs() < 0.01 && pz == 0.0, "{px} {py} {x} {y}");
            }
        }
    }
}
