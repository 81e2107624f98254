#![no_main]

#[path = "../../crates/models/dtn/tests/exercise/mod.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::udpcl(bytes));
