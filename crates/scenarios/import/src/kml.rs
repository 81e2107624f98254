//! KML (OGC 12-007r2): placemarks with a track (`gx:Track`) or a point are nodes.

use roxmltree::Node;
use rustc_hash::FxHashMap;
use wayhop_document::Result;
use wayhop_world::Geodetic;

use crate::globe::{Fix, Heights, NodeFixes, geodetic, to_metres};
use crate::gpx::NO_PLACE;
use crate::notes::Notes;
use crate::tracks::scenario;
use crate::{ImportedScenario, NamedText, moment, stem, xml};

/// What heights in KML count from, where a file says that they are absolute.
const DATUM: &str = "mean sea level";
/// What is on the map and nowhere at a moment.
const TIMELESS: [&str; 4] = ["LineString", "LinearRing", "Polygon", "Model"];
/// What is drawn beside placemarks: pictures on the map, and flights over it.
const DRAWN: [&str; 4] = ["GroundOverlay", "ScreenOverlay", "PhotoOverlay", "Tour"];
/// When something is shown.
const TIMES: [&str; 2] = ["TimeStamp", "TimeSpan"];

const ELSEWHERE: [&str; 2] = [
    "<NetworkLink> or <Update>, whose content is elsewhere",
    "<NetworkLink> and <Update>, whose content is elsewhere",
];
const DRAWING: [&str; 2] =
    ["line, area or model, which has no times", "lines, areas and models, which have no times"];
const BESIDE: [&str; 2] = ["timed point next to a track", "timed points next to tracks"];
const NO_MOMENT: [&str; 2] =
    ["place whose time is not a date and time", "places whose time is not a date and time"];
const UNEVEN: [&str; 2] = [
    "track whose numbers of <when> and <gx:coord> differ",
    "tracks whose numbers of <when> and <gx:coord> differ",
];

/// A scenario from the placemarks in KML files: those with a `gx:Track` move, those with a `Point` without a time
/// stay in place. In a file without a `gx:Track`, the timed points of a folder are the track of a node. Lines and
/// areas are skipped, and so are timed points next to a track, which repeat it. Fails if a file is not KML, or has no
/// position of a node.
pub fn kml(files: &[NamedText<'_>], heights: Heights) -> Result<ImportedScenario> {
    let mut found = Vec::new();
    let mut notes = Notes::of(files.iter().map(|(path, _)| *path));
    let mut ignored = IgnoredCounts::default();
    for (file, (path, text)) in files.iter().enumerate() {
        let mut read = || -> Result<()> {
            let text = xml::whole(text, &mut notes.skipped[file]);
            let document = xml::document(&text, "kml")?;
            let lines = xml::Lines::of(&text);
            let reader =
                Reader { lines, file, has_tracks: xml::all(document.root(), "Track").next().is_some() };
            reader.read(document.root_element(), &stem(path), &mut found, &mut ignored, &mut notes)
        };
        read().map_err(|e| e.in_file(path))?;
    }
    // Those that stay in place are there from the first moment on.
    let moving = found.iter().flat_map(|f| &f.fixes).map(|f: &Fix| f.at_s).filter(|s| s.is_finite());
    let begin_s = moving.fold(f64::INFINITY, f64::min);
    let begin_s = if begin_s.is_finite() { begin_s } else { 0.0 };
    for f in found.iter_mut().flat_map(|f| &mut f.fixes) {
        if f.at_s.is_nan() {
            f.at_s = begin_s;
        }
    }
    let (tracks, origin) = to_metres(found, heights, DATUM, &mut notes)?;
    notes.ignored(ignored.without_a_place, ["placemark without a place", "placemarks without a place"]);
    notes.ignored(ignored.drawn, ["overlay or tour", "overlays and tours"]);
    notes.ignored(ignored.times, ["time at which something is shown", "times at which something is shown"]);
    scenario(tracks, origin, None, notes)
}

/// What a scenario has no use for.
#[derive(Default)]
struct IgnoredCounts {
    drawn: usize,
    without_a_place: usize,
    times: usize,
}

struct Reader {
    lines: xml::Lines,
    file: usize,
    has_tracks: bool,
}

impl Reader {
    fn read(
        &self,
        root: Node<'_, '_>,
        default_name: &str,
        found: &mut Vec<NodeFixes>,
        ignored: &mut IgnoredCounts,
        notes: &mut Notes,
    ) -> Result<()> {
        for n in root.descendants().filter(Node::is_element) {
            let name = n.tag_name().name();
            if matches!(name, "NetworkLink" | "Update") {
                notes.skipped[self.file].add(self.lines.line(n), ELSEWHERE);
            }
            ignored.drawn += usize::from(DRAWN.contains(&name));
            let of = n.parent().map_or("", |p| p.tag_name().name());
            ignored.times += usize::from(TIMES.contains(&name) && matches!(of, "Document" | "Folder"));
        }
        // The folders whose points with a time are a track, and where these are.
        let mut of_folder: FxHashMap<roxmltree::NodeId, usize> = FxHashMap::default();
        for mark in xml::all(root, "Placemark") {
            let name = named(mark).unwrap_or_else(|| default_name.to_owned());
            let time = xml::elements(mark).find(|n| TIMES.contains(&n.tag_name().name()));
            let tracks: Vec<Node<'_, '_>> = xml::all(mark, "Track").collect();
            if !tracks.is_empty() {
                found.push(NodeFixes { name, file: self.file, fixes: self.tracks(&tracks, notes)? });
            } else if let Some(point) = xml::all(mark, "Point").next() {
                let Some(fix) = self.point(point, time, notes)? else { continue };
                let parent = mark.parent().unwrap_or(mark);
                if time.is_none() {
                    found.push(NodeFixes { name, file: self.file, fixes: vec![fix] });
                    continue;
                }
                let at = *of_folder.entry(parent.id()).or_insert(found.len());
                if at == found.len() {
                    let name = folder_name(parent).unwrap_or_else(|| default_name.to_owned());
                    found.push(NodeFixes { name, file: self.file, fixes: Vec::new() });
                }
                found[at].fixes.push(fix);
            } else if let Some(shape) = mark.descendants().find(|n| TIMELESS.contains(&n.tag_name().name())) {
                notes.skipped[self.file].add(self.lines.line(shape), DRAWING);
            } else {
                ignored.without_a_place += 1;
                ignored.times += usize::from(time.is_some());
            }
        }
        Ok(())
    }

    /// The places of a placemark's tracks.
    fn tracks(&self, tracks: &[Node<'_, '_>], notes: &mut Notes) -> Result<Vec<Fix>> {
        let mut all = Vec::new();
        for track in tracks {
            let whens: Vec<Node<'_, '_>> = xml::children(*track, "when").collect();
            let coordinates: Vec<Node<'_, '_>> = xml::children(*track, "coord").collect();
            if whens.len() != coordinates.len() {
                notes.skipped[self.file].add(self.lines.line(*track), UNEVEN);
                continue;
            }
            let absolute = is_absolute(*track);
            for (when, coordinate) in whens.into_iter().zip(coordinates) {
                let line = self.lines.line(coordinate);
                notes.count_point(line)?;
                let at_s = moment::unix_s(when.text().unwrap_or_default());
                let place = place(coordinate, char::is_whitespace);
                match (place, at_s) {
                    (Some((place, height_m)), Some(at_s)) => {
                        let height_m = height_m.filter(|_| absolute);
                        all.push(Fix { at_s, place, height_m, line });
                    }
                    (None, _) => notes.skipped[self.file].add(line, NO_PLACE),
                    _ => notes.skipped[self.file].add(self.lines.line(when), NO_MOMENT),
                }
            }
        }
        Ok(all)
    }

    /// The place of a placemark's point; one without a time has none yet.
    fn point(
        &self,
        point: Node<'_, '_>,
        time: Option<Node<'_, '_>>,
        notes: &mut Notes,
    ) -> Result<Option<Fix>> {
        let line = self.lines.line(point);
        notes.count_point(line)?;
        let skipped = &mut notes.skipped[self.file];
        if time.is_some() && self.has_tracks {
            skipped.add(line, BESIDE);
            return Ok(None);
        }
        let when = |t: Node<'_, '_>| {
            let begin = xml::child_text(t, "when").or_else(|| xml::child_text(t, "begin"));
            begin.and_then(moment::unix_s)
        };
        let Some(at_s) = time.map_or(Some(f64::NAN), when) else {
            skipped.add(line, NO_MOMENT);
            return Ok(None);
        };
        let place = xml::children(point, "coordinates").next().and_then(|c| place(c, |c| c == ','));
        let Some((place, height_m)) = place else {
            skipped.add(line, NO_PLACE);
            return Ok(None);
        };
        let height_m = height_m.filter(|_| is_absolute(point));
        Ok(Some(Fix { at_s, place, height_m, line }))
    }
}

/// Whether heights count: without `absolute` a shape is on the ground, or that far above it.
fn is_absolute(shape: Node<'_, '_>) -> bool {
    xml::child_text(shape, "altitudeMode") == Some("absolute")
}

fn named(n: Node<'_, '_>) -> Option<String> {
    xml::child_text(n, "name").filter(|n| !n.is_empty()).map(str::to_owned)
}

/// What a folder of points is called; GPSBabel has them in one named `Points`, within one with the track's name.
fn folder_name(folder: Node<'_, '_>) -> Option<String> {
    match named(folder) {
        Some(name) if name == "Points" => folder.parent().and_then(named),
        name => name,
    }
}

/// Longitude, latitude and perhaps height.
fn place(n: Node<'_, '_>, between: impl Fn(char) -> bool) -> Option<(Geodetic, Option<f64>)> {
    let text = n.text().unwrap_or_default().trim();
    let numbers: Vec<f64> =
        text.split(between).filter(|w| !w.is_empty()).take(4).map(xml::finite).collect::<Option<_>>()?;
    match numbers[..] {
        [lon, lat] => Some((geodetic(lat, lon)?, None)),
        [lon, lat, height_m] => Some((geodetic(lat, lon)?, Some(height_m))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: &str = include_str!("../tests/data/site.kml");

    fn said(text: &str) -> Result<(Vec<String>, Vec<String>), String> {
        let made = kml(&[("s.kml".as_ref(), text)], Heights::Read).map_err(|e| e.to_string())?;
        Ok((made.skipped[0].kinds().collect(), made.remarks))
    }

    #[test]
    fn what_a_scenario_cannot_say_is_skipped_by_its_line_or_ignored() {
        // What is put into line 4; what is skipped; what is ignored.
        let mark = |inner: &str| format!("<Placemark>{inner}</Placemark>");
        let point = |at: &str| format!("<Point><coordinates>{at}</coordinates></Point>");
        let now = "<when>2024-05-01T12:00:00Z</when>";
        let timed = mark(&format!("<TimeStamp>{now}</TimeStamp>{}", point("0,0")));
        let line = mark("<LineString><coordinates>0,0 1,1</coordinates></LineString>");
        let uneven = mark(&format!("<Track>{now}</Track>"));
        let two = mark("").repeat(2);
        let link = "1 <NetworkLink> or <Update>, whose content is elsewhere (line 4)";
        let cases = [
            ("", "", ""),
            ("<NetworkLink><Link/></NetworkLink>", link, ""),
            (&timed, "1 timed point next to a track (line 4)", ""),
            (&line, "1 line, area or model, which has no times (line 4)", ""),
            (&mark(&point("0,91")), "1 point without a place on the globe (line 4)", ""),
            (&uneven, "1 track whose numbers of <when> and <gx:coord> differ (line 4)", ""),
            (&mark("<name>none</name>"), "", "ignored 1 placemark without a place"),
            (&two, "", "ignored 2 placemarks without a place"),
            ("<Folder><GroundOverlay/></Folder>", "", "ignored 1 overlay or tour"),
            ("<Folder><TimeSpan/></Folder>", "", "ignored 1 time at which something is shown"),
        ];
        for (more, skipped, ignored) in cases {
            let text = SITE.replacen("<Document>", &format!("<Document>\n{more}"), 1);
            let (kinds, remarks) = said(&text).unwrap();
            assert_eq!([kinds.join(""), remarks.join("")], [skipped, ignored], "{more}");
        }
    }

    #[test]
    fn points_with_times_are_the_track_of_their_folder_if_there_is_no_other() {
        let point = |s: u32, lon: f64| {
            format!(
                "<Placemark><name>p{s}</name><TimeStamp><when>2024-05-01T12:00:{s:02}Z</when></TimeStamp>\
                 <Point><altitudeMode>absolute</altitudeMode><coordinates>{lon},0,{s}</coordinates></Point></Placemark>"
            )
        };
        let text = format!(
            "<kml><Document><Folder><name>ride</name><Folder><name>Points</name>{}{}</Folder></Folder></Document></kml>",
            point(0, 0.0),
            point(20, 0.001)
        );
        let made = kml(&[("s.kml".as_ref(), &text)], Heights::Read).unwrap();
        assert_eq!(made.table["nodes"]["node"][0]["name"].as_str(), Some("ride"));
        let to = &made.table["movement"]["tracks"][0]["waypoints"][0]["at"];
        // A thousandth of a degree of longitude on the equator is 111.32 m (WGS 84).
        assert!((to["x"].as_float().unwrap() - 111.32).abs() < 0.01, "{to:?}");
        assert_eq!(to["z"].as_float(), Some(20.0));
    }

    #[test]
    fn a_file_without_places_of_nodes_is_refused_with_the_reason() {
        let e = said("<kml>\n<Placemark><LineString/></Placemark></kml>").unwrap_err();
        assert!(e.starts_with("s.kml: it has no usable content; skipped 1 line, area or model"), "{e}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "<kml>(<Placemark>|</Placemark>|<Track>|</Track>|<when>[0-9T:Z-]{0,20}</when>|<coord>[0-9. -]{0,8}</coord>|<Point><coordinates>[0-9,.-]{0,8}</coordinates></Point>){0,10}</kml>") {
            let _ = kml(&[("k".as_ref(), &text)], Heights::Read);
        }
    }
}
