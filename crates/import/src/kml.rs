//! KML (OGC 12-007r2): placemarks with a track (`gx:Track`) or a point are nodes.

use roxmltree::Node;

use crate::error::{Error, shown};
use crate::gpx::one_file;
use crate::tracks::{Clock, Fix, MOST_POINTS, geodetic, scenario, to_metres};
use crate::{Imported, Named, counted, moment, stem, xml};

/// Content that is elsewhere, or changes what is here.
const NOT_IN_THE_FILE: [&str; 2] = ["NetworkLink", "Update"];
/// What is drawn beside placemarks: pictures on the map, and flights over it.
const DRAWN: [&str; 4] = ["GroundOverlay", "ScreenOverlay", "PhotoOverlay", "Tour"];
/// When something is shown.
const TIMES: [&str; 2] = ["TimeStamp", "TimeSpan"];
/// What may have one.
const FEATURES: [&str; 3] = ["Document", "Folder", "Placemark"];

/// What is left out, with a remark.
#[derive(Default)]
struct LeftOut {
    drawn: usize,
    without_a_place: usize,
    times: usize,
}

/// A scenario of the placemarks in KML files: those with a `gx:Track` move, those with a `Point` stand. Heights are left out. Placemarks
/// without a place, pictures, tours and when something is shown are left out with a remark.
///
/// # Errors
/// If a file is no KML, has content that is elsewhere, or a placemark has another shape, as lines and areas have no times, or is at a point
/// at some moment only.
pub fn kml(files: &[Named<'_>]) -> Result<Imported, Error> {
    let mut named = Vec::new();
    let mut count = 0;
    let mut left_out = LeftOut::default();
    for (path, text) in files {
        let mut read = || -> Result<(), Error> {
            let document = xml::document(text, "kml")?;
            let lines = xml::Lines::of(text);
            around(document.root_element(), &mut left_out)?;
            for mark in xml::all(document.root_element(), "Placemark") {
                let name = xml::child_text(mark, "name").filter(|n| !n.is_empty());
                let name = name.map_or_else(|| stem(path), str::to_owned);
                let fixes = fixes(mark, &lines, &mut count)?;
                if fixes.is_empty() {
                    left_out.without_a_place += 1;
                } else {
                    named.push((name, fixes));
                }
            }
            Ok(())
        };
        read().map_err(|e| e.in_file(*path))?;
    }
    // Those that stand are there from the first moment on.
    let moving = named.iter().flat_map(|(_, fixes)| fixes).map(|f: &Fix| f.at_s).filter(|s| s.is_finite());
    let begin_s = moving.fold(f64::INFINITY, f64::min);
    let begin_s = if begin_s.is_finite() { begin_s } else { 0.0 };
    for f in named.iter_mut().flat_map(|(_, fixes)| fixes) {
        if f.at_s.is_nan() {
            f.at_s = begin_s;
        }
    }
    let (tracks, origin) = to_metres(named, Clock::Utc).map_err(|e| one_file(e, files))?;
    let mut imported = scenario(tracks, Some(origin)).map_err(|e| one_file(e, files))?;
    imported.remarks.extend(left_out.remarks());
    Ok(imported)
}

/// Looks at what is there beside the placemarks' places.
fn around(root: Node<'_, '_>, left_out: &mut LeftOut) -> Result<(), Error> {
    for n in root.descendants().filter(Node::is_element) {
        let name = n.tag_name().name();
        if NOT_IN_THE_FILE.contains(&name) {
            let what = format!("<{name}> tells of content that is elsewhere");
            let remedy = "take it out, and give the file with the content itself";
            return Err(Error::new(what, remedy).at(xml::line(n)));
        }
        left_out.drawn += usize::from(DRAWN.contains(&name));
        let of = n.parent().filter(|p| FEATURES.contains(&p.tag_name().name()));
        if let Some(of) = of.filter(|_| TIMES.contains(&name)) {
            if xml::all(of, "Point").next().is_some() && of.tag_name().name() == "Placemark" {
                let what = format!("a <Point> with a <{name}> is there at some moment, and then not");
                let remedy = "give a gx:Track for what moves, or take the time out: a Point stands";
                return Err(Error::new(what, remedy).at(xml::line(n)));
            }
            left_out.times += 1;
        }
    }
    Ok(())
}

impl LeftOut {
    fn remarks(&self) -> Vec<String> {
        let all = [
            (
                self.without_a_place,
                "placemark without a place is left out",
                "placemarks without a place are left out",
            ),
            (self.drawn, "overlay or tour is left out", "overlays and tours are left out"),
            (
                self.times,
                "time at which something is shown is left out",
                "times at which something is shown are left out",
            ),
        ];
        let those = all.into_iter().filter(|(count, ..)| *count > 0);
        those.map(|(count, one, several)| counted(count, one, several)).collect()
    }
}

fn fixes(mark: Node<'_, '_>, lines: &xml::Lines, count: &mut usize) -> Result<Vec<Fix>, Error> {
    let timeless = ["LineString", "LinearRing", "Polygon", "Model", "GroundOverlay"];
    if let Some(shape) = mark.descendants().find(|n| timeless.contains(&n.tag_name().name())) {
        let what = format!("a <{}> has no times", shape.tag_name().name());
        return Err(Error::new(
            what,
            "give a gx:Track for what moves and a Point for what stands, or take it out",
        )
        .at(xml::line(shape)));
    }
    let mut all = Vec::new();
    for track in xml::all(mark, "Track") {
        let whens: Vec<Node<'_, '_>> = xml::children(track, "when").collect();
        let coordinates: Vec<Node<'_, '_>> = xml::children(track, "coord").collect();
        if whens.len() != coordinates.len() {
            let what = format!("{} <when> and {} <gx:coord>", whens.len(), coordinates.len());
            return Err(Error::new(what, "give one of each for every place").at(xml::line(track)));
        }
        for (when, coordinate) in whens.into_iter().zip(coordinates) {
            *count += 1;
            if *count > MOST_POINTS {
                return Err(Error::new(format!("more than {MOST_POINTS} places"), "thin the tracks out")
                    .at(xml::line(when)));
            }
            let text = when.text().unwrap_or_default();
            let at_s = moment::unix_s(text).ok_or_else(|| {
                Error::new(format!("{} is no moment", shown(text.trim())), "write it as 2024-05-01T12:00:00Z")
                    .at(xml::line(when))
            })?;
            let place = place(coordinate, char::is_whitespace)?;
            all.push(Fix { at_s, place, line: lines.line(coordinate) });
        }
    }
    for point in xml::all(mark, "Point") {
        let Some(coordinates) = xml::children(point, "coordinates").next() else {
            return Err(Error::new("a <Point> without <coordinates>", "add them").at(xml::line(point)));
        };
        let place = place(coordinates, |c| c == ',')?;
        all.push(Fix { at_s: f64::NAN, place, line: lines.line(coordinates) });
    }
    if xml::all(mark, "Point").count() > usize::from(all.len() == 1) {
        return Err(Error::new("a placemark with several shapes", "give each node a placemark of its own")
            .at(xml::line(mark)));
    }
    Ok(all)
}

/// Longitude, latitude and perhaps height.
fn place(n: Node<'_, '_>, between: impl Fn(char) -> bool) -> Result<wayhop_world::Geodetic, Error> {
    let text = n.text().unwrap_or_default().trim();
    let mut numbers = text.split(between).filter(|w| !w.is_empty()).map(|w| w.trim().parse::<f64>().ok());
    let lon_lat = numbers.next().flatten().zip(numbers.next().flatten());
    let rest_fits = numbers.next().is_none_or(|height| height.is_some()) && numbers.next().is_none();
    lon_lat.filter(|_| rest_fits).and_then(|(lon, lat)| geodetic(lat, lon)).ok_or_else(|| {
        Error::new(
            format!("{} is no place on the globe", shown(text)),
            "give longitude, latitude and perhaps a height",
        )
        .at(xml::line(n))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: &str = include_str!("../tests/data/site.kml");

    #[test]
    fn a_track_moves_and_a_point_stands() {
        let i = kml(&[("site.kml".as_ref(), SITE)]).unwrap();
        let tracks = i.table["movement"]["tracks"].as_array().unwrap();
        assert_eq!(tracks.len(), 2);
        assert!(tracks[0].get("waypoints").is_none(), "the office stands");
        // A thousandth of a degree of longitude on the equator is 111.32 m (WGS 84), in 20 s.
        let speed = tracks[1]["waypoints"][0]["speed_mps"].as_float().unwrap();
        assert!((speed - 5.566).abs() < 0.001, "{speed}");
    }

    #[test]
    fn what_has_no_times_is_refused_by_its_line() {
        let line = SITE.replace("<Point>", "<LineString>").replace("</Point>", "</LineString>");
        assert!(
            kml(&[("s.kml".as_ref(), &line)])
                .unwrap_err()
                .to_string()
                .starts_with("s.kml:6: a <LineString> has no times")
        );
        let few = SITE.replacen("<when>2024-05-01T12:00:20Z</when>", "", 1);
        assert!(
            kml(&[("s.kml".as_ref(), &few)]).unwrap_err().to_string().starts_with("s.kml:10: 1 <when> and 2")
        );
        let far = SITE.replace("0.001 0 0", "0.001 91 0");
        assert!(
            kml(&[("s.kml".as_ref(), &far)]).unwrap_err().to_string().contains("is no place on the globe")
        );
    }

    #[test]
    fn what_a_scenario_cannot_say_is_refused_by_its_line_or_told() {
        let with = |more: &str| {
            let text = SITE.replacen("<Document>", &format!("<Document>\n{more}"), 1);
            kml(&[("s.kml".as_ref(), &text)]).map(|i| i.remarks).map_err(|e| e.to_string())
        };
        for (more, message) in [
            (
                "<NetworkLink><Link/></NetworkLink>",
                "s.kml:4: <NetworkLink> tells of content that is elsewhere; ",
            ),
            (
                "<Placemark><TimeStamp/><Point><coordinates>0,0</coordinates></Point></Placemark>",
                "s.kml:4: a <Point> with a <TimeStamp> is there at some moment",
            ),
        ] {
            let said = with(more).unwrap_err();
            assert!(said.starts_with(message), "{said}");
        }
        for (more, remark) in [
            ("<Placemark><name>none</name></Placemark>", "1 placemark without a place is left out"),
            ("<Placemark/><Placemark/>", "2 placemarks without a place are left out"),
            ("<Folder><GroundOverlay/></Folder>", "1 overlay or tour is left out"),
            ("<Folder><TimeSpan/></Folder>", "1 time at which something is shown is left out"),
        ] {
            assert_eq!(with(more).unwrap(), [remark]);
        }
        assert_eq!(with("").unwrap(), [""; 0]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "<kml>(<Placemark>|</Placemark>|<Track>|</Track>|<when>[0-9T:Z-]{0,20}</when>|<coord>[0-9. -]{0,8}</coord>|<Point><coordinates>[0-9,.-]{0,8}</coordinates></Point>){0,10}</kml>") {
            let _ = kml(&[("k".as_ref(), &text)]);
        }
    }
}
