//! Undo lists: rejected with the line, or read; a list survives writing and reading unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_daemon::UndoList;

fuzz_target!(|octets: &[u8]| {
    let list = match UndoList::parse(octets) {
        Ok(Some(list)) => list,
        Ok(None) => return,
        Err(e) => {
            let lines = octets.split(|b| *b == b'\n').count();
            return assert!(e.line >= 1 && e.line <= lines && !e.reason.is_empty());
        }
    };
    let again = UndoList::parse(list.to_string().as_bytes()).expect("what was written can be read");
    assert_eq!(again, Some(list));
});
