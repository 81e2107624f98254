//! Logs of inputs as tests: an engine that replays a log behaves as the recorded one did.
//!
//! `docs/concepts/replay.md` describes how to turn a log from a run or from the field into such a test.

use std::path::Path;

use wayhop_core::Description;
use wayhop_replay::{End, Reader, Replay};

/// Fails unless the engine behaves as in the log, to its end. The message contains the first difference.
///
/// # Panics
/// If the engine behaves differently, or the log is incomplete or of another protocol.
pub fn assert_same(protocol: &'static Description, log: &Path) {
    let name = log.display();
    let reader = Reader::open(log).unwrap_or_else(|e| panic!("{e}"));
    let header = reader.header().clone();
    assert_eq!(header.protocol, protocol.name, "{name}: the log is another protocol's");
    let engines = header.engines(protocol).unwrap_or_else(|e| panic!("{name}:1: {e}"));
    let mut replay = Replay::new(reader, engines);
    while !replay.is_over() {
        let difference = replay.step().unwrap_or_else(|e| panic!("{e}"));
        if let Some(d) = difference {
            panic!(
                "{name}:{}: at {} s {} does something else.\n\
                 input    {}\n\
                 in log   {}\n\
                 now      {}\n\
                 `wayhop replay {name}` shows it in words. If this is meant, read every difference (--all), and then record \
                 the log again as docs/concepts/replay.md tells.",
                d.line,
                d.at.as_secs_f64(),
                protocol.name,
                d.input,
                serde_json::Value::from(d.expected),
                serde_json::Value::from(d.got),
            );
        }
    }
    let report = replay.report();
    assert_eq!(report.end, End::Whole, "{name}: the log is incomplete");
    assert!(report.effects > 0, "{name}: an engine without effects tests nothing");
}
