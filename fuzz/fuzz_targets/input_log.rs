//! Logs of inputs: refused with a line that there is, or read to an end.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use wayhop_replay::{LogItem, Reader};

fuzz_target!(|octets: &[u8]| {
    let lines = octets.iter().filter(|o| **o == b'\n').count() as u64 + 1;
    let in_file = |line: Option<u64>| line.is_some_and(|l| (1..=lines).contains(&l));
    let mut reader = match Reader::new("log", Box::new(Cursor::new(octets.to_vec()))) {
        Ok(reader) => reader,
        Err(e) => return assert!(in_file(e.line), "{e}"),
    };
    loop {
        match reader.next_item() {
            Ok(LogItem::Input(line)) => {
                // What is written again is the same input.
                let text = serde_json::to_string(&line.input).expect("inputs serialise");
                let again: wayhop_core::Input<'_> =
                    serde_json::from_str(&text).expect("what was written is read");
                assert_eq!(serde_json::to_string(&again).expect("inputs serialise"), text);
            }
            Ok(LogItem::ApplicationInput(line)) => {
                let text = serde_json::to_string(&line.input).expect("inputs serialise");
                let again: wayhop_core::ApplicationInput<'_> =
                    serde_json::from_str(&text).expect("what was written is read");
                assert_eq!(serde_json::to_string(&again).expect("inputs serialise"), text);
            }
            Ok(LogItem::End(_) | LogItem::Cut(_)) => break,
            Err(e) => return assert!(in_file(e.line), "{e}"),
        }
    }
    assert!(reader.line() <= lines);
});
