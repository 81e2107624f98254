//! The control socket of an emulation, or of a simulation that is followed: one for all nodes.

use std::collections::BTreeMap;

use wayhop_control::answer::{LinkOverride, NodePosition};
use wayhop_control::{
    About, Call, ControlError, Event, EventKind, Gps, LinkState, NodeAbout, Owner, ParameterSet, Place,
    Server, SizeOf,
};
use wayhop_core::{Command, IfaceId, Inspect, Position, Refused, Span, Time};
use wayhop_netns::Error;
use wayhop_scenario::{Resolved, Tables};
use wayhop_sim::{Geodetic, Happening, LinkOverride as Override, PowerChange, Simulation};
use wayhop_trace::FrameStream;

/// The queues and tables of one node are told so long after those of another one at least, seconds of the machine.
const SHORTEST_TURN_S: f64 = 0.01;

/// The socket, and what it must remember.
pub struct Control {
    pub(crate) server: Server,
    /// Each node's parameters as they are now.
    parameters: Vec<ParameterSet>,
    /// Those of a node that has rebooted.
    after_reboot: ParameterSet,
    sizes: SizesDue,
}

/// Who is looked at next by those who follow queues and tables: one node after the other, so that no moment has to count them all.
#[derive(Default)]
struct SizesDue {
    node: u32,
    at: Time,
}

impl Control {
    /// Opens the socket of a run, under the scenario's name or, if a run of that name is under way, with the process's
    /// number behind it.
    ///
    /// With a `speed`, the run is a simulation whose clock is that many times as fast as the machine's.
    pub fn open(scenario: &Resolved, speed: Option<f64>) -> Result<Self, Error> {
        let world = if speed.is_some() { "simulation" } else { "emulation" };
        let nodes = NodeAbout::all(&scenario.names, &scenario.addresses);
        let range_m = (scenario.interfaces.radios.len() == 1).then(|| scenario.radio().nominal_range_m());
        let about =
            About { range_m, speed, ..About::new(&scenario.name, world, scenario.protocol.name(), nodes) };
        let server =
            Server::for_run(&about).map_err(|e| Error::system("cannot open the control socket", e))?;
        let set = ParameterSet::from(scenario.protocol.values());
        let after_reboot = ParameterSet::from(scenario.protocol_after_reboot.values());
        let parameters = vec![set; scenario.names.len()];
        Ok(Self { server, parameters, after_reboot, sizes: SizesDue::default() })
    }

    /// A node went down, or is up again. One that has rebooted forgets its commands.
    pub(crate) fn power(&mut self, PowerChange { node, on, lost }: PowerChange) {
        self.server.set_up(node, on);
        if on && lost {
            self.parameters[node as usize] = self.after_reboot.clone();
        }
    }

    /// Who this is.
    pub fn about(&self) -> &About {
        self.server.about()
    }

    /// The name of the run, for `wayhop ctl --run`.
    pub fn name(&self) -> &str {
        &self.server.about().name
    }

    /// Answers what was asked since the last time. True when somebody asked for the end.
    pub(crate) fn serve(&mut self, simulation: &mut Simulation) -> bool {
        let about = self.server.about();
        let mut run = RunNodes { simulation, about, parameters: &mut self.parameters, is_over: false };
        self.server.serve(&mut run);
        run.is_over
    }

    /// Tells subscribers what happened.
    pub(crate) fn publish(&mut self, simulation: &mut Simulation) {
        let wanted = [EventKind::Note, EventKind::Drop, EventKind::Route].map(|k| self.server.wants(k));
        simulation.watch(wanted.contains(&true), self.server.wants(EventKind::Packet));
        while let Some((at, node, what)) = simulation.happening() {
            self.server.publish(&event(at, node, what));
        }
        let count = simulation.missed();
        if count > 0 {
            self.server.publish(&Event::Lost { count });
        }
        if self.server.wants(EventKind::Sizes) {
            self.publish_sizes(simulation);
        }
    }

    /// Tells how long the queues and tables are of the nodes whose turn it is: each node's once a second of the machine, or
    /// less often if they are many.
    fn publish_sizes(&mut self, simulation: &Simulation) {
        let (now, nodes) = (simulation.now(), simulation.nodes());
        let turn = (1.0 / f64::from(nodes.max(1))).max(SHORTEST_TURN_S) * self.about().speed.unwrap_or(1.0);
        let turn = Span::from_secs_f64(turn);
        // Nobody wanted to know for a while, or the run could not go on: nothing is made up for.
        if self.sizes.at + turn * u64::from(nodes) < now {
            self.sizes.at = now;
        }
        while nodes > 0 && self.sizes.at <= now {
            let node = self.sizes.node % nodes;
            let rows = simulation.sizes(node).into_iter().map(|row| SizeOf {
                what: row.what.to_owned(),
                count: row.count,
                interface: (row.iface != IfaceId::ANY).then_some(row.iface.0),
            });
            let event = Event::Sizes { time_s: now.as_secs_f64(), node, sizes: rows.collect() };
            self.server.publish(&event);
            self.sizes = SizesDue { node: node + 1, at: self.sizes.at + turn };
        }
    }
}

struct RunNodes<'a> {
    simulation: &'a mut Simulation,
    about: &'a About,
    parameters: &'a mut [ParameterSet],
    is_over: bool,
}

impl Owner for RunNodes<'_> {
    fn time_s(&self) -> f64 {
        self.simulation.now().as_secs_f64()
    }
    fn inspect(&mut self, node: u32, out: &mut dyn Inspect) {
        self.simulation.inspect(node, out);
    }
    fn counters(&mut self, node: u32) -> BTreeMap<String, u64> {
        counters(self.simulation, node)
    }
    fn parameters(&mut self, node: u32) -> &mut ParameterSet {
        &mut self.parameters[node as usize]
    }
    fn command(&mut self, node: u32, command: &Command) -> Result<(), Refused> {
        self.simulation.command(node, command)
    }
    fn position(&mut self, node: u32) -> NodePosition {
        let Position { x, y, z } = self.simulation.position(node);
        let fix = self.simulation.fix(node);
        NodePosition {
            local: Some(Place::Local { x, y, z }),
            earth: fix.map(Place::from),
            gps: fix.map(|_| Gps::simulated()),
            overridden: self.simulation.is_moved(node),
            ..NodePosition::default()
        }
    }
    fn set_position(&mut self, node: u32, place: Option<Place>) -> Result<(), ControlError> {
        let place = place.map(|p| local(self.simulation, &p)).transpose()?;
        self.simulation.set_position(node, place);
        Ok(())
    }
    fn links(&mut self) -> Result<Vec<LinkOverride>, ControlError> {
        let link = |(from, to, state)| LinkOverride { from, to, state: said(state) };
        Ok(self.simulation.links().into_iter().map(link).collect())
    }
    fn set_link(
        &mut self,
        from: u32,
        to: u32,
        state: LinkState,
        interface: Option<&str>,
    ) -> Result<(), ControlError> {
        if self.simulation.set_link(from, to, meant(state), interface) {
            return Ok(());
        }
        Err(ControlError::no_shared_link(from, to, interface))
    }
    fn take_down(&mut self, node: u32, for_s: Option<f64>, lose_tables: bool) -> Result<(), ControlError> {
        let tables = if lose_tables { Tables::Lost } else { Tables::Kept };
        let taken = self.simulation.take_down(node, for_s.map(Span::from_secs_f64), tables);
        if taken { Ok(()) } else { Err(ControlError::is_down()) }
    }
    fn bring_up(&mut self, node: u32) -> Result<(), ControlError> {
        if self.simulation.bring_up(node) {
            return Ok(());
        }
        if self.simulation.is_up(node) {
            return Err(ControlError::is_up());
        }
        let remedy = "give it more energy in the scenario (`energy`)";
        Err(ControlError::refused("the node's battery is empty", remedy))
    }
    fn capture(&mut self, node: u32, call: Call) {
        let all = self.simulation.interfaces(node);
        let (only, snaplen) = match call.capture(all.iter().map(|i| i.name.as_str())) {
            Ok(wanted) => wanted,
            Err(e) => return call.answer(Err(e)),
        };
        let name = &self.about.nodes[node as usize].name;
        let stream = call.stream("pcapng");
        // With an error, the client went away while it asked.
        if let Ok(mut to) = FrameStream::begin(stream, name, &all, only.as_deref(), snaplen) {
            self.simulation.tap(node, Box::new(move |f| to.frame(f).is_ok()));
        }
    }
    fn quit(&mut self) {
        self.is_over = true;
    }
}

/// What a node's MAC and its authentication have counted.
pub(crate) fn counters(simulation: &Simulation, node: u32) -> BTreeMap<String, u64> {
    let mac = simulation.counters(node).into_iter().map(|(name, n)| (format!("mac_{name}"), n));
    mac.chain(simulation.auth_counts(node).map(|(name, n)| (format!("auth_{name}"), n))).collect()
}

/// The largest coordinate of a node, metres, as in a scenario.
const FARTHEST_M: f64 = 1e9;

fn local(simulation: &Simulation, place: &Place) -> Result<Position, ControlError> {
    match *place {
        Place::Local { x, y, z } => {
            match [x, y, z].into_iter().find(|v| !(-FARTHEST_M..=FARTHEST_M).contains(v)) {
                Some(v) => {
                    let what = format!("{v} m is too far away");
                    Err(ControlError::refused(what, "give metres from -1e9 to 1e9"))
                }
                None => Ok(Position { x, y, z }),
            }
        }
        Place::Earth { latitude_deg: lat, longitude_deg: lon, .. } => {
            simulation.local(Geodetic { lat, lon, alt: 0.0 }).ok_or_else(|| {
                ControlError::unsupported(
                    "the scenario has no geographic position",
                    "give metres, such as 120m,40m, or give the scenario an origin = { lat = ..., lon = \
                     ... }",
                )
            })
        }
    }
}

/// What a link override is called, and the other way round.
fn said(state: Override) -> LinkState {
    match state {
        Override::Up => LinkState::Up,
        Override::Down => LinkState::Down,
        Override::Loss(share) => LinkState::Loss(share),
        Override::PathLoss(db) => LinkState::PathLoss(db),
    }
}
fn meant(state: LinkState) -> Option<Override> {
    match state {
        LinkState::Up => Some(Override::Up),
        LinkState::Down => Some(Override::Down),
        LinkState::Loss(share) => Some(Override::Loss(share)),
        LinkState::PathLoss(db) => Some(Override::PathLoss(db)),
        LinkState::Model => None,
    }
}

fn event(at: Time, node: u32, what: Happening) -> Event {
    let time_s = at.as_secs_f64();
    match what {
        Happening::Note(n) => {
            Event::Note { time_s, node, what: n.what.to_owned(), about: n.about.ip(), value: n.value }
        }
        Happening::Drop(why, source, destination, bytes) => Event::Drop {
            time_s,
            node,
            reason: why.name().to_owned(),
            source: (!source.is_unspecified()).then_some(source.ip()),
            destination: (!destination.is_unspecified()).then_some(destination.ip()),
            bytes,
        },
        Happening::Route(destination, row) => Event::Route {
            time_s,
            node,
            // Prefixes of more than one address are named by their first one.
            destination: destination.addr.ip(),
            next_hop: row.map(|(next_hop, _)| next_hop.ip()),
            hops: row.map(|(_, metric)| metric.min(u8::MAX.into()) as u8),
        },
        Happening::Packet(row, head) => Event::Packet {
            time_s,
            node,
            event: row.kind.name().to_owned(),
            packet: row.packet.0,
            flow: row.flow.map(|tag| tag.flow),
            seq: row.flow.map(|tag| tag.seq),
            bytes: row.bytes,
            head: wayhop_core::hex(&head),
            interface: (row.iface != IfaceId::ANY).then_some(row.iface.0),
            peer: (!row.peer.is_unspecified()).then_some(row.peer.ip()),
            signal_dbm: (!row.signal_dbm.is_nan()).then_some(row.signal_dbm),
            reason: row.reason.map(|why| why.name().to_owned()),
        },
    }
}
