#![no_main]

#[path = "../../crates/models/dtn/tests/exercise/mod.rs"]
#[allow(dead_code, reason = "each target runs one of its parts")]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::ltp(bytes));
