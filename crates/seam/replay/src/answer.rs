//! An engine's or application's answer to an input, and the invariants of each line.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use wayhop_core::Time;

/// How it answered an input.
pub(crate) struct Answer {
    pub(crate) at: Time,
    /// The effects in the log, and those of now.
    pub(crate) expected: Vec<Value>,
    pub(crate) got: Vec<Value>,
    /// If it panicked: what it said.
    pub(crate) panicked: Option<String>,
}

/// Calls an engine. If it panics: what it said.
pub(crate) fn guarded(call: impl FnOnce()) -> Option<String> {
    catch_unwind(AssertUnwindSafe(call)).err().map(|what| said(&*what))
}

/// What holds of every line: time goes on, and the first input is `start`, which comes with the random numbers.
pub(crate) fn check_order(
    (at, before): (Time, Time),
    is_start: bool,
    has_rng: bool,
    is_first: bool,
) -> Result<(), String> {
    if at < before {
        let (at, before) = (at.as_nanos(), before.as_nanos());
        return Err(format!("time goes backwards, from {before} to {at} ns"));
    }
    match (is_start, has_rng) {
        (true, false) => Err("`start` needs `rng`, the engine's stream of random numbers".into()),
        (false, _) if is_first => Err("the first input of a log is `start`".into()),
        _ => Ok(()),
    }
}

/// What a panic said.
fn said(what: &(dyn std::any::Any + Send)) -> String {
    let text = what.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| what.downcast_ref::<String>().cloned()).unwrap_or_else(|| "nothing".to_owned())
}
