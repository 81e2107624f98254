//! Edits of a scenario's text, as the studio's page asks for them: refused, or a text that is TOML.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &[u8])| {
    let (text, operations) = input;
    // To convert a movement is to read the files that the text names, which are none of a fuzzer's business.
    if operations.windows(7).any(|w| w == b"convert") {
        return;
    }
    if let Ok(edited) = wayhop_studio::edit_text(Path::new("s.toml"), text, operations) {
        assert!(toml::from_str::<toml::Table>(&edited).is_ok(), "{edited}");
    }
});
