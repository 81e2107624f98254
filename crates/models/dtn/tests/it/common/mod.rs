//! A few nodes on scripted contacts: agents, sessions and applications, and a node that can be killed between any two steps.

use std::collections::{BTreeMap, BTreeSet};

use wayhop_core::{BundleEventKind, Span, Time};
use wayhop_dtn::cl::ltp::{Ltp, LtpConfig, SessionNumbers};
use wayhop_dtn::cl::tcpcl::{Tcpcl, TcpclConfig};
use wayhop_dtn::cl::udpcl::Udpcl;
use wayhop_dtn::cl::{Event, Session};
use wayhop_dtn::routing::Routing;
use wayhop_dtn::{
    Agent, BundleId, BundleRecord, Config, Contact, ContactId, Eid, Input, MemoryStore, Output, Request,
    Store,
};

/// Octets that went over a link: when, from, to, which.
pub(crate) type Sent = (Time, usize, usize, Vec<u8>);
pub(crate) type NewRouting = dyn Fn(usize) -> Box<dyn Routing>;

/// The convergence layer of contacts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    Tcpcl,
    Ltp,
    Udpcl(usize),
}

/// An application that remembers what it has got, whatever happens to its node.
#[derive(Debug, Default)]
pub(crate) struct Application {
    pub(crate) got: u64,
    pub(crate) inbox: Vec<(BundleId, Vec<u8>)>,
    /// Of requests that the agent said are safe.
    pub(crate) sent: Vec<BundleId>,
    pub(crate) rejected: usize,
}

pub(crate) struct Node {
    pub(crate) agent: Option<Agent<MemoryStore>>,
    /// Of a node that is down.
    store: Option<MemoryStore>,
    pub(crate) config: Config,
    pub(crate) application: Application,
    pub(crate) rows: Vec<BundleRecord>,
    /// Steps until it is killed.
    pub(crate) fuse: Option<u64>,
    sessions: BTreeMap<ContactId, Side>,
}

/// A node's side of a contact.
struct Side {
    session: Box<dyn Session>,
    other: usize,
    is_up: bool,
}

pub(crate) struct Net {
    pub(crate) now: Time,
    pub(crate) nodes: Vec<Node>,
    pub(crate) layer: Layer,
    routing: Box<NewRouting>,
    next_contact: u64,
    /// Links that are there, as (lower, higher) node, with their contact.
    pub(crate) links: BTreeMap<(usize, usize), ContactId>,
    /// Whether contacts exchange messages of routing.
    pub(crate) exchanges: bool,
    /// What went over the links: (at, from, to, octets). Kept if asked for.
    pub(crate) wire: Option<Vec<Sent>>,
}

pub(crate) fn eid(node: usize) -> Eid {
    format!("dtn://n{node}/").parse().unwrap()
}

pub(crate) fn inbox(node: usize) -> Eid {
    eid(node).service("inbox")
}

/// A bundle without custody, from one node's application to another's.
pub(crate) fn request(from: usize, to: usize, payload: Vec<u8>) -> Request {
    Request {
        number: 0,
        source: inbox(from),
        destination: inbox(to),
        report_to: Eid::None,
        lifetime: Span::from_secs(86_400),
        flags: 0,
        custody: false,
        payload,
    }
}

impl Net {
    pub(crate) fn new(
        count: usize,
        layer: Layer,
        routing: Box<NewRouting>,
        config: &dyn Fn(Config) -> Config,
    ) -> Self {
        let node = |n| Node {
            agent: None,
            store: Some(MemoryStore::default()),
            config: config(Config::new(eid(n))),
            application: Application::default(),
            rows: Vec::new(),
            fuse: None,
            sessions: BTreeMap::new(),
        };
        let mut net = Self {
            now: Time::from_nanos(1_000_000_000),
            nodes: (0..count).map(node).collect(),
            layer,
            routing,
            next_contact: 0,
            links: BTreeMap::new(),
            exchanges: true,
            wire: None,
        };
        (0..count).for_each(|n| net.boot(n));
        net
    }

    /// A node comes up, and its application with it.
    pub(crate) fn boot(&mut self, n: usize) {
        let routing = (self.routing)(n);
        let node = &mut self.nodes[n];
        let Some(store) = node.store.take() else { return };
        node.agent =
            Some(Agent::open(node.config.clone(), routing, store, self.now).expect("a store of its own"));
        let got = node.application.got;
        self.tell(n, Input::Register { endpoint: inbox(n), got });
    }

    /// `kill -9`: what is in memory is gone, what was not committed, too.
    pub(crate) fn kill(&mut self, n: usize) {
        let node = &mut self.nodes[n];
        node.fuse = None;
        if let Some(agent) = node.agent.take() {
            let mut store = agent.into_store();
            store.crash();
            node.store = Some(store);
        }
        node.sessions.clear();
        let links: Vec<(usize, usize)> =
            self.links.keys().copied().filter(|(a, b)| *a == n || *b == n).collect();
        for (a, b) in links {
            self.cut(a, b);
        }
    }

    pub(crate) fn is_up(&self, n: usize) -> bool {
        self.nodes[n].agent.is_some()
    }

    /// One step nearer to the node's end; whether it still lives.
    fn lives(&mut self, n: usize) -> bool {
        if let Some(fuse) = &mut self.nodes[n].fuse {
            if *fuse == 0 {
                self.kill(n);
            } else {
                *fuse -= 1;
            }
        }
        self.is_up(n)
    }

    /// An input, its commit, and all that follows from it.
    pub(crate) fn tell(&mut self, n: usize, input: Input) {
        if !self.lives(n) {
            return;
        }
        let now = self.now;
        self.nodes[n].agent.as_mut().unwrap().handle(now, input);
        if !self.lives(n) {
            return;
        }
        self.nodes[n].agent.as_mut().unwrap().commit().expect("memory does not fail");
        while self.lives(n) {
            let Some(output) = self.nodes[n].agent.as_mut().unwrap().output() else { break };
            self.carry_out(n, output);
        }
    }

    fn carry_out(&mut self, n: usize, output: Output) {
        let now = self.now;
        let node = &mut self.nodes[n];
        let sessions = &mut node.sessions;
        let other = output.give(now, |id| Some(&mut *sessions.get_mut(&id)?.session as &mut dyn Session));
        let Some(output) = other else { return };
        match output {
            Output::Deliver { endpoint, number, id, payload, .. } => {
                node.application.got = number;
                node.application.inbox.push((id, payload));
                self.tell(n, Input::Confirm { endpoint, number });
            }
            Output::Sent { id, .. } => node.application.sent.push(id),
            Output::Rejected { .. } => node.application.rejected += 1,
            Output::Record(row) => node.rows.push(row),
            _ => unreachable!("it was for a session"),
        }
    }

    /// An application sends.
    pub(crate) fn send(&mut self, from: usize, to: usize, payload: Vec<u8>, custody: bool) {
        self.tell(from, Input::Send(Request { custody, ..request(from, to, payload) }));
    }

    fn session(&self, n: usize, is_active: bool) -> Box<dyn Session> {
        match self.layer {
            Layer::Tcpcl => Box::new(Tcpcl::new(TcpclConfig::new(eid(n)), is_active, self.now)),
            Layer::Ltp => {
                let numbers = SessionNumbers::starting_at(self.next_contact as u32 * 10_000);
                Box::new(Ltp::new(LtpConfig::new(n as u64 + 1, numbers)))
            }
            Layer::Udpcl(largest) => Box::new(Udpcl::new(largest)),
        }
    }

    /// Two nodes can reach each other from now on.
    pub(crate) fn link(&mut self, a: usize, b: usize) {
        let key = (a.min(b), a.max(b));
        if self.links.contains_key(&key) || !self.is_up(a) || !self.is_up(b) {
            return;
        }
        self.next_contact += 1;
        let contact = ContactId(self.next_contact);
        self.links.insert(key, contact);
        for (n, other) in [key, (key.1, key.0)] {
            let session = self.session(n, n == key.0);
            self.nodes[n].sessions.insert(contact, Side { session, other, is_up: false });
        }
        self.events(key.0);
        self.events(key.1);
    }

    /// They cannot any longer.
    pub(crate) fn cut(&mut self, a: usize, b: usize) {
        let Some(contact) = self.links.remove(&(a.min(b), a.max(b))) else { return };
        for n in [a, b] {
            let now = self.now;
            if let Some(side) = self.nodes[n].sessions.get_mut(&contact) {
                side.session.lost(now);
            }
            self.events(n);
            self.nodes[n].sessions.remove(&contact);
        }
    }

    /// What the sessions of a node tell its agent.
    fn events(&mut self, n: usize) {
        loop {
            let next = self.nodes[n]
                .sessions
                .iter_mut()
                .find_map(|(contact, side)| side.session.event().map(|event| (*contact, event)));
            let Some((contact, event)) = next else { return };
            if let Some(input) = self.input(n, contact, event) {
                self.tell(n, input);
            }
        }
    }

    fn input(&mut self, n: usize, contact: ContactId, event: Event) -> Option<Input> {
        let side = self.nodes[n].sessions.get_mut(&contact)?;
        Some(match event {
            Event::Up { largest, .. } => {
                side.is_up = true;
                let exchanges = self.exchanges;
                Input::ContactUp(Contact { id: contact, peer: eid(side.other), largest, exchanges })
            }
            Event::Transfer(event) => Input::Transfer(contact, event),
            Event::Down(_) => {
                if !std::mem::replace(&mut side.is_up, false) {
                    return None;
                }
                Input::ContactDown(contact)
            }
        })
    }

    /// Octets go over all links, at most `room` in each direction; whether any went.
    pub(crate) fn exchange(&mut self, room: usize) -> bool {
        let mut went = false;
        let links: Vec<((usize, usize), ContactId)> = self.links.iter().map(|(k, c)| (*k, *c)).collect();
        for ((a, b), contact) in links {
            for (from, to) in [(a, b), (b, a)] {
                went |= self.carry(from, to, contact, room);
            }
        }
        went
    }

    fn carry(&mut self, from: usize, to: usize, contact: ContactId, room: usize) -> bool {
        let mut left = room;
        while left > 0 && self.links.values().any(|c| *c == contact) && self.lives(from) {
            let now = self.now;
            let Some(side) = self.nodes[from].sessions.get_mut(&contact) else { break };
            let Some(octets) = side.session.transmit(now, left) else { break };
            left = left.saturating_sub(octets.len());
            self.events(from);
            if let Some(wire) = &mut self.wire {
                wire.push((now, from, to, octets.clone()));
            }
            if let Some(side) = self.nodes[to].sessions.get_mut(&contact) {
                side.session.receive(now, &octets);
            }
            self.events(to);
        }
        left < room
    }

    /// Time passes, and timers fire.
    pub(crate) fn pass(&mut self, span: Span) {
        self.now += span;
        let now = self.now;
        for n in 0..self.nodes.len() {
            for side in self.nodes[n].sessions.values_mut() {
                if side.session.next_timer().is_some_and(|at| at <= now) {
                    side.session.timer(now);
                }
            }
            self.events(n);
            if self.nodes[n].agent.as_ref().is_some_and(|a| a.next_timer().is_some_and(|at| at <= now)) {
                self.tell(n, Input::Timer);
            }
        }
    }

    /// Rounds of one second until nothing goes any more, at most these many.
    pub(crate) fn settle(&mut self, rounds: usize, room: usize) {
        for _ in 0..rounds {
            while self.exchange(room) {}
            self.pass(Span::from_secs(1));
        }
    }

    pub(crate) fn inbox(&self, n: usize) -> &[(BundleId, Vec<u8>)] {
        &self.nodes[n].application.inbox
    }

    pub(crate) fn agent(&self, n: usize) -> &Agent<MemoryStore> {
        self.nodes[n].agent.as_ref().expect("the node is up")
    }

    /// How many rows of a kind a node has written.
    pub(crate) fn count(&self, n: usize, kind: BundleEventKind) -> usize {
        self.nodes[n].rows.iter().filter(|row| row.event == kind).count()
    }

    /// Fails if an application has got a bundle twice, or one that nobody sent.
    pub(crate) fn nothing_came_twice(&self) {
        for node in &self.nodes {
            let ids: BTreeSet<&BundleId> = node.application.inbox.iter().map(|(id, _)| id).collect();
            assert_eq!(ids.len(), node.application.inbox.len(), "{} got a bundle twice", node.config.node);
        }
    }

    /// What was sent safely and has not arrived.
    pub(crate) fn missing(&self) -> Vec<BundleId> {
        let got: BTreeSet<&BundleId> =
            self.nodes.iter().flat_map(|node| &node.application.inbox).map(|(id, _)| id).collect();
        let sent = self.nodes.iter().flat_map(|node| &node.application.sent);
        sent.filter(|id| !got.contains(id)).cloned().collect()
    }
}
