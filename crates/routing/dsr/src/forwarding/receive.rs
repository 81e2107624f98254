//! A packet that came to this node's interface: its options in their order (RFC 4728 sections 8.1.4 to 8.1.6).

use wayhop_core::{Cx, DropReason, Packet};
use wayhop_wire::dsr::{self, DsrOption, FlowState, RouteErrorKind, UnknownAction};
use wayhop_wire::ipv4::{self, protocol};

use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::flow_state::flow_header;
use crate::forwarding::tunnel;
use crate::forwarding::view::{View, is_node};
use crate::maintenance::maintenance_buffer::Fingerprint;

impl Engine {
    /// Whether this node processes options of this type: all that RFC 4728 defines but those of flow state while that is
    /// off.
    fn implements(&self, o: &DsrOption<'_>) -> bool {
        match o {
            DsrOption::Unknown { .. } => false,
            DsrOption::Timeout { .. } | DsrOption::FlowId { .. } => self.params.flow_state,
            _ => true,
        }
    }

    /// Deals with options that this node does not implement as their types ask (section 8.1.6). Gives the packet back if it
    /// shall be processed further.
    fn obey_unknown(&mut self, cx: &mut Cx<'_>, mut p: Packet) -> Option<Packet> {
        let mut answered = false;
        let mut from = 0;
        loop {
            let Ok(v) = View::new(p.bytes()) else {
                cx.drop(p, DropReason::Malformed);
                return None;
            };
            // Those before `from` were seen already.
            let next = v.dsr.options().located().find_map(|(range, o)| match o {
                Ok(o) if range.start >= from && !self.implements(&o) => Some((range, o.kind())),
                _ => None,
            });
            let Some((range, kind)) = next else { return Some(p) };
            if dsr::unknown_wants_error(kind) && v.request.is_none() && !answered {
                // One answer a packet, however many strange options it carries.
                answered = true;
                self.report(cx, &v, RouteErrorKind::OptionNotSupported(kind));
            }
            from = range.end;
            let edited = match dsr::unknown_action(kind) {
                UnknownAction::Ignore => Ok(()),
                UnknownAction::Remove => {
                    from = range.start;
                    dsr::edit::remove_option(&mut p, range)
                }
                UnknownAction::Mark => dsr::edit::mark_option(p.bytes_mut(), range.start),
                UnknownAction::Drop => {
                    cx.drop(p, DropReason::Policy);
                    return None;
                }
            };
            if edited.is_err() {
                cx.drop(p, DropReason::Malformed);
                return None;
            }
        }
    }

    /// A packet of protocol 48 that came to this node's interface.
    pub(crate) fn on_dsr(&mut self, cx: &mut Cx<'_>, mut p: Packet, rx: &Reception) {
        let flow = flow_header::take(&mut p);
        if flow.is_some() && !self.params.flow_state {
            self.refuse_flow_state(cx, &p);
            return cx.drop(p, DropReason::Policy);
        }
        // Section 8.6.3: the Hop Count grows at reception.
        let flow = flow.map(|s| FlowState { hop_count: (s.hop_count + 1).min(127), ..s });
        let rx = &Reception { flow, ..*rx };
        let ip = ipv4::Packet::new_checked(p.bytes());
        if flow.is_some() && ip.is_ok_and(|ip| ip.protocol() != protocol::DSR) {
            return self.on_plain(cx, p, rx);
        }
        self.on_options(cx, p, rx, OptionStage::Nothing);
    }

    /// A packet without DSR options.
    pub(crate) fn on_plain(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &Reception) {
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let to = ip.dst();
        if is_node(to) && self.maintains(cx, rx.from) {
            let what = Fingerprint::read(p.bytes());
            let me = cx.addr();
            if what.is_ok_and(|what| self.is_repeated(cx, &what, to == me)) {
                return cx.drop(p, DropReason::Duplicate);
            }
        }
        if to == cx.addr() || !is_node(to) {
            self.end_of_flow(cx, &p, rx.flow);
            return Self::deliver(cx, p);
        }
        if self.params.flow_state {
            return self.forward_in_flow(cx, p, rx);
        }
        // Without a source route it cannot go on.
        cx.drop(p, DropReason::NoRoute);
    }

    /// Its options: acknowledgements, then Route Errors and Route Replies in the packet's order, then what sends the packet
    /// on. `done` says what was dealt with already.
    fn on_options(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &Reception, done: OptionStage) {
        let Ok(v) = View::new(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let strange = v.has_unknown || v.has_flow_option && !self.params.flow_state;
        if strange && done == OptionStage::Nothing {
            let Some(p) = self.obey_unknown(cx, p) else { return };
            return self.on_options(cx, p, rx, OptionStage::Unknown);
        }
        let acks = v.has_ack || v.ack_request.is_some() || self.maintains(cx, rx.from);
        if acks && !rx.broadcast && done != OptionStage::Acks {
            let Some(p) = self.settle(cx, p, rx) else { return };
            return self.on_options(cx, p, rx, OptionStage::Acks);
        }
        self.learn_location(cx, &v);
        if v.has_ack {
            self.learn_acks(cx, &v, rx);
        }
        self.on_probe(cx, &v, rx);
        if v.has_error || v.has_reply {
            self.on_reports(cx, &v, rx);
        }
        if v.request.is_some() {
            let what = self.hear_request(cx, &v, rx);
            return self.obey_request(cx, p, rx, what);
        }
        if v.source_route.is_some() && !is_node(v.ip.dst()) {
            // Section 8.1.5: a source route does not lead to a group.
            return cx.drop(p, DropReason::Malformed);
        }
        let wrong = v.source_route.is_some_and(|s| usize::from(s.segments_left) > s.addresses.len());
        let for_me = v.ip.dst() == cx.addr() && !wrong;
        if for_me || !is_node(v.ip.dst()) {
            if let Some(way) = v.way().filter(|_| !rx.broadcast) {
                self.learn_passed(cx, &way, true, v.has_reply);
                self.learn_flow(cx, &v, &way, rx);
            }
            if for_me && v.has_flow_option && self.params.flow_state {
                return self.change_flow(cx, p, *rx);
            }
            self.end_of_flow(cx, &p, rx.flow);
            return Self::accept(cx, p);
        }
        self.forward(cx, p, rx);
    }

    /// The end of a packet's way: what follows the DSR header goes to the local stack.
    pub(crate) fn accept(cx: &mut Cx<'_>, mut p: Packet) {
        match View::new(p.bytes()).map(|v| v.is_control()) {
            Ok(true) => cx.consume(p),
            Ok(false) if dsr::edit::remove_header(&mut p).is_ok() => Self::deliver(cx, p),
            _ => cx.drop(p, DropReason::Malformed),
        }
    }

    /// To the local stack, out of the IP-in-IP packet if it came in one.
    fn deliver(cx: &mut Cx<'_>, mut p: Packet) {
        match tunnel::take_outer_header(cx.addr(), &mut p) {
            Ok(()) => cx.deliver(p),
            Err(_) => cx.drop(p, DropReason::Malformed),
        }
    }
}

/// What was dealt with of a received packet's options, in this order.
#[derive(Copy, Clone, PartialEq, Eq)]
enum OptionStage {
    Nothing,
    /// What RFC 4728 does not define.
    Unknown,
    /// Acknowledgements and requests for them, too.
    Acks,
}
