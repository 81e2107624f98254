//! Configurations of `wayhop node`: refused, or the same when they are written out and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_daemon::Settings;

fuzz_target!(|text: &str| {
    let Ok(settings) = Settings::from_text(text) else { return };
    let whole = settings.to_toml().expect("settings are TOML");
    let again = Settings::from_text(&whole).expect("what was written out is a configuration");
    assert_eq!(again.to_toml().expect("settings are TOML"), whole);
});
