//! SUMO's floating car data (`--fcd-output`): vehicles, persons and containers are nodes that come and go.

use roxmltree::Node;
use rustc_hash::{FxHashMap, FxHashSet};
use wayhop_core::Position;
use wayhop_document::Result;

use crate::globe::{Fix, Heights, NodeFixes, geodetic, look_like_degrees, to_metres};
use crate::gpx::NO_PLACE;
use crate::notes::Notes;
use crate::track::{Point, Track};
use crate::tracks::scenario;
use crate::{ImportedScenario, NamedText, xml};

/// What SUMO calls those that move.
const MOVERS: [&str; 3] = ["vehicle", "person", "container"];
/// What heights in SUMO's networks count from.
const DATUM: &str = "the network's zero";

const OTHER: [&str; 2] = [
    "element other than a vehicle, person or container",
    "elements other than vehicles, persons and containers",
];
const NO_TIME: [&str; 2] = ["<timestep> without a time", "<timestep>s without a time"];
const NO_ID: [&str; 2] =
    ["vehicle, person or container without an id", "vehicles, persons and containers without an id"];
const NO_NUMBERS: [&str; 2] =
    ["place whose x, y or z is missing or not a number", "places whose x, y or z is missing or not a number"];

/// What the numbers of the places are.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum FcdCoordinates {
    /// What the file shows them to be.
    #[default]
    Detect,
    /// Longitude and latitude (`--fcd-output.geo`).
    Degrees,
    /// Metres.
    Metres,
}

/// Where a mover is at a moment.
#[derive(Copy, Clone)]
struct MoverRow {
    at_s: f64,
    x: f64,
    y: f64,
    z: Option<f64>,
    speed_mps: Option<f64>,
    line: u32,
}

/// One that moves: a vehicle and a person may have the same id.
#[derive(Default)]
struct Mover {
    kind: String,
    id: String,
    rows: Vec<MoverRow>,
}

/// A scenario from the movers in a file, which are down before they appear and after they disappear. Fails if the
/// file is not floating car data, or has no position of a mover.
pub fn fcd(file: NamedText<'_>, places: FcdCoordinates, heights: Heights) -> Result<ImportedScenario> {
    let (path, text) = file;
    read(text, places, heights, Notes::of([path])).map_err(|e| e.in_file(path))
}

fn read(text: &str, places: FcdCoordinates, heights: Heights, mut notes: Notes) -> Result<ImportedScenario> {
    let text = xml::whole(text, &mut notes.skipped[0]);
    let document = xml::document(&text, "fcd-export")?;
    let movers = movers(document.root_element(), &xml::Lines::of(&text), &mut notes)?;
    let why = match places {
        FcdCoordinates::Detect => why_degrees(document.root(), &movers),
        FcdCoordinates::Degrees | FcdCoordinates::Metres => None,
    };
    if let Some(why) = why {
        notes.remarks.push(format!(
            "positions are read as longitude and latitude ({why}); confirm with --geo, or override with --metres"
        ));
    }
    let mut kinds: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
    for m in &movers {
        kinds.entry(&m.id).or_default().insert(&m.kind);
    }
    let shared: FxHashSet<String> =
        kinds.into_iter().filter(|(_, kinds)| kinds.len() > 1).map(|(id, _)| id.to_owned()).collect();
    let name = |m: &Mover| if shared.contains(&m.id) { format!("{}-{}", m.kind, m.id) } else { m.id.clone() };
    let (mut tracks, origin) = if places == FcdCoordinates::Degrees || why.is_some() {
        let found = |m: &Mover| NodeFixes { name: name(m), file: 0, fixes: fixes(&m.rows, &mut notes) };
        let found = movers.iter().map(found).collect();
        to_metres(found, heights, DATUM, &mut notes)?
    } else {
        let track = |m: &Mover| Track { name: name(m), points: points(&m.rows, heights), ..Track::default() };
        (movers.iter().map(track).collect(), None)
    };
    for t in &mut tracks {
        t.comes_and_goes = true;
    }
    scenario(tracks, origin, None, notes)
}

/// Those that move, in the order in which they appear.
fn movers(root: Node<'_, '_>, lines: &xml::Lines, notes: &mut Notes) -> Result<Vec<Mover>> {
    let mut all: Vec<Mover> = Vec::new();
    let mut known: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    for step in xml::elements(root) {
        if step.tag_name().name() != "timestep" {
            notes.skipped[0].add(lines.line(step), OTHER);
            continue;
        }
        let Some(at_s) = step.attribute("time").and_then(seconds) else {
            notes.skipped[0].add(lines.line(step), NO_TIME);
            continue;
        };
        for mover in xml::elements(step) {
            let line = lines.line(mover);
            notes.count_point(line)?;
            let kind = mover.tag_name().name();
            let wrong = match (row(mover, at_s, line), mover.attribute("id")) {
                _ if !MOVERS.contains(&kind) => OTHER,
                (None, _) => NO_NUMBERS,
                (_, None) => NO_ID,
                (Some(row), Some(id)) => {
                    let at = *known.entry((kind, id)).or_insert_with(|| {
                        all.push(Mover { kind: kind.to_owned(), id: id.to_owned(), rows: Vec::new() });
                        all.len() - 1
                    });
                    all[at].rows.push(row);
                    continue;
                }
            };
            notes.skipped[0].add(line, wrong);
        }
    }
    Ok(all)
}

/// A time in seconds, or as `--human-readable-time` has it: hours, minutes and seconds, perhaps with days in front.
fn seconds(text: &str) -> Option<f64> {
    let parts: Vec<f64> = text.split(':').map(xml::finite).collect::<Option<_>>()?;
    match parts[..] {
        [s] => Some(s),
        [h, m, s] => Some((h * 60.0 + m) * 60.0 + s),
        [d, h, m, s] => Some(((d * 24.0 + h) * 60.0 + m) * 60.0 + s),
        _ => None,
    }
}

fn row(mover: Node<'_, '_>, at_s: f64, line: u32) -> Option<MoverRow> {
    let number = |name| mover.attribute(name).and_then(xml::finite);
    let z = number("z");
    if z.is_none() && mover.has_attribute("z") {
        return None;
    }
    Some(MoverRow { at_s, x: number("x")?, y: number("y")?, z, speed_mps: number("speed"), line })
}

fn fixes(rows: &[MoverRow], notes: &mut Notes) -> Vec<Fix> {
    let fix = |r: &MoverRow| {
        let place = geodetic(r.y, r.x);
        if place.is_none() {
            notes.skipped[0].add(r.line, NO_PLACE);
        }
        Some(Fix { at_s: r.at_s, place: place?, height_m: r.z, line: r.line })
    };
    rows.iter().filter_map(fix).collect()
}

fn points(rows: &[MoverRow], heights: Heights) -> Vec<Point> {
    let z = |r: &MoverRow| r.z.filter(|_| heights == Heights::Read).unwrap_or(0.0);
    let point = |r: &MoverRow| Point { at_s: r.at_s, place: Position::new(r.x, r.y, z(r)), line: r.line };
    rows.iter().map(point).collect()
}

/// Why the positions are in degrees, if they are: SUMO's configuration above the data says so, or movers cover a tiny
/// part of the distance that their speeds imply, or - if nothing moves - there are as many decimals as only degrees
/// have.
fn why_degrees(document: Node<'_, '_>, movers: &[Mover]) -> Option<&'static str> {
    let heads: Vec<&str> = document.children().filter(Node::is_comment).filter_map(|c| c.text()).collect();
    if heads.iter().any(|head| has_geo_on(head)) {
        return Some("according to the options in the file's header");
    }
    let rows = || movers.iter().flat_map(|m| &m.rows);
    if rows().any(|r| geodetic(r.y, r.x).is_none()) || heads.iter().any(|head| head.contains("<fcd-output "))
    {
        return None;
    }
    let (mut gone, mut driven_m) = (0.0, 0.0);
    for w in movers.iter().flat_map(|m| m.rows.windows(2)) {
        if let Some(speed_mps) = w[1].speed_mps {
            let [a, b] = [0, 1].map(|i| Position::new(w[i].x, w[i].y, 0.0));
            gone += a.distance(b);
            driven_m += speed_mps * (w[1].at_s - w[0].at_s);
        }
    }
    if driven_m >= 1.0 {
        return (gone < driven_m / 1e3)
            .then_some("their distances are less than a thousandth of what their speeds imply");
    }
    // SUMO writes metres with two decimals, and degrees with six.
    look_like_degrees(rows().map(|r| (r.x, r.y)))
        .then_some("more than three decimals, and all within 180 and 90")
}

/// Whether the options in a head have `fcd-output.geo` switched on.
fn has_geo_on(head: &str) -> bool {
    let Some((_, rest)) = head.split_once("<fcd-output.geo") else { return false };
    let value = rest.split('"').nth(1).unwrap_or_default();
    matches!(value.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on" | "x" | "t")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARS: &str = include_str!("../tests/data/cars.fcd.xml");

    #[test]
    fn vehicles_come_and_go() {
        let i = fcd(("cars.fcd.xml".as_ref(), CARS), FcdCoordinates::Detect, Heights::Read).unwrap();
        assert_eq!(i.node_names(), ["red", "walker", "blue"]);
        let first = &i.table["movement"]["tracks"][0];
        assert_eq!(first["waypoints"][0]["speed_mps"].as_float(), Some(10.0));
        // Red leaves after 2 s; blue comes after 1 s and stays.
        let expected = "outages = [{ node = 0, start_s = 2.0 }, { node = 2, start_s = 0.0, length_s = 1.0 }]";
        assert_eq!(i.table["outages"], expected.parse::<toml::Table>().unwrap()["outages"]);
    }

    fn skipped(text: &str, places: FcdCoordinates) -> Result<String, String> {
        let made = fcd(("c".as_ref(), text), places, Heights::Read).map_err(|e| e.to_string())?;
        Ok(made.skipped[0].kinds().collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn what_cannot_be_read_is_skipped_by_its_line() {
        let bus = "1 element other than a vehicle, person or container (line 9)";
        for (from, to, said) in [
            ("x=\"0.00\"", "", "1 place whose x, y or z is missing or not a number (line 4)"),
            ("<vehicle id=\"blue\"", "<bus id=\"blue\"", bus),
            ("<vehicle id=\"blue\"", "<vehicle", "1 vehicle, person or container without an id (line 9)"),
            ("time=\"1.00\"", "time=\"one\"", "1 <timestep> without a time (line 7)"),
        ] {
            assert_eq!(skipped(&CARS.replacen(from, to, 1), FcdCoordinates::Detect).unwrap(), said);
        }
        let metres = skipped(CARS, FcdCoordinates::Degrees).unwrap_err();
        assert!(metres.contains("km from the median"), "{metres}");
        assert!(skipped("<fcd-export/>", FcdCoordinates::Detect).unwrap_err().contains("no places"));
    }

    /// Two cars, at two moments a second apart; the second one stands.
    fn two(head: &str, speed: &str, from: [&str; 2], to: [&str; 2]) -> String {
        let step = |time: u32, [x, y]: [&str; 2]| {
            format!(
                "<timestep time=\"{time}\"><vehicle id=\"a\" x=\"{x}\" y=\"{y}\"{speed}/>\
                 <vehicle id=\"b\" x=\"{}\" y=\"{}\"/></timestep>",
                from[0], from[1]
            )
        };
        format!("{head}<fcd-export>{}{}</fcd-export>", step(0, from), step(1, to))
    }

    #[test]
    fn degrees_are_told_from_metres() {
        let geo = "<!-- <fcd-output value=\"o.xml\"/> <fcd-output.geo value=\"true\"/> -->";
        let plain = "<!-- <fcd-output value=\"o.xml\"/> -->";
        let speed = " speed=\"10.0\"";
        // SUMO's places near Munich, and metres near a network's corner; the outcome by SUMO's own options.
        for (name, text, are_degrees) in [
            ("the head says so", two(geo, "", ["11.57", "48.13"], ["11.57", "48.13"]), true),
            ("the head does not", two(plain, "", ["11.57000", "48.13123"], ["11.58", "48.13"]), false),
            ("by speed", two("", speed, ["11.57", "48.13"], ["11.570131", "48.13"]), true),
            ("metres by speed", two("", speed, ["11.57", "48.13"], ["21.57", "48.13"]), false),
            ("by decimals", two("", "", ["11.570131", "48.131234"], ["11.570131", "48.131234"]), true),
            ("metres by decimals", two("", "", ["11.57", "48.13"], ["11.57", "48.13"]), false),
            ("beyond degrees", two("", speed, ["190.57", "48.13"], ["190.5701", "48.13"]), false),
        ] {
            let made = fcd(("c".as_ref(), &text), FcdCoordinates::Detect, Heights::Read).unwrap();
            assert_eq!(made.table.contains_key("origin"), are_degrees, "{name}");
            assert_eq!(made.remarks.len(), usize::from(are_degrees), "{name}: {:?}", made.remarks);
            let metres = fcd(("c".as_ref(), &text), FcdCoordinates::Metres, Heights::Read).unwrap();
            assert!(!metres.table.contains_key("origin") && metres.remarks.is_empty(), "{name}");
        }
    }

    #[test]
    fn degrees_are_put_in_the_frame_of_the_first_place() {
        let text = "<fcd-export><timestep time=\"0\"><vehicle id=\"a\" x=\"8.0\" y=\"50.0\"/></timestep>\
                    <timestep time=\"10\"><vehicle id=\"a\" x=\"8.0\" y=\"50.001\"/></timestep></fcd-export>";
        let i = fcd(("g".as_ref(), text), FcdCoordinates::Degrees, Heights::Read).unwrap();
        assert_eq!(i.table["origin"]["lat"].as_float(), Some(50.0));
        // A thousandth of a degree of latitude at 50 degrees is 111.23 m (WGS 84).
        let to = i.table["movement"]["tracks"][0]["waypoints"][0]["at"]["y"].as_float().unwrap();
        assert!((to - 111.23).abs() < 0.1, "{to}");
    }

    proptest::proptest! {
        #[test]
        fn any_data_are_read_or_refused(text in "<fcd-export>(<timestep time=\"[0-9.e-]{0,5}\">|</timestep>|<(vehicle|person) id=\"[ab]?\" x=\"[0-9.e-]{0,4}\" y=\"1\"/>){0,10}</fcd-export>", is_geo: bool) {
            let places = if is_geo { FcdCoordinates::Degrees } else { FcdCoordinates::Detect };
            let _ = fcd(("c".as_ref(), &text), places, Heights::Read);
        }
    }
}
