//! What two clocks say of one frame, or of one packet.

/// How the two nodes have to do with it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum ObservationKind {
    /// One sent it to the other: the second time is later than the first, by a delay that is not known.
    Unicast,
    /// The same of a packet that the sender has just received from another node, whose frame it still acknowledges.
    Forwarded,
    /// One sent it to all, and the other received it.
    Broadcast,
    /// Both received it from a third one: at nearly the same time.
    Heard,
    /// One sent it as a unicast, and it came to the other over nodes whose runs are missing.
    Passage,
}

impl ObservationKind {
    /// In the order in which they are declared.
    pub(crate) const ALL: [Self; 5] =
        [Self::Unicast, Self::Forwarded, Self::Broadcast, Self::Heard, Self::Passage];
}

/// A frame or a packet at two nodes, each by its own clock.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Observation {
    pub(crate) kind: ObservationKind,
    /// The sender, or the first of two receivers.
    pub(crate) from: usize,
    pub(crate) from_ns: u64,
    pub(crate) to: usize,
    pub(crate) to_ns: u64,
    pub(crate) bytes: u32,
    /// Between the two nodes.
    pub(crate) hops: u8,
    /// How many of these began at a node that forwarded it.
    pub(crate) forwarders: u8,
    /// The frame's digest: frames are told apart by it when the error is estimated.
    pub(crate) frame: u64,
}

impl Observation {
    /// The second clock less the first one, microseconds.
    pub(crate) fn difference_us(&self) -> f64 {
        (i128::from(self.to_ns) - i128::from(self.from_ns)) as f64 / 1e3
    }
}

/// Who has to do with whom through any observations: the number of the group of each node.
pub(crate) fn groups(nodes: usize, all: &[Observation]) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..nodes).collect();
    for o in all {
        let (a, b) = (root(&mut parent, o.from), root(&mut parent, o.to));
        parent[a.max(b)] = a.min(b);
    }
    (0..nodes).map(|n| root(&mut parent, n)).collect()
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}
