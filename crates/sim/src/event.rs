//! What the event queue holds.

use wayhop_core::TimerKey;
use wayhop_radio::RadioEvent;
use wayhop_transport::tcp::End;

/// Something that is due at a node.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Event {
    /// The radio asked for it.
    Radio(RadioEvent),
    /// A protocol's timer, unless it was moved or cleared.
    Timer(TimerKey),
    /// A packet leaves the network layer; the handle is into `Net::going`.
    Down(u32),
    /// A packet whose link address is known reaches the interface queue; the handle is into `Net::going`.
    Enqueue(u32),
    /// A packet reaches network layers from the air; the handle is into `Net::coming`.
    Up(u32),
    /// A flow's source sends.
    Departure(u32),
    /// The deadline of one end of a flow's TCP connection, unless it was moved.
    Tcp(u32, End),
    /// A packet of a program outside enters; the handle is into `Outside::entering`.
    Enter(u32),
    /// A GPS receiver tells its node where it is.
    Position,
    /// A driver stops serving its interface queue, or goes on; the number is the stall's in the scenario.
    Stall(u32, bool),
    /// Orders from outside are due; the number is the order's in the scenario.
    Order(u32),
}
