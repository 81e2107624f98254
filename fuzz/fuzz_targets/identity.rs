//! A packet's identity: any bytes have one or none, and it does not depend on fields that a router changes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::Identity;
use wayhop_wire::ipv4;

fuzz_target!(|bytes: &[u8]| {
    let Some(before) = Identity::of(bytes, CLASSIFIER) else { return };
    let mut later = bytes.to_vec();
    if bytes[0] >> 4 == 4 && ipv4::decrement_ttl(&mut later).is_ok() {
        let after = Identity::of(&later, CLASSIFIER).expect("it is a packet still");
        assert_eq!(after.end_to_end, before.end_to_end);
    }
});
