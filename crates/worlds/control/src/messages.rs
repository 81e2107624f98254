//! The protocol of the control socket: one JSON object per line, each way.
//!
//! A request is `{"wayhop": 1, "id": 7, "node": 3, "do": "tables", ...}`, its answer `{"id": 7,
//! "ok": ...}` or `{"id": 7, "error": {"code": ..., "message": ..., "remedy": ...}}`. Within a
//! version, keys are added but never renamed.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wayhop_core::Fix;

use crate::error::{ControlError, ErrorCode};
use crate::event_kind::EventKind;

/// The version of the messages, the value of a request's key `wayhop`.
pub const VERSION: u64 = 1;

/// How long a node can be taken down for, seconds: as short and as long as an outage of a scenario.
const MIN_DOWN_S: f64 = 0.001;
const MAX_DOWN_S: f64 = 1e9;
/// The greatest path loss of an overridden link, dB.
pub const MAX_PATH_LOSS_DB: f64 = 300.0;

/// A node, by its number or by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NodeRef {
    /// As the scenario numbers it, from 0.
    Number(u32),
    /// As the scenario names it, or the host name `mesh-N`.
    Name(String),
}

impl std::str::FromStr for NodeRef {
    type Err = std::convert::Infallible;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number))
    }
}

impl std::fmt::Display for NodeRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(n) => n.fmt(f),
            Self::Name(n) => n.fmt(f),
        }
    }
}

/// What is asked for.
///
/// A request without `node` concerns all nodes of an emulation, or the one node of a daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Who is there: [`crate::About`].
    Hello {},
    /// The tables of the protocol and of its host: [`crate::answer::Tables`].
    Tables {
        /// Names of tables; none for all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tables: Vec<String>,
    },
    /// Counters since the start: [`crate::answer::Counters`].
    Counters {},
    /// All parameters of the protocol: [`crate::answer::Parameters`].
    Parameters {},
    /// Changes parameters while the node runs; all of them or, with an error, none. Answers as `parameters` does.
    SetParameters {
        /// New values by key.
        values: Map<String, Value>,
    },
    /// Forgets the route to a destination, or all routes, without a word to anybody. Answers null.
    PurgeRoutes {
        /// Whose; absent for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        destination: Option<IpAddr>,
    },
    /// Where nodes are: [`crate::answer::Positions`].
    Position {},
    /// Tells a node where it is, in place of its GPS receiver, or moves it, in an emulation. Answers null.
    SetPosition {
        /// Where.
        place: Place,
    },
    /// Gives a node's place back to its GPS receiver or to the scenario. Answers null.
    ReleasePosition {},
    /// The links that are overridden: [`crate::answer::Links`]. Emulation and lab.
    Links {},
    /// Overrides a link. Emulation and lab. Answers null.
    SetLink {
        /// One end.
        a: NodeRef,
        /// The other.
        b: NodeRef,
        /// Whether only what `a` sends to `b` is meant.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        one_way: bool,
        /// What becomes of it.
        state: LinkState,
        /// Only on the radio or wire of this name. Without it: on all that both have.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface: Option<String>,
    },
    /// Takes a node down, as `[[outages]]` of a scenario do. Answers null.
    Down {
        /// After how many seconds it comes back; absent for when it is told to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        for_s: Option<f64>,
        /// Whether it comes back without its tables, as after a reboot.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lose_tables: bool,
    },
    /// Brings back a node that is down. Answers null.
    Up {},
    /// Sends events as they happen, until the connection ends; a second request takes the place of the first. Answers the
    /// kinds that it will send.
    Subscribe {
        /// Kinds of events; none for all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        events: Vec<EventKind>,
    },
    /// Ends the subscription. Answers null.
    Unsubscribe {},
    /// Captures the frames that a node sends and hears: [`crate::answer::Capture`]. After a `stream` the connection carries no
    /// lines any more, but a capture in this format, until either side closes it.
    Capture {
        /// Only those of the interface of this name. Without it: of all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface: Option<String>,
        /// How much of each frame is kept, octets. Without it: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snap_length_bytes: Option<u32>,
    },
    /// Ends the run or the daemon in good order. Answers null.
    Quit {},
}

/// A place for a node.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Place {
    /// In the scenario's frame.
    Local {
        /// East, metres.
        x: f64,
        /// North, metres.
        y: f64,
        /// Up, metres.
        #[serde(default)]
        z: f64,
    },
    /// On the earth (WGS 84).
    Earth {
        /// Degrees, north positive.
        latitude_deg: f64,
        /// Degrees, east positive.
        longitude_deg: f64,
        /// Degrees clockwise from north.
        #[serde(default)]
        heading_deg: f32,
        /// Metres per second.
        #[serde(default)]
        speed_m_per_s: f32,
    },
}

impl From<Fix> for Place {
    fn from(fix: Fix) -> Self {
        let Fix { latitude_deg, longitude_deg, heading_deg, speed_m_per_s } = fix;
        Self::Earth { latitude_deg, longitude_deg, heading_deg, speed_m_per_s }
    }
}

impl Place {
    /// Refuses what is no place.
    pub fn check(&self) -> Result<(), ControlError> {
        let ok = match *self {
            Self::Local { x, y, z } => [x, y, z].iter().all(|v| v.is_finite()),
            Self::Earth { latitude_deg, longitude_deg, heading_deg, speed_m_per_s } => {
                (-90.0..=90.0).contains(&latitude_deg)
                    && (-180.0..=180.0).contains(&longitude_deg)
                    && (0.0..360.0).contains(&heading_deg)
                    && (0.0..=10_000.0).contains(&speed_m_per_s)
            }
        };
        if ok {
            return Ok(());
        }
        Err(ControlError::new(
            ErrorCode::BadRequest,
            "not a valid position",
            "give x and y in metres, or a latitude from -90 to 90 and a longitude from -180 to 180, a heading from 0 to \
             below 360 and a speed from 0 to 10000 m/s",
        ))
    }
}

/// What an overridden link does.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// It hears every frame, however far away, unless frames collide.
    Up,
    /// It hears nothing.
    Down,
    /// As the radio model says, but this share of the frames, from 0 to 1, is lost besides.
    Loss(f64),
    /// Frames come with this path loss, dB from 0 to 300, in place of the radio model's: as over attenuators. A lab has no such links.
    PathLoss(f64),
    /// As the radio model says or, in a lab, the macfilter: no override.
    Model,
}

/// A request as it came over the socket.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The caller's number, given back in the answer.
    pub id: Option<u64>,
    /// Which node is meant.
    pub node: Option<NodeRef>,
    /// What it asks for.
    pub request: Request,
}

impl Envelope {
    /// Reads a line. The error comes with the id, if there is one to answer under.
    pub fn parse(line: &str) -> Result<Self, (Option<u64>, ControlError)> {
        let mut object: Map<String, Value> = serde_json::from_str(line).map_err(|e| {
            let remedy = "send one object per line, such as {\"wayhop\": 1, \"do\": \"hello\"}";
            (None, bad(format!("not a JSON object: {}", short(&e.to_string())), remedy))
        })?;
        let id = match object.remove("id") {
            None | Some(Value::Null) => None,
            Some(v) if v.is_u64() => v.as_u64(),
            Some(_) => return Err((None, bad("id is not a number", "give 0 or more, or remove it"))),
        };
        Self::parse_object(object, id).map_err(|e| (id, e))
    }

    fn parse_object(mut object: Map<String, Value>, id: Option<u64>) -> Result<Self, ControlError> {
        let version = object.remove("wayhop");
        if version.as_ref().and_then(Value::as_u64) != Some(VERSION) {
            let said = version.map_or_else(|| "none".to_owned(), |v| short(&v.to_string()));
            let what = format!("the request has version {said}, but this is version {VERSION}");
            let remedy = format!("send \"wayhop\": {VERSION}, using the same version of Wayhop");
            return Err(ControlError::new(ErrorCode::Version, what, remedy));
        }
        let node = match object.remove("node") {
            None | Some(Value::Null) => None,
            Some(v) => Some(
                serde_json::from_value(v)
                    .map_err(|_| bad("node is neither a number nor a name", "see `wayhop ctl hello`"))?,
            ),
        };
        let request = serde_json::from_value(Value::Object(object)).map_err(|e| {
            bad(short(&e.to_string()), "docs/reference/control.md lists the requests and their keys")
        })?;
        let envelope = Self { id, node, request };
        envelope.check()?;
        Ok(envelope)
    }

    fn check(&self) -> Result<(), ControlError> {
        match &self.request {
            Request::SetPosition { place } => place.check(),
            Request::SetLink { state: LinkState::Loss(share), .. } if !(0.0..=1.0).contains(share) => {
                Err(bad(format!("loss is {share}"), "give a number from 0 to 1"))
            }
            Request::SetLink { state: LinkState::PathLoss(db), .. }
                if !(0.0..=MAX_PATH_LOSS_DB).contains(db) =>
            {
                Err(bad(format!("path-loss is {db}"), format!("give decibels from 0 to {MAX_PATH_LOSS_DB}")))
            }
            Request::Down { for_s: Some(s), .. } if !(MIN_DOWN_S..=MAX_DOWN_S).contains(s) => {
                Err(bad(format!("for_s is {s}"), format!("give a number from {MIN_DOWN_S} to {MAX_DOWN_S}")))
            }
            _ => Ok(()),
        }
    }

    /// The line that says it, without the end of line.
    pub fn to_line(&self) -> String {
        let mut object = match serde_json::to_value(&self.request) {
            Ok(Value::Object(object)) => object,
            // A request is always an object of finite numbers and strings.
            _ => Map::new(),
        };
        object.insert("wayhop".to_owned(), VERSION.into());
        if let Some(id) = self.id {
            object.insert("id".to_owned(), id.into());
        }
        if let Some(node) = &self.node {
            object.insert("node".to_owned(), serde_json::json!(node));
        }
        Value::Object(object).to_string()
    }
}

fn bad(message: impl Into<String>, remedy: impl Into<String>) -> ControlError {
    ControlError::new(ErrorCode::BadRequest, message, remedy)
}

/// A text from outside, at a length that a message can quote.
fn short(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
