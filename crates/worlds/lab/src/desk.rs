//! The control socket of a lab: one for all nodes. Requests about a node go to its daemon.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, poll};
use serde_json::{Map, Value};
use wayhop_control::answer::{
    Capture, Counters, Links, NodeCounters, NodeParameters, NodePosition, NodeTables, Parameters, Positions,
    Tables, json,
};
use wayhop_control::{
    About, Call, Client, ClientError, ControlError, ErrorCode, Event, LinkState, NodeAbout, NodeRef, Place,
    Request, Server,
};
use wayhop_core::{Command, Position, Time};
use wayhop_linux::Error;
use wayhop_scenario::Resolved;
use wayhop_world::Gps;

use super::outages;
use super::watch::RunStart;
use super::wire::Wire;

/// How long it waits for calls before it looks whether all is over.
const WAIT: Duration = Duration::from_millis(50);

/// The socket, and who answers.
pub(super) struct Desk {
    scenario: Arc<Resolved>,
    pub(super) server: Arc<Server>,
    /// A daemon's socket, and the connection to it, once there was need of one.
    daemons: Vec<(PathBuf, Option<Client>)>,
    wire: Arc<Mutex<Wire>>,
    begun: RunStart,
    /// Somebody asked for the end.
    pub(super) quit: Arc<AtomicBool>,
    /// Orders of the scenario that are still to be given: when, and which of them.
    due: Vec<(Time, usize)>,
    complaints: Vec<String>,
}

impl Desk {
    /// Opens the socket of a run, under the scenario's name or, if a run of that name is under way, with the process's
    /// number behind it.
    pub(super) fn open(
        scenario: Arc<Resolved>,
        sockets: Vec<PathBuf>,
        wire: Arc<Mutex<Wire>>,
        begun: RunStart,
    ) -> Result<Self, Error> {
        let nodes = NodeAbout::all(&scenario.names, &scenario.addresses);
        let about = About::new(&scenario.name, "lab", scenario.protocol.name(), nodes);
        let server = Server::for_run(&about).map_err(Error::system("open the control socket"))?;
        let mut due: Vec<(Time, usize)> =
            scenario.orders.iter().enumerate().map(|(k, o)| (o.from, k)).collect();
        due.sort_unstable_by(|a, b| b.cmp(a));
        Ok(Self {
            scenario,
            server: Arc::new(server),
            daemons: sockets.into_iter().map(|s| (s, None)).collect(),
            wire,
            begun,
            quit: Arc::new(AtomicBool::new(false)),
            due,
            complaints: Vec::new(),
        })
    }

    /// Answers calls, and gives the scenario's orders, until it is told to stop.
    pub(super) fn run(mut self, stop: &AtomicBool) -> Self {
        while !stop.load(Ordering::Relaxed) {
            let fd: BorrowedFd<'_> = self.server.fd();
            let until_order = self.due.last().map(|(at, _)| at.since(self.now()));
            let wait = until_order.map_or(WAIT, |s| WAIT.min(Duration::from_nanos(s.as_nanos())));
            let _ = poll(&mut [PollFd::new(fd, PollFlags::POLLIN)], wait.as_millis() as u16);
            while let Some(call) = self.server.next() {
                self.answer(call);
            }
            self.give_orders();
        }
        self
    }

    /// What each node has counted, and what went wrong with the orders.
    pub(super) fn finish(mut self) -> (Vec<BTreeMap<String, u64>>, Vec<String>) {
        let all = 0..self.daemons.len() as u32;
        // A daemon that has ended is reported elsewhere.
        let counters = all.map(|i| self.counters(i).unwrap_or_default()).collect();
        (counters, self.complaints)
    }

    fn now(&self) -> Time {
        let since = self.begun.get().map_or(Duration::ZERO, Instant::elapsed);
        Time::from_nanos(since.as_nanos() as u64)
    }

    fn give_orders(&mut self) {
        if self.begun.get().is_none() {
            return;
        }
        while let Some(&(at, k)) = self.due.last().filter(|(at, _)| *at <= self.now()) {
            self.due.pop();
            let order = self.scenario.orders[k].clone();
            if let Some(next) = order.every.map(|e| at + e) {
                let place = self.due.partition_point(|d| *d > (next, k));
                self.due.insert(place, (next, k));
            }
            for node in order.nodes {
                // Nobody can tell a node that is down anything.
                if outages::is_down(&self.scenario.outages, node.0, at) {
                    continue;
                }
                // Scenarios have no other orders.
                let Command::PurgeRoutes { destination } = order.command else { continue };
                let request = Request::PurgeRoutes { destination: destination.map(Into::into) };
                if let Err(e) = self.ask::<Value>(node.0, request) {
                    self.complaints.push(format!("a command at {} s failed: {e}", at.as_secs_f64()));
                }
            }
        }
    }

    /// Asks a node's daemon.
    fn ask<T: for<'de> serde::Deserialize<'de>>(
        &mut self,
        node: u32,
        request: Request,
    ) -> Result<T, ControlError> {
        if outages::is_down(&self.scenario.outages, node, self.now()) {
            let what = format!("node {} is down", self.scenario.names[node as usize]);
            return Err(ControlError::refused(what, "try again after its outage"));
        }
        let (path, open) = &mut self.daemons[node as usize];
        let outcome = match open {
            // A daemon that was started again knows nothing of the old connection.
            Some(client) => match client.ask_for(None, request.clone()) {
                Err(ClientError::Broken { .. }) => {
                    *open = None;
                    Client::connect(path).and_then(|client| open.insert(client).ask_for(None, request))
                }
                outcome => outcome,
            },
            None => Client::connect(path).and_then(|client| open.insert(client).ask_for(None, request)),
        };
        outcome.map_err(|e| match e {
            ClientError::Refused(e) => e,
            e => {
                // What comes late would be taken for the answer to the next question.
                self.daemons[node as usize].1 = None;
                let what = format!("node {} does not answer: {e}", self.scenario.names[node as usize]);
                let remedy = "check whether its daemon is still running: `wayhop exec NODE -- ip link`";
                ControlError::new(ErrorCode::Unanswered, what, remedy)
            }
        })
    }

    fn counters(&mut self, node: u32) -> Result<BTreeMap<String, u64>, ControlError> {
        let answer: Counters = self.ask(node, Request::Counters {})?;
        Ok(answer.nodes.into_iter().next().map(|n| n.counters).unwrap_or_default())
    }

    fn answer(&mut self, call: Call) {
        let quits = matches!(call.request, Request::Quit {});
        let nodes: Vec<u32> = match call.node {
            Some(one) => vec![one],
            None => (0..self.daemons.len() as u32)
                .filter(|i| !outages::is_down(&self.scenario.outages, *i, self.now()))
                .collect(),
        };
        let outcome = self.outcome(&call.request, &nodes);
        call.answer(outcome);
        if quits {
            self.quit.store(true, Ordering::Relaxed);
        }
    }

    fn outcome(&mut self, request: &Request, nodes: &[u32]) -> Result<Value, ControlError> {
        let time_s = self.now().as_secs_f64();
        match request {
            Request::Tables { .. } => {
                let mut all = Tables { time_s, nodes: Vec::new() };
                for &node in nodes {
                    let own: Tables = self.ask(node, request.clone())?;
                    let name = self.name(node);
                    // A daemon knows itself as node 0.
                    all.nodes.extend(own.nodes.into_iter().next().map(|own| NodeTables {
                        node,
                        name,
                        ..own
                    }));
                }
                json(&all)
            }
            Request::Counters {} => {
                let mut all = Counters { time_s, nodes: Vec::new() };
                for &node in nodes {
                    let counters = self.counters(node)?;
                    all.nodes.push(NodeCounters { node, name: self.name(node), counters });
                }
                json(&all)
            }
            Request::Parameters {} => json(&self.parameters(nodes)?),
            Request::SetParameters { values } => {
                self.set_parameters(nodes, values)?;
                json(&self.parameters(nodes)?)
            }
            Request::PurgeRoutes { .. } => {
                nodes.iter().try_for_each(|&i| self.ask::<Value>(i, request.clone()).map(drop))?;
                Ok(Value::Null)
            }
            Request::Position {} => {
                let (now, gps) = (self.now(), Gps::new(self.scenario.origin));
                let place = |&i: &u32| {
                    let leg = self.scenario.tracks[i as usize].leg_at(now);
                    let Position { x, y, z } = leg.position(now);
                    NodePosition {
                        node: i,
                        name: self.name(i),
                        local: Some(Place::Local { x, y, z }),
                        earth: gps.is_on_earth().then(|| Place::from(gps.fix(&leg, now))),
                        gps: gps.is_on_earth().then(wayhop_control::Gps::simulated),
                        ..NodePosition::default()
                    }
                };
                json(&Positions { time_s, nodes: nodes.iter().map(place).collect() })
            }
            Request::Down { .. } | Request::Up {} => {
                let &[node] = nodes else { return Err(ControlError::needs_one_node()) };
                self.ask::<Value>(node, request.clone())?;
                self.server.set_up(node, matches!(request, Request::Up {}));
                Ok(Value::Null)
            }
            Request::Links {} => json(&Links { links: self.wire().links() }),
            Request::SetLink { a, b, one_way, state, interface } => {
                self.set_link(a, b, *one_way, *state, interface.as_deref())
            }
            Request::Quit {} => Ok(Value::Null),
            Request::Capture { .. } => match *nodes {
                // Frames need not pass through here.
                [node] => json(&self.capture_at(node)?),
                _ => Err(ControlError::needs_one_node()),
            },
            _ => Err(ControlError::unsupported(
                "a lab has no radio model, so positions do not affect links",
                "set links with `wayhop ctl link A B STATE`, or use an emulation",
            )),
        }
    }

    /// Where a node's frames can be captured.
    fn capture_at(&mut self, node: u32) -> Result<Capture, ControlError> {
        // One that is down or hangs is reported as an error.
        let _: Value = self.ask(node, Request::Hello {})?;
        Ok(Capture { socket: Some(self.daemons[node as usize].0.clone()), ..Capture::default() })
    }

    fn wire(&self) -> std::sync::MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_link(
        &self,
        a: &NodeRef,
        b: &NodeRef,
        one_way: bool,
        state: LinkState,
        interface: Option<&str>,
    ) -> Result<Value, ControlError> {
        let ways = self.server.ways(a, b, one_way)?;
        if let LinkState::PathLoss(_) = state {
            return Err(ControlError::unsupported(
                "a lab has no radios: its links have no path loss",
                "use an emulation (wayhop emulate), or down and loss=SHARE",
            ));
        }
        let mut wire = self.wire();
        for &(from, to) in &ways {
            if !wire.set_link(from, to, state, interface) {
                return Err(ControlError::no_shared_link(from, to, interface));
            }
        }
        wire.apply()
            .map_err(|e| ControlError::new(ErrorCode::Other, e.to_string(), "see `wayhop doctor lab`"))?;
        let time_s = self.now().as_secs_f64();
        for (node, to) in ways {
            self.server.publish(&Event::Link { time_s, node, to, state });
        }
        Ok(Value::Null)
    }

    fn parameters(&mut self, nodes: &[u32]) -> Result<Parameters, ControlError> {
        let nodes = nodes.iter().map(|&node| self.parameters_of(node)).collect::<Result<_, _>>()?;
        Ok(Parameters { nodes })
    }

    fn parameters_of(&mut self, node: u32) -> Result<NodeParameters, ControlError> {
        let answer: Parameters = self.ask(node, Request::Parameters {})?;
        let parameters = answer.nodes.into_iter().next().map(|n| n.parameters).unwrap_or_default();
        Ok(NodeParameters { node, name: self.name(node), parameters })
    }

    /// At all nodes, or at none.
    fn set_parameters(&mut self, nodes: &[u32], values: &Map<String, Value>) -> Result<(), ControlError> {
        let mut done: Vec<(u32, Map<String, Value>)> = Vec::new();
        for &i in nodes {
            let old = self.parameters_of(i)?.parameters;
            if let Err(e) = self.ask::<Value>(i, Request::SetParameters { values: values.clone() }) {
                for (node, old) in done {
                    // It ran with these a moment ago.
                    let _ = self.ask::<Value>(node, Request::SetParameters { values: old });
                }
                return Err(e);
            }
            let old = old.into_iter().filter(|(k, _)| values.contains_key(k)).collect();
            done.push((i, old));
        }
        Ok(())
    }

    fn name(&self, node: u32) -> String {
        self.scenario.names[node as usize].clone()
    }
}
