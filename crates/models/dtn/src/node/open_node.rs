//! The agent with its neighbours and the sessions with them, while the node is up.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use wayhop_core::{ApplicationCx, Span, StreamId, Time};

use super::layer::Layer;
use super::neighbours::Neighbours;
use super::pace::Pace;
use super::session::{NeighbourSession, OpenSession, SessionState};
use super::settings::Settings;
use crate::agent::{Agent, ContactId, Input, Output};
use crate::beacon::Beacon;
use crate::cl::ltp;
use crate::eid::Eid;
use crate::store::{Store, StoreError};

/// What is done about neighbours without beacons so often: calls that failed are tried again.
pub(super) const CALL_AGAIN: Span = Span::from_secs(2);
/// More sessions than this are not kept: a hostile host does not fill the memory with them.
pub(super) const MAX_SESSIONS: usize = 1_024;

pub(super) struct OpenNode<S: Store> {
    pub(super) agent: Agent<S>,
    pub(super) settings: Settings,
    pub(super) routing: Option<u8>,
    pub(super) neighbours: Neighbours,
    /// Neighbours of the mesh's routing protocol.
    links: BTreeSet<IpAddr>,
    pub(super) sessions: BTreeMap<ContactId, OpenSession>,
    pub(super) next_contact: u64,
    pub(super) next_stream: u64,
    pub(super) ltp_numbers: ltp::SessionNumbers,
    pub(super) pace: Pace,
    /// Datagrams may wait for the pace.
    pub(super) is_held_up: bool,
    /// Which session sends the next datagram.
    pub(super) turn: ContactId,
    /// When the next beacon is due, and calls that failed are tried again.
    next_round: Time,
    /// What the agent has for programs.
    pub(super) outputs: Vec<Output>,
    /// The agent was told something that is not committed.
    pub(super) is_dirty: bool,
}

impl<S: Store> OpenNode<S> {
    /// Opens the node over its store. `life` is another number each time; the first beacon is due at `first_beacon`.
    pub(super) fn open(
        settings: Settings,
        life: u64,
        first_beacon: Time,
        store: S,
        now: Time,
    ) -> Result<Self, String> {
        let routing = settings.routing.build().map_err(|e| e.to_string())?;
        let number = routing.number();
        let agent = Agent::open(settings.agent.clone(), routing, store, now).map_err(|e| e.to_string())?;
        Ok(Self {
            agent,
            routing: number,
            neighbours: Neighbours::default(),
            links: BTreeSet::new(),
            sessions: BTreeMap::new(),
            next_contact: 1,
            next_stream: 1,
            // Engines that begin with one seed, as those of a simulation, are told apart.
            ltp_numbers: ltp::SessionNumbers::seeded(life ^ settings.engine.rotate_left(32)),
            pace: Pace::new(settings.rate_bps),
            is_held_up: false,
            turn: ContactId(0),
            next_round: first_beacon,
            outputs: Vec::new(),
            is_dirty: true,
            settings,
        })
    }

    /// The neighbours with which it can exchange bundles now: name, address and layer.
    pub(super) fn contacts(&self) -> impl Iterator<Item = (&Eid, IpAddr, Layer)> {
        let up = self.sessions.values().filter(|s| s.state == SessionState::Up && !s.peer.is_none());
        up.map(|s| (&s.peer, s.link.ip(), s.link.layer()))
    }

    pub(super) fn tell(&mut self, now: Time, input: Input) {
        self.agent.handle(now, input);
        self.is_dirty = true;
    }

    /// A datagram came to the port of beacons.
    pub(super) fn beacon(&mut self, cx: &mut ApplicationCx<'_>, from: IpAddr, octets: &[u8]) {
        let Some(beacon) = Beacon::parse(octets) else { return };
        if beacon.node == self.settings.agent.node {
            return;
        }
        let is_new = self.neighbours.hear(cx.now(), from, &beacon);
        if is_new {
            // It need not wait for the next one to know this node.
            self.say_hello(cx, from);
        }
        self.meet(cx, from);
    }

    /// The mesh has these neighbours.
    pub(super) fn set_links(&mut self, cx: &mut ApplicationCx<'_>, links: &[IpAddr]) {
        let links: BTreeSet<IpAddr> = links.iter().copied().collect();
        let gone: Vec<IpAddr> = self.links.difference(&links).copied().collect();
        for at in gone {
            if self.neighbours.unlink(at) {
                self.part(cx.now(), at);
            }
        }
        for &at in &links {
            if self.neighbours.link(cx.now(), at, self.settings.ports) {
                self.say_hello(cx, at);
                self.meet(cx, at);
            } else {
                self.neighbours.touch(cx.now(), at);
            }
        }
        self.links = links;
    }

    /// A datagram came to the port of a layer.
    pub(super) fn datagram(&mut self, now: Time, layer: Layer, from: SocketAddr, octets: &[u8]) {
        self.neighbours.touch(now, from.ip());
        let known = |s: &&mut OpenSession| matches!(s.link, NeighbourSession::Udp(l, to) if l == layer && to.ip() == from.ip());
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

    /// Octets came by a stream.
    pub(super) fn octets(&mut self, now: Time, stream: StreamId, octets: &[u8]) {
        let Some(open) = self.of_stream(stream) else { return };
        let ip = open.link.ip();
        open.session.receive(now, octets);
        self.neighbours.touch(now, ip);
    }

    pub(super) fn of_stream(&mut self, stream: StreamId) -> Option<&mut OpenSession> {
        self.sessions.values_mut().find(|s| matches!(s.link, NeighbourSession::Tcp(own, _) if own == stream))
    }

    /// The time of [`OpenNode::next_timer`] has come.
    pub(super) fn timer(&mut self, cx: &mut ApplicationCx<'_>) {
        let now = cx.now();
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
                cx.send_to_neighbours(self.settings.ports.beacon, self.own_beacon());
            }
            self.next_round = now + self.settings.beacon.unwrap_or(CALL_AGAIN);
            for at in self.neighbours.all.keys().copied().collect::<Vec<_>>() {
                self.meet(cx, at);
            }
        }
    }

    /// When [`OpenNode::timer`] and [`OpenNode::settle`] are to be called, if nothing comes before.
    pub(super) fn next_timer(&self) -> Time {
        let sessions = self.sessions.values().filter_map(|s| s.session.next_timer()).min();
        let waits = self.sessions.values().filter_map(|s| match s.state {
            SessionState::Waits(_, until) => Some(until),
            _ => None,
        });
        let silence = self.neighbours.next_silence(self.settings.silence);
        let pace = self.is_held_up.then_some(self.pace.free_at);
        let strangers =
            self.sessions.values().filter(|s| s.is_stranger()).map(|s| s.heard + self.settings.silence);
        let all = [self.agent.next_timer(), sessions, waits.min(), silence, pace, strangers.min()];
        all.into_iter().flatten().fold(self.next_round, Time::min)
    }

    /// Commits what came, and finds out what is to be done.
    ///
    /// # Errors
    /// If the store fails: nothing more is to be done then.
    pub(super) fn settle(&mut self, cx: &mut ApplicationCx<'_>) -> Result<(), StoreError> {
        loop {
            let mut is_done = !self.hear_sessions(cx);
            if std::mem::take(&mut self.is_dirty) {
                self.agent.commit()?;
                while let Some(output) = self.agent.output() {
                    self.carry_out(cx, output);
                }
                is_done = false;
            }
            self.send(cx);
            if is_done {
                break;
            }
        }
        let is_over = |(_, s): &(&ContactId, &OpenSession)| s.state == SessionState::Over;
        let over: Vec<ContactId> = self.sessions.iter().filter(is_over).map(|(id, _)| *id).collect();
        for id in over {
            if let Some(OpenSession { link: NeighbourSession::Tcp(stream, _), .. }) =
                self.sessions.remove(&id)
            {
                cx.close(stream);
            }
        }
        Ok(())
    }

    /// Ends all sessions in good order, where the other end takes it.
    pub(super) fn close(&mut self, cx: &mut ApplicationCx<'_>) -> Result<(), StoreError> {
        for open in self.sessions.values_mut() {
            open.session.close(cx.now());
        }
        self.settle(cx)
    }

    /// Writes down the contacts that go on.
    pub(super) fn end(&mut self, cx: &mut ApplicationCx<'_>) {
        self.sessions.values_mut().for_each(|s| s.end_contact(cx));
    }
}
