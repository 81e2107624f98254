//! Configurations of `wayhop mobile-ip`: refused, or the same when they are written out and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_daemon::mobile_ip::{Role, complete};

fuzz_target!(|text: &str| {
    for role in [Role::HomeAgent, Role::ForeignAgent, Role::Node] {
        let Ok(whole) = complete(role, text) else { continue };
        assert_eq!(complete(role, &whole).expect("what was written out is a configuration"), whole);
    }
});
