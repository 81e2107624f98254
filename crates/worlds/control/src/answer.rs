//! The types of answers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{ControlError, ErrorCode};
use crate::gps::Gps;
use crate::messages::{LinkState, Place};

/// Rows of a table by column.
pub type Rows = Vec<Map<String, Value>>;

/// An answer as JSON.
pub fn json(answer: &impl Serialize) -> Result<Value, ControlError> {
    serde_json::to_value(answer)
        .map_err(|e| ControlError::new(ErrorCode::Other, e.to_string(), "please report this bug"))
}

/// The answer to `tables`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tables {
    /// When, in seconds since the start of the run.
    pub time_s: f64,
    /// One entry a node.
    pub nodes: Vec<NodeTables>,
}

/// The tables of one node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeTables {
    /// Its number.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// Rows by table.
    pub tables: BTreeMap<String, Rows>,
    /// How many packets the protocol holds, by place.
    #[serde(default)]
    pub held: BTreeMap<String, u64>,
    /// How many rows were left out, because a table is longer than an answer may be.
    #[serde(default)]
    pub rows_left_out: u64,
}

/// The answer to `counters`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// When, in seconds since the start of the run.
    pub time_s: f64,
    /// One entry a node.
    pub nodes: Vec<NodeCounters>,
}

/// The counters of one node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeCounters {
    /// Its number.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// Counts since the start, by name.
    pub counters: BTreeMap<String, u64>,
}

/// The answer to `parameters` and `set-parameters`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parameters {
    /// One entry a node.
    pub nodes: Vec<NodeParameters>,
}

/// The parameters of one node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeParameters {
    /// Its number.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// Values by key, as in a scenario's `[protocol]`.
    pub parameters: Map<String, Value>,
}

/// The answer to `position`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Positions {
    /// When, in seconds since the start of the run.
    pub time_s: f64,
    /// One entry a node.
    pub nodes: Vec<NodePosition>,
}

/// Where one node is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodePosition {
    /// Its number.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// In the scenario's frame, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<Place>,
    /// On the earth, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earth: Option<Place>,
    /// How good that is, if it is a GPS receiver's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gps: Option<Gps>,
    /// Whether the place was set from outside.
    #[serde(default)]
    pub overridden: bool,
}

/// The answer to `capture`: one of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capture {
    /// The format of the octets that follow the answer's line: `pcapng`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// The control socket at which to ask for the capture: that of the node's own daemon, in a lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
}

/// The answer to `links`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Links {
    /// The overridden ones, each way for itself.
    pub links: Vec<LinkOverride>,
}

/// One way of an overridden link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkOverride {
    /// Who sends.
    pub from: u32,
    /// Who hears.
    pub to: u32,
    /// What it does.
    pub state: LinkState,
}
