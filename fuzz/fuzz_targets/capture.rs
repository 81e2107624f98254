#![no_main]

use wayhop_trace::{Decoder, classify};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    classify(bytes);
    if let Ok(messages) = Decoder::new(bytes) {
        messages.for_each(drop);
    }
});
