//! What programs write to a bundle agent's socket, and files in bundles.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_bundle_agent::{file, messages};
use wayhop_control::{Frames, frame};

fuzz_target!(|bytes: &[u8]| {
    let _ = file::decode(bytes);
    let mut frames = Frames::new(1_000);
    for piece in bytes.chunks(7) {
        frames.push(piece);
        while let Ok(Some(message)) = frames.next_frame() {
            assert!(message.data.len() <= 1_000);
            let mut again = Frames::new(1_000);
            again.push(&frame(message.clone()));
            assert_eq!(again.next_frame(), Ok(Some(message.clone())));
            if let Ok((id, ask)) = messages::read(message.head) {
                assert_eq!(
                    messages::read(messages::write(id.unwrap_or(0), &ask)),
                    Ok((Some(id.unwrap_or(0)), ask))
                );
            }
        }
    }
});
