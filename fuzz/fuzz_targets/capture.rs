#![no_main]

use wayhop_trace::diff::{Sender, Sightings, bursts, difference};
use wayhop_trace::{Decoder, classify};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    classify(bytes);
    if let Ok(messages) = Decoder::new(bytes) {
        messages.for_each(drop);
    }
    if let (Ok(sent), Ok(heard)) = (Sightings::sent(bytes, Sender::Marked), Sightings::heard(bytes)) {
        bursts(&difference(&sent, &heard), 1_000_000_000, 0.01);
    }
});
