//! EMANE's event logs and CORE's sessions, in the style of their tutorials.

use toml::Value;
use wayhop_import::{Heights, ImportedScenario, core_xml, eel};

use crate::{Outcome, expected, outcome};

/// The pairs of nodes and their path losses.
fn losses(made: &ImportedScenario) -> Vec<(String, Vec<[i64; 2]>)> {
    let Some(all) = made.table.get("path_losses").and_then(Value::as_array) else { return vec![] };
    let one = |p: &Value| {
        let names: Vec<&str> = p["nodes"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
        let step = |s: &Value| [0, 1].map(|i| s[i].as_float().unwrap() as i64);
        (names.join(" "), p["db"].as_array().unwrap().iter().map(step).collect())
    };
    all.iter().map(one).collect()
}

#[test]
fn event_logs_in_the_style_of_emanes_tutorials() {
    // A thousandth of a degree of latitude at 40.03 degrees is 111.04 m (WGS 84), one of longitude 85.38 m.
    type Case<'a> = (&'a str, &'a str, Outcome, &'a [(&'a str, &'a [[i64; 2]])]);
    let pairs = ["nem-1 nem-2", "nem-1 nem-3", "nem-2 nem-3"];
    let cases: [Case<'_>; 7] = [
        (
            "emane-node-director: where the nodes begin",
            "-Inf nem:1 location gps 40.025000,-74.315400,3.000000\n-Inf nem:2 location gps 40.025000,-74.314400,3.000000\n\
             5.0 nem:2 location gps 40.026000,-74.314400,3.000000\n",
            expected("nem-1 nem-2", 5.0, &[[0, 0, 0], [85, 111, 0]], &[]),
            &[],
        ),
        (
            "a tutorial with antenna profiles, path losses and places",
            "0.0 nem:1 antennaprofile 1,60.0,3.0\n0.0 nem:1 pathloss nem:2,90 nem:3,90\n0.0 nem:1 location gps 40.03,-74.5,3.0\n\
             0.0 nem:2 location gps 40.03,-74.501,3.0\n10.0 nem:2 location gps 40.031,-74.5,3.0\n",
            expected(
                "nem-1 nem-2 nem-3",
                10.0,
                &[[0, 0, 0], [0, 111, 0], [0, 0, 0]],
                &["1 antennaprofile event (line 1)"],
            ),
            &[(pairs[0], &[[0, 90]]), (pairs[1], &[[0, 90]]), (pairs[2], &[[0, 400]])],
        ),
        (
            "path losses alone, over time",
            "0.0  nem:1 pathloss nem:2,0 nem:3,200\n10.0  nem:1 pathloss nem:2,90 nem:3,200\n20.0  nem:2 pathloss nem:1,95,95\n",
            expected("nem-1 nem-2 nem-3", 20.0, &[[0, 0, 0], [100, 0, 0], [200, 0, 0]], &[]),
            &[(pairs[0], &[[0, 0], [10, 90], [20, 95]]), (pairs[1], &[[0, 200]]), (pairs[2], &[[0, 400]])],
        ),
        (
            "a commeffect demonstration",
            "0.0 nem:1 commeffect nem:2,0.010,0.0,0.0,0.0,0,0\n0.0 nem:1 location gps 40.03,-74.5,3.0\n",
            expected("nem-1", 0.0, &[[0, 0, 0]], &["1 commeffect event (line 1)"]),
            &[],
        ),
        (
            "a fading demonstration",
            "0.0 nem:1 fadingselection nem:2,nakagami\n0.0 nem:2 fadingselection nem:1,nakagami\n\
             0.0 nem:1 location gps 40.03,-74.5,3.0\n0.0 nem:2 location gps 40.031,-74.5,3.0\n",
            expected(
                "nem-1 nem-2",
                0.0,
                &[[0, 0, 0], [0, 111, 0]],
                &["2 fadingselection events (lines 1 and 2)"],
            ),
            &[],
        ),
        (
            "an aircraft with its attitude",
            "0 nem:1 location gps 40.03,-74.5,1000.0,msl\n0 nem:1 orientation 1.0,2.0,3.0\n0 nem:1 velocity 90.0,0.0,100.0\n\
             10 nem:1 location gps 40.03,-74.489,1500.0,msl\n10 nem:1 velocity 90.0,0.0,100.0\n",
            expected("nem-1", 10.0, &[[939, 0, 500]], &[]),
            &[],
        ),
        (
            "comments, quotes, losses by frequency",
            "# made by hand\n\n0.0 nem:1 location gps \"40.03, -74.5, 3.0\"  # quoted\n0.0 nem:1 pathlossex nem:2,2400000000:90:92\n",
            expected("nem-1", 0.0, &[[0, 0, 0]], &["1 pathlossex event (line 4)"]),
            &[],
        ),
    ];
    for (name, text, wanted, wanted_losses) in cases {
        let made = eel(("e.eel".as_ref(), text), Heights::Read).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(outcome(&made), wanted, "{name}");
        let wanted_losses: Vec<_> =
            wanted_losses.iter().map(|(pair, db)| ((*pair).to_owned(), db.to_vec())).collect();
        assert_eq!(losses(&made), wanted_losses, "{name}");
        let text = toml::to_string(&made.table).unwrap();
        wayhop_scenario::Scenario::from_text(&text, &[])
            .unwrap()
            .resolve()
            .unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

/// What CORE's own first sample has: five devices on a WLAN, a switch with four hosts and a router, and routers on cables.
const SAMPLE: &str = r#"<?xml version='1.0' encoding='UTF-8'?>
<scenario name="sample">
  <networks>
    <network id="4" name="n4" type="SWITCH"><position x="192" y="252"/></network>
    <network id="10" name="wlan10" model="basic_range" type="WIRELESS_LAN"><position x="852" y="564"/></network>
  </networks>
  <devices>
    <device id="1" name="n1" type="router"><position x="400" y="0"/></device>
    <device id="3" name="n3" type="router"><position x="100" y="0"/></device>
    <device id="5" name="n5" type="mdr"><position x="500" y="0"/></device>
    <device id="6" name="n6" type="mdr"><position x="800" y="0"/></device>
    <device id="11" name="n11" type="PC"><position x="200" y="0"/></device>
    <device id="15" name="n15" type="router"><position x="300" y="0"/></device>
  </devices>
  <links>
    <link node_one="4" node_two="11"/><link node_one="4" node_two="3"/>
    <link node_one="10" node_two="6"/><link node_one="10" node_two="5"/>
    <link node_one="1" node_two="15"/><link node_one="15" node_two="5"/><link node_one="3" node_two="1"/>
  </links>
  <session_origin lat="47.5" lon="-122.1" alt="2.0" scale="100.0"/>
</scenario>
"#;

#[test]
fn a_session_with_routers_on_cables_keeps_them() {
    let made = core_xml(("sample1.xml".as_ref(), SAMPLE)).unwrap();
    assert_eq!(
        outcome(&made),
        expected("n1 n3 n5 n6 n11 n15", 0.0, &[400, 100, 500, 800, 200, 300].map(|x| [x, 0, 0]), &[])
    );
    let names =
        |v: &Value| v.as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect::<Vec<_>>().join(" ");
    assert_eq!(names(&made.table["radio"]["nodes"]), "n5 n6");
    let mut wires: Vec<String> =
        made.table["wires"].as_array().unwrap().iter().map(|w| names(&w["nodes"])).collect();
    wires.sort();
    assert_eq!(wires, ["n1 n15", "n1 n3", "n11 n3", "n15 n5"]);
    let text = toml::to_string(&made.table).unwrap();
    let resolved = wayhop_scenario::Scenario::from_text(&text, &[]).unwrap().resolve().unwrap();
    assert_eq!(resolved.interfaces.wires.len(), 4);
}

#[test]
fn a_host_on_a_switch_of_its_own_is_no_node_of_the_mesh() {
    let device = |id: u32, name: &str, lon: &str| {
        format!(
            "<device id=\"{id}\" name=\"{name}\"><position x=\"0\" y=\"0\" lat=\"47.57644303\" lon=\"{lon}\" alt=\"2\"/></device>\n"
        )
    };
    let text = format!(
        "<scenario><networks><network id=\"10\" type=\"WIRELESS_LAN\"/><network id=\"11\" type=\"SWITCH\"/></networks><devices>\n\
         {}{}{}</devices><links><link node1=\"10\" node2=\"1\"/><link node1=\"10\" node2=\"2\"/>\
         <link node1=\"11\" node2=\"3\"/></links></scenario>",
        device(1, "m1", "-122.13097253"),
        device(2, "m2", "-122.12558264"),
        device(3, "pc3", "-122.12827758")
    );
    // A degree of longitude at 47.576 degrees is 75.234 km (WGS 84): 405 m between m1 and m2, with nobody between them.
    let made = core_xml(("s.xml".as_ref(), &text)).unwrap();
    let skipped = ["1 device on neither a radio nor a wire (line 4)"];
    assert_eq!(outcome(&made), expected("m1 m2", 0.0, &[[0, 0, 0], [405, 0, 0]], &skipped));
}
