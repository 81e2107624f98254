//! The LTP sessions with one neighbour, and their timers (RFC 5326, sections 6 to 8).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wayhop_core::{Span, Time};

use crate::agent::{Refusal, TransferEvent, TransferId};
use crate::cl::ltp::block;
use crate::cl::ltp::export::Export;
use crate::cl::ltp::import::{BlockVerdict, Import};
use crate::cl::ltp::numbers::SessionNumbers;
use crate::cl::ltp::segment::{self, BUNDLES, Content, DataSegment, ReportSegment, SessionId, cancel};
use crate::cl::{Closed, Event, Session};
use crate::eid::Eid;

/// Sessions that are over are remembered, so that late segments do not open them again.
const MAX_CLOSED: usize = 4_096;
/// Blocks that come at a time, at most.
const MAX_IMPORTS: usize = 64;
/// How long a block without news is kept.
const FORGOTTEN_AFTER: Span = Span::from_secs(300);

/// Settings of the sessions with a neighbour.
#[derive(Clone, Debug)]
pub struct LtpConfig {
    /// This node's engine number: where its blocks originate.
    pub engine: u64,
    /// The numbers of its sessions, shared by all configurations of one engine.
    pub numbers: SessionNumbers,
    /// The largest segment, octets of a datagram's data.
    pub segment: usize,
    /// How long a checkpoint, a report or a cancellation waits for its answer.
    pub retransmit_after: Span,
    /// How often it is sent at most.
    pub tries: u8,
    /// The largest block that is taken, octets.
    pub block: u64,
}

impl LtpConfig {
    /// The settings by default: blocks of up to 64 MiB, segments of 1400 octets, each question up to 10 times, each second.
    pub fn new(engine: u64, numbers: SessionNumbers) -> Self {
        Self {
            engine,
            numbers,
            segment: 1_400,
            retransmit_after: Span::from_secs(1),
            tries: 10,
            block: 64 << 20,
        }
    }
}

/// The sessions with one neighbour, over one pair of UDP ports.
#[derive(Debug)]
pub struct Ltp {
    config: LtpConfig,
    exports: BTreeMap<u64, Export>,
    imports: BTreeMap<SessionId, Import>,
    closed: BTreeSet<SessionId>,
    closed_order: VecDeque<SessionId>,
    /// Blocks that were handed up, by the number that they were given.
    handed_up: BTreeMap<TransferId, SessionId>,
    came: u64,
    /// Cancellations that wait for their acknowledgement.
    cancelled: BTreeMap<(SessionId, bool), Cancelled>,
    ready: VecDeque<Vec<u8>>,
    events: VecDeque<Event>,
    is_over: bool,
}

#[derive(Copy, Clone, Debug)]
struct Cancelled {
    reason: u8,
    at: Time,
    tries: u8,
}

impl Ltp {
    /// The sessions with one neighbour.
    pub fn new(config: LtpConfig) -> Self {
        Self {
            config,
            exports: BTreeMap::new(),
            imports: BTreeMap::new(),
            closed: BTreeSet::new(),
            closed_order: VecDeque::new(),
            handed_up: BTreeMap::new(),
            came: 0,
            cancelled: BTreeMap::new(),
            ready: VecDeque::new(),
            events: VecDeque::from([Event::Up { peer: Eid::None, largest: None }]),
            is_over: false,
        }
    }

    fn own(&self, number: u64) -> SessionId {
        SessionId { originator: self.config.engine, number }
    }

    fn tell(&mut self, event: TransferEvent) {
        self.events.push_back(Event::Transfer(event));
    }

    fn say(&mut self, session: SessionId, content: &Content) {
        self.ready.push_back(segment::encode(session, content));
    }

    fn say_report(&mut self, now: Time, session: SessionId, report: ReportSegment) {
        if let Some(import) = self.imports.get_mut(&session) {
            import.report_went(now, report.serial, self.config.retransmit_after);
        }
        self.say(session, &Content::Report(report));
    }

    fn close_session(&mut self, session: SessionId) {
        if self.closed.insert(session) {
            self.closed_order.push_back(session);
        }
        if self.closed_order.len() > MAX_CLOSED
            && let Some(oldest) = self.closed_order.pop_front()
        {
            self.closed.remove(&oldest);
        }
    }

    fn data(&mut self, now: Time, session: SessionId, segment: &DataSegment) {
        let is_new = !self.imports.contains_key(&session);
        if self.closed.contains(&session) || (is_new && self.imports.len() >= MAX_IMPORTS) {
            return;
        }
        if segment.service != BUNDLES {
            return self.cancel(now, session, false, cancel::UNREACHABLE_SERVICE);
        }
        if segment.offset + segment.data.len() as u64 > self.config.block {
            return self.cancel(now, session, false, cancel::BY_SYSTEM);
        }
        let import = self.imports.entry(session).or_insert_with(|| Import::new(now));
        let report = import.data(now, segment, self.config.segment);
        if let Some(block) = import.whole() {
            let (mut bundles, rest) = block::bundles(block);
            if !rest.is_empty() {
                // The agent finds out what is wrong with it.
                bundles.push(rest);
            }
            import.handed_up(bundles.len());
            for bundle in bundles {
                self.came += 1;
                let transfer = TransferId(self.came);
                self.handed_up.insert(transfer, session);
                self.tell(TransferEvent::Received { transfer, bundle });
            }
        }
        if let Some(report) = report {
            self.say_report(now, session, report);
        }
    }

    fn report(&mut self, session: SessionId, report: &ReportSegment) {
        // Reports are acknowledged whatever became of the session (section 6.13).
        self.say(session, &Content::ReportAck(report.serial));
        let Some(export) = self.exports.get_mut(&session.number) else { return };
        if export.report(report) {
            let transfer = export.transfer;
            self.exports.remove(&session.number);
            self.tell(TransferEvent::Sent(transfer));
        }
    }

    /// Ends a session from this side; `by_sender`: it is a block of ours.
    fn cancel(&mut self, now: Time, session: SessionId, by_sender: bool, reason: u8) {
        self.imports.remove(&session);
        if !by_sender {
            self.close_session(session);
        }
        let at = now + self.config.retransmit_after;
        if self.cancelled.len() < MAX_CLOSED {
            self.cancelled.insert((session, by_sender), Cancelled { reason, at, tries: 1 });
        }
        self.say(session, &Content::Cancel(by_sender, reason));
    }

    /// What there is of a block that will not become whole: its whole bundles, which nobody waits for to be accepted, and the
    /// first octets of the next one.
    fn hand_up_prefix(&mut self, import: &Import) {
        let Some(octets) = import.prefix() else { return };
        let (bundles, rest) = block::bundles(octets);
        for bundle in bundles {
            self.came += 1;
            self.tell(TransferEvent::Received { transfer: TransferId(self.came), bundle });
        }
        if !rest.is_empty() {
            self.tell(TransferEvent::Part(rest));
        }
    }

    /// A bundle that was handed up is safe, or refused; with the last one of a block the session goes on.
    fn decide(&mut self, now: Time, transfer: TransferId, refusal: Option<Refusal>) {
        let Some(session) = self.handed_up.remove(&transfer) else { return };
        let Some(import) = self.imports.get_mut(&session) else { return };
        let Some(verdict) = import.decide(refusal) else { return };
        let is_silent = import.is_silent();
        match verdict {
            _ if is_silent => {
                self.imports.remove(&session);
                self.close_session(session);
            }
            BlockVerdict::Accept => {
                if let Some(report) = import.accept(now, self.config.segment) {
                    self.say_report(now, session, report);
                }
            }
            BlockVerdict::Cancel(reason) => self.cancel(now, session, false, reason),
        }
    }

    /// Its sender knows what arrived of a block.
    fn report_acknowledged(&mut self, session: SessionId, serial: u64) {
        if self.imports.get_mut(&session).is_some_and(|import| import.acknowledged(serial)) {
            self.imports.remove(&session);
            self.close_session(session);
        }
    }

    fn cancelled_by_peer(&mut self, session: SessionId, by_sender: bool, reason: u8) {
        self.say(session, &Content::CancelAck(by_sender));
        if by_sender {
            if let Some(import) = self.imports.remove(&session) {
                self.close_session(session);
                self.hand_up_prefix(&import);
            }
        } else if let Some(export) = self.exports.remove(&session.number) {
            let transfer = export.transfer;
            let refused = |reason| TransferEvent::Refused(transfer, reason);
            self.tell(match reason {
                cancel::RETRANSMISSION_LIMIT => export.interrupted(),
                cancel::BY_SYSTEM => refused(Refusal::NoResources),
                cancel::BY_USER => refused(Refusal::NotAcceptable),
                _ => refused(Refusal::Unknown),
            });
        }
    }

    fn export_timers(&mut self, now: Time) {
        let (wait, tries) = (self.config.retransmit_after, self.config.tries);
        let due = |export: &Export| export.next_timer().is_some_and(|at| at <= now);
        let numbers: Vec<u64> = self.exports.iter().filter(|(_, e)| due(e)).map(|(n, _)| *n).collect();
        for number in numbers {
            let session = self.own(number);
            let Some(export) = self.exports.get_mut(&number) else { continue };
            if let Some(content) = export.checkpoint_again(now, wait, tries) {
                self.say(session, &content);
            } else if let Some(export) = self.exports.remove(&number) {
                self.cancel(now, session, true, cancel::RETRANSMISSION_LIMIT);
                self.tell(export.interrupted());
            }
        }
    }

    fn import_timers(&mut self, now: Time) {
        let mut again = Vec::new();
        let mut over = Vec::new();
        for (session, import) in &self.imports {
            for sent in import.reports.values().filter(|sent| sent.at <= now) {
                if sent.tries < self.config.tries {
                    again.push((*session, sent.report.clone()));
                } else {
                    over.push((*session, true));
                }
            }
            if now >= import.last + FORGOTTEN_AFTER {
                over.push((*session, !import.is_silent()));
            }
        }
        for (session, report) in again {
            self.say_report(now, session, report);
        }
        for (session, tells) in over {
            let Some(import) = self.imports.remove(&session) else { continue };
            self.hand_up_prefix(&import);
            if tells {
                self.cancel(now, session, false, cancel::RETRANSMISSION_LIMIT);
            } else {
                self.close_session(session);
            }
        }
    }

    fn cancel_timers(&mut self, now: Time) {
        let tries = self.config.tries;
        let due: Vec<(SessionId, bool)> =
            self.cancelled.iter().filter(|(_, c)| c.at <= now).map(|(key, _)| *key).collect();
        for key in due {
            let Some(cancelled) = self.cancelled.get_mut(&key) else { continue };
            if cancelled.tries >= tries {
                self.cancelled.remove(&key);
                continue;
            }
            cancelled.tries += 1;
            cancelled.at = now + self.config.retransmit_after;
            let reason = cancelled.reason;
            self.say(key.0, &Content::Cancel(key.1, reason));
        }
    }

    fn end(&mut self, reason: Closed) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        for export in std::mem::take(&mut self.exports).into_values() {
            self.tell(export.interrupted());
        }
        for import in std::mem::take(&mut self.imports).into_values() {
            self.hand_up_prefix(&import);
        }
        self.events.push_back(Event::Down(reason));
    }
}

impl Session for Ltp {
    fn receive(&mut self, now: Time, octets: &[u8]) {
        let Some((session, content)) = segment::parse(octets) else { return };
        if self.is_over {
            return;
        }
        let is_ours = session.originator == self.config.engine;
        match content {
            Content::Data(data) if !is_ours => self.data(now, session, &data),
            Content::Report(report) if is_ours => self.report(session, &report),
            Content::ReportAck(serial) if !is_ours => self.report_acknowledged(session, serial),
            // Sessions of ours are cancelled by their receiver, others by their sender.
            Content::Cancel(by_sender, reason) if by_sender != is_ours => {
                self.cancelled_by_peer(session, by_sender, reason);
            }
            Content::CancelAck(by_sender) if by_sender == is_ours => {
                self.cancelled.remove(&(session, by_sender));
            }
            _ => {}
        }
    }

    fn transmit(&mut self, now: Time, _: usize) -> Option<Vec<u8>> {
        if let Some(datagram) = self.ready.pop_front() {
            return Some(datagram);
        }
        let (largest, wait) = (self.config.segment, self.config.retransmit_after);
        let (number, content) = self.exports.iter_mut().find_map(|(number, export)| {
            export.segment(now, largest, wait).map(|content| (*number, content))
        })?;
        Some(segment::encode(self.own(number), &content))
    }

    fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn send(&mut self, _: Time, transfer: TransferId, bundle: Vec<u8>) {
        if self.is_over || bundle.is_empty() {
            self.tell(TransferEvent::Interrupted { transfer, acknowledged: 0 });
            return;
        }
        let number = self.config.numbers.next(|number| self.exports.contains_key(&number));
        self.exports.insert(number, Export::new(transfer, bundle));
    }

    fn accept(&mut self, now: Time, transfer: TransferId) {
        self.decide(now, transfer, None);
    }

    fn refuse(&mut self, now: Time, transfer: TransferId, reason: Refusal) {
        self.decide(now, transfer, Some(reason));
    }

    fn timer(&mut self, now: Time) {
        self.export_timers(now);
        self.import_timers(now);
        self.cancel_timers(now);
    }

    fn next_timer(&self) -> Option<Time> {
        if self.is_over {
            return None;
        }
        let exports = self.exports.values().filter_map(Export::next_timer);
        let reports = self.imports.values().flat_map(|i| i.reports.values()).map(|sent| sent.at);
        let forgotten = self.imports.values().map(|import| import.last + FORGOTTEN_AFTER);
        exports.chain(reports).chain(forgotten).chain(self.cancelled.values().map(|c| c.at)).min()
    }

    fn close(&mut self, _: Time) {
        self.end(Closed::Local);
    }

    fn lost(&mut self, _: Time) {
        self.end(Closed::Lost);
    }
}
