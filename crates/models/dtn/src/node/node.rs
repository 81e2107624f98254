//! The node: an application whose inputs go to the agent, its sessions and its own traffic.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use wayhop_core::{Application, ApplicationCx, Ending, ProgramInput, Span, StreamInput, Time, TimerKey};

use super::layer::Layer;
use super::open_node::OpenNode;
use super::programs::Programs;
use super::settings::Settings;
use super::traffic::RunningSource;
use crate::agent::{Input, Output};
use crate::eid::Eid;
use crate::store::{Store, StoreTable};

/// The node itself has something to do. Other timers are those of its sources of bundles, by their numbers from 1 on.
const OWN: TimerKey = TimerKey(0);

/// A bundle agent with its neighbours, programs and traffic.
pub struct Node<S: Store> {
    pub(super) settings: Settings,
    /// While it is up.
    pub(super) open: Option<Box<OpenNode<S>>>,
    /// Its store, while it is down.
    disk: Option<S>,
    /// How often it was up.
    lives: u64,
    /// When it was up first.
    begun: Option<Time>,
    /// From its start to its first beacon: neighbours that begin together do not speak at once.
    first_beacon: Option<Span>,
    /// When its own timer fires. An earlier one stands, and sets the next.
    timer: Option<Time>,
    sources: Vec<RunningSource>,
    /// Endpoints at which it takes what comes, and the number of the last delivery at each.
    pub(super) sinks: Vec<(Eid, u64)>,
    pub(super) programs: Programs,
}

/// The name of bundle nodes in logs of inputs.
pub const NAME: &str = "bundles";

impl<S: Store> Node<S> {
    /// A node over its store.
    pub fn new(settings: Settings, store: S) -> Self {
        Self {
            open: None,
            disk: Some(store),
            lives: 0,
            begun: None,
            first_beacon: None,
            timer: None,
            sources: settings.sources.iter().cloned().map(RunningSource::new).collect(),
            sinks: settings.sinks.iter().map(|sink| (sink.clone(), 0)).collect(),
            programs: Programs::default(),
            settings,
        }
    }

    /// Opens its ports.
    fn listen(&self, cx: &mut ApplicationCx<'_>) {
        let Settings { ports, listens, layer, .. } = &self.settings;
        cx.listen(ports.beacon);
        for layer in listens.iter().chain([layer]).collect::<BTreeSet<_>>() {
            match layer {
                Layer::Udpcl => cx.listen(ports.udpcl),
                Layer::Ltp => cx.listen(ports.ltp),
                Layer::Tcpcl if listens.contains(layer) => cx.listen_stream(ports.tcpcl),
                Layer::Tcpcl => {}
            }
        }
    }

    /// Something came: does what follows, or has it follow when the other inputs that wait have come, too.
    fn work(&mut self, cx: &mut ApplicationCx<'_>) {
        if self.settings.shares_commits { self.set_timer(cx, cx.now()) } else { self.settle(cx) }
    }

    /// Does what is to be done, until there is nothing more.
    fn settle(&mut self, cx: &mut ApplicationCx<'_>) {
        while let Some(open) = &mut self.open {
            let asked = cx.asked();
            if let Err(e) = open.settle(cx) {
                return cx
                    .fail(format!("{e}; the agent stops, without losing anything that it has accepted"));
            }
            let outputs = std::mem::take(&mut open.outputs);
            if outputs.is_empty() && cx.asked() == asked {
                // Time goes on: an agent that is never done must not stop a simulation.
                let due = open.next_timer().max(cx.now() + Span::from_micros(1));
                return self.set_timer(cx, due);
            }
            for output in outputs {
                self.hand_out(cx, output);
            }
        }
    }

    fn set_timer(&mut self, cx: &mut ApplicationCx<'_>, due: Time) {
        if self.timer.is_none_or(|timer| due < timer) {
            self.timer = Some(due);
            cx.set_timer(OWN, due);
        }
    }

    /// Gives programs and sinks what the agent has for them.
    fn hand_out(&mut self, cx: &mut ApplicationCx<'_>, output: Output) {
        match output {
            Output::Deliver { endpoint, number, id, payload, .. } => {
                let Some((_, got)) = self.sinks.iter_mut().find(|(sink, _)| *sink == endpoint) else {
                    return self.programs.deliver(cx, &endpoint, number, &id, payload);
                };
                *got = number;
                if let Some(open) = &mut self.open {
                    open.tell(cx.now(), Input::Confirm { endpoint, number });
                }
            }
            Output::Sent { number, id } => self.programs.sent(cx, number, &id),
            Output::Rejected { number, why } => self.programs.rejected(cx, number, &why),
            _ => {}
        }
    }

    /// Begins with its sources, or goes on: bundles that would have been made before are left out.
    fn start_sources(&mut self, cx: &mut ApplicationCx<'_>) {
        let begun = self.begun.unwrap_or(cx.now());
        for (number, source) in (1..).zip(&mut self.sources) {
            source.skip(begun, cx.now());
            if let Some(due) = source.next(begun) {
                cx.set_timer(TimerKey(number), due);
            }
        }
    }

    /// Makes the bundles of a source that are due.
    fn make_bundles(&mut self, cx: &mut ApplicationCx<'_>, number: u64) {
        let (begun, now) = (self.begun.unwrap_or(cx.now()), cx.now());
        let source = usize::try_from(number - 1).ok().and_then(|i| self.sources.get_mut(i));
        let (Some(source), Some(open)) = (source, &mut self.open) else { return };
        while source.next(begun).is_some_and(|at| at <= now) {
            source.pass();
            let request = source.source.request(self.programs.next_request());
            open.tell(now, Input::Send(request));
        }
        if let Some(due) = source.next(begun) {
            cx.set_timer(TimerKey(number), due);
        }
    }
}

impl<S: Store + Send> Application for Node<S> {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        let Some(store) = self.disk.take() else { return };
        let now = cx.now();
        let beacon = self.settings.beacon;
        let phase = || beacon.map_or(Span::ZERO, |b| b.mul_f64(cx.rng().unit()));
        let first_beacon = now + *self.first_beacon.get_or_insert_with(phase);
        self.lives += 1;
        self.begun.get_or_insert(now);
        self.timer = None;
        let life = self.settings.life.wrapping_add(self.lives);
        let mut open = match OpenNode::open(self.settings.clone(), life, first_beacon, store, now) {
            Ok(open) => Box::new(open),
            Err(why) => return cx.fail(why),
        };
        self.listen(cx);
        for (peer, layer, at) in &self.settings.peers {
            open.peer(cx, peer.clone(), *layer, *at);
        }
        for (endpoint, got) in self.sinks.iter().cloned() {
            open.tell(now, Input::Register { endpoint, got });
        }
        self.open = Some(open);
        self.settle(cx);
        self.start_sources(cx);
    }

    fn on_datagram(&mut self, cx: &mut ApplicationCx<'_>, port: u16, from: SocketAddr, data: &[u8]) {
        let Some(open) = &mut self.open else { return };
        let ports = self.settings.ports;
        if port == ports.beacon {
            open.beacon(cx, from.ip(), data);
        } else {
            let layer = if port == ports.ltp { Layer::Ltp } else { Layer::Udpcl };
            open.datagram(cx.now(), layer, from, data);
        }
        self.work(cx);
    }

    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, key: TimerKey) {
        if key != OWN {
            self.make_bundles(cx, key.0);
            return self.work(cx);
        }
        self.timer = None;
        if let Some(open) = &mut self.open {
            open.timer(cx);
        }
        self.settle(cx);
    }

    fn on_stream(&mut self, cx: &mut ApplicationCx<'_>, input: StreamInput<'_>) {
        let Some(open) = &mut self.open else { return };
        match input {
            StreamInput::Accepted { stream, from, .. } => open.open_tcp(cx, stream, from.ip(), false),
            StreamInput::Connected { stream, to } => open.open_tcp(cx, stream, to.ip(), true),
            StreamInput::Data { stream, data } => open.octets(cx.now(), stream, &data),
            StreamInput::Pattern { .. } => {}
            StreamInput::Room { stream, bytes } => {
                if let Some(session) = open.of_stream(stream) {
                    session.room = bytes;
                }
            }
            StreamInput::Closed { stream, .. } => {
                if let Some(session) = open.of_stream(stream) {
                    session.session.lost(cx.now());
                }
            }
        }
        self.work(cx);
    }

    fn on_program(&mut self, cx: &mut ApplicationCx<'_>, input: ProgramInput) {
        match input {
            ProgramInput::Command { program, message } => self.command(cx, program, message),
            ProgramInput::Gone(program) => self.gone(cx.now(), program),
        }
        self.work(cx);
    }

    fn on_neighbours(&mut self, cx: &mut ApplicationCx<'_>, neighbours: &[IpAddr]) {
        if let Some(open) = &mut self.open {
            open.set_links(cx, neighbours);
        }
        self.work(cx);
    }

    fn on_resume(&mut self, cx: &mut ApplicationCx<'_>) {
        self.on_timer(cx, OWN);
        self.start_sources(cx);
    }

    fn end(&mut self, cx: &mut ApplicationCx<'_>, ending: Ending) {
        let Some(open) = &mut self.open else { return };
        if ending == Ending::InOrder
            && let Err(e) = open.close(cx)
        {
            cx.fail(e.to_string());
        }
        open.end(cx);
    }

    /// Its store keeps what was committed.
    fn restart(&mut self) {
        if let Some(open) = self.open.take() {
            let mut store = open.agent.into_store();
            store.crash();
            self.disk = Some(store);
        }
        self.programs = Programs::default();
    }

    fn figures(&self, _: &mut dyn FnMut(&'static str, f64)) {}

    /// The store of a node that is down keeps its bundles.
    fn sizes(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        if let Some(open) = &self.open {
            let held = open.agent.statistics();
            tell("bundles", held.bundles as u64);
            tell("bundles_in_custody", held.in_custody as u64);
            tell("bundle_contacts", open.contacts().count() as u64);
        } else if let Some(store) = &self.disk {
            let mut bundles = 0;
            // What cannot be read now cannot be counted.
            let _ = store.scan(StoreTable::Bundles, &mut |_, _| bundles += 1);
            tell("bundles", bundles);
        }
    }
}
