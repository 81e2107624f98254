//! Files of `wayhop fleet`, and the hosts' answers.
#![no_main]

use std::path::{Component, Path};

use libfuzzer_sys::fuzz_target;
use wayhop_fleet::{Fleet, parse_answer, parse_listing};

fuzz_target!(|text: &str| {
    if let Ok(hosts) = Fleet::check_text(text) {
        assert!(hosts > 0);
    }
    assert!(parse_answer(text).values().all(|v| v.len() <= 4096));
    for file in parse_listing(text, "a").0 {
        assert!(file.path == "a.log" || file.path.starts_with("a/"));
        assert!(Path::new(&file.path).components().all(|c| matches!(c, Component::Normal(_))));
    }
});
