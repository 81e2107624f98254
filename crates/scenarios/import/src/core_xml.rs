//! CORE's session files (XML): each device is a stationary node.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::Node;
use toml::Value;
use wayhop_core::Position;
use wayhop_document::{Error, Result};

use crate::globe::{Fix, Heights, NodeFixes, geodetic, to_metres};
use crate::notes::Notes;
use crate::places::clean;
use crate::text::shown;
use crate::track::{Point, Track};
use crate::tracks::scenario;
use crate::{ImportedScenario, NamedText, counted, table, xml};

/// CORE's own: 100 pixels of the canvas are 150 m.
const SCALE_M: f64 = 150.0;
/// Networks whose members hear each other by radio.
const WIRELESS: [&str; 3] = ["WIRELESS_LAN", "EMANE", "WIRELESS"];
const NO_POSITION: [&str; 2] = ["<device> without a <position>", "<device>s without a <position>"];
const NO_PLACE: [&str; 2] =
    ["<device> whose <position> is not valid", "<device>s whose <position> is not valid"];
const ALONE: [&str; 2] = ["device on neither a radio nor a wire", "devices on neither a radio nor a wire"];

struct Device<'a, 'i> {
    id: &'a str,
    name: &'a str,
    position: Node<'a, 'i>,
}

/// A scenario from the devices of a session, at their latitudes and longitudes if all have them, otherwise at their
/// positions on the canvas, scaled as the session says (metres per 100 pixels). Devices on a wireless network get the
/// radio; links between two devices, switches and hubs become wires. Everything else is left out, with remarks. Fails
/// if the file is not a session, or no device is on a wireless network.
pub fn core_xml(file: NamedText<'_>) -> Result<ImportedScenario> {
    let (path, text) = file;
    read(text, Notes::of([path])).map_err(|e| e.in_file(path))
}

fn read(text: &str, mut notes: Notes) -> Result<ImportedScenario> {
    let document = xml::document(text, "scenario")?;
    let (root, lines) = (document.root_element(), xml::Lines::of(text));
    let mut devices = Vec::new();
    for d in xml::all(root, "device") {
        let (id, name) = (d.attribute("id").unwrap_or_default(), d.attribute("name").unwrap_or_default());
        match xml::children(d, "position").next() {
            None => notes.skipped[0].add(lines.line(d), NO_POSITION),
            Some(position) => devices.push(Device { id, name, position }),
        }
    }
    let (mut tracks, origin) = places(root, &devices, &lines, &mut notes)?;
    clean(&mut tracks, &mut notes)?;
    let mut placed: Vec<(Device<'_, '_>, Track)> =
        devices.into_iter().zip(tracks).filter(|(_, t)| !t.points.is_empty()).collect();
    let links = Links::of(root, &placed.iter().map(|(d, _)| d.id).collect());
    placed.retain(|(d, t)| {
        let has_any = links.on_air.contains(d.id) || links.wired.contains(d.id);
        if !has_any {
            notes.skipped[0].add(t.points[0].line, ALONE);
        }
        has_any
    });
    let remedy = "use a session with a WLAN or EMANE network and links to it";
    if placed.is_empty() {
        return Err(notes.nothing(remedy));
    }
    if !placed.iter().any(|(d, _)| links.on_air.contains(d.id)) {
        return Err(Error::new("no device is on a wireless network", remedy));
    }
    notes.remarks.extend(others(root));
    let networks = xml::all(root, "network").filter(|n| WIRELESS.contains(&kind(*n))).count();
    if networks > 1 {
        let remark =
            format!("{networks} wireless networks become one; give each its own channel in `radios`");
        notes.remarks.push(remark);
    }
    notes.remarks.push("radio links are determined by the radio model or a macfilter".to_owned());
    let (ids, tracks): (Vec<&str>, Vec<Track>) = placed.into_iter().map(|(d, t)| (d.id, t)).unzip();
    let mut imported = scenario(tracks, origin, None, notes)?;
    links.add_to(&mut imported, &ids);
    Ok(imported)
}

fn places(
    root: Node<'_, '_>,
    devices: &[Device<'_, '_>],
    lines: &xml::Lines,
    notes: &mut Notes,
) -> Result<(Vec<Track>, Option<wayhop_world::Geodetic>)> {
    let number = |d: &Device<'_, '_>, name| d.position.attribute(name).and_then(xml::finite);
    let mut no_place = |line| notes.skipped[0].add(line, NO_PLACE);
    if devices.iter().all(|d| d.position.has_attribute("lat") && d.position.has_attribute("lon")) {
        let found = |d: &Device<'_, '_>| {
            let line = lines.line(d.position);
            let place = number(d, "lat").zip(number(d, "lon")).and_then(|(lat, lon)| geodetic(lat, lon));
            if place.is_none() {
                no_place(line);
            }
            let fix = |place| Fix { at_s: 0.0, place, height_m: None, line };
            NodeFixes { name: d.name.to_owned(), file: 0, fixes: place.map(fix).into_iter().collect() }
        };
        let found = devices.iter().map(found).collect();
        return to_metres(found, Heights::LeaveOut, "", notes);
    }
    let origin = xml::all(root, "session_origin").next();
    let metres = match origin.and_then(|o| Some((o, o.attribute("scale")?))) {
        None => SCALE_M,
        Some((o, text)) => xml::finite(text).filter(|s| *s > 0.0).ok_or_else(|| {
            let reason = format!("scale={} is not a positive number", shown(text));
            Error::new(reason, "write metres per 100 pixels").at_line(lines.line(o))
        })?,
    } / 100.0;
    let track = |d: &Device<'_, '_>| {
        let line = lines.line(d.position);
        let place = number(d, "x").zip(number(d, "y"));
        if place.is_none() {
            no_place(line);
        }
        // On the canvas y points down.
        let position = |(x, y): (f64, f64)| Position::new(x * metres, -y * metres, 0.0);
        let point = |at| Point { at_s: 0.0, place: position(at), line };
        Track { name: d.name.to_owned(), points: place.map(point).into_iter().collect(), ..Track::default() }
    };
    Ok((devices.iter().map(track).collect(), None))
}

/// What connects the devices, by their ids.
#[derive(Default)]
struct Links<'a> {
    on_air: BTreeSet<&'a str>,
    /// The devices on each switch, hub or cable, at least two.
    wires: Vec<BTreeSet<&'a str>>,
    /// All of these.
    wired: BTreeSet<&'a str>,
}

fn kind<'a>(network: Node<'a, '_>) -> &'a str {
    let of_emane = network.has_attribute("emane").then_some("EMANE");
    of_emane.or(network.attribute("type")).unwrap_or_default()
}

impl<'a> Links<'a> {
    fn of(root: Node<'a, '_>, devices: &BTreeSet<&'a str>) -> Self {
        let id = |n: Node<'a, '_>| n.attribute("id").unwrap_or_default();
        let kinds: BTreeMap<&str, &str> = xml::all(root, "network").map(|n| (id(n), kind(n))).collect();
        // Switches that are linked to each other are one wire with the first one's name.
        let mut union: BTreeMap<&str, &str> = BTreeMap::new();
        let mut ends: Vec<[&str; 2]> = Vec::new();
        for link in xml::all(root, "link") {
            // CORE 6 and older wrote node_one and node_two.
            let end = |new, old| link.attribute(new).or_else(|| link.attribute(old)).unwrap_or_default();
            let pair = [end("node1", "node_one"), end("node2", "node_two")];
            if pair.iter().all(|n| kinds.get(n).is_some_and(|k| !WIRELESS.contains(k))) {
                let [a, b] = pair.map(|n| first_of(&union, n));
                if a != b {
                    union.insert(b, a);
                }
            }
            ends.push(pair);
        }
        let mut all = Self::default();
        let mut of_network: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for [a, b] in ends {
            match (devices.contains(a), devices.contains(b)) {
                (true, true) => all.wires.push([a, b].into()),
                (true, false) | (false, true) => {
                    let (device, network) = if devices.contains(a) { (a, b) } else { (b, a) };
                    let Some(kind) = kinds.get(network) else { continue };
                    if WIRELESS.contains(kind) {
                        all.on_air.insert(device);
                    } else {
                        of_network.entry(first_of(&union, network)).or_default().insert(device);
                    }
                }
                (false, false) => {}
            }
        }
        all.wires.extend(of_network.into_values());
        all.wires.retain(|w| w.len() > 1);
        all.wired = all.wires.iter().flatten().copied().collect();
        all
    }

    /// Gives the nodes, which are these devices in this order, their radio and their wires.
    fn add_to(&self, imported: &mut ImportedScenario, devices: &[&str]) {
        let nodes = &imported.table["nodes"]["node"];
        let name = |i: usize| nodes.get(i).and_then(|n| n.get("name")).cloned();
        let named: BTreeMap<&str, Value> =
            devices.iter().enumerate().filter_map(|(i, id)| Some((*id, name(i)?))).collect();
        let name = |id: &&str| named.get(*id).cloned();
        let on_air = devices.iter().filter(|id| self.on_air.contains(*id));
        let on_air: Vec<Value> = on_air.filter_map(name).collect();
        if on_air.len() < devices.len() {
            let off_air = counted(devices.len() - on_air.len(), "device has", "devices have");
            let remark = format!("{off_air} only wires, because there is no link to a wireless network");
            imported.remarks.push(remark);
            imported.table.insert("radio".into(), table([("nodes", on_air.into())]).into());
        }
        if !self.wires.is_empty() {
            let wires = self.wires.len();
            let what = counted(wires, "link or switch becomes a wire", "links and switches become wires");
            imported.remarks.push(format!("{what} of 100 Mb/s; rates, delays and losses are left out"));
            let nodes = |wire: &BTreeSet<&str>| wire.iter().filter_map(name).collect::<Vec<_>>();
            let all = self.wires.iter().map(|wire| table([("nodes", nodes(wire).into())]).into());
            imported.table.insert("wires".into(), Value::Array(all.collect()));
        }
    }
}

/// The switch that represents one and all that are linked to it.
fn first_of<'a>(union: &BTreeMap<&'a str, &'a str>, mut network: &'a str) -> &'a str {
    while let Some(next) = union.get(network) {
        network = next;
    }
    network
}

const READ: [&str; 4] = ["networks", "devices", "links", "session_origin"];
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
        assert_eq!(i.remarks, ["radio links are determined by the radio model or a macfilter"]);
        assert!(!i.table.contains_key("radio") && !i.table.contains_key("wires"));
    }

    /// A session: networks by id and type, devices, links.
    fn session(networks: &str, devices: &str, links: &str) -> String {
        let all =
            |words: &str, one: &dyn Fn(&str) -> String| -> String { words.split(' ').map(one).collect() };
        let network = |n: &str| {
            let (id, kind) = n.split_once(':').unwrap();
            format!("<network id='{id}' name='n{id}' type='{kind}'/>\n")
        };
        let device =
            |id: &str| format!("<device id='{id}' name='d{id}'><position x='{id}00' y='0'/></device>\n");
        let link = |l: &str| {
            let (a, b) = l.split_once('-').unwrap();
            format!("<link node1='{a}' node2='{b}'/>\n")
        };
        let (networks, devices) = (all(networks, &network), all(devices, &device));
        let links = all(links, &link);
        format!(
            "<scenario>\n<networks>{networks}</networks><devices>{devices}</devices><links>{links}</links></scenario>"
        )
    }

    #[test]
    fn only_devices_on_a_wireless_network_have_the_radio() {
        // A session, and what CORE's links connect: the devices with a radio, those on the first wire, how many are
        // left out.
        for (networks, devices, links, on_air, wired, left_out) in [
            // Alone on a switch.
            ("10:WIRELESS_LAN 11:SWITCH", "1 2 3", "10-1 10-2 11-3", "", "", 1),
            // A host by a cable at one of the mesh.
            ("10:WIRELESS_LAN", "1 2 3", "1-10 2-10 2-3", "d1 d2", "d2 d3", 0),
            // Hosts on a switch with a node of the mesh.
            ("10:EMANE 11:SWITCH", "1 2 3", "10-1 11-1 11-2 3-11", "d1", "d1 d2 d3", 0),
            // Two switches in a row.
            ("10:WIRELESS_LAN 11:SWITCH 12:HUB", "1 2", "10-1 11-1 11-12 12-2", "d1", "d1 d2", 0),
            // A device without links.
            ("10:WIRELESS", "1 2", "10-1", "", "", 1),
            // Two networks.
            ("10:WIRELESS_LAN 11:WIRELESS_LAN", "1 2", "10-1 11-2", "", "", 0),
        ] {
            let text = session(networks, devices, links);
            let i = core_xml(("s.xml".as_ref(), &text)).unwrap();
            let words = |v: &Value| {
                v.as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect::<Vec<_>>().join(" ")
            };
            let radio = i.table.get("radio").map(|r| words(&r["nodes"])).unwrap_or_default();
            let wires = i.table.get("wires").map(|w| words(&w[0]["nodes"])).unwrap_or_default();
            assert_eq!((radio.as_str(), wires.as_str()), (on_air, wired), "{text}");
            assert_eq!(i.node_names().len(), devices.split(' ').count() - left_out, "{text}");
            assert_eq!(i.skipped[0].is_empty(), left_out == 0);
            let become_one = i.remarks.iter().any(|r| r.contains("become one"));
            assert_eq!(become_one, networks.matches("WIRELESS_LAN").count() > 1);
        }
        let wired = session("11:SWITCH", "1 2", "11-1 11-2");
        let e = core_xml(("s.xml".as_ref(), &wired)).unwrap_err().to_string();
        assert!(e.starts_with("s.xml: no device is on a wireless network"), "{e}");
        let alone = session("11:SWITCH", "1", "11-1");
        let e = core_xml(("s.xml".as_ref(), &alone)).unwrap_err().to_string();
        assert!(e.starts_with("s.xml: it has no usable content; skipped 1 device on neither a radio"), "{e}");
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
    fn a_device_without_a_place_is_skipped_by_its_line() {
        for (by, said) in [
            ("", "1 <device> without a <position> (line 7)"),
            ("<position x=\"left\" y=\"200.0\"/>", "1 <device> whose <position> is not valid (line 7)"),
            ("<position y=\"200.0\"/>", "1 <device> whose <position> is not valid (line 7)"),
        ] {
            let text = SESSION.replacen("<position x=\"100.0\" y=\"200.0\"/>", by, 1);
            let i = core_xml(("s.xml".as_ref(), &text)).unwrap();
            assert_eq!(i.skipped[0].kinds().collect::<Vec<_>>(), [said]);
            assert_eq!(i.node_names().len(), 1);
        }
        let far = SESSION
            .replace("x=\"100.0\" y=\"200.0\"", "lat=\"91\" lon=\"-79.94\"")
            .replace("x=\"300.0\" y=\"200.0\"", "lat=\"40.441\" lon=\"-79.94\"");
        let i = core_xml(("s.xml".as_ref(), &far)).unwrap();
        let skipped: Vec<String> = i.skipped[0].kinds().collect();
        assert_eq!(skipped, ["1 <device> whose <position> is not valid (line 7)"]);
    }

    proptest::proptest! {
        #[test]
        fn any_session_is_read_or_refused(text in "<scenario>(<devices>|</devices>|<device id=\"[12]\" name=\"\\PC{0,3}\">|<network id=\"3\" type=\"(SWITCH|EMANE)\"/>|<link node1=\"[1-3]\" node2=\"[1-3]\"/>|</device>|<position (x|lat)=\"[0-9.e-]{0,5}\" (y|lon)=\"1\"/>){0,10}</scenario>") {
            let _ = core_xml(("s".as_ref(), &text));
        }
    }
}
