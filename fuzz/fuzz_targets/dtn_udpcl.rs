#![no_main]

#[path = "../../crates/models/dtn/tests/exercise/datagrams.rs"]
mod datagrams;
#[path = "../../crates/models/dtn/tests/exercise/session.rs"]
mod session;
#[path = "../../crates/models/dtn/tests/exercise/udpcl.rs"]
mod udpcl;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| udpcl::udpcl(bytes));
