//! Route Maintenance without link-layer feedback: passive and network-layer acknowledgements (RFC 4728 sections 8.3.2 and
//! 8.3.3; Maltz, Broch and Johnson 1999, sections 6.2 to 6.4).

use std::net::Ipv4Addr;

use wayhop_core::{Addr, Cx, Decision, Packet, SendState, Span, Time, TxId, TxSpec};
use wayhop_wire::Error;
use wayhop_wire::dsr::{self, Builder, DsrOption};
use wayhop_wire::ipv4::{self, protocol};

use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::flow_state::flow_header;
use crate::forwarding::hop::Hop;
use crate::forwarding::priority::LOW_DELAY;
use crate::forwarding::view::{View, leaves_next};
use crate::maintenance::maintenance_buffer::{Fingerprint, UnconfirmedPacket};
use crate::params::Maintenance;

/// The most octets that an Acknowledgement Request adds to a packet: a header of its own, and the longer form.
pub(crate) const MAX_ASK: usize = 4 + 8;
/// With `rexmt_timer_from_air`: how much longer than its timer a packet may stay in the interface queue before it is taken
/// for lost there.
const STUCK: Span = Span::from_secs(1);
/// Marks the numbers of transmissions that the Maintenance Buffer has, or had, a copy of.
const COPIED: u64 = 1 << 63;

impl Engine {
    /// Whether the ends of a link to this neighbour look after its packets themselves, by acknowledgements of the network
    /// layer.
    pub(crate) fn maintains(&self, cx: &Cx<'_>, neighbour: impl Into<Addr>) -> bool {
        match self.params.maintenance {
            Maintenance::Auto => !cx.link_acknowledges(neighbour),
            Maintenance::Link => false,
            Maintenance::Network => true,
        }
    }

    /// Whether that is so on any link.
    pub(crate) fn maintains_some(&self, cx: &Cx<'_>) -> bool {
        match self.params.maintenance {
            Maintenance::Auto => !cx.all_links_acknowledge(),
            Maintenance::Link => false,
            Maintenance::Network => true,
        }
    }

    /// Sends a packet to a neighbour, and sees to it that it gets there.
    pub(crate) fn transmit(&mut self, cx: &mut Cx<'_>, p: Packet, hop: Hop) {
        let now = cx.now();
        self.watch_sent(cx, &p, hop.to);
        let maintains = self.maintains(cx, hop.to);
        let spare = if maintains { MAX_ASK } else { 0 };
        if self.is_too_long(&p, spare) {
            return self.refuse_too_long(cx, p, spare);
        }
        let holdoff = Span::from_millis(self.params.maint_holdoff_ms.into());
        if !maintains || self.rexmt.is_full() || self.neighbours.is_fresh(hop.to, now, holdoff) {
            return self.send_once(cx, p, hop);
        }
        // Section 8.3.3: an Acknowledgement is not acknowledged.
        let Some(what) = Fingerprint::read(p.bytes()).ok().filter(|f| !f.has_ack) else {
            return self.send_once(cx, p, hop);
        };
        // Section 8.3.2: on the last hop nobody passes it on; nor does a gateway, in the mesh.
        let last = ipv4::ends(p.bytes()).is_some_and(|(_, to)| to == hop.to)
            || View::new(p.bytes()).is_ok_and(leaves_next);
        let silent = if last || !self.listens() { 0 } else { 1 + self.params.try_passive_acks };
        let asking = self.params.max_maint_rexmt + u8::from(silent == 0);
        let ask_id = self.next_ack_id;
        self.next_ack_id = ask_id.wrapping_add(1);
        let mut w = UnconfirmedPacket {
            packet: p,
            what,
            next_hop: hop.to,
            hops: u8::try_from(hop.hops).unwrap_or(u8::MAX),
            ask_id,
            silent,
            limit: silent.saturating_add(asking),
            attempts: 0,
            tx: TxId(0),
            sent: now,
            aired: false,
            timer: Span::ZERO,
            deadline: now,
        };
        self.attempt(cx, &mut w, hop.decision, hop.control, hop.delay);
        self.rexmt.push(w);
        self.set_rexmt_timer(cx);
    }

    /// Whether neighbours can be heard passing packets on.
    fn listens(&self) -> bool {
        self.params.snoop_overheard || self.params.maintenance == Maintenance::Network
    }

    /// Sends a packet without keeping a copy.
    fn send_once(&mut self, cx: &mut Cx<'_>, p: Packet, hop: Hop) {
        cx.state(SendState {
            packet: p.meta.id,
            next_hop: hop.to.into(),
            decision: hop.decision,
            attempt: 1,
            hops: u8::try_from(hop.hops).unwrap_or(u8::MAX),
            queued: cx.queue_len(),
            timer: Span::ZERO,
            rtt: Span::ZERO,
            rtt_deviation: Span::ZERO,
        });
        let id = self.tx_id();
        let priority = self.class(&p, hop.control);
        cx.send(p, TxSpec::unicast(hop.to).with_priority(priority).after(hop.delay).reported(id));
    }

    /// Sends a copy of a waiting packet, the next time.
    fn attempt(
        &mut self,
        cx: &mut Cx<'_>,
        w: &mut UnconfirmedPacket,
        decision: Decision,
        control: bool,
        delay: Span,
    ) {
        let now = cx.now();
        let asks = w.attempts >= w.silent;
        let again = w.attempts > 0;
        if again && self.params.low_delay_tos {
            // Marked for good: the nodes that follow hurry it on, too.
            let tos = ipv4::Packet::new_checked(w.packet.bytes()).map_or(0, |ip| ip.tos());
            let marked = ipv4::set_tos(w.packet.bytes_mut(), tos | LOW_DELAY);
            debug_assert!(marked.is_ok());
        }
        let mut copy = cx.copy(&w.packet);
        if asks && self.put_ack_request(cx.addr(), &mut copy, w.ask_id).is_err() {
            // No room for the option: it goes without, as it was.
            cx.consume(copy);
            copy = cx.copy(&w.packet);
        }
        w.attempts += 1;
        w.timer = self.ack_timer(cx, w.next_hop, asks.then(|| w.attempts - w.silent - 1));
        w.tx = TxId(self.tx_id().0 | COPIED);
        w.sent = now + delay;
        w.deadline = w.sent + w.timer;
        if self.params.rexmt_timer_from_air {
            w.deadline += STUCK;
        }
        let rtt = self.neighbours.get(w.next_hop, now).rtt;
        cx.state(SendState {
            packet: w.packet.meta.id,
            next_hop: w.next_hop.into(),
            decision: if again { Decision::Retransmitted } else { decision },
            attempt: w.attempts,
            hops: w.hops,
            queued: cx.queue_len(),
            timer: w.timer,
            rtt: rtt.smoothed().unwrap_or(Span::ZERO),
            rtt_deviation: rtt.deviation(),
        });
        let priority = self.class(&copy, control);
        cx.send(copy, TxSpec::unicast(w.next_hop).with_priority(priority).after(delay).reported(w.tx));
    }

    /// How long a neighbour may take to confirm a packet that is sent now. `asked` says how often it asked before; `None`
    /// that it does not ask.
    fn ack_timer(&mut self, cx: &Cx<'_>, next_hop: Ipv4Addr, asked: Option<u8>) -> Span {
        let p = &self.params;
        let ms = |v: u32| Span::from_millis(v.into());
        if asked.is_none() && p.passive_ack_timeout_ms > 0 {
            return ms(p.passive_ack_timeout_ms);
        }
        let measured = self.neighbours.get(next_hop, cx.now()).rtt.timeout();
        let base = measured.unwrap_or(ms(p.rexmt_timer_initial_ms));
        let longest = ms(p.rexmt_timer_max_ms);
        let backoff = u64::from(p.rexmt_backoff_factor).saturating_pow(asked.unwrap_or(0).min(8).into());
        let base = (base.clamp(ms(p.rexmt_timer_min_ms), longest) * backoff).min(longest);
        let queued = cx.queue_len();
        let crowded = queued > p.rexmt_queue_threshold;
        base + if crowded { ms(p.rexmt_queue_factor_ms) * u64::from(queued) } else { Span::ZERO }
    }

    /// Puts an Acknowledgement Request into a packet: behind the other options but the location, which stays the last, and
    /// behind a Flow State header (section 8.6.4).
    fn put_ack_request(&mut self, me: Ipv4Addr, p: &mut Packet, id: u16) -> Result<(), Error> {
        let state = flow_header::take(p);
        if let Ok((ip, header)) = dsr::edit::parse(p.bytes()) {
            let routed = header.options().any(|o| matches!(o, Ok(DsrOption::SourceRoute(_))));
            let source = (!routed && ip.src() != me).then_some(me);
            let mut b = Builder::new(&mut self.scratch, header.next_header());
            let mut location = None;
            for o in header.options() {
                match o? {
                    DsrOption::Pad1 | DsrOption::PadN(_) => {}
                    o @ DsrOption::Location(_) => location = Some(o),
                    o => b.push(&o)?,
                }
            }
            b.push(&DsrOption::AckRequest { id, source })?;
            location.map_or(Ok(()), |l| b.push(&l))?;
            dsr::edit::replace_header(p, b.finish())?;
        } else {
            let from = ipv4::Packet::new_checked(p.bytes())?.src();
            let mut b = Builder::new(&mut self.scratch, protocol::NO_NEXT_HEADER);
            b.push(&DsrOption::AckRequest { id, source: (from != me).then_some(me) })?;
            dsr::edit::insert_header(p, b.finish())?;
        }
        state.map_or(Ok(()), |s| self.put_flow_header(p, s))
    }

    // ---- confirmations ----

    /// The radio reports on a transmission of which there is a copy; the packet comes back with most reports. True if it
    /// was such a one.
    pub(crate) fn on_copy_status(&mut self, cx: &mut Cx<'_>, id: TxId, p: &mut Option<Packet>) -> bool {
        if id.0 & COPIED == 0 {
            return false;
        }
        if let Some(p) = p.take() {
            // Whatever kept it from the air, the copy in the Maintenance Buffer decides what becomes of it.
            cx.consume(p);
            return true;
        }
        if let Some(w) = self.rexmt.sent_as(id) {
            w.aired = true;
            if self.params.rexmt_timer_from_air {
                w.sent = cx.now();
                w.deadline = w.sent + w.timer;
                self.set_rexmt_timer(cx);
            }
        }
        true
    }

    /// Looks whether an overheard packet confirms one of this node's (section 8.3.2).
    pub(crate) fn hear_passed_on(&mut self, cx: &mut Cx<'_>, bytes: &[u8], rx: &Reception) {
        if self.rexmt.is_empty() {
            return;
        }
        let Ok(heard) = Fingerprint::read(bytes) else { return };
        if let Some(at) = self.rexmt.heard(&heard, rx.from) {
            let w = self.rexmt.take(at);
            cx.note("passive_ack", w.next_hop, cx.now().since(w.sent).as_micros());
            self.confirmed(cx, w);
        }
    }

    /// The Acknowledgements of a packet that are for this node.
    pub(crate) fn on_acks(&mut self, cx: &mut Cx<'_>, v: &View<'_>) {
        let me = cx.addr();
        for o in v.dsr.options() {
            let Ok(DsrOption::Ack { id, source, destination }) = o else { continue };
            if destination != me {
                continue;
            }
            if let Some(at) = self.rexmt.asked(source, id) {
                let w = self.rexmt.take(at);
                cx.note("ack_received", w.next_hop, cx.now().since(w.sent).as_micros());
                self.confirmed(cx, w);
            }
        }
    }

    /// A neighbour has a packet.
    fn confirmed(&mut self, cx: &mut Cx<'_>, w: UnconfirmedPacket) {
        let now = cx.now();
        let neighbour = w.next_hop;
        // Karn's rule: of a packet that was sent again nobody knows which transmission was confirmed.
        let rtt = (w.attempts == 1).then(|| now.since(w.sent));
        self.neighbours.confirm(neighbour, now, rtt);
        self.links.worked(cx, neighbour);
        cx.consume(w.packet);
        if self.params.ack_confirms_neighbour {
            // Section 4.5: a packet counts from its first transmission on. What is still in the interface queue is not
            // confirmed by what went before it.
            while let Some(at) = self.rexmt.aired_to(neighbour) {
                let w = self.rexmt.take(at);
                cx.consume(w.packet);
            }
        }
        self.on_acked(cx, neighbour);
    }

    // ---- what is not confirmed ----

    fn set_rexmt_timer(&mut self, cx: &mut Cx<'_>) {
        let Some(at) = self.rexmt.next_deadline() else { return };
        let at = self.next_tick(at);
        if self.rexmt_timer.is_none_or(|set| at < set || set <= cx.now()) {
            self.rexmt_timer = Some(at);
            cx.set_timer(Timer::Rexmt.key(), at);
        }
    }

    /// The first moment from `at` on in which the Maintenance Buffer is looked at.
    fn next_tick(&self, at: Time) -> Time {
        let tick = Span::from_millis(self.params.rexmt_tick_ms.into()).as_nanos();
        if tick == 0 {
            return at;
        }
        let first = Time::ZERO + self.rexmt_phase;
        let since = at.since(first).as_nanos();
        first + Span::from_nanos(since.div_ceil(tick).saturating_mul(tick))
    }

    /// Sends again what is due, and gives up what was sent often enough.
    pub(crate) fn on_rexmt_timer(&mut self, cx: &mut Cx<'_>) {
        self.rexmt_timer = None;
        while let Some(at) = self.rexmt.due(cx.now()) {
            let mut w = self.rexmt.take(at);
            if w.attempts < w.limit {
                let control = View::new(w.packet.bytes()).is_ok_and(|v| v.is_control());
                self.attempt(cx, &mut w, Decision::Retransmitted, control, Span::ZERO);
                self.rexmt.put(at, w);
            } else {
                self.give_up(cx, w);
            }
        }
        self.set_rexmt_timer(cx);
    }

    /// A neighbour confirmed nothing: the link is taken for broken, for all packets that wait for it (sections 3.4.2 and
    /// 4.5).
    fn give_up(&mut self, cx: &mut Cx<'_>, w: UnconfirmedPacket) {
        let next_hop = w.next_hop;
        // Taken out first: what is sent again by another way may wait here again.
        let mut others = Vec::new();
        while let Some(at) = self.rexmt.for_neighbour(next_hop) {
            others.push(self.rexmt.take(at).packet);
        }
        self.on_broken_link(cx, w.packet, next_hop, w.attempts);
        for p in others {
            self.on_recalled(cx, p, next_hop);
        }
    }
}
