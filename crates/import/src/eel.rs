//! EMANE's Emulation Event Log (EEL): each NEM is a node.

use std::collections::BTreeMap;

use crate::error::{Error, shown};
use crate::tracks::{Clock, Fix, MOST_POINTS, geodetic, scenario, to_metres};
use crate::{Imported, Named, counted};

/// Events that say nothing that a scenario can say, and change nothing of where nodes are.
const PASSED_OVER: [&str; 2] = ["orientation", "velocity"];

/// A scenario of the `location gps` events of a file; nodes go in straight lines from one to the next. Heights are left out, and
/// so are orientations and velocities, with a remark.
///
/// # Errors
/// If a line is none of an EEL file, or an event that a scenario cannot say: path losses and the like.
pub fn eel(file: Named<'_>) -> Result<Imported, Error> {
    let (path, text) = file;
    read(text).map_err(|e| e.in_file(path))
}

fn read(text: &str) -> Result<Imported, Error> {
    let mut of: BTreeMap<u32, Vec<Fix>> = BTreeMap::new();
    let (mut passed, mut count) = (0, 0);
    for (line, content) in (1..).zip(text.lines()) {
        let at = |e: Error| e.at(line);
        let words = words(content).map_err(at)?;
        let [time, nem, event, arguments @ ..] = &words[..] else {
            if words.is_empty() {
                continue;
            }
            return Err(at(Error::new(
                format!("{} is no event", shown(content)),
                "write TIME nem:ID EVENT ARGUMENTS",
            )));
        };
        let at_s = time
            .parse::<f64>()
            .ok()
            .filter(|s| s.is_finite())
            .ok_or_else(|| at(Error::new(format!("{} is no time", shown(time)), "write seconds")))?;
        let id = nem.strip_prefix("nem:").and_then(|id| id.parse::<u16>().ok()).ok_or_else(|| {
            at(Error::new(format!("{} is no NEM", shown(nem)), "write nem: and a number up to 65535"))
        })?;
        if PASSED_OVER.contains(&event.as_str()) {
            passed += 1;
            continue;
        }
        let ["gps", place] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
            return Err(at(not_understood(event)));
        };
        if event != "location" {
            return Err(at(not_understood(event)));
        }
        count += 1;
        if count > MOST_POINTS {
            return Err(at(Error::new(format!("more than {MOST_POINTS} places"), "thin the events out")));
        }
        let place = location(place).ok_or_else(|| {
            at(Error::new(
                format!("{} is no place", shown(place)),
                "write latitude,longitude,altitude with msl or agl behind it",
            ))
        })?;
        of.entry(id.into()).or_default().push(Fix { at_s, place, line });
    }
    let named = of.into_iter().map(|(id, fixes)| (format!("nem-{id}"), fixes)).collect();
    let (tracks, origin) = to_metres(named, Clock::Seconds)?;
    let mut imported = scenario(tracks, Some(origin))?;
    if passed > 0 {
        imported.remarks.push(counted(
            passed,
            "event of orientation or velocity is left out",
            "events of orientation and velocity are left out",
        ));
    }
    Ok(imported)
}

fn not_understood(event: &str) -> Error {
    let remedy = "take the line out: of EMANE's events a scenario can say `location gps`; path losses come from its radio model";
    Error::new(format!("the event {} is not understood", shown(event)), remedy)
}

fn location(text: &str) -> Option<wayhop_world::Geodetic> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let ([lat, lon, alt] | [lat, lon, alt, "msl" | "agl"]) = parts[..] else { return None };
    alt.parse::<f64>().ok().filter(|v| v.is_finite())?;
    geodetic(lat.parse().ok()?, lon.parse().ok()?)
}

/// The words of a line; quotes hold some together, and a # ends it.
fn words(line: &str) -> Result<Vec<String>, Error> {
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
    if quoted {
        return Err(Error::new("a quotation mark without its other one", "add it"));
    }
    all.extend(word);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: &str = "\
# two nodes, by hand
0.0  nem:1 location gps 40.44,-79.94,300.0
0.0  nem:2 location gps \"40.45, -79.94, 300.0, msl\"
0.0  nem:2 orientation 0.0,0.0,0.0
10.0 nem:1 location gps 40.441,-79.94,300.0,agl  # north
";

    #[test]
    fn nems_are_nodes() {
        let i = eel(("e.eel".as_ref(), EVENTS)).unwrap();
        let tracks = i.table["movement"]["tracks"].as_array().unwrap();
        let speed = tracks[0]["waypoints"][0]["speed_mps"].as_float().unwrap();
        assert!((speed - 11.104).abs() < 0.01, "{speed}");
        assert!(tracks[1].get("waypoints").is_none());
        assert_eq!(i.table["nodes"]["node"][1]["name"].as_str(), Some("nem-2"));
        assert_eq!(i.remarks.len(), 1);
    }

    #[test]
    fn what_a_scenario_cannot_say_is_refused_by_its_line() {
        for (line, what) in [
            ("1.0 nem:1 pathloss nem:2,90", "e.eel:6: the event \"pathloss\" is not understood"),
            ("1.0 nem:1", "e.eel:6: \"1.0 nem:1\" is no event"),
            ("one nem:1 location gps 1,2,3", "e.eel:6: \"one\" is no time"),
            ("1.0 node:1 location gps 1,2,3", "e.eel:6: \"node:1\" is no NEM"),
            ("1.0 nem:1 location gps 91,2,3", "e.eel:6: \"91,2,3\" is no place"),
            ("1.0 nem:1 location gps \"1,2,3", "e.eel:6: a quotation mark"),
        ] {
            let said = eel(("e.eel".as_ref(), &format!("{EVENTS}{line}\n"))).unwrap_err().to_string();
            assert!(said.starts_with(what), "{said}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([0-9.]{1,4} nem:[0-9]{1,6} (location|pathloss) gps [0-9,.-]{0,12}[\"#]?\n|\\PC{0,12}\n){0,5}") {
            let _ = eel(("e".as_ref(), &text));
        }
    }
}
