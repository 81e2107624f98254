//! Which packets leave the interface queue first.

use wayhop_core::{Packet, Priority};
use wayhop_wire::ipv4::{self, protocol};
use wayhop_wire::tcp::{self, Flags};
use wayhop_wire::{Error, dsr};

use crate::engine::state::Engine;

/// The TOS bit that asks for low delay (RFC 1349).
pub(crate) const LOW_DELAY: u8 = 0x10;

impl Engine {
    /// Where in the interface queue a packet goes; `control` says that it is one of the protocol's own. The testbed had two
    /// classes, told apart by the low-delay bit (section 6.4 of Maltz, Broch and Johnson 1999).
    pub(crate) fn class(&self, p: &Packet, control: bool) -> Priority {
        let low_delay = || ipv4::Packet::new_checked(p.bytes()).is_ok_and(|ip| ip.tos() & LOW_DELAY != 0);
        if control || self.params.low_delay_tos && low_delay() {
            Priority::Control
        } else if self.params.acknowledgements_first && only_acknowledges(p.bytes()).unwrap_or(false) {
            Priority::High
        } else {
            Priority::Data
        }
    }
}

/// Whether a packet is a TCP segment that acknowledges and carries nothing, with or without DSR headers before it.
fn only_acknowledges(bytes: &[u8]) -> Result<bool, Error> {
    let ip = ipv4::Packet::new_checked(bytes)?;
    let segment = match ip.protocol() {
        protocol::TCP => ip.payload(),
        protocol::DSR => {
            let mut header = dsr::Packet::new_checked(ip.payload())?;
            if header.flow_state().is_some() && header.next_header() == protocol::DSR {
                header = dsr::Packet::new_checked(header.payload())?;
            }
            if header.next_header() != protocol::TCP {
                return Ok(false);
            }
            header.payload()
        }
        _ => return Ok(false),
    };
    let segment = tcp::Packet::new_checked(segment)?;
    let flags = segment.flags();
    let opens_or_ends = [Flags::SYN, Flags::FIN, Flags::RST].into_iter().any(|f| flags.contains(f));
    Ok(flags.contains(Flags::ACK) && !opens_or_ends && segment.payload().is_empty())
}
