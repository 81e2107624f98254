use proptest::prelude::*;

use super::*;

const ORIGIN: Geodetic = Geodetic { lat: 40.0, lon: -80.0, alt: 0.0 };

fn feature(geometry: &str, properties: &str) -> String {
    format!(r#"{{"type": "Feature", "properties": {properties}, "geometry": {geometry}}}"#)
}

fn shape(kind: &str, coordinates: &str) -> String {
    format!(r#"{{"type": "{kind}", "coordinates": {coordinates}}}"#)
}

fn collection(features: &[String]) -> String {
    format!("{{\"type\": \"FeatureCollection\", \"features\": [\n{}\n]}}", features.join(",\n"))
}

#[test]
fn points_lines_and_areas_are_read_into_the_local_frame() {
    let text = collection(&[
        feature(&shape("Point", "[-80, 40.001, 99]"), r#"{"name": "E1", "kind": "node"}"#),
        feature(&shape("LineString", "[[-80, 40], [-79.99, 40]]"), r#"{"name": "road"}"#),
        feature(&shape("Polygon", "[[[-80, 40], [-79.999, 40], [-79.999, 40.001], [-80, 40]]]"), "null"),
        feature(&shape("MultiPoint", "[[-80, 40]]"), "{}"),
        feature("null", "{}"),
    ]);
    let map = Map::parse(&text, ORIGIN).unwrap();
    assert_eq!(map.features().len(), 3);
    // On the WGS 84 ellipsoid at 40 N: 111.035 m for a thousandth of a degree of latitude, 85.394 m of longitude.
    let Shape::Point(e1) = map.features()[0].shape else { panic!("a point") };
    assert!(e1.distance(Position::new(0.0, 111.035, 0.0)) < 0.01, "{e1:?}");
    let doc = Document::default();
    let road = map.line("road", "movement.line", &doc).unwrap();
    assert!((road[1].x - 853.94).abs() < 0.05 && road[1].z == 0.0, "{road:?}");
    let Shape::Area(corners) = &map.features()[2].shape else { panic!("an area") };
    assert_eq!(corners.len(), 3);
    assert_eq!(map.points("node").collect::<Vec<_>>(), [("E1", e1)]);
}

#[test]
fn what_is_wrong_with_a_map_is_said() {
    let line = |coordinates: &str| collection(&[feature(&shape("LineString", coordinates), "{}")]);
    for (text, message) in [
        (
            shape("Point", "[1, 2]"),
            "it is a geometry without features; use a GeoJSON FeatureCollection (RFC 7946)",
        ),
        (
            line("[[40, -80], [40, -80.1]]"),
            "features[0]: longitude 40, latitude -80 is not within 100 km of the scenario's origin; check the origin, and that longitude comes first",
        ),
        (line("[[-80]]"), "features[0]: a position has fewer than two numbers; give longitude and latitude"),
        (line("[[-80, 40]]"), "features[0]: a LineString with 1 positions; give at least 2"),
    ] {
        assert_eq!(Map::parse(&text, ORIGIN).unwrap_err().to_string(), message);
    }
    for text in ["", "{", "[1]", r#"{"type": "FeatureCollection"}"#, &line("[[1e999, 2]]"), &line("7")] {
        let e = Map::parse(text, ORIGIN).unwrap_err().to_string();
        assert!(e.ends_with("; use a GeoJSON FeatureCollection (RFC 7946)"), "{text}: {e}");
    }
    // A broken file names the line.
    let e = Map::parse("{\"type\":\n\"FeatureCollection\",,", ORIGIN).unwrap_err();
    assert_eq!(e.place.map(|p| p.line), Some(2), "{e}");
}

#[test]
fn a_name_that_the_map_does_not_have_is_met_with_the_nearest() {
    let course = feature(&shape("LineString", "[[-80, 40], [-80, 40.001]]"), r#"{"name": "course"}"#);
    let map = Map::parse(&collection(&[course]), ORIGIN).unwrap();
    let doc = Document::default();
    let e = map.line("curse", "movement.line", &doc).unwrap_err().to_string();
    assert_eq!(e, "movement.line:  has no LineString named \"curse\"; did you mean \"course\"?");
    let e = map.area("course", "radio.site.zone[0].name", &doc).unwrap_err().to_string();
    let remedy = "add a feature of type Polygon with the property \"name\": \"course\"";
    assert_eq!(e, format!("radio.site.zone[0].name:  has no Polygon named \"course\"; {remedy}"));
}

#[test]
fn a_map_above_the_limit_is_refused() {
    let e = Map::parse(&" ".repeat(MAX_MAP_BYTES + 1), ORIGIN).unwrap_err().to_string();
    assert!(e.contains("the limit is 16777216"), "{e}");
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Map::parse(&nested, ORIGIN).is_err());
}

proptest! {
    #[test]
    fn whatever_is_read_lies_near_the_origin(text in r#"[\[\]{}",:a-z0-9. -]{0,200}"#) {
        drop(Map::parse(&text, ORIGIN));
    }

    #[test]
    fn any_numbers_are_refused_or_finite(
        xs in proptest::collection::vec((any::<f64>(), any::<f64>()), 0..6),
        kind in 0..3usize,
    ) {
        let at = |p: &(f64, f64)| format!("[{:?}, {:?}]", p.0, p.1);
        let list = xs.iter().map(at).collect::<Vec<_>>().join(",");
        let geometry = match kind {
            0 => shape("LineString", &format!("[{list}]")),
            1 => shape("Polygon", &format!("[[{list}]]")),
            _ => shape("Point", &xs.first().map_or("[]".into(), at)),
        };
        if let Ok(map) = Map::parse(&collection(&[feature(&geometry, "{}")]), ORIGIN) {
            for f in map.features() {
                let all = match &f.shape {
                    Shape::Point(p) => std::slice::from_ref(p),
                    Shape::Line(l) | Shape::Area(l) => l,
                };
                prop_assert!(all.iter().all(|p| p.x.abs() <= 1e5 && p.y.abs() <= 1e5 && p.z == 0.0));
            }
        }
    }
}
