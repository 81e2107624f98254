//! What programs write to a bundle agent's socket, and files in bundles.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_bundle_agent::{Frames, file, messages};

fuzz_target!(|bytes: &[u8]| {
    let _ = file::decode(bytes);
    let mut frames = Frames::new(1_000);
    for piece in bytes.chunks(7) {
        frames.push(piece);
        while let Ok(Some(frame)) = frames.next_frame() {
            assert!(frame.octets.len() <= 1_000);
            if let Ok((id, ask)) = messages::read(frame.head) {
                assert_eq!(
                    messages::read(messages::write(id.unwrap_or(0), &ask)),
                    Ok((Some(id.unwrap_or(0)), ask))
                );
            }
        }
    }
});
