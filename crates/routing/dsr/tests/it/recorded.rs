//! The engine behaves as it did when its inputs were recorded.

use std::path::Path;

/// Node 6 of eight that wander for 45 s: it answers, forwards, and loses links. `docs/concepts/replay.md` has the command that
/// recorded it.
#[test]
fn a_recorded_walk_goes_as_it_did() {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/walk.jsonl");
    wayhop_testkit::replay::assert_same(&wayhop_dsr::DESCRIPTION, &log);
}
