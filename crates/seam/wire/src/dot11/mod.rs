//! IEEE 802.11 MAC frames.
//!
//! [`Frame`] is a view of any frame, foreign ones too; [`Beacon`] is an access point's; [`Repr`] are the four kinds that a node of an ad hoc network (IBSS)
//! sends: data with three addresses, RTS, CTS, ACK. Fields of more than an octet are little-endian on the air.
//!
//! Neither contains the frame check sequence: [`split_fcs`] takes it off, [`fcs`] makes it.

mod beacon;
mod fcs;
mod frame;
mod repr;

pub use beacon::Beacon;
pub use fcs::{FCS_LEN, fcs, split_fcs};
pub use frame::{Frame, FrameType};
pub use repr::{Data, Repr};

/// Length of the header of a data frame with three addresses, in octets.
pub const DATA_HEADER_LEN: usize = 24;
/// Length of an RTS without FCS, in octets.
pub const RTS_LEN: usize = 16;
/// Length of a CTS or an ACK without FCS, in octets.
pub const CTS_LEN: usize = 10;
