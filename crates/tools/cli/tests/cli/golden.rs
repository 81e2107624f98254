//! `wayhop decode` on the golden captures of RFC 3561 and RFC 4728, whose octets were written down by hand.

use std::path::Path;

use serde_json::Value;
use wayhop_testkit::golden;

use crate::schemas::check;
use crate::{folder, run_in};

#[test]
fn decode_prints_what_is_written_beside_each_golden_capture() {
    for rfc in ["rfc3561", "rfc4728"] {
        prints_what_is_written(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures").join(rfc));
    }
}

fn prints_what_is_written(sources: &Path) {
    let dir = folder(&[]);
    for c in golden::read_all(sources).expect("the sources are in the repository") {
        let file = sources.join(format!("{}.pcapng", c.name));
        let printed = run_in(dir.path(), &["decode", file.to_str().expect("UTF-8")]).ok();
        check("decode", &printed);
        let message = |line| {
            let mut m: Value = serde_json::from_str(line).expect("JSON");
            m.as_object_mut().expect("an object").remove("wayhop");
            m
        };
        let printed: Vec<Value> = printed.lines().map(message).collect();
        let mut expected = Vec::new();
        for (i, p) in c.packets.iter().enumerate() {
            for line in &p.decoded {
                let mut m: Value = serde_json::from_str(line).expect("JSON in the source");
                m["frame"] = (i + 1).into();
                m["time_ns"] = (i * 1_000_000).into();
                expected.push(m);
            }
        }
        assert!(!expected.is_empty(), "{}: nothing is expected", c.name);
        assert_eq!(printed, expected, "{}", c.name);
    }
}
