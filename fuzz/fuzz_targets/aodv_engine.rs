#![no_main]

#[path = "../../crates/routing/aodv/tests/exercise/mod.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::engine(bytes));
