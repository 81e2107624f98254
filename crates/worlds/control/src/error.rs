//! Errors over the control socket.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Refused;

/// What kind of error: for programs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorCode {
    /// The line is not a request.
    BadRequest,
    /// The request is of another version.
    Version,
    /// There is no such node, or one has to be named.
    UnknownNode,
    /// There is no such table or parameter.
    UnknownKey,
    /// The value is not allowed, or cannot change while the node runs.
    Refused,
    /// This world or protocol cannot do it.
    Unsupported,
    /// Too many clients, or too much at once.
    Busy,
    /// The answer would be too long.
    TooLarge,
    /// The node went away without an answer.
    Unanswered,
    /// A code that this version does not know.
    #[serde(other)]
    Other,
}

/// Why a request was not carried out, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}; {remedy}")]
pub struct ControlError {
    /// For programs.
    pub code: ErrorCode,
    /// For people: what is wrong.
    pub message: String,
    /// For people: what to do.
    pub remedy: String,
}

impl ControlError {
    /// An error.
    pub fn new(code: ErrorCode, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: remedy.into() }
    }
    /// It cannot be done now, or with this value.
    pub fn refused(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(ErrorCode::Refused, message, remedy)
    }
    /// The node that is to go down is down.
    pub fn is_down() -> Self {
        Self::refused("the node is already down", "`wayhop ctl up` brings it back")
    }
    /// The node that is to come back is up.
    pub fn is_up() -> Self {
        Self::refused("the node is not down", "`wayhop ctl hello` shows which nodes are down")
    }
    /// Several nodes are meant, and it concerns one.
    pub fn needs_one_node() -> Self {
        Self::new(
            ErrorCode::UnknownNode,
            "this request needs a node",
            "give \"node\" (--node in `wayhop ctl`)",
        )
    }
    /// Two nodes share no radio or wire, or none of this name.
    pub fn no_shared_link(from: u32, to: u32, interface: Option<&str>) -> Self {
        let which = interface.map_or_else(|| "no radio or wire".to_owned(), |name| format!("no {name:?}"));
        let message = format!("nodes {from} and {to} share {which}");
        Self::refused(message, "give an interface that both have, or none for all of them")
    }
    /// There is no interface of this name.
    pub fn no_interface<'a>(name: &str, all: impl IntoIterator<Item = &'a str>) -> Self {
        let all: Vec<&str> = all.into_iter().collect();
        let clipped: String = name.chars().take(80).collect();
        Self::new(
            ErrorCode::UnknownKey,
            format!("the node has no interface {clipped:?}"),
            format!("its interfaces are {}", all.join(", ")),
        )
    }
    /// This world cannot do it.
    pub fn unsupported(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(ErrorCode::Unsupported, message, remedy)
    }
}

impl From<Refused> for ControlError {
    fn from(r: Refused) -> Self {
        Self::refused(r.0, "nothing was changed")
    }
}
