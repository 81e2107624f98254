//! The node: what comes goes to sessions and agent, what these want goes to the host.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use wayhop_core::{Span, Time};
use wayhop_dtn::cl::{Event, Session, ltp, tcpcl, udpcl};
use wayhop_dtn::{
    Agent, Beacon, Contact, ContactId, Eid, Held, Input, Output, Port, RecordKind, Request, Row, Statistics,
    Store, StoreError,
};

use crate::account::Account;
use crate::act::{Act, Connection, Layer};
use crate::neighbours::Neighbours;
use crate::pace::Pace;
use crate::record::Record;
use crate::settings::Settings;

/// A connection that was refused or broke is tried again after this.
const CALL_AGAIN: Span = Span::from_secs(2);
/// More sessions than this are not kept: a hostile host does not fill the memory with them.
const MAX_SESSIONS: usize = 1_024;
/// TCPCLv4: a KEEPALIVE as often as this, seconds, so that a neighbour that went is missed.
const KEEPALIVE_S: u16 = 5;

/// Between this node and a neighbour.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Link {
    /// Datagrams of a layer, to this address.
    Udp(Layer, SocketAddr),
    /// A connection with this address.
    Tcp(Connection, IpAddr),
}

impl Link {
    fn ip(&self) -> IpAddr {
        match self {
            Self::Udp(_, to) => to.ip(),
            Self::Tcp(_, ip) => *ip,
        }
    }
}

/// A session, and what the node knows of it.
struct OpenSession {
    session: Box<dyn Session + Send>,
    link: Link,
    /// `Eid::None` where nobody told.
    peer: Eid,
    /// When something came.
    heard: Time,
    state: State,
    /// Of a connection: what the host takes.
    room: usize,
    account: Option<Account>,
}

impl OpenSession {
    /// Datagrams come from somebody whom no beacon has told of.
    fn is_stranger(&self) -> bool {
        matches!(self.link, Link::Udp(..)) && self.peer.is_none() && self.state != State::Over
    }
    fn is_silent(&self, now: Time, silence: Span) -> bool {
        self.is_stranger() && now.since(self.heard) >= silence
    }
}

/// How far a session is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    /// It is being made.
    Young,
    /// It is up; the agent is told at this time, or when the neighbour's beacon comes.
    Waits(Option<usize>, Time),
    /// The agent knows.
    Up,
    /// It is over, and goes when nothing is left to write.
    Over,
}

/// A bundle agent with its neighbours. See the crate's documentation.
pub struct Node<S: Store> {
    agent: Agent<S>,
    settings: Settings,
    routing: Option<u8>,
    neighbours: Neighbours,
    sessions: BTreeMap<ContactId, OpenSession>,
    next_contact: u64,
    next_connection: u64,
    ltp_numbers: ltp::SessionNumbers,
    pace: Pace,
    /// Datagrams may wait for the pace.
    is_held_up: bool,
    /// Which session sends the next datagram.
    turn: ContactId,
    /// When the next beacon is due, and calls that failed are tried again.
    next_round: Time,
    acts: VecDeque<Act>,
    /// The agent was told something that is not committed.
    is_dirty: bool,
}

impl<S: Store> Node<S> {
    /// Opens the node over its store.
    ///
    /// # Errors
    /// If the agent does not open, or a route cannot be read.
    pub fn open(settings: Settings, store: S, now: Time) -> Result<Self, String> {
        let routing = settings.routing.build().map_err(|e| e.to_string())?;
        let number = routing.number();
        let agent = Agent::open(settings.agent.clone(), routing, store, now).map_err(|e| e.to_string())?;
        Ok(Self {
            agent,
            routing: number,
            neighbours: Neighbours::default(),
            sessions: BTreeMap::new(),
            next_contact: 1,
            // The host's own numbers are below.
            next_connection: 1 << 62,
            // Engines that begin with one seed, as those of a simulation, are told apart.
            ltp_numbers: ltp::SessionNumbers::seeded(settings.life ^ settings.engine.rotate_left(32)),
            pace: Pace::new(settings.rate_bps),
            is_held_up: false,
            turn: ContactId(0),
            next_round: now + settings.first_beacon,
            acts: VecDeque::new(),
            is_dirty: true,
            settings,
        })
    }

    /// The node's own endpoint.
    pub fn eid(&self) -> &Eid {
        &self.settings.agent.node
    }
    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
    /// The bundles that it holds.
    pub fn held(&self) -> Vec<Held> {
        self.agent.held()
    }
    /// What it holds, in numbers.
    pub fn statistics(&self) -> Statistics {
        self.agent.statistics()
    }
    /// The neighbours with which it can exchange bundles now: name, address and layer.
    pub fn contacts(&self) -> Vec<(Eid, IpAddr, Layer)> {
        let up = self.sessions.values().filter(|s| s.state == State::Up && !s.peer.is_none());
        up.map(|s| (s.peer.clone(), s.link.ip(), layer_of(&s.link))).collect()
    }
    /// The store, at the end.
    pub fn into_store(self) -> S {
        self.agent.into_store()
    }

    /// The next thing that the host is to do.
    pub fn act(&mut self) -> Option<Act> {
        self.acts.pop_front()
    }

    fn tell(&mut self, now: Time, input: Input) {
        self.agent.handle(now, input);
        self.is_dirty = true;
    }

    /// An application is there; `got` is the highest number of a delivery that it has got.
    pub fn register(&mut self, now: Time, endpoint: Eid, got: u64) {
        self.tell(now, Input::Register { endpoint, got });
    }
    /// It is gone.
    pub fn unregister(&mut self, now: Time, endpoint: Eid) {
        self.tell(now, Input::Unregister { endpoint });
    }
    /// It has got a delivery.
    pub fn confirm(&mut self, now: Time, endpoint: Eid, number: u64) {
        self.tell(now, Input::Confirm { endpoint, number });
    }
    /// It sends.
    pub fn request(&mut self, now: Time, request: Request) {
        self.tell(now, Input::Send(request));
    }

    /// A datagram came to the port of beacons.
    pub fn beacon(&mut self, now: Time, from: IpAddr, octets: &[u8]) {
        let Some(beacon) = Beacon::parse(octets) else { return };
        if beacon.node == *self.eid() {
            return;
        }
        let is_new = self.neighbours.hear(now, from, &beacon);
        if is_new {
            // It need not wait for the next one to know this node.
            self.say_hello(from);
        }
        self.meet(now, from);
    }

    /// A configuration names a neighbour that is always there.
    pub fn peer(&mut self, now: Time, node: Eid, layer: Layer, at: SocketAddr) {
        self.neighbours.fix(now, node, layer, at);
        self.meet(now, at.ip());
    }

    /// The mesh has a link to this address.
    pub fn link_up(&mut self, now: Time, at: IpAddr) {
        if self.neighbours.link(now, at, self.settings.ports) {
            self.say_hello(at);
            self.meet(now, at);
        } else {
            self.neighbours.touch(now, at);
        }
    }

    /// The mesh has lost its link to this address.
    pub fn link_down(&mut self, now: Time, at: IpAddr) {
        if self.neighbours.unlink(at) {
            self.part(now, at);
        }
    }

    /// A datagram came to the port of a layer.
    pub fn datagram(&mut self, now: Time, layer: Layer, from: SocketAddr, octets: &[u8]) {
        self.neighbours.touch(now, from.ip());
        let known =
            |s: &&mut OpenSession| matches!(s.link, Link::Udp(l, to) if l == layer && to.ip() == from.ip());
        if let Some(open) = self.sessions.values_mut().find(known) {
            open.heard = now;
            return open.session.receive(now, octets);
        }
        // It comes from one of whom no beacon was heard: it may send, and gets nothing but answers.
        let strangers = self.sessions.values().filter(|s| s.is_stranger()).count();
        if strangers < MAX_SESSIONS / 2
            && let Some(id) = self.open_udp(now, layer, from, Eid::None)
            && let Some(open) = self.sessions.get_mut(&id)
        {
            open.session.receive(now, octets);
        }
    }

    /// The host's number for the next connection that comes.
    pub fn incoming(&mut self, now: Time, from: IpAddr) -> Option<Connection> {
        let connection = self.new_connection();
        self.open_tcp(now, connection, from, false).then_some(connection)
    }

    /// A connection that [`Act::Connect`] asked for is there.
    pub fn connected(&mut self, now: Time, connection: Connection, to: IpAddr) {
        if !self.open_tcp(now, connection, to, true) {
            self.acts.push_back(Act::Close(connection));
        }
    }

    /// Octets came over a connection.
    pub fn octets(&mut self, now: Time, connection: Connection, octets: &[u8]) {
        let Some((_, open)) = self.of_connection(connection) else { return };
        let ip = open.link.ip();
        open.session.receive(now, octets);
        self.neighbours.touch(now, ip);
    }

    /// The host takes so many octets for a connection.
    pub fn writable(&mut self, connection: Connection, room: usize) {
        if let Some((_, open)) = self.of_connection(connection) {
            open.room = room;
        }
    }

    /// A connection is gone, or did not come about.
    pub fn closed(&mut self, now: Time, connection: Connection) {
        if let Some((_, open)) = self.of_connection(connection) {
            open.session.lost(now);
        }
    }

    /// The time of [`Node::next_timer`] has come.
    pub fn timer(&mut self, now: Time) {
        if self.agent.next_timer().is_some_and(|at| at <= now) {
            self.tell(now, Input::Timer);
        }
        for open in self.sessions.values_mut() {
            if open.session.next_timer().is_some_and(|at| at <= now) {
                open.session.timer(now);
            }
        }
        while let Some(at) = self.neighbours.silent(now, self.settings.silence) {
            self.part(now, at);
        }
        let silence = self.settings.silence;
        for open in self.sessions.values_mut().filter(|s| s.is_silent(now, silence)) {
            open.session.lost(now);
        }
        if self.next_round <= now {
            if self.settings.beacon.is_some() {
                self.acts.push_back(Act::Beacon(self.own_beacon()));
            }
            self.next_round = now + self.settings.beacon.unwrap_or(CALL_AGAIN);
            for at in self.neighbours.addresses() {
                self.meet(now, at);
            }
        }
    }

    /// When [`Node::timer`] and [`Node::settle`] are to be called, if nothing comes before.
    pub fn next_timer(&self) -> Option<Time> {
        let sessions = self.sessions.values().filter_map(|s| s.session.next_timer()).min();
        let waits = self.sessions.values().filter_map(|s| match s.state {
            State::Waits(_, until) => Some(until),
            _ => None,
        });
        let silence = self.neighbours.next_silence(self.settings.silence);
        let pace = self.is_held_up.then(|| self.pace.free_at());
        let strangers =
            self.sessions.values().filter(|s| s.is_stranger()).map(|s| s.heard + self.settings.silence);
        let all = [self.agent.next_timer(), sessions, waits.min(), silence, pace, strangers.min()];
        all.into_iter().flatten().chain([self.next_round]).min()
    }

    /// Commits what came, and finds out what is to be done.
    ///
    /// # Errors
    /// If the store fails: nothing more is to be done then, and the host stops the node.
    pub fn settle(&mut self, now: Time) -> Result<(), StoreError> {
        loop {
            let mut is_done = !self.hear_sessions(now);
            if std::mem::take(&mut self.is_dirty) {
                self.agent.commit()?;
                while let Some(output) = self.agent.output() {
                    self.carry_out(now, output);
                }
                is_done = false;
            }
            self.send(now);
            if is_done {
                break;
            }
        }
        let is_over = |(_, s): &(&ContactId, &OpenSession)| s.state == State::Over;
        let over: Vec<ContactId> = self.sessions.iter().filter(is_over).map(|(id, _)| *id).collect();
        for id in over {
            if let Some(OpenSession { link: Link::Tcp(connection, _), .. }) = self.sessions.remove(&id) {
                self.acts.push_back(Act::Close(connection));
            }
        }
        Ok(())
    }

    /// Ends all contacts in good order where the other end takes it; their records come by [`Node::act`].
    pub fn close(&mut self, now: Time) -> Result<(), StoreError> {
        for open in self.sessions.values_mut() {
            open.session.close(now);
        }
        self.settle(now)?;
        self.end(now);
        Ok(())
    }

    /// Writes down the contacts that go on, as when the run ends or the power fails.
    pub fn end(&mut self, now: Time) {
        for open in self.sessions.values_mut() {
            if let Some(account) = open.account.take() {
                self.acts.push_back(Act::Record(Record::Contact(account.close(now))));
            }
        }
    }

    /// Tells a neighbour of this node.
    fn say_hello(&mut self, to: IpAddr) {
        if self.settings.beacon.is_some() {
            let at = SocketAddr::new(to, self.settings.ports.beacon);
            self.acts.push_back(Act::BeaconTo(at, self.own_beacon()));
        }
    }

    fn own_beacon(&self) -> Vec<u8> {
        let Settings { ports, engine, .. } = &self.settings;
        let port = |layer: &Layer| match layer {
            Layer::Udpcl => Port::Udpcl(ports.udpcl),
            Layer::Ltp => Port::Ltp(ports.ltp, *engine),
            Layer::Tcpcl => Port::Tcpcl(ports.tcpcl),
        };
        let interval = self.settings.beacon.map_or(0, |b| b.as_millis().div_ceil(1_000));
        Beacon {
            node: self.eid().clone(),
            interval_s: u16::try_from(interval).unwrap_or(u16::MAX),
            routing: self.routing,
            ports: self.settings.listens.iter().map(port).collect(),
        }
        .encode()
    }

    /// Makes sure that there is a session with a neighbour.
    fn meet(&mut self, now: Time, at: IpAddr) {
        let Some(n) = self.neighbours.find(at) else { return };
        let peer = n.node.clone();
        let has = |layer| n.port(layer).map(|port| (layer, SocketAddr::new(at, port)));
        let Some((layer, to)) = has(self.settings.layer)
            .or_else(|| [Layer::Tcpcl, Layer::Ltp, Layer::Udpcl].into_iter().find_map(has))
        else {
            return;
        };
        if layer == Layer::Tcpcl {
            return self.call(now, at, to, &peer);
        }
        if peer.is_none() {
            return;
        }
        let is_same = |s: &OpenSession| matches!(s.link, Link::Udp(l, to) if l == layer && to.ip() == at);
        let old = self.sessions.iter().find(|(_, s)| is_same(s)).map(|(id, s)| (*id, s.peer == peer));
        match old {
            Some((_, true)) => {}
            Some((id, false)) => {
                // Until now nobody had told who is there, or there is somebody else.
                if let Some(open) = self.sessions.get_mut(&id) {
                    open.session.lost(now);
                    open.link = Link::Udp(layer, SocketAddr::new(at, 0));
                }
                self.hear_sessions(now);
                self.sessions.remove(&id);
                self.open_udp(now, layer, to, peer);
            }
            None => drop(self.open_udp(now, layer, to, peer)),
        }
    }

    /// Opens a connection to a neighbour unless there is one, or it is for the neighbour to do it: of two nodes that know each other
    /// that with the lesser name does.
    fn call(&mut self, now: Time, at: IpAddr, to: SocketAddr, peer: &Eid) {
        let is_there = |s: &OpenSession| {
            matches!(s.link, Link::Tcp(..)) && (s.link.ip() == at || !peer.is_none() && s.peer == *peer)
        };
        let is_theirs =
            !peer.is_none() && peer < self.eid() && self.neighbours.find(at).is_some_and(|n| n.has_beacons);
        if self.sessions.values().any(is_there) || is_theirs {
            return;
        }
        let Some(n) = self.neighbours.find_mut(at) else { return };
        if n.called.is_some_and(|last| now.since(last) < CALL_AGAIN) {
            return;
        }
        n.called = Some(now);
        // So that the other end knows who calls.
        self.say_hello(at);
        let connection = self.new_connection();
        self.acts.push_back(Act::Connect(connection, to));
    }

    fn new_connection(&mut self) -> Connection {
        self.next_connection += 1;
        Connection(self.next_connection)
    }

    fn of_connection(&mut self, connection: Connection) -> Option<(ContactId, &mut OpenSession)> {
        let found =
            self.sessions.iter_mut().find(|(_, s)| matches!(s.link, Link::Tcp(c, _) if c == connection));
        found.map(|(id, open)| (*id, open))
    }

    fn open_udp(&mut self, now: Time, layer: Layer, to: SocketAddr, peer: Eid) -> Option<ContactId> {
        let s = &self.settings;
        let session: Box<dyn Session + Send> = match layer {
            Layer::Udpcl => Box::new(udpcl::Udpcl::new(s.datagram)),
            _ => Box::new(ltp::Ltp::new(ltp::LtpConfig {
                engine: s.engine,
                numbers: self.ltp_numbers.clone(),
                segment: s.datagram,
                retransmit_after: s.ltp_wait,
                tries: 5,
                red: true,
                block: s.agent.limits.adu_octets,
                imports: 64,
            })),
        };
        self.add_session(now, session, Link::Udp(layer, to), peer)
    }

    fn open_tcp(&mut self, now: Time, connection: Connection, ip: IpAddr, active: bool) -> bool {
        let config = tcpcl::TcpclConfig {
            node: self.eid().clone(),
            keepalive_s: KEEPALIVE_S,
            segment: 64 << 10,
            transfer: self.settings.agent.limits.adu_octets,
        };
        let session = Box::new(tcpcl::Tcpcl::new(config, active, now));
        self.add_session(now, session, Link::Tcp(connection, ip), Eid::None).is_some()
    }

    fn add_session(
        &mut self,
        now: Time,
        session: Box<dyn Session + Send>,
        link: Link,
        peer: Eid,
    ) -> Option<ContactId> {
        if self.sessions.len() >= MAX_SESSIONS {
            return None;
        }
        let id = ContactId(self.next_contact);
        self.next_contact += 1;
        let open =
            OpenSession { session, link, peer, heard: now, state: State::Young, room: 0, account: None };
        self.sessions.insert(id, open);
        Some(id)
    }

    /// A neighbour is gone.
    fn part(&mut self, now: Time, at: IpAddr) {
        for open in self.sessions.values_mut().filter(|s| s.link.ip() == at) {
            open.session.lost(now);
        }
    }

    /// Takes what the sessions tell. Whether there was anything.
    fn hear_sessions(&mut self, now: Time) -> bool {
        let ids: Vec<ContactId> = self.sessions.keys().copied().collect();
        let mut any = false;
        for id in ids {
            self.bring_up_due(now, id);
            while let Some(event) = self.sessions.get_mut(&id).and_then(|s| s.session.event()) {
                any = true;
                self.hear_session(now, id, event);
            }
        }
        any
    }

    fn hear_session(&mut self, now: Time, contact: ContactId, event: Event) {
        let input = match event {
            Event::Up { peer, largest } => return self.session_up(now, contact, &peer, largest),
            Event::Down { reason } => return self.session_down(now, contact, &reason.to_string()),
            Event::Received { transfer, bundle } => Input::Received { contact, transfer, bundle },
            Event::Part { octets } => Input::Part { contact, octets },
            Event::Sent { transfer } => Input::Sent { contact, transfer },
            Event::Interrupted { transfer, acknowledged } => {
                Input::Interrupted { contact, transfer, acknowledged }
            }
            Event::Refused { transfer, reason } => Input::Refused { contact, transfer, reason },
        };
        // One that sends before its beacon came does not wait for it.
        if matches!(self.sessions.get(&contact), Some(OpenSession { state: State::Waits(..), .. })) {
            self.bring_up(now, contact);
        }
        self.tell(now, input);
    }

    fn session_up(&mut self, now: Time, id: ContactId, peer: &Eid, largest: Option<usize>) {
        let wait = if self.settings.beacon.is_some() { self.settings.silence } else { Span::ZERO };
        let Some(open) = self.sessions.get_mut(&id) else { return };
        if !peer.is_none() {
            open.peer = peer.node();
        }
        open.state = State::Waits(largest, now + wait);
        self.bring_up_due(now, id);
    }

    /// Tells the agent of a session that need not wait any more: its neighbour's beacon has come, or will not come.
    fn bring_up_due(&mut self, now: Time, id: ContactId) {
        let Some(open) = self.sessions.get(&id) else { return };
        let State::Waits(_, until) = open.state else { return };
        let is_known = matches!(open.link, Link::Udp(..)) || self.neighbours.of(&open.peer).is_some();
        if is_known || until <= now {
            self.bring_up(now, id);
        }
    }

    fn bring_up(&mut self, now: Time, id: ContactId) {
        let Some(open) = self.sessions.get_mut(&id) else { return };
        let State::Waits(largest, _) = open.state else { return };
        open.state = State::Up;
        let peer = open.peer.clone();
        let known = if peer.is_none() { None } else { self.neighbours.of(&peer) };
        let exchanges = self.routing.is_some() && known.is_some_and(|n| n.routing == self.routing);
        let largest = [largest, self.settings.largest].into_iter().flatten().min();
        if !peer.is_none() {
            open.account = Some(Account::new(now, peer.clone()));
        }
        self.tell(now, Input::ContactUp(Contact { id, peer, largest, exchanges }));
    }

    fn session_down(&mut self, now: Time, id: ContactId, why: &str) {
        let Some(open) = self.sessions.get_mut(&id) else { return };
        let was_up = std::mem::replace(&mut open.state, State::Over) == State::Up;
        if let Some(account) = open.account.take() {
            self.acts.push_back(Act::Record(Record::Contact(account.close(now))));
        }
        if matches!(open.link, Link::Tcp(..)) {
            let with = if open.peer.is_none() { open.link.ip().to_string() } else { open.peer.to_string() };
            self.acts.push_back(Act::Remark(format!("{with}: {why}")));
        }
        if was_up {
            self.tell(now, Input::ContactDown(id));
        }
    }

    fn carry_out(&mut self, now: Time, output: Output) {
        match output {
            Output::Transmit { contact, transfer, bundle } => {
                if let Some(open) = self.sessions.get_mut(&contact) {
                    open.session.send(now, transfer, bundle);
                }
            }
            Output::Accept { contact, transfer } => {
                if let Some(open) = self.sessions.get_mut(&contact) {
                    open.session.accept(now, transfer);
                }
            }
            Output::Refuse { contact, transfer, reason } => {
                if let Some(open) = self.sessions.get_mut(&contact) {
                    open.session.refuse(now, transfer, reason);
                }
            }
            Output::Deliver { endpoint, number, id, payload, .. } => {
                self.acts.push_back(Act::Deliver { endpoint, number, id, payload });
            }
            Output::Sent { number, id } => self.acts.push_back(Act::Sent { number, id }),
            Output::Rejected { number, why } => self.acts.push_back(Act::Rejected { number, why }),
            Output::Record(row) => {
                self.count(&row);
                self.acts.push_back(Act::Record(Record::Bundle(row)));
            }
        }
    }

    /// Adds a bundle to what its contact carried.
    fn count(&mut self, row: &Row) {
        let is_of_peer = |s: &&mut OpenSession| s.account.is_some() && s.peer == row.peer;
        let Some(account) = self.sessions.values_mut().find(is_of_peer).and_then(|s| s.account.as_mut())
        else {
            return;
        };
        match row.kind {
            RecordKind::Forward => account.sent(row.octets),
            RecordKind::Receive | RecordKind::Duplicate => account.received(row.octets),
            _ => {}
        }
    }

    /// Gives the host what sessions have to send.
    fn send(&mut self, now: Time) {
        for open in self.sessions.values_mut() {
            let Link::Tcp(connection, _) = open.link else { continue };
            while open.room > 0
                && let Some(octets) = open.session.transmit(now, open.room)
            {
                open.room = open.room.saturating_sub(octets.len());
                self.acts.push_back(Act::Write(connection, octets));
            }
        }
        self.is_held_up = false;
        loop {
            if self.pace.free_at() > now {
                self.is_held_up = self.sessions.values().any(|s| matches!(s.link, Link::Udp(..)));
                return;
            }
            let Some((layer, to, octets)) = self.next_datagram(now) else { return };
            self.pace.sent(now, octets.len());
            self.acts.push_back(Act::Datagram(layer, to, octets));
        }
    }

    /// The next datagram; sessions take turns.
    fn next_datagram(&mut self, now: Time) -> Option<(Layer, SocketAddr, Vec<u8>)> {
        let after = (std::ops::Bound::Excluded(self.turn), std::ops::Bound::Unbounded);
        let later: Vec<ContactId> = self.sessions.range(after).map(|(id, _)| *id).collect();
        let earlier: Vec<ContactId> = self.sessions.range(..=self.turn).map(|(id, _)| *id).collect();
        for id in later.into_iter().chain(earlier) {
            let Some(open) = self.sessions.get_mut(&id) else { continue };
            let Link::Udp(layer, to) = open.link else { continue };
            if let Some(octets) = open.session.transmit(now, self.settings.datagram) {
                self.turn = id;
                return Some((layer, to, octets));
            }
        }
        None
    }
}

fn layer_of(link: &Link) -> Layer {
    match link {
        Link::Udp(layer, _) => *layer,
        Link::Tcp(..) => Layer::Tcpcl,
    }
}
