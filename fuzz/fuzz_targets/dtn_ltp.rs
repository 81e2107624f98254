#![no_main]

#[path = "../../crates/models/dtn/tests/exercise/datagrams.rs"]
mod datagrams;
#[path = "../../crates/models/dtn/tests/exercise/ltp.rs"]
mod ltp;
#[path = "../../crates/models/dtn/tests/exercise/session.rs"]
mod session;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ltp::ltp(bytes));
