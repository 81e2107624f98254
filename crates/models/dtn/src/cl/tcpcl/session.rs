//! A TCPCLv4 session (RFC 9174, sections 3 to 6).

use std::collections::VecDeque;

use wayhop_core::{Span, Time};

use crate::agent::{Refusal, TransferEvent, TransferId};
use crate::cl::tcpcl::incoming::{Incoming, SegmentProgress};
use crate::cl::tcpcl::message::{
    self, CONTACT_HEADER, Message, REPLY, Reject, SegmentHead, SessionParameters, Term, Wrong,
};
use crate::cl::tcpcl::outgoing::Outgoing;
use crate::cl::{Closed, Event, Session};
use crate::eid::Eid;

/// How long the contact header and SESS_INIT may take.
const HANDSHAKE: Span = Span::from_secs(30);
/// A session ends after this many KEEPALIVE intervals without a message. RFC 9174, section 5.1.1,
/// asks for twice the interval or more; dtn7 answers every other KEEPALIVE, and its answer may be
/// on the way when two intervals are over.
const IDLE: u64 = 3;
/// Octets that wait to be read at most: the longest message without its data.
const MAX_WAITING: usize = 8_192;

/// Settings of a session.
#[derive(Clone, Debug)]
pub struct TcpclConfig {
    /// This node's administrative endpoint, which SESS_INIT tells.
    pub node: Eid,
    /// The interval of KEEPALIVE that this node proposes, seconds; 0 for none. The smaller of both counts.
    pub keepalive_s: u16,
    /// The largest segment that this node takes, octets of data.
    pub segment: u64,
    /// The largest bundle that this node takes, octets.
    pub transfer: u64,
}

impl TcpclConfig {
    /// The settings by default: KEEPALIVE each 10 s, segments of up to 1 MiB, bundles of up to 64 MiB.
    pub fn new(node: Eid) -> Self {
        Self { node, keepalive_s: 10, segment: 1 << 20, transfer: 64 << 20 }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum TcpclState {
    /// The neighbour's contact header is awaited.
    Header,
    /// Its SESS_INIT is awaited.
    Init,
    /// Bundles go and come.
    Up,
    /// It is over.
    Over,
}

/// One TCPCLv4 session, on one TCP connection.
#[derive(Debug)]
pub struct Tcpcl {
    config: TcpclConfig,
    is_active: bool,
    state: TcpclState,
    /// SESS_TERM went; SESS_TERM came, with its reason.
    term_sent: bool,
    term_came: Option<u8>,
    /// Whether this side wants the end.
    is_closing: bool,
    /// What came and is not read yet.
    waiting: Vec<u8>,
    /// What goes, and was not taken yet.
    ready: VecDeque<u8>,
    events: VecDeque<Event>,
    incoming: Incoming,
    outgoing: Outgoing,
    /// The neighbour's largest segment.
    peer_segment: u64,
    /// Zero is no KEEPALIVE.
    keepalive: Span,
    last_sent: Time,
    last_came: Time,
}

impl Tcpcl {
    /// The session of a connection that is established now; `active`: this node opened it.
    pub fn new(config: TcpclConfig, active: bool, now: Time) -> Self {
        let mut session = Self {
            config,
            is_active: active,
            state: TcpclState::Header,
            term_sent: false,
            term_came: None,
            is_closing: false,
            waiting: Vec::new(),
            ready: VecDeque::new(),
            events: VecDeque::new(),
            incoming: Incoming::default(),
            outgoing: Outgoing::default(),
            peer_segment: 0,
            keepalive: Span::ZERO,
            last_sent: now,
            last_came: now,
        };
        // Section 4.1: the active entity begins.
        if active {
            session.ready.extend(CONTACT_HEADER);
        }
        session
    }

    fn say(&mut self, message: &Message) {
        self.ready.extend(message.encode());
    }

    fn tell(&mut self, event: TransferEvent) {
        self.events.push_back(Event::Transfer(event));
    }

    fn say_init(&mut self) {
        let TcpclConfig { keepalive_s, segment, transfer, .. } = self.config;
        let (node, unknown_critical) = (self.config.node.to_string(), false);
        let own = SessionParameters { keepalive_s, segment, transfer, node, unknown_critical };
        self.say(&Message::Init(own));
    }

    /// The neighbour's contact header (section 4.3); whether it was there.
    fn header(&mut self) -> bool {
        let Some(header) = self.waiting.get(..CONTACT_HEADER.len()) else {
            let known = self.waiting.len().min(4);
            if self.waiting[..known] != CONTACT_HEADER[..known] {
                self.end(Closed::Protocol("no contact header"));
            }
            return false;
        };
        let (magic, version) = (header[..4] == CONTACT_HEADER[..4], header[4]);
        self.waiting.drain(..CONTACT_HEADER.len());
        if !magic {
            self.end(Closed::Protocol("no contact header"));
            return false;
        }
        if !self.is_active {
            self.ready.extend(CONTACT_HEADER);
        }
        if version != 4 {
            // Section 4.3: an answer in one's own version, and the end.
            self.say(&Message::Term { flags: 0, reason: Term::VersionMismatch as u8 });
            self.end(Closed::Protocol("a version other than 4"));
            return false;
        }
        self.state = TcpclState::Init;
        if self.is_active {
            self.say_init();
        }
        true
    }

    /// One message or some data; whether there was enough of it.
    fn step(&mut self, now: Time) -> bool {
        if self.state == TcpclState::Header {
            return self.header();
        }
        if self.incoming.is_in_segment() {
            let (taken, progress) = self.incoming.data(&self.waiting);
            self.waiting.drain(..taken);
            self.progress(progress);
            return taken > 0 || !self.incoming.is_in_segment();
        }
        match message::parse(&self.waiting) {
            Ok((message, length)) => {
                self.waiting.drain(..length);
                self.heard(now, message);
                true
            }
            Err(Wrong::Incomplete) => {
                if self.waiting.len() > MAX_WAITING {
                    self.end(Closed::Protocol("a message that is too long"));
                }
                false
            }
            Err(Wrong::Type(header)) => {
                // Where the next message begins, nobody knows (section 5.1.2).
                self.say(&Message::Reject { reason: Reject::TypeUnknown as u8, header });
                self.end(Closed::Protocol("a message of an unknown type"));
                false
            }
            Err(Wrong::Form(why)) => {
                self.say(&Message::Term { flags: 0, reason: Term::ContactFailure as u8 });
                self.end(Closed::Protocol(why));
                false
            }
        }
    }

    fn progress(&mut self, progress: SegmentProgress) {
        match progress {
            SegmentProgress::None => {}
            SegmentProgress::Segment(flags, id, length) => self.say(&Message::Ack { flags, id, length }),
            // Acknowledged when it is safe.
            SegmentProgress::Whole(transfer, bundle) => {
                self.tell(TransferEvent::Received { transfer, bundle });
            }
        }
    }

    fn heard(&mut self, now: Time, message: Message) {
        let header = message.header();
        match (self.state, message) {
            (TcpclState::Init, Message::Init(proposed)) => self.agree(now, &proposed),
            (TcpclState::Up, Message::Segment(head)) => self.segment(header, &head),
            (TcpclState::Up, Message::Ack { id, length, .. }) => {
                match self.outgoing.acknowledge(id, length) {
                    Ok(Some(transfer)) => self.tell(TransferEvent::Sent(transfer)),
                    Ok(None) => {}
                    Err(()) => self.unexpected(header),
                }
            }
            (TcpclState::Up, Message::Refuse { reason, id }) => match self.outgoing.refuse(id) {
                Some(transfer) => self.tell(TransferEvent::Refused(transfer, refusal(reason))),
                None => self.unexpected(header),
            },
            (_, Message::Keepalive) => {}
            (_, Message::Term { flags, reason }) => self.term(flags, reason),
            (_, Message::Reject { .. }) => self.end(Closed::Protocol("it rejected a message")),
            _ => self.unexpected(header),
        }
    }

    fn unexpected(&mut self, header: u8) {
        self.say(&Message::Reject { reason: Reject::Unexpected as u8, header });
    }

    /// Section 4.7: what both sides have proposed.
    fn agree(&mut self, now: Time, proposed: &SessionParameters) {
        let peer = proposed.node.parse::<Eid>().map(|eid| eid.node()).unwrap_or_default();
        if proposed.unknown_critical || peer.is_none() || proposed.segment == 0 {
            self.say(&Message::Term { flags: 0, reason: Term::ContactFailure as u8 });
            self.end(Closed::Protocol("a SESS_INIT that cannot be agreed with"));
            return;
        }
        if !self.is_active {
            self.say_init();
        }
        self.keepalive = Span::from_secs(self.config.keepalive_s.min(proposed.keepalive_s).into());
        self.peer_segment = proposed.segment;
        self.state = TcpclState::Up;
        self.last_sent = now;
        let largest = usize::try_from(proposed.transfer).ok();
        self.events.push_back(Event::Up { peer, largest });
    }

    fn segment(&mut self, header: u8, head: &SegmentHead) {
        match self.incoming.begin(head, self.config.segment, self.config.transfer) {
            Ok(None) => {}
            Ok(Some(reason)) => self.say(&Message::Refuse { reason: reason as u8, id: head.id }),
            // Its data cannot be told from messages by who does not take them.
            Err(()) => {
                self.unexpected(header);
                self.end(Closed::Protocol("a segment that is too long, or of no transfer"));
            }
        }
        // A segment of no octets has no data to wait for.
        if head.length == 0 && self.incoming.is_in_segment() {
            let (_, progress) = self.incoming.data(&[]);
            self.progress(progress);
        }
    }

    fn term(&mut self, flags: u8, reason: u8) {
        self.term_came = Some(reason);
        if flags & REPLY == 0 && !self.term_sent {
            self.term_sent = true;
            self.say(&Message::Term { flags: REPLY, reason });
        }
        self.events.extend(self.outgoing.give_up_unbegun());
    }

    /// After SESS_TERM in both directions, the session ends once transfers are done (section 6.1).
    fn end_if_done(&mut self) {
        if self.state == TcpclState::Over
            || !self.term_sent
            || !self.outgoing.is_idle()
            || !self.incoming.is_idle()
        {
            return;
        }
        if let Some(reason) = self.term_came {
            self.end(if self.is_closing { Closed::Local } else { Closed::Remote(reason) });
        }
    }

    fn end(&mut self, reason: Closed) {
        if self.state == TcpclState::Over {
            return;
        }
        self.state = TcpclState::Over;
        self.events.extend(self.outgoing.give_up());
        if let Some(octets) = self.incoming.give_up() {
            self.tell(TransferEvent::Part(octets));
        }
        self.waiting.clear();
        self.events.push_back(Event::Down(reason));
    }
}

/// The refusal with this number; codes that nobody has assigned are unknown ones.
fn refusal(code: u8) -> Refusal {
    match code {
        1 => Refusal::Completed,
        2 => Refusal::NoResources,
        3 => Refusal::Retransmit,
        4 => Refusal::NotAcceptable,
        5 => Refusal::ExtensionFailure,
        6 => Refusal::SessionTerminating,
        _ => Refusal::Unknown,
    }
}

impl Session for Tcpcl {
    fn receive(&mut self, now: Time, octets: &[u8]) {
        if self.state == TcpclState::Over {
            return;
        }
        self.last_came = now;
        self.waiting.extend_from_slice(octets);
        while self.state != TcpclState::Over && !self.waiting.is_empty() && self.step(now) {}
        self.end_if_done();
    }

    fn transmit(&mut self, now: Time, room: usize) -> Option<Vec<u8>> {
        while self.ready.len() < room && self.state == TcpclState::Up {
            let Some(segment) = self.outgoing.segment(self.peer_segment, self.term_came.is_none()) else {
                break;
            };
            self.ready.extend(segment);
        }
        let taken = self.ready.len().min(room);
        if taken == 0 {
            return None;
        }
        self.last_sent = now;
        Some(self.ready.drain(..taken).collect())
    }

    fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn send(&mut self, _: Time, transfer: TransferId, bundle: Vec<u8>) {
        if self.state == TcpclState::Over || self.term_sent || self.term_came.is_some() || bundle.is_empty() {
            self.tell(TransferEvent::Interrupted { transfer, acknowledged: 0 });
        } else {
            self.outgoing.push(transfer, bundle);
        }
    }

    fn accept(&mut self, _: Time, transfer: TransferId) {
        if let Some((length, flags)) = self.incoming.answered(transfer) {
            self.say(&Message::Ack { flags, id: transfer.0, length });
        }
        self.end_if_done();
    }

    fn refuse(&mut self, _: Time, transfer: TransferId, reason: Refusal) {
        if self.incoming.answered(transfer).is_some() {
            self.say(&Message::Refuse { reason: reason as u8, id: transfer.0 });
        }
        self.end_if_done();
    }

    fn timer(&mut self, now: Time) {
        match self.state {
            TcpclState::Header | TcpclState::Init => {
                if now >= self.last_came + HANDSHAKE {
                    self.end(Closed::Silent(now.since(self.last_came).as_millis() / 1_000));
                }
            }
            TcpclState::Up if self.keepalive > Span::ZERO => {
                if now >= self.last_came + self.keepalive * IDLE {
                    self.say(&Message::Term { flags: 0, reason: Term::IdleTimeout as u8 });
                    self.end(Closed::Silent(now.since(self.last_came).as_millis() / 1_000));
                } else if now >= self.last_sent + self.keepalive {
                    self.say(&Message::Keepalive);
                    self.last_sent = now;
                }
            }
            TcpclState::Over | TcpclState::Up => {}
        }
    }

    fn next_timer(&self) -> Option<Time> {
        match self.state {
            TcpclState::Over => None,
            TcpclState::Header | TcpclState::Init => Some(self.last_came + HANDSHAKE),
            TcpclState::Up if self.keepalive == Span::ZERO => None,
            TcpclState::Up => {
                Some((self.last_came + self.keepalive * IDLE).min(self.last_sent + self.keepalive))
            }
        }
    }

    fn close(&mut self, _: Time) {
        match self.state {
            TcpclState::Up if !self.term_sent => {
                self.term_sent = true;
                self.is_closing = true;
                self.say(&Message::Term { flags: 0, reason: Term::Unknown as u8 });
                self.events.extend(self.outgoing.give_up_unbegun());
                self.end_if_done();
            }
            TcpclState::Header | TcpclState::Init => self.end(Closed::Local),
            _ => {}
        }
    }

    fn lost(&mut self, _: Time) {
        self.end(Closed::Lost);
    }
}
