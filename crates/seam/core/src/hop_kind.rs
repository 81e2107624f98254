//! What happens to packets at nodes.

/// What happened to a packet at a node.
///
/// A data packet's life is `Originate, Send, (Transmit)+, Receive, Forward, (Transmit)+, Receive, Deliver`; a routing
/// message's has no `Originate` and no `Deliver`. Every data packet ends with `Deliver` or `Drop`, or is held.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum HopKind {
    /// An application made it and gave it to the network layer (`s AGT` in ns-2's trace).
    Originate,
    /// The node that made it handed it to the interface queue (`s RTR`).
    Send,
    /// Another node handed it to the interface queue (`f RTR`).
    Forward,
    /// The MAC put it on the air; once per attempt (`s MAC`).
    Transmit,
    /// The MAC received it, for this node or for all (`r RTR`).
    Receive,
    /// The network layer gave it to its application (`r AGT`).
    Deliver,
    /// It ended here undelivered (`D`), with the reason.
    Drop,
    /// The protocol took it back out of the interface queue.
    Recall,
}

crate::names!(HopKind {
    Originate = "originate",
    Send = "send",
    Forward = "forward",
    Transmit = "transmit",
    Receive = "receive",
    Deliver = "deliver",
    Drop = "drop",
    Recall = "recall",
});
