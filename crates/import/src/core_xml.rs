//! CORE's session files (XML): each device is a node that stands.

use roxmltree::Node;
use wayhop_core::Position;

use crate::error::Error;
use crate::tracks::{Clock, Fix, Point, Track, geodetic, scenario, to_metres};
use crate::{Imported, Named, counted, xml};

/// CORE's own: 100 pixels of the canvas are 150 m.
const SCALE_M: f64 = 150.0;

/// A scenario of the devices of a session, at their latitudes and longitudes if all have them, else at their places on the canvas, of
/// which 100 pixels are as many metres as the session's scale says. Networks, links and what else a session has are left out, with
/// remarks: who hears whom is the radio model's.
///
/// # Errors
/// If the file is no session, or a device lacks its place.
pub fn core_xml(file: Named<'_>) -> Result<Imported, Error> {
    let (path, text) = file;
    read(text).map_err(|e| e.in_file(path))
}

fn read(text: &str) -> Result<Imported, Error> {
    let document = xml::document(text, "scenario")?;
    let root = document.root_element();
    let devices: Vec<(Node<'_, '_>, Node<'_, '_>)> = xml::all(root, "device")
        .map(|d| {
            let lacks = || Error::new("a <device> without <position>", "give it a place").at(xml::line(d));
            Ok((d, xml::children(d, "position").next().ok_or_else(lacks)?))
        })
        .collect::<Result<_, Error>>()?;
    let name = |d: Node<'_, '_>| d.attribute("name").unwrap_or_default().to_owned();
    let is_geo = devices.iter().all(|(_, p)| p.has_attribute("lat") && p.has_attribute("lon"));
    let (tracks, origin) = if is_geo {
        let mut named = Vec::new();
        for (d, p) in &devices {
            let (lat, lon, line) = (xml::number(*p, "lat")?, xml::number(*p, "lon")?, xml::line(*p));
            let wrong =
                || Error::new(format!("{lat}, {lon} is no place on the globe"), "correct it").at(line);
            named.push((
                name(*d),
                vec![Fix { at_s: 0.0, place: geodetic(lat, lon).ok_or_else(wrong)?, line }],
            ));
        }
        let (tracks, origin) = to_metres(named, Clock::Seconds)?;
        (tracks, Some(origin))
    } else {
        let scale =
            xml::all(root, "session_origin").next().map(|o| xml::optional_number(o, "scale")).transpose()?;
        let metres = scale.flatten().filter(|s| *s > 0.0).unwrap_or(SCALE_M) / 100.0;
        let mut tracks = Vec::new();
        for (d, p) in &devices {
            // On the canvas y points down.
            let (x, y) = (xml::number(*p, "x")? * metres, -xml::number(*p, "y")? * metres);
            let points = vec![Point { at_s: 0.0, place: Position::new(x, y, 0.0), line: xml::line(*p) }];
            tracks.push(Track { name: name(*d), points, comes_and_goes: false, clock: Clock::Seconds });
        }
        (tracks, None)
    };
    let mut imported = scenario(tracks, origin)?;
    imported.remarks.extend(others(root));
    let links = xml::all(root, "link").count();
    let networks = xml::all(root, "network").count();
    if links + networks > 0 {
        let networks = counted(networks, "network", "networks");
        let links = counted(links, "link", "links");
        imported.remarks.push(format!(
            "{networks} and {links} are left out: who hears whom is the radio model's, or that of a macfilter"
        ));
    }
    Ok(imported)
}

/// What of a session is read, or told of.
const READ: [&str; 4] = ["networks", "devices", "links", "session_origin"];
/// Names that a remark lists at most.
const MOST_LISTED: usize = 12;

/// A remark about what else a session has.
fn others(root: Node<'_, '_>) -> Option<String> {
    // An element without anything in it says nothing.
    let says_something = |n: &Node<'_, '_>| xml::elements(*n).next().is_some();
    let is_other = |n: &Node<'_, '_>| !READ.contains(&n.tag_name().name());
    let those = xml::elements(root).filter(is_other).filter(says_something);
    let mut names: Vec<String> =
        those.map(|n| format!("<{}>", xml::shown_name(n.tag_name().name()))).collect();
    let further = names.len().saturating_sub(MOST_LISTED);
    names.truncate(MOST_LISTED);
    let more = if further > 0 { format!(" and {further} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("left out: {}{more}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = include_str!("../tests/data/session.xml");

    #[test]
    fn devices_stand_where_the_canvas_has_them() {
        let i = core_xml(("s.xml".as_ref(), SESSION)).unwrap();
        assert_eq!(i.table["movement"]["kind"].as_str(), Some("static"));
        let places = i.table["movement"]["positions"].as_array().unwrap();
        let at = |i: usize| (places[i]["x"].as_float().unwrap(), places[i]["y"].as_float().unwrap());
        assert_eq!((at(0), at(1)), ((150.0, -300.0), (450.0, -300.0)));
        assert_eq!(i.remarks.len(), 1);
        assert!(i.remarks[0].starts_with("1 network and 1 link are left out"));
    }

    #[test]
    fn what_else_a_session_has_is_told() {
        let more = "<session_hooks><hook name=\"h\"/></session_hooks><session_servers/></scenario>";
        let i = core_xml(("s.xml".as_ref(), &SESSION.replace("</scenario>", more))).unwrap();
        assert_eq!(i.remarks[0], "left out: <session_hooks>");
    }

    #[test]
    fn devices_on_the_globe_have_an_origin() {
        let geo = SESSION
            .replace("x=\"100.0\" y=\"200.0\"", "lat=\"40.44\" lon=\"-79.94\" alt=\"2\"")
            .replace("x=\"300.0\" y=\"200.0\"", "lat=\"40.441\" lon=\"-79.94\" alt=\"2\"");
        let i = core_xml(("s.xml".as_ref(), &geo)).unwrap();
        let y = i.table["movement"]["positions"][1]["y"].as_float().unwrap();
        assert!((y - 111.04).abs() < 0.05, "{y}");
    }

    #[test]
    fn a_device_without_a_place_is_refused_by_its_line() {
        let none = SESSION.replacen("<position x=\"100.0\" y=\"200.0\"/>", "", 1);
        assert!(
            core_xml(("s.xml".as_ref(), &none))
                .unwrap_err()
                .to_string()
                .starts_with("s.xml:7: a <device> without")
        );
    }

    proptest::proptest! {
        #[test]
        fn any_session_is_read_or_refused(text in "<scenario>(<devices>|</devices>|<device name=\"\\PC{0,3}\">|</device>|<position (x|lat)=\"[0-9.e-]{0,5}\" (y|lon)=\"1\"/>){0,10}</scenario>") {
            let _ = core_xml(("s".as_ref(), &text));
        }
    }
}
