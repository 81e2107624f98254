//! GPX 1.0 and 1.1: each track is a node.

use roxmltree::Node;
use wayhop_document::{Omissions, Result};

use crate::globe::{Fix, Heights, NodeFixes, geodetic, to_metres};
use crate::notes::Notes;
use crate::tracks::scenario;
use crate::{ImportedScenario, NamedText, moment, stem, xml};

/// What heights in GPX count from.
const DATUM: &str = "mean sea level";
const NO_TIME: [&str; 2] = ["point without <time>", "points without <time>"];
const UNTIMED: [&str; 2] =
    ["waypoint or route, which has no times", "waypoints and routes, which have no times"];
const NO_MOMENT: [&str; 2] =
    ["point whose <time> is not a date and time", "points whose <time> is not a date and time"];
pub(crate) const NO_PLACE: [&str; 2] =
    ["point without a place on the globe", "points without a place on the globe"];

/// A scenario from the tracks in GPX files. Points without a time or a position are skipped; waypoints and routes,
/// which have no times, are ignored. Fails if a file is not GPX, or no track has a point with time and position.
pub fn gpx(files: &[NamedText<'_>], heights: Heights) -> Result<ImportedScenario> {
    let mut found = Vec::new();
    let mut notes = Notes::of(files.iter().map(|(path, _)| *path));
    let mut untimed = 0;
    for (file, (path, text)) in files.iter().enumerate() {
        let mut read = || -> Result<()> {
            let text = xml::whole(text, &mut notes.skipped[file]);
            let document = xml::document(&text, "gpx")?;
            let lines = xml::Lines::of(&text);
            let root = document.root_element();
            untimed += xml::children(root, "wpt").count() + xml::children(root, "rte").count();
            for (i, track) in xml::children(root, "trk").enumerate() {
                let name = xml::child_text(track, "name").filter(|n| !n.is_empty());
                let numbered = || if i == 0 { stem(path) } else { format!("{}-{}", stem(path), i + 1) };
                let name = name.map_or_else(numbered, str::to_owned);
                found.push(NodeFixes { name, file, fixes: fixes(track, &lines, file, &mut notes)? });
            }
            Ok(())
        };
        read().map_err(|e| e.in_file(path))?;
    }
    let (tracks, origin) = to_metres(found, heights, DATUM, &mut notes)?;
    notes.ignored(untimed, UNTIMED);
    scenario(tracks, origin, None, notes)
}

/// The points of a track's segments, which some programs write newest first.
fn fixes(track: Node<'_, '_>, lines: &xml::Lines, file: usize, notes: &mut Notes) -> Result<Vec<Fix>> {
    let mut segments: Vec<Vec<Fix>> = Vec::new();
    for segment in xml::children(track, "trkseg") {
        let mut all = Vec::new();
        for p in xml::children(segment, "trkpt") {
            let line = lines.line(p);
            notes.count_point(line)?;
            all.extend(fix(p, line, &mut notes.skipped[file]));
        }
        segments.push(all);
    }
    segments.retain(|s| !s.is_empty());
    segments.sort_by(|a, b| a[0].at_s.total_cmp(&b[0].at_s));
    Ok(segments.concat())
}

fn fix(p: Node<'_, '_>, line: u32, skipped: &mut Omissions) -> Option<Fix> {
    let degrees = |name| p.attribute(name).and_then(xml::finite);
    let place = degrees("lat").zip(degrees("lon")).and_then(|(lat, lon)| geodetic(lat, lon));
    let time = xml::child_text(p, "time");
    let at_s = time.and_then(moment::unix_s);
    let wrong = match (place, time, at_s) {
        (Some(place), _, Some(at_s)) => {
            let height_m = xml::child_text(p, "ele").and_then(xml::finite);
            return Some(Fix { at_s, place, height_m, line });
        }
        (None, ..) => NO_PLACE,
        (_, None, _) => NO_TIME,
        _ => NO_MOMENT,
    };
    skipped.add(line, wrong);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALK: &str = include_str!("../tests/data/walk.gpx");

    #[test]
    fn a_walk_and_a_drive_are_two_nodes_on_one_clock() {
        let i = gpx(&[("walk.gpx".as_ref(), WALK)], Heights::Read).unwrap();
        assert_eq!(i.node_names(), ["walk", "car"]);
        assert_eq!(i.table["duration_s"].as_float(), Some(30.0));
        let tracks = i.table["movement"]["tracks"].as_array().unwrap();
        // A thousandth of a degree of latitude at 40.44 degrees is 111.04 m (WGS 84): in ten seconds 11.1 m/s.
        let leg = &tracks[0]["waypoints"][0];
        assert!((leg["speed_mps"].as_float().unwrap() - 11.104).abs() < 0.01, "{leg:?}");
        // It stands from 10 s to 20 s, and the car waits for the walk's begin.
        assert_eq!(leg["pause_s"].as_float(), Some(10.0));
        assert_eq!(tracks[1]["pause_s"].as_float(), Some(5.0));
        let ignored = "ignored 1 waypoint or route, which has no times";
        assert_eq!(i.remarks, ["heights are ignored: car has none", ignored]);
    }

    #[test]
    fn what_is_no_gpx_is_refused() {
        let said = |text: &str| gpx(&[("w.gpx".as_ref(), text)], Heights::Read).unwrap_err().to_string();
        assert!(said(&WALK.replace("</trk>", "</trek>")).starts_with("w.gpx:"));
        let kml = "w.gpx:1: starts with <kml> instead of <gpx>; check that this is the right file";
        assert_eq!(said("<kml/>"), kml);
        assert!(said("<!DOCTYPE gpx>\n<gpx/>").contains("remove <!DOCTYPE ...>"));
        assert!(said("<gpx><trk/></gpx>").starts_with("w.gpx: contains no places"));
        let timeless =
            "<gpx><trk><trkseg>\n<trkpt lat='1' lon='2'/>\n<trkpt lat='1' lon='200'/></trkseg></trk></gpx>";
        let skipped = "1 point without <time> (line 2), 1 point without a place on the globe (line 3)";
        let remedy = "use a file with times and positions of at least one node";
        assert_eq!(said(timeless), format!("w.gpx: it has no usable content; skipped {skipped}; {remedy}"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "<gpx>(<trk>|</trk>|<trkpt lat=\"[0-9.-]{0,4}\" lon=\"1\">|</trkpt>|<time>[0-9T:Z-]{0,20}</time>|\\PC{0,5}){0,12}</gpx>") {
            let _ = gpx(&[("w".as_ref(), &text)], Heights::Read);
        }
    }
}
