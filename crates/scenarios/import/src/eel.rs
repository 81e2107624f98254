//! EMANE's Emulation Event Log (EEL): each NEM is a node.

use std::collections::{BTreeMap, BTreeSet};

use wayhop_document::Result;
use wayhop_world::Geodetic;

use crate::globe::{Fix, Heights, NodeFixes, geodetic, to_metres};
use crate::losses::Losses;
use crate::notes::Notes;
use crate::track::{Point, Track};
use crate::tracks::scenario;
use crate::{ImportedScenario, NamedText, xml};

/// Events that do not affect positions and links, except for directed antennas.
const IGNORED: [&str; 2] = ["orientation", "velocity"];
/// Further events of EMANE, which a scenario cannot say.
const SKIPPED: [[&str; 2]; 4] = [
    ["antennaprofile event", "antennaprofile events"],
    ["commeffect event", "commeffect events"],
    ["fadingselection event", "fadingselection events"],
    ["pathlossex event", "pathlossex events"],
];
const NO_EVENT: [&str; 2] = ["line that is not an event", "lines that are not events"];
const NO_TIME: [&str; 2] = ["event without a time", "events without a time"];
const NO_NEM: [&str; 2] = ["event for something other than a NEM", "events for something other than a NEM"];
const UNKNOWN: [&str; 2] = ["event of an unknown kind", "events of unknown kinds"];
const NO_PLACE: [&str; 2] = ["location that is not on the globe", "locations that are not on the globe"];
/// Distance between nodes without a known position, metres.
const SPACING_M: f64 = 100.0;

/// What was read of a file.
#[derive(Default)]
struct Events {
    /// Each NEM's places.
    places: BTreeMap<u16, Vec<Fix>>,
    losses: Losses,
    ignored: usize,
    /// Whether something was there before the run.
    before: bool,
    /// Heights above sea level, and above the ground.
    msl: usize,
    agl: usize,
}

/// A scenario from the events in a file: nodes move in straight lines from one `location gps` to the next, and
/// `pathloss` becomes `path_losses`. Orientations and velocities are ignored; other events are skipped. Fails if no
/// NEM has a location or a path loss.
pub fn eel(file: NamedText<'_>, heights: Heights) -> Result<ImportedScenario> {
    let (path, text) = file;
    read(text, heights, Notes::of([path])).map_err(|e| e.in_file(path))
}

fn read(text: &str, mut heights: Heights, mut notes: Notes) -> Result<ImportedScenario> {
    let mut events = Events::default();
    for (line, content) in (1..).zip(text.lines()) {
        events.read(line, content, &mut notes)?;
    }
    let Events { mut places, losses, ignored, before, msl, agl } = events;
    if msl > 0 && agl > 0 && heights == Heights::Read {
        notes.remarks.push("heights are ignored: some are above sea level, some above the ground".to_owned());
        heights = Heights::LeaveOut;
    }
    // What is there before the run is there when it begins.
    let times = || places.values().flatten().map(|f| f.at_s).chain(losses.times()).filter(|s| s.is_finite());
    let earliest_s = times().fold(f64::INFINITY, f64::min);
    let begin_s = if before || earliest_s.is_infinite() { earliest_s.min(0.0) } else { earliest_s };
    for f in places.values_mut().flatten().filter(|f| !f.at_s.is_finite()) {
        f.at_s = begin_s;
    }
    let placed: BTreeSet<u16> = places.keys().copied().collect();
    let name = |nem: u16| format!("nem-{nem}");
    let found =
        places.into_iter().map(|(nem, fixes)| NodeFixes { name: name(nem), file: 0, fixes }).collect();
    let datum = if agl > 0 { "the ground" } else { "mean sea level" };
    let (mut tracks, origin) = to_metres(found, heights, datum, &mut notes)?;
    let unplaced: Vec<u16> = losses.nems().filter(|nem| !placed.contains(nem)).collect();
    for (i, nem) in (0..).zip(&unplaced) {
        let place = wayhop_core::Position::new(SPACING_M * f64::from(i), 0.0, 0.0);
        let points = vec![Point { at_s: begin_s, place, line: 0 }];
        tracks.push(Track { name: name(*nem), points, ..Track::default() });
    }
    if !unplaced.is_empty() {
        let names: Vec<String> = unplaced.iter().take(5).map(|nem| name(*nem)).collect();
        let more = if unplaced.len() > names.len() { " and others" } else { "" };
        notes.remarks.push(format!(
            "no location for {}{more}: placed {SPACING_M} m apart; path losses determine the links",
            names.join(", ")
        ));
    }
    notes.ignored(ignored, ["event of orientation or velocity", "events of orientation and velocity"]);
    let nems: Vec<String> = placed.iter().chain(&unplaced).map(|nem| name(*nem)).collect();
    losses.remarks(&mut notes);
    let mut imported = scenario(tracks, origin, Some(begin_s), notes)?;
    losses.add_to(&mut imported.table, &nems, begin_s)?;
    Ok(imported)
}

impl Events {
    fn read(&mut self, line: u32, content: &str, notes: &mut Notes) -> Result<()> {
        let mut skip = |kind: [&str; 2]| notes.skipped[0].add(line, kind);
        let words = words(content).unwrap_or_default();
        let [time, nem, event, arguments @ ..] = &words[..] else {
            if !content.trim_start().is_empty() && !content.trim_start().starts_with('#') {
                skip(NO_EVENT);
            }
            return Ok(());
        };
        // Minus infinity: before the run.
        let Some(at_s) = time.parse::<f64>().ok().filter(|s| s.is_finite() || *s == f64::NEG_INFINITY) else {
            skip(NO_TIME);
            return Ok(());
        };
        let Some(nem) = nem.strip_prefix("nem:").and_then(|id| id.parse::<u16>().ok()) else {
            skip(NO_NEM);
            return Ok(());
        };
        if IGNORED.contains(&event.as_str()) {
            self.ignored += 1;
        } else if event == "location" && arguments.first().is_some_and(|a| a == "gps") {
            let Some((place, height_m, above_ground)) = location(arguments) else {
                skip(NO_PLACE);
                return Ok(());
            };
            notes.count_point(line)?;
            *(if above_ground { &mut self.agl } else { &mut self.msl }) += 1;
            self.before |= at_s.is_infinite();
            self.places.entry(nem).or_default().push(Fix { at_s, place, height_m: Some(height_m), line });
        } else if event == "pathloss" {
            self.before |= at_s.is_infinite();
            self.losses.read(at_s, nem, arguments, line, notes)?;
        } else {
            skip(SKIPPED.into_iter().find(|k| k[0].strip_suffix(" event") == Some(event)).unwrap_or(UNKNOWN));
        }
        Ok(())
    }
}

/// The place of a location event, its height, and whether that is above the ground.
fn location(arguments: &[String]) -> Option<(Geodetic, f64, bool)> {
    let [_, place] = arguments else { return None };
    let parts: Vec<&str> = place.split(',').map(str::trim).collect();
    let ([lat, lon, alt] | [lat, lon, alt, "msl" | "agl"]) = parts[..] else { return None };
    let place = geodetic(xml::finite(lat)?, xml::finite(lon)?)?;
    Some((place, xml::finite(alt)?, parts.last() == Some(&"agl")))
}

/// The words of a line; quotes hold some together, and a # ends it. `None` if a quote has no end.
fn words(line: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '#' if !quoted => break,
            c if c.is_whitespace() && !quoted => all.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    (!quoted).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: &str = "\
# two nodes, by hand
0.0  nem:1 location gps 40.44,-79.94,300.0
0.0  nem:2 location gps \"40.45, -79.94, 300.0, msl\"
0.0  nem:2 orientation 0.0,0.0,0.0
10.0 nem:1 location gps 40.441,-79.94,300.0,msl  # north
";

    fn read(text: &str) -> ImportedScenario {
        eel(("e.eel".as_ref(), text), Heights::Read).unwrap()
    }

    #[test]
    fn nems_are_nodes() {
        let i = read(EVENTS);
        let tracks = i.table["movement"]["tracks"].as_array().unwrap();
        let speed = tracks[0]["waypoints"][0]["speed_mps"].as_float().unwrap();
        assert!((speed - 11.104).abs() < 0.01, "{speed}");
        assert!(tracks[1].get("waypoints").is_none());
        assert_eq!(i.table["nodes"]["node"][1]["name"].as_str(), Some("nem-2"));
        assert_eq!(i.remarks, ["ignored 1 event of orientation or velocity"]);
        assert!(i.skipped[0].is_empty());
    }

    #[test]
    fn what_a_scenario_cannot_say_is_skipped_by_its_line() {
        for (line, what) in [
            ("1.0 nem:1 antennaprofile 1,60.0,3.0", "1 antennaprofile event (line 6)"),
            ("1.0 nem:1 commeffect nem:2,0.1,0,0,0,0,0", "1 commeffect event (line 6)"),
            ("1.0 nem:1 fadingselection nem:2,nakagami", "1 fadingselection event (line 6)"),
            ("1.0 nem:1 pathlossex nem:2,2400000000:90", "1 pathlossex event (line 6)"),
            ("1.0 nem:1 comment hello", "1 event of an unknown kind (line 6)"),
            ("1.0 nem:1", "1 line that is not an event (line 6)"),
            ("one nem:1 location gps 1,2,3", "1 event without a time (line 6)"),
            ("1.0 node:1 location gps 1,2,3", "1 event for something other than a NEM (line 6)"),
            ("1.0 nem:1 location gps 91,2,3", "1 location that is not on the globe (line 6)"),
            ("1.0 nem:1 location gps \"1,2,3", "1 line that is not an event (line 6)"),
            ("1.0 nem:1 pathloss nem:2,x", "1 path loss that is not NEM,dB (line 6)"),
        ] {
            let made = read(&format!("{EVENTS}{line}\n"));
            assert_eq!(made.skipped[0].kinds().collect::<Vec<_>>(), [what]);
        }
        let none = eel(("e.eel".as_ref(), "0.0 nem:1 commeffect nem:2,0.1\n"), Heights::Read);
        let none = none.unwrap_err().to_string();
        let expected = "e.eel: it has no usable content; skipped 1 commeffect event (line 1);";
        assert!(none.starts_with(expected), "{none}");
    }

    #[test]
    fn minus_infinity_is_before_the_run() {
        let i = read("-Inf nem:1 location gps 40.0,-74.0,3\n5.0 nem:1 location gps 40.001,-74.0,3\n");
        let track = &i.table["movement"]["tracks"][0];
        // A thousandth of a degree of latitude at 40 degrees is 111.03 m (WGS 84), in 5 s.
        assert!((track["waypoints"][0]["speed_mps"].as_float().unwrap() - 22.207).abs() < 0.01, "{track:?}");
        assert_eq!(i.table["duration_s"].as_float(), Some(5.0));
        let all = read("-Inf nem:1 location gps 40.0,-74.0,3\n-inf nem:2 location gps 40.0,-74.1,3\n");
        assert_eq!(all.table["movement"]["kind"].as_str(), Some("static"));
    }

    #[test]
    fn heights_of_two_kinds_are_left_out() {
        let rises = EVENTS.replace("40.441,-79.94,300.0", "40.441,-79.94,320.0");
        let z = |i: &ImportedScenario| {
            i.table["movement"]["tracks"][0]["waypoints"][0]["at"].get("z").and_then(toml::Value::as_float)
        };
        assert_eq!(z(&read(&rises)), Some(20.0));
        let mixed = read(&rises.replace("320.0,msl", "320.0,agl"));
        assert_eq!(z(&mixed), None);
        assert!(mixed.remarks[0].starts_with("heights are ignored"), "{:?}", mixed.remarks);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "((-Inf|[0-9.]{1,4}) nem:[0-9]{1,6} (location gps|pathloss( nem:[0-9]{1,2},[0-9.]{0,3}(,[0-9]{0,2})?){0,3}) [0-9,.-]{0,12}[\"#]?\n|\\PC{0,12}\n){0,5}") {
            if let Ok(made) = eel(("e".as_ref(), &text), Heights::Read) {
                let text = toml::to_string(&made.table).unwrap();
                wayhop_scenario::Scenario::from_text(&text, &[]).unwrap();
            }
        }
    }
}
