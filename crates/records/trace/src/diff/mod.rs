//! Packet trace differencing: packets that one node sent and another did not receive, by time and
//! by place (Maltz, Broch and Johnson 1999, section 7.2).
//!
//! A packet is known again by IP source, destination, protocol, identification and fragment offset, by the transmitter
//! where both captures tell it, and by its DSR header where both captured it whole, so that a copy which a third node
//! passed on is not taken for the one that was sent. Copies of one packet (retransmissions) are told apart by time.

mod bursts;
mod matching;
mod places;
mod sightings;

pub use bursts::{Burst, Window, bursts, windows};
pub use matching::{Difference, SentPacket, difference};
pub use places::Places;
pub use sightings::{DiffError, Sender, Sightings};
