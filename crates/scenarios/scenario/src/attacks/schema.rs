//! The keys of `[[attacks]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// Nodes that attack the network, in simulation and emulation. `docs/concepts/attacks.md` says what each kind does, and what
/// helps. A node takes part in one attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attacks {
    /// What they do.
    pub kind: AttackKind,
    /// Which node. Give this, `nodes`, or `nodes_share`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeRef>,
    /// Which nodes. A wormhole has two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// This share of all nodes, from 0 to 1, drawn from the run's seed among the nodes at which no flow begins or ends. The nodes
    /// of a smaller share are some of those of a larger one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes_share: Option<f64>,
    /// When the attack begins, seconds.
    #[serde(default)]
    pub at_s: f64,
    /// When it is over, seconds. Without it: with the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
    /// Whether the nodes have the keys of the network, where it has some. Not of `wormhole` and `jamming`, which need none.
    /// Without it: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insider: Option<bool>,
    /// `black-hole`, `grey-hole`: whether forged replies draw routes to the node; otherwise it keeps only packets that come to it
    /// anyway. Without it: true for `black-hole`, false for `grey-hole`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attract: Option<bool>,
    /// With forged replies: how many hops from the node the destination is said to be. Without it: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u8>,
    /// With forged replies: by how much their sequence number is newer than the newest heard. DSR has none. Without it: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u32>,
    /// `grey-hole`: the probability with which each packet is kept. Give this, `on_s` and `off_s`, or `source` and `destination`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// `grey-hole`: all packets are kept for so long, seconds, then none for `off_s`, and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_s: Option<f64>,
    /// `grey-hole`: see `on_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_s: Option<f64>,
    /// `grey-hole`: packets from this node are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<NodeRef>,
    /// `grey-hole`: packets to this node are kept; with `source`, those from it to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<NodeRef>,
    /// `wormhole`: how long a frame takes through the link between the two nodes, microseconds. Without it: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_us: Option<u64>,
    /// `replay`: how long after it was heard a message is sent again, seconds. Without it: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_s: Option<f64>,
    /// `forged-error`: how often one destination is reported lost at most, seconds. Without it: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_s: Option<f64>,
    /// `request-flood`: requests a second. Without it: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_pps: Option<f64>,
    /// `request-flood`: whose requests they seem to be. Without it: "own".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<Originators>,
    /// `sybil`: the number of addresses in whose names the node speaks, besides its own. Without it: 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identities: Option<u8>,
    /// `jamming`: when the jammer sends. Without it: "constant".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<JamMode>,
    /// `jamming` of mode `random`: the share of the time in which it sends. Without it: 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duty: Option<f64>,
    /// `jamming`: length of a burst, microseconds. Without it: 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_us: Option<u64>,
    /// `jamming` of mode `reactive`: from the first bit that it hears of a frame to its own, microseconds. Without it: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reaction_us: Option<u64>,
    /// `jamming`: transmit power, dBm, at most the radio's. Without it: the radio's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_dbm: Option<f64>,
}

/// The kinds of attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttackKind {
    /// Draws routes to itself, and keeps all packets that it should forward.
    BlackHole,
    /// Keeps some of the packets that it should forward.
    GreyHole,
    /// Two nodes send again what they hear, each at the other's place, in the name of who sent it.
    Wormhole,
    /// Sends routing messages that it heard again, later.
    Replay,
    /// Answers requests with routes that do not exist.
    ForgedReply,
    /// Reports routes broken that are not.
    ForgedError,
    /// Asks for nodes that do not exist.
    RequestFlood,
    /// Sends noise.
    Jamming,
    /// Draws routes to itself under many addresses, and keeps all packets that it should forward.
    Sybil,
}

impl AttackKind {
    /// As scenarios write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BlackHole => "black-hole",
            Self::GreyHole => "grey-hole",
            Self::Wormhole => "wormhole",
            Self::Replay => "replay",
            Self::ForgedReply => "forged-reply",
            Self::ForgedError => "forged-error",
            Self::RequestFlood => "request-flood",
            Self::Jamming => "jamming",
            Self::Sybil => "sybil",
        }
    }
}

/// In whose name requests are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Originators {
    /// The attacker's.
    Own,
    /// Another address each time, which no node has.
    Forged,
}

/// When a jammer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JamMode {
    /// All the time.
    Constant,
    /// Bursts with pauses of random length between them.
    Random,
    /// A burst after the beginning of each frame that it hears.
    Reactive,
}
