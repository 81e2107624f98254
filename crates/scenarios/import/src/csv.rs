//! Tables of places (CSV): a row for each node and moment, with its place in metres or degrees.

use rustc_hash::FxHashMap;
use wayhop_core::Position;
use wayhop_document::{Error, Result};

use crate::columns::{Columns, Meaning};
use crate::globe::{Fix, Heights, NodeFixes, geodetic, look_like_degrees, to_metres};
use crate::notes::Notes;
use crate::track::{Point, Track};
use crate::tracks::scenario;
use crate::{ImportedScenario, NamedText, moment, stem, xml};

/// What heights in tables count from: nothing says it.
const DATUM: &str = "the table's zero";
/// Names of columns that a remark lists at most.
const MOST_LISTED: usize = 12;

const CELLS: [&str; 2] = [
    "row with another number of cells than the first line",
    "rows with another number of cells than the first line",
];
const NO_TIME: [&str; 2] = ["row without a time", "rows without a time"];
const NO_NODE: [&str; 2] = ["row without a node", "rows without a node"];
const NO_PLACE: [&str; 2] = ["row without a place", "rows without a place"];

/// A row's moment and place: x and y, or longitude and latitude.
#[derive(Copy, Clone)]
struct FixRow {
    at_s: f64,
    until_s: Option<f64>,
    x: f64,
    y: f64,
    z: Option<f64>,
    velocity: [f64; 3],
    line: u32,
}

struct Node {
    name: String,
    file: usize,
    rows: Vec<FixRow>,
}

/// A scenario from positions in tables whose first line names the columns. Rows without a node column belong to one
/// node named after the file. The table `positions` of a run is such a table. Fails if there are no columns for time
/// and position, or no row has both.
pub fn csv(files: &[NamedText<'_>], heights: Heights) -> Result<ImportedScenario> {
    let mut notes = Notes::of(files.iter().map(|(path, _)| *path));
    let mut nodes: Vec<Node> = Vec::new();
    let mut degrees = None;
    for (file, (path, text)) in files.iter().enumerate() {
        let table = Table::of(text).map_err(|e| e.in_file(path))?;
        let are_degrees = table.columns.are_degrees();
        if *degrees.get_or_insert(are_degrees) != are_degrees {
            let e = Error::new("one file has degrees and another one metres", "import them separately");
            return Err(e.in_file(path));
        }
        let of_file = table.nodes(&stem(path), file, &mut notes).map_err(|e| e.in_file(path))?;
        if !are_degrees && !table.columns.says_metres() {
            refuse_degrees(&of_file).map_err(|e| e.in_file(path))?;
        }
        table.remark(path, &mut notes);
        nodes.extend(of_file);
    }
    // A run's own table has nodes by their numbers, which stay so.
    if nodes.iter().all(|n| n.name.parse::<u32>().is_ok()) {
        nodes.sort_by_key(|n| n.name.parse::<u32>().unwrap_or_default());
    }
    let (tracks, origin) = if degrees == Some(true) {
        let fix = |r: &FixRow| {
            let place = geodetic(r.y, r.x)?;
            Some(Fix { at_s: r.at_s, place, height_m: r.z, line: r.line })
        };
        let fixes = |rows: &[FixRow]| rows.iter().filter_map(fix).collect();
        let found = |n: Node| NodeFixes { name: n.name, file: n.file, fixes: fixes(&n.rows) };
        to_metres(nodes.into_iter().map(found).collect(), heights, DATUM, &mut notes)?
    } else {
        let track = |n: Node| {
            let points = points(n.rows, heights);
            Track { name: n.name, file: n.file, points, ..Track::default() }
        };
        (nodes.into_iter().map(track).collect(), None)
    };
    scenario(tracks, origin, None, notes)
}

/// A table's text, and what its columns mean.
struct Table<'a> {
    text: &'a str,
    separator: char,
    columns: Columns,
    cells: usize,
    /// The line of the names.
    head: u32,
    /// What a one in the column of times is, seconds.
    unit_s: f64,
}

impl<'a> Table<'a> {
    fn of(text: &'a str) -> Result<Self> {
        let head = (1..).zip(text.lines()).find(|(_, l)| !is_passed_over(l));
        let Some((line, names)) = head else {
            return Err(Error::new("contains no lines", "start the table with the names of its columns"));
        };
        let count = |c: char| names.matches(c).count();
        let separator =
            [',', ';', '\t', '|'].into_iter().max_by_key(|c| (count(*c), *c == ',')).unwrap_or(',');
        let names = cells(names, separator);
        let columns = Columns::of(&names).map_err(|e| e.at_line(line))?;
        let mut table = Self { text, separator, columns, cells: names.len(), head: line, unit_s: 1.0 };
        table.unit_s = table.time_unit_s();
        Ok(table)
    }

    fn rows(&self) -> impl Iterator<Item = (u32, Vec<String>)> {
        let lines = (1..).zip(self.text.lines()).filter(|(line, l)| *line > self.head && !is_passed_over(l));
        lines.map(|(line, l)| (line, cells(l, self.separator)))
    }

    fn number(&self, text: &str) -> Option<f64> {
        // Where a comma does not separate, it may be a decimal one.
        if self.separator == ',' { xml::finite(text) } else { xml::finite(&text.replace(',', ".")) }
    }

    /// What a one in the column of times is: as its name says, or by the size of a moment since 1970.
    fn time_unit_s(&self) -> f64 {
        let Some(column) = self.columns.get(Meaning::Time) else { return 1.0 };
        // Nothing is as late as 1e19 ns after 1970.
        let time = |row: Vec<String>| self.number(row.get(column.at)?).filter(|t| t.abs() < 1e19);
        let first = || self.rows().find_map(|(_, row)| time(row));
        column.unit.unwrap_or_else(|| match first().map_or(0.0, f64::abs) {
            ns if ns > 1e17 => 1e-9,
            us if us > 1e14 => 1e-6,
            ms if ms > 1e11 => 1e-3,
            _ => 1.0,
        })
    }

    fn remark(&self, path: &std::path::Path, notes: &mut Notes) {
        let units = [(1e-3, "milliseconds"), (1e-6, "microseconds"), (1e-9, "nanoseconds")];
        let is_guessed = self.columns.get(Meaning::Time).is_some_and(|c| c.unit.is_none());
        if let Some((_, unit)) = units.iter().find(|(s, _)| is_guessed && *s == self.unit_s) {
            notes.remarks.push(format!("{}: times are read as {unit} since 1970", path.display()));
        }
        let mut names: Vec<String> =
            self.columns.unknown.iter().take(MOST_LISTED).map(|n| n.chars().take(40).collect()).collect();
        let further = self.columns.unknown.len() - names.len();
        if further > 0 {
            names.push(format!("and {further} more"));
        }
        if !names.is_empty() {
            notes.remarks.push(format!("{}: ignored columns: {}", path.display(), names.join(", ")));
        }
    }

    /// The rows of each node, in the order in which nodes appear.
    fn nodes(&self, default_name: &str, file: usize, notes: &mut Notes) -> Result<Vec<Node>> {
        let mut all: Vec<Node> = Vec::new();
        let mut known: FxHashMap<String, usize> = FxHashMap::default();
        let is_named = |cells: &[String], at: usize| cells.get(at).is_some_and(|n| !n.trim().is_empty());
        let named = self.columns.get(Meaning::Node).map(|c| c.at);
        let named = named.filter(|at| self.rows().any(|(_, cells)| is_named(&cells, *at)));
        for (line, cells) in self.rows() {
            notes.count_point(line)?;
            let read = || match named {
                _ if cells.len() != self.cells => Err(CELLS),
                Some(at) if !is_named(&cells, at) => Err(NO_NODE),
                _ => self.row(&cells, self.time(&cells).ok_or(NO_TIME)?, line).ok_or(NO_PLACE),
            };
            let row = match read() {
                Ok(row) => row,
                Err(kind) => {
                    notes.skipped[file].add(line, kind);
                    continue;
                }
            };
            let name = named.map_or(default_name, |at| cells[at].trim());
            let at = *known.entry(name.to_owned()).or_insert_with(|| {
                all.push(Node { name: name.to_owned(), file, rows: Vec::new() });
                all.len() - 1
            });
            all[at].rows.push(row);
        }
        Ok(all)
    }

    /// The moment of a row: a number, or date and time in one or two columns, or a time of day.
    fn time(&self, cells: &[String]) -> Option<f64> {
        let written = cells[self.columns.get(Meaning::Time)?.at].trim();
        if let Some(number) = self.number(written) {
            return Some(number * self.unit_s);
        }
        let date = self.columns.get(Meaning::Date).map(|c| cells[c.at].trim());
        date.and_then(|d| moment::unix_s(&format!("{d}T{written}")))
            .or_else(|| moment::unix_s(written))
            .or_else(|| moment::unix_s(&format!("1970-01-01T{written}")))
    }

    fn row(&self, cells: &[String], at_s: f64, line: u32) -> Option<FixRow> {
        let value = |m: Meaning| -> Option<f64> {
            let c = self.columns.get(m)?;
            Some(self.number(&cells[c.at])? * c.unit.unwrap_or(1.0))
        };
        let (x, y, z) = if self.columns.are_degrees() {
            let (lat, lon) = (value(Meaning::Lat)?, value(Meaning::Lon)?);
            geodetic(lat, lon)?;
            (lon, lat, value(Meaning::Alt))
        } else {
            (value(Meaning::X)?, value(Meaning::Y)?, value(Meaning::Z))
        };
        let velocity = [Meaning::Vx, Meaning::Vy, Meaning::Vz].map(|m| value(m).unwrap_or(0.0));
        Some(FixRow { at_s, until_s: value(Meaning::Until), x, y, z, velocity, line })
    }
}

fn is_passed_over(line: &str) -> bool {
    // Spreadsheets may say first what separates the cells.
    line.trim().is_empty() || line.starts_with('#') || line.starts_with("sep=")
}

/// The cells of a line (RFC 4180); none has a line break in it.
fn cells(line: &str, separator: char) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quoted = false;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let cell = all.last_mut();
        match (c, cell) {
            ('"', Some(cell)) if quoted && rest.peek() == Some(&'"') => {
                rest.next();
                cell.push('"');
            }
            ('"', _) => quoted = !quoted,
            (c, _) if c == separator && !quoted => all.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    all
}

/// Refuses x and y that can only be degrees, as geographic information systems call them.
fn refuse_degrees(nodes: &[Node]) -> Result<()> {
    let rows = || nodes.iter().flat_map(|n| &n.rows);
    let range = |of: fn(&FixRow) -> f64| {
        let (low, high) =
            rows().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        high - low
    };
    let (wide, high) = (range(|r| r.x), range(|r| r.y));
    let is_off_zero = rows().all(|r| r.x.abs() > 1.0 && r.y.abs() > 1.0);
    if is_off_zero && wide < 1.0 && high < 1.0 && look_like_degrees(rows().map(|r| (r.x, r.y))) {
        let what = "x and y look like degrees: all positions are within a metre";
        return Err(Error::new(what, "name the columns lon and lat, or x_m and y_m if they are metres"));
    }
    Ok(())
}

/// Where a node is and, if rows have velocities, where each leg ends.
fn points(mut rows: Vec<FixRow>, heights: Heights) -> Vec<Point> {
    if rows.iter().any(|r| r.until_s.is_some()) {
        // Of two legs that begin at the same time the later row applies, and a leg ends where the next one begins.
        rows.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        rows.reverse();
        rows.dedup_by(|earlier, later| earlier.at_s == later.at_s);
        rows.reverse();
    }
    let z = |r: &FixRow| if heights == Heights::Read { r.z.unwrap_or(0.0) } else { 0.0 };
    let mut all = Vec::with_capacity(rows.len());
    for (i, r) in rows.iter().enumerate() {
        all.push(Point { at_s: r.at_s, place: Position::new(r.x, r.y, z(r)), line: r.line });
        let Some(until_s) = r.until_s else { continue };
        let next_s = rows.get(i + 1).map_or(f64::INFINITY, |n| n.at_s);
        let until_s = until_s.min(next_s);
        // The place at which the next leg begins is that row's own.
        if until_s > r.at_s && until_s < next_s {
            let [vx, vy, vz] = r.velocity.map(|v| v * (until_s - r.at_s));
            let vz = if heights == Heights::Read { vz } else { 0.0 };
            let place = Position::new(r.x + vx, r.y + vy, z(r) + vz);
            all.push(Point { at_s: until_s, place, line: r.line });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ImportedScenario, String> {
        csv(&[("dir/walk.csv".as_ref(), text)], Heights::Read).map_err(|e| e.to_string())
    }

    /// The names of the nodes, the length of the run, and the first node's last place and its speed to there.
    fn outcome(i: &ImportedScenario) -> (String, f64, [f64; 3], f64) {
        let leg = i.table["movement"]["tracks"][0]["waypoints"].as_array().unwrap().last().unwrap();
        let axis = |a: &str| leg["at"].get(a).and_then(toml::Value::as_float).unwrap_or(0.0);
        let place = ["x", "y", "z"].map(|a| (axis(a) * 10.0).round() / 10.0);
        let speed_mps = (leg["speed_mps"].as_float().unwrap() * 10.0).round() / 10.0;
        (i.node_names().join(" "), i.table["duration_s"].as_float().unwrap(), place, speed_mps)
    }

    #[test]
    fn tables_of_many_tools_are_read() {
        // Each is one node that goes 100 m east in 10 s, and perhaps one that stands; by hand from the rows.
        let zones =
            "timestamp,node,x_km,y_km\n2024-03-07T08:15:00Z,a,0,0\n2024-03-07T09:15:10+01:00,a,0.1,0\n";
        let sumo = "timestep_time;vehicle_id;vehicle_x;vehicle_y\n0.00;\"a;1\";0.00;0.00\n10.00;\"a;1\";100.00;0.00\n";
        let run = "time_ns,node,x_m,y_m,z_m,vx_mps,vy_mps,vz_mps,until_ns\n0,3,0,0,0,10,0,0,10000000000\n\
                   10000000000,3,100,0,0,0,0,0,\n";
        let metres = [
            ("time,node,x,y\n0,a,0,0\n10,a,100,0\n0,b,5,5\n", "a b"),
            ("# a comment\n\nt;id;x_m;y_m\n0;a;0;0\n10;a;100;0\n", "a"),
            ("time_s\tname\tX\tY\n0\ta\t0\t0\n10\ta\t100\t0\n", "a"),
            ("Zeit;time;x;y\nx;0,0;0,0;0,0\nx;10,0;100,0;0,0\n", "walk"),
            ("sep=;\ntime;node;x;y\n0;a;0;0\n10;a;100;0\n", "a"),
            ("time_ms,x,y\n0,0,0\n10000,100,0\n", "walk"),
            ("timestamp,vehicle,east,north\n1709799300000,a,0,0\n1709799310000,a,100,0\n", "a"),
            (zones, "a"),
            ("date,time,node,x,y\n2024-03-07,23:59:55,a,0,0\n2024-03-08,00:00:05,a,100,0\n", "a"),
            ("utc_d,utc_t,name,x,y\n2024/03/07,23:59:55,,0,0\n2024/03/08,00:00:05,,100,0\n", "walk"),
            ("time,node,x,y\n08:15:00,a,0,0\n08:15:10,a,100,0\n", "a"),
            (sumo, "a;1"),
            (run, "n3"),
        ];
        for (text, names) in metres {
            let i = read(text).unwrap();
            assert_eq!(outcome(&i), (names.to_owned(), 10.0, [100.0, 0.0, 0.0], 10.0), "{text}");
            assert!(i.skipped[0].is_empty(), "{text}: {:?}", i.skipped);
        }
        // A thousandth of a degree of longitude on the equator is 111.32 m (WGS 84).
        let degrees = "Time,Device,Latitude,Longitude,Altitude\n0,a,0,9,100\n10,a,0,9.001,120\n";
        assert_eq!(outcome(&read(degrees).unwrap()).2, [111.3, 0.0, 20.0]);
        let flat = csv(&[("w".as_ref(), degrees)], Heights::LeaveOut).unwrap();
        assert_eq!(outcome(&flat).2, [111.3, 0.0, 0.0]);
    }

    #[test]
    fn rows_that_cannot_be_read_are_skipped_and_columns_that_say_nothing_ignored() {
        let text = "time,node,x,y,speed\n0,a,0,0,1\nx,a,1,1,1\n5,,1,1,1\n5,a,1,,1\n5,a\n10,a,100,0,1\n";
        let i = read(text).unwrap();
        let kinds = [
            "1 row without a time (line 3)",
            "1 row without a node (line 4)",
            "1 row without a place (line 5)",
            "1 row with another number of cells than the first line (line 6)",
        ];
        assert_eq!(i.skipped[0].kinds().collect::<Vec<_>>(), kinds);
        assert_eq!(i.remarks, ["dir/walk.csv: ignored columns: speed"]);
        let huge = read("time,node,x,y\n1e300,a,9,9\n0,a,0,0\n10,a,100,0\n").unwrap();
        assert_eq!(huge.table["duration_s"].as_float(), Some(10.0));
        let skipped = huge.skipped[0].kinds().next().unwrap();
        assert_eq!(skipped, "1 place with a number that is not finite (line 2)");
        let ms = read("ts,node,x,y\n1709799300000,a,0,0\n1709799310000,a,100,0\n").unwrap();
        assert_eq!(ms.remarks, ["dir/walk.csv: times are read as milliseconds since 1970"]);
    }

    #[test]
    fn what_is_no_table_of_places_is_refused() {
        let no_columns =
            "dir/walk.csv:2: no columns for the time and the place among \"time\", \"node\", \"x\"";
        let no_time = "dir/walk.csv: it has no usable content; skipped 1 row without a time (line 2)";
        let degrees = "dir/walk.csv: x and y look like degrees";
        for (text, said) in [
            ("", "dir/walk.csv: contains no lines"),
            ("0.0,a,1,2\n", "dir/walk.csv:1: no columns for the time"),
            ("# c\ntime,node,x\n", no_columns),
            ("time,node,x,y\n", "dir/walk.csv: contains no places"),
            ("time,node,x,y\na,b,c,d\n", no_time),
            ("time,node,x,y\n0,a,9.50001,51.20001\n9,a,9.50101,51.2\n", degrees),
        ] {
            let e = read(text).unwrap_err();
            assert!(e.starts_with(said), "{e}");
        }
    }

    #[test]
    fn a_node_that_was_moved_during_a_run_is_where_the_later_row_says() {
        // From 0 s to 20 s east at 10 m/s, but at 10 s it was set to y = 50, where it stays.
        let text = "time_ns,node,x_m,y_m,z_m,vx_mps,vy_mps,vz_mps,until_ns\n0,0,0,0,0,10,0,0,20000000000\n\
                    20000000000,0,200,0,0,0,0,0,\n10000000000,0,100,50,0,0,0,0,20000000000\n20000000000,0,100,50,0,0,0,0,\n";
        let (_, duration_s, place, _) = outcome(&read(text).unwrap());
        assert_eq!((duration_s, place), (20.0, [100.0, 50.0, 0.0]));
    }

    proptest::proptest! {
        #[test]
        fn any_table_is_read_or_refused(
            head in "(time|t_ms|date|node|x|y_m|lat|lon|alt|until_s|vx)(,(time|node|x|y|lat|lon|z|vx)){1,6}",
            text in "([0-9a:.,e-]{0,12}(,[0-9.e-]{0,5}){0,6}\n|\\PC{0,12}\n){0,8}",
        ) {
            if let Ok(made) = read(&format!("{head}\n{text}")) {
                let text = toml::to_string(&made.table).unwrap();
                wayhop_scenario::Scenario::from_text(&text, &[]).unwrap();
            }
        }
    }
}
