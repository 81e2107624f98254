//! The lines of a log after the first: one for each input, and one that ends it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wayhop_core::{Addr, ApplicationInput, Input, Interface, Rng, Time};
use wayhop_node::InputContext;

/// One input, with what the engine saw besides, and what it asked for in answer.
#[derive(Debug, Deserialize)]
pub struct InputRecord<'a> {
    /// When, on the node's clock.
    pub at: Time,
    /// The number of the next packet that is made.
    pub id: u64,
    /// What the interfaces told.
    #[serde(flatten)]
    pub interface: Interface,
    /// The neighbours for whom the opposite of `acknowledges` holds, in order.
    #[serde(default)]
    pub exceptions: Vec<Addr>,
    /// With `start`: the engine's stream of random numbers.
    pub rng: Option<Rng>,
    /// The input.
    #[serde(rename = "in", borrow)]
    pub input: Input<'a>,
    /// The effects, in order.
    pub out: Vec<Value>,
}

/// One input of an application, with what it asked for in answer.
#[derive(Debug, Deserialize)]
pub struct ApplicationLine<'a> {
    /// When, from the start of the run.
    pub at: Time,
    /// With `start`: the application's stream of random numbers.
    pub rng: Option<Rng>,
    /// The input.
    #[serde(rename = "in", borrow)]
    pub input: ApplicationInput<'a>,
    /// The effects, in order.
    pub out: Vec<Value>,
}

/// The last line: without it, a log is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    /// How many inputs the log has.
    pub inputs: u64,
    /// How many effects.
    pub effects: u64,
    /// Why the log ends before its node does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// The last line, as it is written.
#[derive(Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) end: Closing,
}

#[derive(Serialize)]
struct Beginning<'a, 'i> {
    at: Time,
    id: u64,
    #[serde(flatten)]
    interface: Interface,
    #[serde(skip_serializing_if = "<[Addr]>::is_empty")]
    exceptions: &'a [Addr],
    #[serde(skip_serializing_if = "Option::is_none")]
    rng: Option<&'a Rng>,
    #[serde(rename = "in")]
    input: &'a Input<'i>,
}

#[derive(Serialize)]
struct ApplicationBeginning<'a, 'i> {
    at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    rng: Option<&'a Rng>,
    #[serde(rename = "in")]
    input: &'a ApplicationInput<'i>,
}

/// The same as [`put_input`], of an application.
pub(crate) fn put_application_input(to: &mut Vec<u8>, at: Time, rng: &Rng, input: &ApplicationInput<'_>) {
    let rng = matches!(input, ApplicationInput::Start).then_some(rng);
    put(to, &ApplicationBeginning { at, rng, input });
}

/// Writes the beginning of a line. The effects come after the engine was called, so that a line without them tells the
/// input on which an engine panicked.
pub(crate) fn put_input(to: &mut Vec<u8>, at: Time, seen: &InputContext<'_>, input: &Input<'_>) {
    let rng = matches!(input, Input::Start).then_some(seen.rng);
    let InputContext { interface, exceptions, next_id: id, .. } = *seen;
    put(to, &Beginning { at, id, interface, exceptions, rng, input });
}

fn put(to: &mut Vec<u8>, line: &impl Serialize) {
    // Neither a vector nor these types refuse anything.
    let _ = serde_json::to_writer(&mut *to, line);
    // The brace that closes the line comes after the effects.
    to.pop();
}

/// Writes the rest of it.
pub(crate) fn put_effects(to: &mut Vec<u8>, effects: &[impl Serialize]) {
    to.extend_from_slice(b",\"out\":");
    let _ = serde_json::to_writer(&mut *to, effects);
    to.extend_from_slice(b"}\n");
}
