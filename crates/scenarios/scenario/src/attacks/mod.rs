//! Attackers among the nodes: who attacks how, and when.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

pub use resolve::{Action, Attack};
pub(crate) use resolve::{AttackContext, resolve};

/// Nodes that attack the network, in simulation and emulation. `docs/concepts/attacks.md` describes each kind and the
/// countermeasures. A node takes part in at most one attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attacks {
    /// The kind of attack.
    pub kind: AttackKind,
    /// The attacking node. Set this, `nodes` or `nodes_share`.
    pub node: Option<NodeRef>,
    /// The attacking nodes. A wormhole has two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// The share of all nodes that attack, 0 to 1. They are drawn from the run's seed among the nodes without flows; a
    /// larger share includes the nodes of a smaller one.
    pub nodes_share: Option<f64>,
    /// Start of the attack, seconds.
    #[serde(default)]
    pub at_s: f64,
    /// End of the attack, seconds. Default: the end of the run.
    pub until_s: Option<f64>,
    /// Whether the attackers have the keys of a network with authentication. Not for `wormhole` and `jamming`, which
    /// need no keys. Default: false.
    pub insider: Option<bool>,
    /// `black-hole`, `grey-hole`: whether the node attracts routes with forged replies; otherwise it drops only
    /// packets that it is asked to forward anyway. Default: true for `black-hole`, false for `grey-hole`.
    pub attract: Option<bool>,
    /// For forged replies: the claimed distance from the node to the destination, hops. Default: 1.
    pub hops: Option<u8>,
    /// For forged replies: how far the forged sequence number is ahead of the newest one heard. Not for DSR. Default:
    /// 100.
    pub ahead: Option<u32>,
    /// `grey-hole`: probability of dropping a packet. Set this, `on_s` and `off_s`, or `source` and `destination`.
    pub share: Option<f64>,
    /// `grey-hole`: drop all packets for this time, seconds, then none for `off_s`, and repeat.
    pub on_s: Option<f64>,
    /// `grey-hole`: the time without drops, seconds; see `on_s`.
    pub off_s: Option<f64>,
    /// `grey-hole`: drop packets from this node.
    pub source: Option<NodeRef>,
    /// `grey-hole`: drop packets to this node; with `source`, only packets from that node to this one.
    pub destination: Option<NodeRef>,
    /// `wormhole`: delay of the link between the two nodes, microseconds. Default: 1.
    pub delay_us: Option<u64>,
    /// `replay`: time from hearing a message to replaying it, seconds. Default: 10.
    pub delay_s: Option<f64>,
    /// `forged-error`: the shortest time between two reports of one destination as lost, seconds. Default: 1.
    pub every_s: Option<f64>,
    /// `request-flood`: requests per second. Default: 10.
    pub rate_pps: Option<f64>,
    /// `request-flood`: the apparent originator of the requests. Default: "own".
    pub addresses: Option<Originators>,
    /// `sybil`: the number of additional addresses that the node uses. Default: 8.
    pub identities: Option<u8>,
    /// `jamming`: when the jammer transmits. Default: "constant".
    pub mode: Option<JamMode>,
    /// `jamming` with mode `random`: the share of time spent transmitting. Default: 0.5.
    pub duty: Option<f64>,
    /// `jamming`: length of a burst, microseconds. Default: 1000.
    pub burst_us: Option<u64>,
    /// `jamming` with mode `reactive`: time from the first bit of a frame that the jammer hears to its own first bit,
    /// microseconds. Default: 20.
    pub reaction_us: Option<u64>,
    /// `jamming`: transmit power, dBm, at most the radio's. Default: the radio's.
    pub power_dbm: Option<f64>,
}

/// The kinds of attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttackKind {
    /// Attracts routes and drops all packets that it should forward.
    BlackHole,
    /// Drops some of the packets that it should forward.
    GreyHole,
    /// Two nodes relay what they hear to each other and retransmit it there under the original sender's address.
    Wormhole,
    /// Replays routing messages some time after hearing them.
    Replay,
    /// Answers requests with routes that do not exist.
    ForgedReply,
    /// Reports working routes as broken.
    ForgedError,
    /// Requests routes to nodes that do not exist.
    RequestFlood,
    /// Transmits noise.
    Jamming,
    /// Attracts routes under many addresses and drops all packets that it should forward.
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

/// The apparent originator of flooded requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Originators {
    /// The attacker's own address.
    Own,
    /// A different address each time, which no node has.
    Forged,
}

/// When a jammer transmits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JamMode {
    /// All the time.
    Constant,
    /// Bursts, with pauses of random length between them.
    Random,
    /// A burst after the beginning of each frame that it hears.
    Reactive,
}
