#![no_main]

#[path = "../../crates/seam/wire/tests/exercise/mod.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::babel(bytes));
