//! Lines at the control socket: requests are read or rejected, and a request survives writing and
//! reading unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_control::Envelope;

fuzz_target!(|line: &str| {
    match Envelope::parse(line) {
        Err((_, e)) => assert!(!e.remedy.is_empty() && e.message.chars().count() < 400),
        Ok(envelope) => {
            let again = Envelope::parse(&envelope.to_line()).expect("our own line");
            assert_eq!((again.id, again.node), (envelope.id, envelope.node));
        }
    }
});
