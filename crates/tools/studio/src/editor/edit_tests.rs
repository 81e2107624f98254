use proptest::prelude::*;

use super::*;

const FILE: &str = "net.toml";
const STATIC: &str = "# my net\nduration_s = 60\n\n[movement] # where\nkind = \"static\"\npositions = [\n  { x = 0, y = 0 }, # base\n  { x = 100, y = 0 },\n  \
    { x = 200, y = 0 },\n]\n\n[nodes]\ncount = 3\n[[nodes.node]]\nid = 2\nname = \"car\" # red\n\n[[traffic]] # to the car\nkind = \"cbr\"\n\
    src = 0\ndst = \"car\"\n\n[[traffic]]\nkind = \"ping\"\nsrc = 2\ndst = 1\n\n[captures]\nnodes = [1, 2]\n\n[receptions]\nall = true # all of them\n";

/// Comments of it outside the list of places.
const KEPT: [&str; 5] =
    ["# my net", "[movement] # where", "\"car\" # red", "[[traffic]] # to the car", "= true # all of them"];

#[allow(clippy::needless_pass_by_value, reason = "most requests are written where they are used")]
fn done(text: &str, operations: Json) -> Result<String, String> {
    edit_text(Path::new(FILE), text, operations.to_string().as_bytes())
}

fn resolved(text: &str) -> wayhop_scenario::Resolved {
    let scenario =
        Scenario::of_file(Path::new(FILE), text.to_owned(), &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    scenario.resolve().unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn a_moved_node_changes_its_coordinates_and_nothing_else() {
    let op = json!([{"op": "track", "node": 1, "track": {"start": {"x": 90.5, "y": 7}}}]);
    assert_eq!(done(STATIC, op).unwrap(), STATIC.replace("{ x = 100, y = 0 }", "{ x = 90.5, y = 7 }"));
}

#[test]
fn a_trajectory_makes_waypoints_of_positions() {
    let way = json!([{"at": {"x": 100, "y": 400}, "speed_mps": 10, "pause_s": 5}, {"at": {"x": 0, "y": 400}, "speed_mps": 2.5}]);
    let op = json!([{"op": "track", "node": 1, "track": {"start": {"x": 100, "y": 0}, "pause_s": 10, "waypoints": way}}]);
    let text = done(STATIC, op).unwrap();
    for kept in KEPT {
        assert!(text.contains(kept), "{kept} in\n{text}");
    }
    let r = resolved(&text);
    for (s, x, y) in [
        (0.0, 100.0, 0.0),
        (10.0, 100.0, 0.0),
        (30.0, 100.0, 200.0),
        (53.0, 100.0, 400.0),
        (59.0, 90.0, 400.0),
    ] {
        let p = r.tracks[1].position(wayhop_core::Time::from_secs_f64(s));
        assert!((p.x - x).hypot(p.y - y) < 1e-6, "{s}: {p:?}");
    }
    assert_eq!(r.names, ["0", "1", "car"]);
}

#[test]
fn a_changed_waypoint_leaves_the_comments_of_the_others() {
    let text = "[movement]\nkind = \"waypoints\"\n[[movement.tracks]] # walker\nstart = { x = 0, y = 0 }\nwaypoints = [\n  # school\n  \
        { at = { x = 1, y = 1 }, speed_mps = 1 }, # slow\n  { at = { x = 2, y = 2 }, speed_mps = 2 },\n]\n";
    let way =
        |y: i32| json!([{"at": {"x": 1, "y": 1}, "speed_mps": 1}, {"at": {"x": 2, "y": y}, "speed_mps": 2}]);
    let op = |way: Json| json!([{"op": "track", "node": 0, "track": {"start": {"x": 0, "y": 0}, "waypoints": way}}]);
    assert_eq!(done(text, op(way(2))).unwrap(), text);
    assert_eq!(done(text, op(way(9))).unwrap(), text.replace("y = 2", "y = 9"));
    let shorter = done(text, op(json!([way(2)[0]]))).unwrap();
    assert!(shorter.contains("# school") && !shorter.contains("x = 2"), "{shorter}");
    let mut longer = way(2);
    longer.as_array_mut().unwrap().push(json!({"at": {"x": 3, "y": 3}, "speed_mps": 3, "pause_s": 1}));
    assert_eq!(resolved(&done(text, op(longer)).unwrap()).tracks[0].legs().len(), 4);
    assert_eq!(resolved(&done(text, op(json!([]))).unwrap()).tracks[0].legs().len(), 1);
}

#[test]
fn deleted_nodes_take_their_flows_along_and_the_others_are_renumbered() {
    let text = done(STATIC, json!([{"op": "delete", "nodes": [0]}])).unwrap();
    let r = resolved(&text);
    assert_eq!(r.names, ["0", "car"]);
    assert_eq!(r.flows.len(), 1, "{text}");
    assert_eq!((r.flows[0].src.0, r.flows[0].dst.0), (1, 0));
    assert_eq!(r.captures.nodes.iter().map(|n| n.0).collect::<Vec<_>>(), [0, 1]);
    assert!(text.contains("all = true # all of them"));
    let text = done(STATIC, json!([{"op": "delete", "nodes": [2]}])).unwrap();
    let r = resolved(&text);
    assert_eq!((r.names.len(), r.flows.len()), (2, 0), "both flows were the car's:\n{text}");
    assert_eq!(r.captures.nodes.iter().map(|n| n.0).collect::<Vec<_>>(), [1]);
    assert!(!text.contains("car\" # red"));
}

#[test]
fn what_else_names_a_deleted_node_is_the_users_to_decide_on() {
    let text = format!("{STATIC}[[outages]]\nnode = 1\nstart_s = 3\n");
    let e = done(&text, json!([{"op": "delete", "nodes": [1]}])).unwrap_err();
    assert!(e.contains("outages[0].node refers to a node that would be deleted"), "{e}");
    let text = done(&text, json!([{"op": "delete", "nodes": [0]}])).unwrap();
    assert!(text.contains("[[outages]]\nnode = 0\n"), "{text}");
}

#[test]
fn whatever_names_a_node_takes_its_new_name() {
    let text = done(STATIC, json!([{"op": "name", "node": 2, "name": "van"}])).unwrap();
    let expected = STATIC
        .replace("name = \"car\" # red", "name = \"van\" # red")
        .replace("dst = \"car\"", "dst = \"van\"");
    assert_eq!(text, expected);
    // Without a name it is its number again.
    let text = done(&text, json!([{"op": "name", "node": 2, "name": null}])).unwrap();
    assert!(text.contains("dst = 2") && !text.contains("van"), "{text}");
    assert_eq!(resolved(&text).flows[0].dst.0, 2);
}

#[test]
fn the_comments_of_places_go_along_to_their_trajectories() {
    let text = STATIC.replace("positions = [", "positions = [ # all of them").replace(
        "  { x = 200, y = 0 },\n]",
        "  # the car\n  { x = 200, y = 0 }, # by the door\n  # no more\n]",
    );
    let way = json!([{"at": {"x": 100, "y": 400}, "speed_mps": 10}]);
    let track = json!({"start": {"x": 100, "y": 0}, "waypoints": way});
    let after = done(&text, json!([{"op": "track", "node": 1, "track": track}])).unwrap();
    let order = [
        "# all of them",
        "# base",
        "start = { x = 0, y = 0 }",
        "start = { x = 100, y = 0 }",
        "# the car",
        "# by the door",
        "# no more",
        "start = { x = 200, y = 0 }",
    ];
    let found: Vec<_> = order.iter().map(|what| after.find(what)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{found:?} in\n{after}");
    resolved(&after);
}

#[test]
fn nodes_are_added_named_and_all_taken_away() {
    let text = done(STATIC, json!([{"op": "add", "tracks": [{"start": {"x": 5, "y": 6}}]}, {"op": "name", "node": 3, "name": "new"}])).unwrap();
    assert!(text.contains("  { x = 5, y = 6 },\n]"), "{text}");
    assert_eq!(resolved(&text).names, ["0", "1", "car", "new"]);
    let text = done(&text, json!([{"op": "name", "node": 2, "name": null}, {"op": "set", "path": ["traffic", 0, "dst"], "value": 1}])).unwrap();
    assert_eq!(resolved(&text).names, ["0", "1", "2", "new"]);
    let text = done(
        &text,
        json!([{"op": "delete", "nodes": [0, 1, 2, 3]}, {"op": "add", "tracks": [{"start": {"x": 1, "y": 1}}]}]),
    );
    assert_eq!(resolved(&text.unwrap().replace("[captures]\nnodes = []\n", "")).tracks.len(), 1);
    let empty = done(
        "",
        json!([{"op": "add", "tracks": [{"start": {"x": 1, "y": 1}}, {"start": {"x": 2, "y": 1}}]}]),
    )
    .unwrap();
    assert_eq!(resolved(&empty).tracks.len(), 2);
    let none = done(&empty, json!([{"op": "delete", "nodes": [0, 1]}])).unwrap();
    assert_eq!(
        resolved(&done(&none, json!([{"op": "add", "tracks": [{"start": {"x": 3, "y": 1}}]}])).unwrap())
            .tracks
            .len(),
        1
    );
}

#[test]
fn drawing_needs_listed_nodes_and_conversion_lists_them() {
    let text = "# walk\nduration_s = 100\nseed = 4\nnodes.count = 5\narea = { x_m = 500, y_m = 300 }\n\
        movement = { kind = \"random-waypoint\", speed_max_mps = 10, pause_s = 3 } # RWP\n[output]\nns2_trace = true\n";
    let e =
        done(text, json!([{"op": "track", "node": 0, "track": {"start": {"x": 0, "y": 0}}}])).unwrap_err();
    assert!(e.contains("net.toml: movement.kind") && e.contains("convert the movement to waypoints"), "{e}");
    let converted = done(text, json!([{"op": "convert"}])).unwrap();
    assert!(converted.contains("# walk") && converted.contains("ns2_trace = true"), "{converted}");
    let (before, after) = (resolved(text), resolved(&converted));
    for (a, b) in before.tracks.iter().zip(after.tracks.iter()) {
        for s in 0..=100 {
            let t = wayhop_core::Time::from_secs_f64(f64::from(s));
            assert!(
                a.position(t).distance(b.position(t)) < 1e-5,
                "{s}: {:?} {:?}",
                a.position(t),
                b.position(t)
            );
        }
    }
}

#[test]
fn a_text_that_is_no_toml_is_refused_also_without_changes() {
    let refused = done("_\"\"", json!([])).unwrap_err();
    assert!(refused.starts_with("net.toml:1: "), "{refused}");
}

#[test]
fn mistakes_name_file_and_line() {
    let e = done("seed = 1\nsee d = 2\n", json!([{"op": "remove", "path": ["seed"]}])).unwrap_err();
    assert!(e.starts_with("net.toml:2: "), "{e}");
    for op in [
        json!({"op": "track", "node": 9, "track": {"start": {"x": 0, "y": 0}}}),
        json!({"op": "delete", "nodes": [9]}),
    ] {
        assert!(done(STATIC, json!([op])).is_err(), "{op}");
    }
}

/// A place to the centimetre, as the page has them.
fn place() -> impl Strategy<Value = Json> {
    (-100_000_i32..100_000, -100_000_i32..100_000)
        .prop_map(|(x, y)| json!({"x": f64::from(x) / 100.0, "y": f64::from(y) / 100.0}))
}

fn track() -> impl Strategy<Value = Json> {
    let waypoint = (place(), 1..3_000_i32, 0..50_i32)
        .prop_map(|(at, v, p)| json!({"at": at, "speed_mps": f64::from(v) / 100.0, "pause_s": p}));
    (place(), 0..20_i32, prop::collection::vec(waypoint, 0..5))
        .prop_map(|(start, pause, way)| json!({"start": start, "pause_s": pause, "waypoints": way}))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is drawn is what the simulator gets, in whatever order it is drawn, and no comment outside the lists of places is lost.
    #[test]
    fn drawn_tracks_are_the_simulators(
        added in prop::collection::vec(track(), 0..4),
        drawn in prop::collection::vec((0..3_usize, track()), 1..6),
    ) {
        let mut operations = vec![json!({"op": "add", "tracks": added})];
        operations.extend(drawn.iter().map(|(node, track)| json!({"op": "track", "node": node, "track": track})));
        let text = done(STATIC, Json::Array(operations)).unwrap();
        for kept in KEPT {
            prop_assert!(text.contains(kept), "{} in\n{}", kept, text);
        }
        let r = resolved(&text);
        prop_assert_eq!(r.tracks.len(), 3 + added.len());
        for (node, track) in (3..).zip(&added).chain(drawn.iter().enumerate().filter(|(i, (n, _))| !drawn[i + 1..].iter().any(|d| d.0 == *n)).map(|(_, (n, t))| (*n, t))) {
            let end = track["waypoints"].as_array().and_then(|w| w.last()).map_or(&track["start"], |w| &w["at"]);
            let legs = r.tracks[node].legs();
            for (place, leg) in [(&track["start"], &legs[0]), (end, &legs[legs.len() - 1])] {
                prop_assert_eq!(json!([place["x"], place["y"]]), json!([leg.start.x, leg.start.y]));
            }
        }
    }

    #[test]
    fn no_request_is_too_strange(text in "(\\PC|\n){0,60}", keys in prop::collection::vec("[a-z0-9.\"]{0,4}", 0..4), n in any::<i64>()) {
        let head = ["", "[movement]\nkind = \"waypoints\"\n", "movement = 1\n", "nodes.node = 3\n"][n.rem_euclid(4) as usize];
        for op in [
            json!({"op": "set", "path": keys, "value": {"a": n}}), json!({"op": "remove", "path": keys}), json!({"op": "push", "path": keys, "value": [n]}),
            json!({"op": "name", "node": 0, "name": text}), json!({"op": "add", "tracks": [{"start": {"x": n, "y": 0}}]}), json!({"op": "delete", "nodes": [0]}),
            json!({"op": "track", "node": 1, "track": {"start": {"x": 0, "y": 0}}}),
        ] {
            if let Ok(text) = done(&format!("{head}{text}"), json!([op])) {
                prop_assert!(text.parse::<DocumentMut>().is_ok(), "{}", text);
            }
        }
    }
}
