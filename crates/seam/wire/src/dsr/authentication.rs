//! Where the block that authenticates a packet is: the last option of the header (RFC 4728, section 6), or behind the whole packet
//! where there is a Flow State header, which has no options.

use wayhop_core::Authentication;

use crate::bytes::{array_at, put};
use crate::dsr::{DsrOption, HEADER_LEN, Packet, option_type};
use crate::ipv4::protocol;

/// How DSR's packets are authenticated.
pub static AUTHENTICATION: Authentication = Authentication {
    number: 2,
    block_type: option_type::AUTHENTICATION,
    mark: &[],
    room: |payload| {
        let d = Packet::new_checked(payload).ok()?;
        let end = if d.flow_state().is_some() { payload.len() } else { d.header_len() };
        Some(HEADER_LEN..end)
    },
    resized,
    empty: &[protocol::NO_NEXT_HEADER, 0, 0, 0],
    is_data: |payload| Packet::new_checked(payload).is_ok_and(|d| is_data(&d)),
};

fn resized(payload: &mut [u8], by: isize) -> bool {
    if payload[1] & 0x80 != 0 {
        return true;
    }
    let options = u16::from_be_bytes(array_at(payload, 2));
    let Some(options) = options.checked_add_signed(by as i16) else { return false };
    put(payload, 2, options.to_be_bytes());
    true
}

/// Whether a packet carries data and nothing but its route.
fn is_data(d: &Packet<'_>) -> bool {
    use DsrOption as O;
    let plain = |o| matches!(o, Ok(O::SourceRoute(_) | O::AckRequest { .. } | O::Pad1 | O::PadN { .. }));
    d.next_header() != protocol::NO_NEXT_HEADER && d.options().all(plain)
}
