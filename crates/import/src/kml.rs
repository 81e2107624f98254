//! KML: placemarks with a track (`gx:Track`) or a point are nodes.

use roxmltree::Node;

use crate::error::{Error, shown};
use crate::gpx::one_file;
use crate::tracks::{Fix, MOST_POINTS, geodetic, scenario, to_metres};
use crate::{Imported, Named, moment, stem, xml};

/// A scenario of the placemarks in KML files: those with a `gx:Track` move, those with a `Point` stand. Heights are left out.
///
/// # Errors
/// If a file is no KML, or a placemark has another shape: lines and areas have no times.
pub fn kml(files: &[Named<'_>]) -> Result<Imported, Error> {
    let mut named = Vec::new();
    let mut count = 0;
    for (path, text) in files {
        let mut read = || -> Result<(), Error> {
            let document = xml::document(text, "kml")?;
            let lines = xml::Lines::of(text);
            for mark in xml::all(document.root_element(), "Placemark") {
                let name = xml::child_text(mark, "name").filter(|n| !n.is_empty());
                let name = name.map_or_else(|| stem(path), str::to_owned);
                named.push((name, fixes(mark, &lines, &mut count)?));
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
    let (tracks, origin) = to_metres(named).map_err(|e| one_file(e, files))?;
    scenario(tracks, Some(origin)).map_err(|e| one_file(e, files))
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

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "<kml>(<Placemark>|</Placemark>|<Track>|</Track>|<when>[0-9T:Z-]{0,20}</when>|<coord>[0-9. -]{0,8}</coord>|<Point><coordinates>[0-9,.-]{0,8}</coordinates></Point>){0,10}</kml>") {
            let _ = kml(&[("k".as_ref(), &text)]);
        }
    }
}
