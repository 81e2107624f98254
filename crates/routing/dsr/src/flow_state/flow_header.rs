//! The Flow State header, and options that are for one hop only (RFC 4728 sections 7.1 and 8.6.3).

use wayhop_core::Packet;
use wayhop_wire::dsr::{self, DsrOption, FlowState};

use crate::forwarding::view::{View, place_of};

/// Takes the Flow State header off a packet, if there is one.
pub(crate) fn take(p: &mut Packet) -> Option<FlowState> {
    let (_, header) = dsr::edit::parse(p.bytes()).ok()?;
    let state = header.flow_state()?;
    dsr::edit::remove_header(p).ok()?;
    Some(state)
}

/// Takes out of a packet that goes on by its flow the options that were for this node, and the header if no option is left
/// (section 8.6.3).
pub(crate) fn shed_hop_options(p: &mut Packet) -> Result<(), wayhop_wire::Error> {
    loop {
        let v = View::new(p.bytes())?;
        let for_this_node = |o: &DsrOption<'_>| {
            use DsrOption::{Ack, AckRequest, SourceRoute, Timeout};
            matches!(o, AckRequest { .. } | Ack { .. } | Timeout { .. } | SourceRoute(_))
        };
        let Some(range) = place_of(&v.dsr, for_this_node) else {
            let empty = v.dsr.options().all(|o| matches!(o, Ok(DsrOption::Pad1 | DsrOption::PadN(_))));
            return if empty { dsr::edit::remove_header(p) } else { Ok(()) };
        };
        dsr::edit::remove_option(p, range)?;
    }
}
