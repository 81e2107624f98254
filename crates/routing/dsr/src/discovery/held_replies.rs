//! Route Replies that wait whether the initiator gets a better one (RFC 4728 section 8.2.5).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Inspect, Packet, Time};

use crate::cache::path::Path;
use crate::forwarding::view::RouteView;

/// Route Replies that wait whether the initiator gets a better one (section 8.2.5).
#[derive(Clone, Default)]
pub(crate) struct HeldReplies(pub(crate) Vec<HeldReply>);

#[derive(Clone)]
pub(crate) struct HeldReply {
    pub(crate) packet: Packet,
    pub(crate) back: Path,
    pub(crate) initiator: Ipv4Addr,
    pub(crate) target: Ipv4Addr,
    pub(crate) hops: usize,
    pub(crate) due: Time,
}

/// How many replies are held back at once; further ones leave without delay.
pub(crate) const MAX_HELD: usize = 32;

impl HeldReplies {
    /// Forgets the replies that a packet makes superfluous: it uses a route to the target that is as short.
    pub(crate) fn cancel(&mut self, cx: &mut Cx<'_>, way: &RouteView) {
        if self.0.is_empty() {
            return;
        }
        let (Some(from), Some(to)) = (way.nodes.first(), way.nodes.last()) else { return };
        while let Some(at) =
            self.0.iter().position(|h| h.initiator == from && h.target == to && way.nodes.hops() <= h.hops)
        {
            let h = self.0.swap_remove(at);
            cx.note("reply_cancelled", h.initiator, h.hops as u64);
            cx.consume(h.packet);
        }
    }

    /// Feeds what the future depends on.
    #[cfg(test)]
    pub(crate) fn digest(&self, to: &mut impl core::hash::Hasher) {
        use core::hash::Hash;
        for HeldReply { packet, back, initiator, target, hops, due } in &self.0 {
            (packet.bytes(), back, initiator, target, hops, due).hash(to);
        }
    }

    pub(crate) fn inspect(&self, out: &mut dyn Inspect) {
        for h in &self.0 {
            out.row("held_replies", &[("to", &h.initiator), ("target", &h.target), ("hops", &h.hops)]);
            out.held("held_replies", &h.packet);
        }
    }
}
