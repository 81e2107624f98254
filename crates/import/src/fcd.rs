//! SUMO's floating car data (`--fcd-output`): vehicles, persons and containers are nodes that come and go.

use rustc_hash::FxHashMap;
use wayhop_core::Position;

use crate::error::Error;
use crate::tracks::{Clock, Fix, MOST_POINTS, Point, Track, geodetic, scenario, to_metres};
use crate::{Imported, Named, xml};

/// What SUMO calls those that move.
const MOVERS: [&str; 3] = ["vehicle", "person", "container"];

/// Time, x, y, z and line.
type Row = (f64, f64, f64, f64, u32);

/// A scenario of the movers in a file, which are down before they appear and after they disappear. With `is_geo` the file has longitude
/// and latitude (`--fcd-output.geo`).
///
/// # Errors
/// If the file is no floating car data, or a mover lacks its place.
pub fn fcd(file: Named<'_>, is_geo: bool) -> Result<Imported, Error> {
    let (path, text) = file;
    read(text, is_geo).map_err(|e| e.in_file(path))
}

fn read(text: &str, is_geo: bool) -> Result<Imported, Error> {
    let document = xml::document(text, "fcd-export")?;
    let lines = xml::Lines::of(text);
    let mut order: Vec<String> = Vec::new();
    let mut of: FxHashMap<String, Vec<Row>> = FxHashMap::default();
    let mut count = 0;
    for step in xml::elements(document.root_element()) {
        xml::only(step, &["timestep"], "take it out")?;
        let at_s = xml::number(step, "time")?;
        for mover in xml::elements(step) {
            xml::only(mover, &MOVERS, "take it out: who moves is a <vehicle>, <person> or <container>")?;
            if let Some(within) = xml::elements(mover).next() {
                xml::only(within, &[], "take it out")?;
            }
            count += 1;
            if count > MOST_POINTS {
                let remedy = "thin the file out (--fcd-output.period), or cut it";
                return Err(
                    Error::new(format!("more than {MOST_POINTS} places"), remedy).at(xml::line(mover))
                );
            }
            let id = mover.attribute("id").ok_or_else(|| {
                Error::new(format!("a <{}> without id", mover.tag_name().name()), "add it")
                    .at(xml::line(mover))
            })?;
            let (x, y) = (xml::number(mover, "x")?, xml::number(mover, "y")?);
            let z = xml::optional_number(mover, "z")?.unwrap_or(0.0);
            if !of.contains_key(id) {
                order.push(id.to_owned());
            }
            of.entry(id.to_owned()).or_default().push((at_s, x, y, z, lines.line(mover)));
        }
    }
    let named = order.into_iter().map(|id| {
        let places = of.remove(&id).unwrap_or_default();
        (id, places)
    });
    let (mut tracks, origin) = if is_geo {
        let fixes = |places: Vec<Row>| -> Result<Vec<Fix>, Error> {
            let fix = |(at_s, lon, lat, _, line): Row| {
                let wrong = || {
                    Error::new(
                        format!("{lat}, {lon} is no place on the globe"),
                        "leave --geo out if these are metres",
                    )
                    .at(line)
                };
                Ok(Fix { at_s, place: geodetic(lat, lon).ok_or_else(wrong)?, line })
            };
            places.into_iter().map(fix).collect()
        };
        let named = named.map(|(id, places)| Ok((id, fixes(places)?))).collect::<Result<Vec<_>, Error>>()?;
        let (tracks, origin) = to_metres(named, Clock::Seconds)?;
        (tracks, Some(origin))
    } else {
        let point = |(at_s, x, y, z, line)| Point { at_s, place: Position::new(x, y, z), line };
        let track = |(name, places): (String, Vec<_>)| Track {
            name,
            points: places.into_iter().map(point).collect(),
            comes_and_goes: true,
            clock: Clock::Seconds,
        };
        (named.map(track).collect(), None)
    };
    for t in &mut tracks {
        t.comes_and_goes = true;
    }
    scenario(tracks, origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARS: &str = include_str!("../tests/data/cars.fcd.xml");

    #[test]
    fn vehicles_come_and_go() {
        let i = fcd(("cars.fcd.xml".as_ref(), CARS), false).unwrap();
        let names: Vec<_> = i.table["nodes"]["node"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["red", "walker", "blue"]);
        let first = &i.table["movement"]["tracks"][0];
        assert_eq!(first["waypoints"][0]["speed_mps"].as_float(), Some(10.0));
        // Red leaves after 2 s; blue comes after 1 s and stays.
        let outages: Vec<_> = i.table["outages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|o| {
                (
                    o["node"].as_integer().unwrap(),
                    o["start_s"].as_float().unwrap(),
                    o.get("length_s").and_then(toml::Value::as_float),
                )
            })
            .collect();
        assert_eq!(outages, [(0, 2.0, None), (2, 0.0, Some(1.0))]);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let wrong = |from: &str, to: &str| {
            fcd(("c".as_ref(), &CARS.replacen(from, to, 1)), false).unwrap_err().to_string()
        };
        assert!(wrong("x=\"0.00\"", "").starts_with("c:4: <vehicle> has no attribute x"));
        assert_eq!(
            wrong("<vehicle id=\"blue\"", "<bus id=\"blue\""),
            "c:9: <bus> is not understood; take it out: who moves is a <vehicle>, <person> or <container>"
        );
        assert!(wrong("time=\"1.00\"", "time=\"one\"").starts_with("c:7: time=\"one\" is no number"));
        assert!(wrong("<timestep time=\"2.00\">", "<timestep time=\"0.50\">").contains("is earlier than"));
        let metres = fcd(("c".as_ref(), CARS), true).unwrap_err().to_string();
        assert!(metres.contains("km from the first place"), "{metres}");
    }

    #[test]
    fn degrees_are_put_in_the_frame_of_the_first_place() {
        let text = "<fcd-export><timestep time=\"0\"><vehicle id=\"a\" x=\"8.0\" y=\"50.0\"/></timestep>\
                    <timestep time=\"10\"><vehicle id=\"a\" x=\"8.0\" y=\"50.001\"/></timestep></fcd-export>";
        let i = fcd(("g".as_ref(), text), true).unwrap();
        assert_eq!(i.table["origin"]["lat"].as_float(), Some(50.0));
        // A thousandth of a degree of latitude at 50 degrees is 111.23 m (WGS 84).
        let to = i.table["movement"]["tracks"][0]["waypoints"][0]["at"]["y"].as_float().unwrap();
        assert!((to - 111.23).abs() < 0.1, "{to}");
    }

    proptest::proptest! {
        #[test]
        fn any_data_are_read_or_refused(text in "<fcd-export>(<timestep time=\"[0-9.e-]{0,5}\">|</timestep>|<(vehicle|person) id=\"[ab]?\" x=\"[0-9.e-]{0,4}\" y=\"1\"/>){0,10}</fcd-export>", is_geo: bool) {
            let _ = fcd(("c".as_ref(), &text), is_geo);
        }
    }
}
