//! Reports of a wireless interface: control messages, attributes of nl80211, frames of a monitor interface.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_linux::wifi::{control_messages, monitor, nl80211};

fuzz_target!(|octets: &[u8]| {
    let messages: usize = control_messages::control_messages(octets).map(|(.., data)| data.len()).sum();
    assert!(messages <= octets.len());
    let _ = control_messages::wifi_status(octets);
    let _ = nl80211::feature_flags(octets);
    for (mac, dbm) in nl80211::station(octets).into_iter().chain(monitor::heard(octets)) {
        assert!(octets.windows(6).any(|w| w == mac.0));
        assert!((-128.0..=127.0).contains(&dbm));
    }
});
