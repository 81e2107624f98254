//! An answer as a line of JSON.

use serde_json::Value;

use crate::error::{ControlError, ErrorCode};
use crate::limits::MAX_ANSWER_BYTES;

/// The line of an answer, with its end.
pub(super) fn answer_line(id: Option<u64>, outcome: Result<Value, ControlError>) -> Vec<u8> {
    let line = match outcome {
        Ok(value) => serde_json::json!({"id": id, "ok": value}).to_string(),
        Err(error) => error_line(id, &error),
    };
    let mut line = if line.len() < MAX_ANSWER_BYTES {
        line
    } else {
        let what = format!("the answer has {} bytes (at most {MAX_ANSWER_BYTES})", line.len());
        let e = ControlError::new(ErrorCode::TooLarge, what, "ask for one node, or for one table");
        error_line(id, &e)
    };
    line.push('\n');
    line.into_bytes()
}

fn error_line(id: Option<u64>, error: &ControlError) -> String {
    serde_json::json!({"id": id, "error": error}).to_string()
}
