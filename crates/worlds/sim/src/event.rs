//! The contents of the event queue.

use wayhop_core::{IfaceId, TimerKey};
use wayhop_node::Stage;
use wayhop_radio::RadioEvent;

/// Something that is due at a node.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Event {
    /// A radio asked for it: the one of this number.
    Radio(u8, RadioEvent),
    /// The wire of this number asked for it.
    Wire(u16, WireEvent),
    /// An engine's timer, unless it was moved or cleared.
    Timer(u8, TimerKey),
    /// A frame on its way down goes on; the handle is into `Common::tx_pending`.
    Down(Stage, u32),
    /// A link address that was asked for has not been heard.
    Resolution(IfaceId),
    /// A packet reaches network layers from the air; the handle is into `Common::rx_pending`.
    Up(u32),
    /// The deadline of the TCP of a host's programs, or of the end of this flow and its application, unless it was moved.
    Streams(Option<u32>),
    /// A timer of the application of this number, unless it was moved or cleared.
    Application(u32, TimerKey),
    /// A packet of a program outside enters; the handle is into `External::entering`.
    Ingress(u32),
    /// A GPS receiver tells its node where it is.
    Position,
    /// A driver stops serving its interface queue, or goes on; the number is the stall's in the scenario.
    Stall(u32, bool),
    /// An outage is over, or (false) begins; the number is the outage's in the scenario.
    Power(u32, bool),
    /// Orders from outside are due; the number is the order's in the scenario.
    Order(u32),
    /// A step of a table of path losses is due: the table's number in the scenario, and the step's.
    Loss(u32, u32),
}

/// Something that is due at a wire.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum WireEvent {
    /// The last bit of a node's frame has left it.
    Sent,
    /// The last bit of this frame reaches the others.
    Arrives(u32),
    /// It is cut, or whole again.
    Cut(bool),
    /// A node leaves it, or is there again.
    Absent(bool),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_queue_stays_small() {
        assert_eq!(size_of::<Event>(), 16);
    }
}
