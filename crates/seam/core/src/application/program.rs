//! Programs: clients of an application's socket, with commands and answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bytes;

/// What a program and an application tell each other: a JSON object, and bytes that belong to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramMessage {
    /// The object.
    pub head: Map<String, Value>,
    /// The bytes.
    #[serde(with = "bytes::owned")]
    pub data: Vec<u8>,
}

/// What happens at the socket. Programs have numbers of the host's, none of which is used twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramInput {
    /// A program asks for something: a command, to which it gets one answer.
    Command {
        /// Who.
        program: u64,
        /// For what.
        message: ProgramMessage,
    },
    /// A program is gone, and waits for no answer.
    Gone(u64),
}

/// What an application has for programs. For one that is gone it is lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramEffect {
    /// The answer to one of its commands. A program with too many unanswered ones is not read from.
    Answer {
        /// To whom.
        program: u64,
        /// What.
        message: ProgramMessage,
    },
    /// Something that it has not asked for just now.
    Tell {
        /// Whom.
        program: u64,
        /// What.
        message: ProgramMessage,
    },
}
