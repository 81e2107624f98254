//! GPX 1.0 and 1.1: each track is a node.

use roxmltree::Node;

use crate::error::{Error, shown};
use crate::tracks::{Clock, Fix, MOST_POINTS, geodetic, scenario, to_metres};
use crate::{Imported, Named, counted, moment, stem, xml};

/// A scenario of the tracks in GPX files. Heights are left out, and so are waypoints and routes, which have no times.
///
/// # Errors
/// If a file is no GPX, or a track has points without times.
pub fn gpx(files: &[Named<'_>]) -> Result<Imported, Error> {
    let mut named = Vec::new();
    let (mut untimed, mut count) = (0, 0);
    for (path, text) in files {
        let mut read = || -> Result<(), Error> {
            let document = xml::document(text, "gpx")?;
            let lines = xml::Lines::of(text);
            let root = document.root_element();
            untimed += xml::children(root, "wpt").count() + xml::children(root, "rte").count();
            for (i, track) in xml::children(root, "trk").enumerate() {
                let name = xml::child_text(track, "name").filter(|n| !n.is_empty());
                let name = name.map_or_else(
                    || if i == 0 { stem(path) } else { format!("{}-{}", stem(path), i + 1) },
                    str::to_owned,
                );
                named.push((name, fixes(track, &lines, &mut count)?));
            }
            Ok(())
        };
        read().map_err(|e| e.in_file(*path))?;
    }
    let (tracks, origin) = to_metres(named, Clock::Utc).map_err(|e| one_file(e, files))?;
    let mut imported = scenario(tracks, Some(origin)).map_err(|e| one_file(e, files))?;
    if untimed > 0 {
        imported.remarks.push(counted(
            untimed,
            "waypoint or route is left out: it has no times",
            "waypoints and routes are left out: they have no times",
        ));
    }
    Ok(imported)
}

/// An error about lines of the only file is about that file.
pub(crate) fn one_file(e: Error, files: &[Named<'_>]) -> Error {
    match files {
        [(path, _)] => e.in_file(*path),
        _ => e,
    }
}

fn fixes(track: Node<'_, '_>, lines: &xml::Lines, count: &mut usize) -> Result<Vec<Fix>, Error> {
    let mut all = Vec::new();
    for p in xml::all(track, "trkpt") {
        *count += 1;
        if *count > MOST_POINTS {
            return Err(
                Error::new(format!("more than {MOST_POINTS} points"), "thin the tracks out").at(xml::line(p))
            );
        }
        let (lat, lon) = (xml::number(p, "lat")?, xml::number(p, "lon")?);
        let at = |e: Error| e.at(xml::line(p));
        let place = geodetic(lat, lon)
            .ok_or_else(|| at(Error::new(format!("{lat}, {lon} is no place on the globe"), "correct it")))?;
        let time = xml::child_text(p, "time").ok_or_else(|| {
            at(Error::new(
                "a point without <time>",
                "record the track with times: how fast it was is not to be known",
            ))
        })?;
        let at_s = moment::unix_s(time).ok_or_else(|| {
            at(Error::new(format!("{} is no moment", shown(time)), "write it as 2024-05-01T12:00:00Z"))
        })?;
        all.push(Fix { at_s, place, line: lines.line(p) });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALK: &str = include_str!("../tests/data/walk.gpx");

    #[test]
    fn a_walk_and_a_drive_are_two_nodes_on_one_clock() {
        let i = gpx(&[("walk.gpx".as_ref(), WALK)]).unwrap();
        let names: Vec<_> = i.table["nodes"]["node"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["walk", "car"]);
        assert_eq!(i.table["duration_s"].as_float(), Some(30.0));
        let tracks = i.table["movement"]["tracks"].as_array().unwrap();
        // A thousandth of a degree of latitude at 40.44 degrees is 111.04 m (WGS 84): in ten seconds 11.1 m/s.
        let leg = &tracks[0]["waypoints"][0];
        assert!((leg["speed_mps"].as_float().unwrap() - 11.104).abs() < 0.01, "{leg:?}");
        // It stands from 10 s to 20 s, and the car waits for the walk's begin.
        assert_eq!(leg["pause_s"].as_float(), Some(10.0));
        assert_eq!(tracks[1]["pause_s"].as_float(), Some(5.0));
        assert_eq!(i.remarks, ["1 waypoint or route is left out: it has no times"]);
    }

    #[test]
    fn mistakes_are_told_with_file_and_line() {
        let wrong = |from: &str, to: &str| {
            gpx(&[("w.gpx".as_ref(), &WALK.replacen(from, to, 1))]).unwrap_err().to_string()
        };
        assert!(
            wrong("<time>2024-05-01T12:00:00Z</time>", "").starts_with("w.gpx:7: a point without <time>")
        );
        assert!(wrong("lat=\"40.4400\"", "lat=\"140\"").starts_with("w.gpx:7: 140, -79.94"));
        assert!(wrong("lat=\"40.4400\"", "lat=\"x\"").starts_with("w.gpx:7: lat=\"x\" is no number"));
        assert!(wrong("12:00:00Z", "noon").starts_with("w.gpx:7: \"2024-05-01Tnoon\" is no moment"));
        // As the file says it, and not in seconds since 1970.
        assert_eq!(
            wrong("2024-05-01T12:00:00Z", "2024-05-01T14:00:11.25+02:00"),
            "w.gpx:8: 2024-05-01T12:00:10Z is earlier than 2024-05-01T12:00:11.250Z before it; put the places of each node in order of time"
        );
        assert!(wrong("</gpx>", "").starts_with("w.gpx:"));
        assert!(gpx(&[("w.gpx".as_ref(), "<kml/>")]).unwrap_err().to_string().contains("and not with <gpx>"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "<gpx>(<trk>|</trk>|<trkpt lat=\"[0-9.-]{0,4}\" lon=\"1\">|</trkpt>|<time>[0-9T:Z-]{0,20}</time>|\\PC{0,5}){0,12}</gpx>") {
            let _ = gpx(&[("w".as_ref(), &text)]);
        }
    }
}
