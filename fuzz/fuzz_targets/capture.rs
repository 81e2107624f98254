#![no_main]

use wayhop_protocols::{CLASSIFIER, classify};
use wayhop_trace::diff::{Sender, Sightings, bursts, difference};
use wayhop_trace::{CaptureIndex, CapturedFrame, Decoder, Excerpt, dissect, network};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    classify(bytes);
    if let Some((link_type, frame)) = bytes.split_first_chunk() {
        let _ = network(u16::from_le_bytes(*link_type), frame);
    }
    if let Ok(messages) = Decoder::new(bytes, CLASSIFIER) {
        messages.for_each(drop);
    }
    if let Ok(index) = CaptureIndex::read(bytes)
        && let Ok(mut reader) = index.reader(std::io::Cursor::new(bytes), bytes.len() as u64)
    {
        let (mut frame, mut excerpt) = (CapturedFrame::default(), Excerpt::default());
        while reader.next_into(&mut frame).is_ok_and(|more| more) {
            dissect(&frame, CLASSIFIER);
            excerpt.put("node", &frame);
        }
        assert!(Decoder::new(&excerpt.finish()[..], CLASSIFIER).is_ok());
    }
    if let (Ok(sent), Ok(heard)) =
        (Sightings::sent(bytes, Sender::Marked, CLASSIFIER), Sightings::heard(bytes, CLASSIFIER))
    {
        bursts(&difference(&sent, &heard), 1_000_000_000, 0.01);
    }
});
