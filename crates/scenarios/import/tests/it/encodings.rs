//! Files in other encodings than UTF-8, as programs on Windows write them.

use wayhop_import::{FcdCoordinates, Heights, core_xml, fcd, gpx, kml, text};

/// The name of the first node of a scenario.
fn first_name(made: &wayhop_import::ImportedScenario) -> String {
    made.table["nodes"]["node"][0]["name"].as_str().unwrap().to_owned()
}

#[test]
fn every_xml_format_is_read_in_the_encoding_that_it_declares() {
    // The u umlaut is FC in ISO 8859-1, and the name is the same whatever the file is.
    let name = "M\u{fc}hle";
    let file = |xml: &str| -> Vec<u8> {
        let whole = format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n{xml}");
        whole.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
    };
    let read = |xml: &str| text(&file(xml)).unwrap();
    let path = "f.xml".as_ref();
    let t = read(&format!(
        "<gpx><trk><name>{name}</name><trkseg><trkpt lat='1' lon='2'><time>2024-03-07T08:15:00Z</time></trkpt></trkseg></trk></gpx>"
    ));
    assert_eq!(first_name(&gpx(&[(path, &t)], Heights::Read).unwrap()), name);
    let t = read(&format!(
        "<kml><Placemark><name>{name}</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>"
    ));
    assert_eq!(first_name(&kml(&[(path, &t)], Heights::Read).unwrap()), name);
    let t = read(&format!(
        "<fcd-export><timestep time='0'><vehicle id='{name}' x='1' y='2'/></timestep></fcd-export>"
    ));
    assert_eq!(first_name(&fcd((path, &t), FcdCoordinates::Detect, Heights::Read).unwrap()), name);
    let t = read(&format!(
        "<scenario><network id='2' type='EMANE'/><device id='1' name='{name}'><position x='1' y='2'/></device><link node1='1' node2='2'/></scenario>"
    ));
    assert_eq!(first_name(&core_xml((path, &t)).unwrap()), name);
}
