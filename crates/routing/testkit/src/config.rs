//! How nodes and frames behave.

use wayhop_core::Span;

/// How nodes and frames behave. Set before the run begins.
#[derive(Copy, Clone, Debug)]
pub struct Config {
    /// Seed of every random stream.
    pub seed: u64,
    /// How long one transmission takes, with all its tries.
    pub airtime: Span,
    /// How often a unicast frame is tried.
    pub tries: u8,
    /// Packets that an interface queue holds.
    pub queue_limit: usize,
    /// Whether unicast frames are acknowledged. If not, their status is `Unknown` (a wire or radio without
    /// acknowledgements) and one try is all they get.
    pub acknowledged: bool,
    /// Where nothing is acknowledged: whether a node notices a next hop that is not there, as by ARP. EventKind the protocol
    /// sent comes back; of what a `DataPlane::Forwarding` node forwards by itself the protocol hears that it is lost.
    pub resolves: bool,
    /// Octets of payload in test packets.
    pub payload: usize,
    /// IP time to live of test packets.
    pub ttl: u8,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seed: 1,
            airtime: Span::from_millis(1),
            tries: 7,
            queue_limit: 50,
            acknowledged: true,
            resolves: false,
            payload: 64,
            ttl: 64,
        }
    }
}
