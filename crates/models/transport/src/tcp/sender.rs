//! The sending half of a connection: transmissions and retransmissions.
//!
//! Octets of the stream are numbered from 0 in 64 bits; the end point maps them to sequence numbers. The end of the stream
//! (FIN) is one more octet.

use std::collections::VecDeque;

use wayhop_core::{Span, Time};

use super::config::{Profile, TcpConfig, Variant};
use super::congestion::{Acked, CongestionControl, Lost, control};
use super::failure::Standby;
use super::note::{Note, NoteKind};
use super::pacing::Pacer;
use super::rto::Estimator;
use super::scoreboard::Scoreboard;

/// Duplicate acknowledgements that show a loss (RFC 5681, section 3.2).
const DUP_THRESH: u32 = 3;

/// What the sender knows of its path and has done; the figures of a summary.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments with data, or the end of the stream, sent.
    pub segments: u64,
    /// Of those, sent again.
    pub retransmissions: u64,
    /// How often the retransmission timer ran out.
    pub timeouts: u64,
    /// How often duplicate acknowledgements showed a loss.
    pub fast_retransmits: u64,
    /// Notices of a lost route that were believed.
    pub notices: u64,
    /// Segments sent to see whether the route is there again, or whether a closed window has opened.
    pub probes: u64,
}

/// A stretch of the stream that the end point is to send now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) from: u64,
    pub(crate) len: u32,
    pub(crate) fin: bool,
}

/// Its first octets, as many as there is room for.
fn cut(p: Piece, room: u64) -> Piece {
    if u64::from(p.len) > room { Piece { len: room as u32, fin: false, ..p } } else { p }
}

/// An acknowledgement, with stream positions.
#[derive(Copy, Clone, Debug)]
pub(crate) struct AckIn<'a> {
    pub(crate) ack: u64,
    /// What the receiver takes, in octets.
    pub(crate) window: u64,
    /// Whether it could be a duplicate: no data, no change of the window.
    pub(crate) bare: bool,
    pub(crate) sack: &'a [(u64, u64)],
    /// How many hops it made.
    pub(crate) hops: u8,
}

/// A segment under way.
#[derive(Copy, Clone, Debug)]
struct Sent {
    end: u64,
    at: Time,
    times: u32,
}

/// The sending half.
pub(crate) struct Sender {
    variant: Variant,
    profile: Profile,
    mss: u64,
    window_limit: u64,
    window_per_hop: Option<f64>,
    limited_transmit: bool,
    initial_window: u32,
    pub(crate) cc: Box<dyn CongestionControl>,
    pub(crate) rto: Estimator,
    /// The oldest octet that is not acknowledged.
    pub(crate) una: u64,
    /// The octet that is sent next; after a timeout behind `max`.
    nxt: u64,
    /// The end of what was ever sent.
    pub(crate) max: u64,
    /// The end of what the application has written.
    pub(crate) written: u64,
    /// No more will be written.
    closed: bool,
    /// What the receiver takes, in octets.
    pub(crate) peer_window: u64,
    hops: u8,
    dup_acks: u32,
    /// Segments that have left the network since the loss was noticed; they inflate the window.
    inflation: u32,
    recovering: bool,
    /// Whether this recovery has had a partial acknowledgement.
    partial_seen: bool,
    /// The end of what had been sent when the last loss was noticed.
    recover: Option<u64>,
    pub(crate) board: Scoreboard,
    /// For this many acknowledgements after a retransmission Vegas checks whether the next segment
    /// is overdue too.
    worried: u8,
    /// The segment whose round trip is measured: its end and when it was sent.
    timed: Option<(u64, Time)>,
    under_way: VecDeque<Sent>,
    last_sent: Time,
    rto_at: Option<Time>,
    persist_at: Option<Time>,
    /// When the timer was armed, for RFC 6069.
    armed_at: Time,
    pub(crate) standby: Standby,
    pub(crate) pacer: Option<Pacer>,
    pub(crate) outbox: Vec<Piece>,
    pub(crate) counts: Counts,
}

impl Sender {
    /// `phase`: of the clock, see [`Estimator::new`].
    pub(crate) fn new(c: &TcpConfig, phase: Span) -> Self {
        Self {
            variant: c.variant,
            profile: c.profile,
            mss: u64::from(c.segment_bytes),
            window_limit: c.window_bytes(),
            window_per_hop: c.window_per_hop,
            limited_transmit: c.limited_transmit,
            initial_window: c.initial_window,
            cc: control(c),
            rto: Estimator::new(c.rto, phase),
            una: 0,
            nxt: 0,
            max: 0,
            written: 0,
            closed: false,
            peer_window: c.window_bytes(),
            hops: 0,
            dup_acks: 0,
            inflation: 0,
            recovering: false,
            partial_seen: false,
            recover: None,
            board: Scoreboard::default(),
            worried: 0,
            timed: None,
            under_way: VecDeque::new(),
            last_sent: Time::ZERO,
            rto_at: None,
            persist_at: None,
            armed_at: Time::ZERO,
            standby: Standby::new(c.failure),
            pacer: c.pacing.map(|p| Pacer::new(p, c.segment_bytes)),
            outbox: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Whether an acknowledgement of everything has come, the end of the stream included.
    pub(crate) fn is_done(&self) -> bool {
        self.closed && self.una == self.end()
    }

    /// More octets from the application; `u64::MAX` for as many as can be sent.
    pub(crate) fn write(&mut self, octets: u64) {
        // One octet is left for the end of the stream.
        self.written = self.written.saturating_add(octets).min(u64::MAX - 1);
    }
    /// No more from the application. Of an endless stream the rest is not sent.
    pub(crate) fn close(&mut self) {
        if !self.closed {
            if self.written == u64::MAX - 1 {
                self.written = self.max;
            }
            self.closed = true;
        }
    }
    fn end(&self) -> u64 {
        self.written + u64::from(self.closed)
    }
    /// What was sent and is not acknowledged, in octets.
    pub(crate) fn in_flight(&self) -> u64 {
        self.max - self.una
    }
    fn segments(&self, octets: u64) -> f64 {
        octets as f64 / self.mss as f64
    }

    /// The most that may be under way for reasons other than congestion.
    fn bound(&self) -> u64 {
        let by_hops = self.window_per_hop.filter(|_| self.hops > 0).map_or(u64::MAX, |k| {
            let segments = (k * f64::from(self.hops)).ceil().max(1.0);
            segments as u64 * self.mss
        });
        self.window_limit.min(self.peer_window).min(by_hops)
    }
    fn window(&self) -> u64 {
        let segments = self.cc.window() as u64 + u64::from(self.inflation);
        segments.saturating_mul(self.mss).min(self.bound())
    }

    fn loss(&self, now: Time) -> Lost {
        let load = match self.profile {
            Profile::Rfc => self.segments(self.in_flight()),
            Profile::Ns2 => {
                let window = self.cc.window() + f64::from(self.inflation);
                window.min(self.segments(self.window_limit))
            }
        };
        let first = self.under_way.front();
        Lost { now, load, sent: first.map(|s| s.at), times: first.map_or(1, |s| s.times) }
    }

    /// Sends what the windows let out.
    pub(crate) fn send(&mut self, now: Time, notes: &mut Vec<Note>) {
        self.send_at_most(now, u32::MAX, notes);
    }

    fn send_at_most(&mut self, now: Time, burst: u32, notes: &mut Vec<Note>) {
        if self.standby.is_frozen() {
            return;
        }
        if self.in_flight() == 0 && self.nxt < self.end() && self.max > 0 {
            self.restart_after_idle(now);
        }
        if self.variant == Variant::Sack && self.recovering {
            return self.send_by_pipe(now, notes);
        }
        let mut sent = 0;
        while sent < burst && self.nxt < self.end() {
            let room = (self.una + self.window()).saturating_sub(self.nxt);
            let next = self.piece(self.nxt);
            let whole = u64::from(next.len) + u64::from(next.fin);
            // No small pieces only because the window is small (RFC 1122, section 4.2.3.4), but when nothing else is
            // under way.
            let allowed = whole <= room || (room > 0 && self.nxt == self.una);
            if !allowed || !self.may_leave(now) {
                break;
            }
            let piece = cut(next, room);
            self.nxt += self.transmit(now, piece, notes);
            sent += 1;
        }
        self.persist(now);
    }

    /// Whether the pacer lets a segment out now.
    fn may_leave(&mut self, now: Time) -> bool {
        self.pacer.as_mut().is_none_or(|p| p.may_leave(now))
    }

    /// RFC 5681 section 4.1: after an idle time of a timeout the window is none that anybody has measured.
    fn restart_after_idle(&mut self, now: Time) {
        if now.since(self.last_sent) > self.rto.timeout() {
            let restart = f64::from(self.initial_window);
            if self.cc.window() > restart {
                self.cc.set_window(restart);
            }
        }
    }

    /// The segment that begins here.
    fn piece(&self, from: u64) -> Piece {
        let len = self.written.saturating_sub(from).min(self.mss) as u32;
        Piece { from, len, fin: self.closed && from + u64::from(len) == self.written }
    }

    /// Hands a segment out; how many octets it takes.
    fn transmit(&mut self, now: Time, piece: Piece, notes: &mut Vec<Note>) -> u64 {
        let octets = u64::from(piece.len) + u64::from(piece.fin);
        let end = piece.from + octets;
        let again = piece.from < self.max;
        if end > self.max {
            if !again {
                self.timed.get_or_insert((end, now));
            }
            self.under_way.push_back(Sent { end, at: now, times: 1 });
        }
        if again {
            self.counts.retransmissions += 1;
            // Karn: what was sent twice is not measured.
            if self.timed.is_some_and(|(timed, _)| piece.from < timed && timed <= end) {
                self.timed = None;
            }
            let i = self.under_way.partition_point(|s| s.end <= piece.from);
            if let Some(s) = self.under_way.get_mut(i) {
                s.at = now;
                s.times += 1;
            }
        }
        if self.rto_at.is_none() || self.in_flight() == 0 {
            self.arm(now);
        }
        self.max = self.max.max(end);
        self.counts.segments += 1;
        self.last_sent = now;
        self.outbox.push(piece);
        self.note(if again { NoteKind::Resend } else { NoteKind::Send }, piece.from, piece.len, now, notes);
        octets
    }

    fn resend_first(&mut self, now: Time, notes: &mut Vec<Note>) {
        let piece = self.piece(self.una);
        self.transmit(now, piece, notes);
    }

    fn arm(&mut self, now: Time) {
        self.armed_at = now;
        self.rto_at = Some(now + self.rto.timeout());
    }

    /// The closed window of a receiver is probed (RFC 9293, section 3.8.6.1).
    fn persist(&mut self, now: Time) {
        let stuck = self.nxt == self.una && self.nxt < self.end() && self.peer_window == 0;
        if !stuck {
            self.persist_at = None;
        } else if self.persist_at.is_none() {
            self.rto_at = None;
            self.persist_at = Some(now + self.rto.timeout());
        }
    }

    /// An acknowledgement. False if it is for what was never sent.
    pub(crate) fn on_ack(&mut self, now: Time, a: &AckIn<'_>, notes: &mut Vec<Note>) -> bool {
        if a.ack > self.max {
            return false;
        }
        if a.ack < self.una {
            return true;
        }
        self.hops = a.hops;
        let opened = self.peer_window != a.window;
        self.peer_window = a.window;
        if let Some(probed) = self.standby.thaw() {
            self.resume(now, probed, notes);
        }
        let mut told = false;
        if self.variant == Variant::Sack {
            for &(from, to) in a.sack {
                told |= from >= a.ack && to <= self.max && self.board.add(from, to);
            }
        }
        if a.ack > self.una {
            self.on_new_ack(now, a.ack, notes);
        } else if self.in_flight() > 0 && a.bare && !opened && (self.variant != Variant::Sack || told) {
            self.on_duplicate(now, notes);
        } else {
            self.send(now, notes);
        }
        true
    }

    fn on_new_ack(&mut self, now: Time, ack: u64, notes: &mut Vec<Note>) {
        let all = self.recover.is_none_or(|r| ack >= r);
        let partial = self.recovering
            && !all
            && matches!(self.variant, Variant::NewReno | Variant::Westwood | Variant::Sack);
        if partial {
            return self.on_partial_ack(now, ack, notes);
        }
        let was_recovering = std::mem::replace(&mut self.recovering, false);
        self.inflation = 0;
        self.dup_acks = 0;
        let acked = self.advance(now, ack, true);
        // ns-2 lets the window grow by the acknowledgement that ends the recovery too.
        let skips = was_recovering && self.profile == Profile::Rfc;
        self.cc.acked(&Acked { recovering: skips, ..acked });
        self.note(NoteKind::Ack, ack, 0, now, notes);
        if self.worried > 0 {
            self.worried -= 1;
            if self.first_is_overdue(now) {
                self.resend_first(now, notes);
            } else {
                self.worried = 0;
            }
        }
        self.send(now, notes);
    }

    /// Whether the oldest segment under way has waited too long by the control's own clock.
    fn first_is_overdue(&self, now: Time) -> bool {
        self.under_way.front().is_some_and(|s| self.cc.is_overdue(now.since(s.at)))
    }

    /// RFC 6582 section 3.2, step 3, and RFC 6675 section 5, step B: more than one segment of the window was lost.
    fn on_partial_ack(&mut self, now: Time, ack: u64, notes: &mut Vec<Note>) {
        let first = !std::mem::replace(&mut self.partial_seen, true);
        let segments = self.segments(ack - self.una).round() as u32;
        let by_board = self.variant == Variant::Sack;
        // The timer goes on from the first partial acknowledgement only, so that a window with many losses ends in a
        // timeout rather than in one round trip a segment; with a scoreboard there is no such danger.
        let acked = self.advance(now, ack, first || by_board);
        self.cc.acked(&Acked { recovering: true, ..acked });
        self.note(NoteKind::Ack, ack, 0, now, notes);
        if by_board {
            return self.send(now, notes);
        }
        if self.inflation > segments {
            self.inflation -= segments.saturating_sub(1);
        } else {
            let deflated = self.cc.window() - f64::from(segments - self.inflation);
            self.cc.set_window(deflated.max(1.0));
            self.inflation = 1;
        }
        self.resend_first(now, notes);
        self.send_at_most(now, 2, notes);
    }

    /// Everything before `ack` has arrived.
    fn advance(&mut self, now: Time, ack: u64, restart_timer: bool) -> Acked {
        let segments = self.segments(ack - self.una);
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.board.advance(ack);
        let mut rtt = None;
        while let Some(s) = self.under_way.front().filter(|s| s.end <= ack) {
            rtt = (s.times == 1).then(|| now.since(s.at));
            self.under_way.pop_front();
        }
        if let Some((_, at)) = self.timed.filter(|(end, _)| ack >= *end) {
            self.rto.sample(at, now);
            self.timed = None;
        }
        if let (Some(p), Some(rtt)) = (&mut self.pacer, rtt) {
            p.measure(rtt, self.hops);
        }
        if self.in_flight() == 0 {
            self.rto_at = None;
        } else if restart_timer {
            self.arm(now);
        }
        let in_flight = self.segments(self.in_flight());
        Acked { now, segments, rtt, up_to: ack, next: self.nxt, in_flight, recovering: false }
    }

    fn on_duplicate(&mut self, now: Time, notes: &mut Vec<Note>) {
        self.dup_acks += 1;
        self.note(NoteKind::Duplicate, self.una, 0, now, notes);
        if self.recovering {
            self.inflation += u32::from(self.variant != Variant::Sack && self.variant != Variant::Tahoe);
            let burst =
                if matches!(self.variant, Variant::NewReno | Variant::Westwood) { 2 } else { u32::MAX };
            return self.send_at_most(now, burst, notes);
        }
        let lost = self.dup_acks == DUP_THRESH
            || (self.dup_acks < DUP_THRESH && self.first_is_overdue(now))
            || (self.variant == Variant::Sack && self.board.is_lost(self.una, self.mss));
        // RFC 6582 section 3.2, step 2: not for duplicates that a timeout's or an earlier recovery's segments caused.
        if lost && self.recover.is_none_or(|r| self.una > r) {
            return self.fast_retransmit(now, notes);
        }
        if self.dup_acks < DUP_THRESH && self.limited_transmit {
            self.send_one(now, notes);
        } else if self.dup_acks >= DUP_THRESH {
            self.send(now, notes);
        }
    }

    /// RFC 3042: one new segment for each of the first two duplicates.
    fn send_one(&mut self, now: Time, notes: &mut Vec<Note>) {
        let window = (self.cc.window() as u64 + u64::from(self.dup_acks)) * self.mss;
        let room = (self.una + window.min(self.bound())).saturating_sub(self.nxt);
        let next = self.piece(self.nxt);
        let octets = u64::from(next.len) + u64::from(next.fin);
        if octets > 0 && octets <= room && !self.standby.is_frozen() && self.may_leave(now) {
            self.nxt += self.transmit(now, next, notes);
        }
    }

    fn fast_retransmit(&mut self, now: Time, notes: &mut Vec<Note>) {
        self.counts.fast_retransmits += 1;
        self.recover = Some(self.max);
        self.cc.lost(&self.loss(now));
        self.timed = None;
        self.note(NoteKind::FastRetransmit, self.una, 0, now, notes);
        self.arm(now);
        if self.variant == Variant::Tahoe {
            self.nxt = self.una;
            return self.send(now, notes);
        }
        self.recovering = true;
        self.partial_seen = false;
        self.worried = if self.variant == Variant::Vegas { 2 } else { 0 };
        self.inflation = if self.variant == Variant::Sack { 0 } else { DUP_THRESH };
        self.resend_first(now, notes);
        if self.variant == Variant::Sack {
            self.board.resent = self.una + u64::from(self.piece(self.una).len);
        }
        self.send(now, notes);
    }

    /// RFC 6675 section 5, step C: fill holes and send new data while less than the window is under way.
    fn send_by_pipe(&mut self, now: Time, notes: &mut Vec<Note>) {
        let window = (self.cc.window() as u64).max(1) * self.mss;
        loop {
            let pipe = self.board.pipe(self.una, self.max, self.mss);
            if pipe + self.mss > window || !self.may_leave(now) {
                break;
            }
            let hole = self.board.next_hole(self.una, self.mss, true);
            let new = self.piece(self.nxt.max(self.max));
            let new_octets = u64::from(new.len) + u64::from(new.fin);
            let fits = new_octets > 0 && new.from + new_octets <= self.una + self.bound();
            let late = || self.board.next_hole(self.una, self.mss, false);
            if let Some((from, to)) = hole.or_else(|| if fits { None } else { late() }) {
                let piece = cut(self.piece(from), to - from);
                self.transmit(now, piece, notes);
                self.board.resent = from + u64::from(piece.len).max(1);
            } else if fits {
                self.nxt = new.from + self.transmit(now, new, notes);
            } else {
                break;
            }
        }
    }

    /// When [`Sender::on_timer`] is to be called; never if `None`.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let timers = if self.standby.is_frozen() {
            [self.standby.until, None, None]
        } else {
            [self.rto_at, self.persist_at, self.pacer.as_ref().and_then(Pacer::deadline)]
        };
        timers.into_iter().flatten().min()
    }

    /// Time has come to a deadline.
    pub(crate) fn on_timer(&mut self, now: Time, notes: &mut Vec<Note>) {
        let due = |t: Option<Time>| t.is_some_and(|t| t <= now);
        if self.standby.is_frozen() {
            if due(self.standby.until) {
                self.probe(now, notes);
            }
            return;
        }
        if due(self.rto_at) {
            self.on_timeout(now, notes);
        }
        if due(self.persist_at) {
            self.rto.back_off();
            self.persist_at = Some(now + self.rto.timeout());
            self.counts.probes += 1;
            let piece = cut(self.piece(self.nxt), 1);
            // The next one begins at the same octet, and no other timer runs.
            self.transmit(now, piece, notes);
            self.rto_at = None;
        }
        if self.pacer.as_mut().is_some_and(|p| p.expire(now)) {
            self.send(now, notes);
        }
    }

    fn on_timeout(&mut self, now: Time, notes: &mut Vec<Note>) {
        self.counts.timeouts += 1;
        // The window before anything is reset decides; ns-2 takes the inflation out first.
        self.inflation = 0;
        let loss = self.loss(now);
        self.recovering = false;
        self.dup_acks = 0;
        self.recover = Some(self.max);
        self.board.clear();
        let again = self.under_way.front().is_some_and(|s| s.times > 1) && self.rto.is_backed_off();
        self.cc.timed_out(&loss, again);
        self.rto.back_off();
        self.arm(now);
        self.nxt = self.una;
        self.timed = None;
        self.note(NoteKind::Timeout, self.una, 0, now, notes);
        self.send(now, notes);
    }

    /// A notice that the route is gone, about the segment that begins at `from`.
    pub(crate) fn on_notice(&mut self, now: Time, from: u64, notes: &mut Vec<Note>) {
        // One that is not about what is under way is old, or a lie (RFC 5927).
        if from < self.una || from >= self.max {
            return;
        }
        if self.standby.reverts_backoff() {
            // RFC 6069 section 4: only for the segment that the timer sent again.
            if from == self.una && self.rto.is_backed_off() && self.rto.revert() {
                self.counts.notices += 1;
                self.note(NoteKind::Notice, from, 0, now, notes);
                self.rto_at = Some((self.armed_at + self.rto.timeout()).max(now));
            }
        } else if self.standby.freeze(now, self.rto.timeout()) {
            self.counts.notices += 1;
            self.note(NoteKind::Notice, from, 0, now, notes);
            // A round trip through a lost route is no measurement.
            self.timed = None;
        }
    }

    /// In standby: a segment goes to look for the route.
    fn probe(&mut self, now: Time, notes: &mut Vec<Note>) {
        if !self.standby.probe(now) {
            self.resume(now, true, notes);
            return self.send(now, notes);
        }
        self.counts.probes += 1;
        let armed = self.rto_at;
        self.note(NoteKind::Probe, self.una, 0, now, notes);
        self.resend_first(now, notes);
        self.rto_at = armed;
    }

    /// Out of standby. `refill`: what was under way when the route broke is over, and all that is not acknowledged is
    /// sent again; else some of it may still arrive, and the timer goes on for it.
    fn resume(&mut self, now: Time, refill: bool, notes: &mut Vec<Note>) {
        if self.standby.halves() {
            self.cc.halve();
        }
        if refill {
            self.inflation = 0;
            self.recovering = false;
            self.dup_acks = 0;
            self.recover = Some(self.max);
            self.nxt = self.una;
            self.board.clear();
        }
        self.note(NoteKind::Resume, self.una, 0, now, notes);
        self.arm(now);
    }

    fn note(&self, kind: NoteKind, from: u64, len: u32, time: Time, notes: &mut Vec<Note>) {
        notes.push(Note {
            time,
            kind,
            from,
            len,
            una: self.una,
            in_flight: self.in_flight(),
            window: self.cc.window() as f32,
            threshold: self.cc.threshold() as f32,
            srtt: self.rto.srtt(),
            rto: self.rto.timeout(),
        });
    }
}
