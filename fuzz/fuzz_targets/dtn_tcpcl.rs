#![no_main]

#[path = "../../crates/models/dtn/tests/exercise/session.rs"]
mod session;
#[path = "../../crates/models/dtn/tests/exercise/tcpcl.rs"]
mod tcpcl;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tcpcl::tcpcl(bytes));
