#![no_main]

use wayhop_matrix::device::{BoxCommand, Rcdat};
use wayhop_matrix::feed;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(places) = feed::places(text) {
        assert!(places.iter().all(|(_, p)| [p.x, p.y, p.z].iter().all(|m| m.is_finite())));
    }
    if let Some(asked) = Rcdat::command(text) {
        assert_eq!(Rcdat::command(&asked.to_string()), Some(asked));
    }
    for to in [BoxCommand::Model, BoxCommand::Get { channel: 1 }, BoxCommand::Set { channel: 1, db: 0.0 }] {
        if let Some(answer) = Rcdat::answer(to, text) {
            assert!(Rcdat::answer(to, &answer.to_string()).is_some());
        }
    }
});
