#![no_main]

#[path = "../../crates/models/dtn/tests/exercise/bundle.rs"]
mod bundle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bundle::bundle(bytes));
