//! The control socket of an emulation: one for all nodes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use wayhop_control::answer::{Counters, LinkOverride, Links, NodeCounters, NodeParameters, NodePosition};
use wayhop_control::answer::{NodeTables, Parameters, Positions, Tables};
use wayhop_control::{
    About, Access, Call, ControlError, ErrorCode, Event, EventKind, JsonTables, LinkState, NodeAbout,
    ParameterSet, Place, Request, Server, paths,
};
use wayhop_core::{Command, Position, Time};
use wayhop_scenario::{ProtocolParams, Resolved};
use wayhop_sim::{Geodetic, Happening, LinkOverride as Override, Simulation};

use crate::error::Error;

/// The socket, and what it must remember.
pub struct Control {
    pub(crate) server: Server,
    /// Each node's parameters as they are now.
    parameters: Vec<ParameterSet>,
}

impl Control {
    /// Opens the socket of a run, under the scenario's name or, if a run of that name is under way, with the process's
    /// number behind it.
    pub fn open(scenario: &Resolved) -> Result<Self, Error> {
        let node = |(i, (name, &address)): (usize, (&String, _))| NodeAbout {
            node: i as u32,
            name: name.clone(),
            address,
        };
        let nodes = scenario.names.iter().zip(&scenario.addresses).enumerate().map(node).collect();
        let name = paths::name_from(&scenario.name);
        let about = About::new(&name, "emulation", scenario.protocol.name(), nodes);
        let bind = |name: &str| {
            let path = paths::socket(name).map_err(std::io::Error::other)?;
            Server::bind(&path, About { name: name.to_owned(), ..about.clone() }, Access::Owner)
        };
        let second = format!("{}-{}", name.chars().take(32).collect::<String>(), std::process::id());
        let server = bind(&name)
            .or_else(|_| bind(&second))
            .map_err(|e| Error::system("cannot open the control socket", e))?;
        let set = match &scenario.protocol {
            ProtocolParams::Dsr(p) => ParameterSet::of(p),
            ProtocolParams::Aodv(p) => ParameterSet::of(p),
        };
        Ok(Self { server, parameters: vec![set; scenario.names.len()] })
    }

    /// The name of the run, for `wayhop ctl --run`.
    pub fn name(&self) -> &str {
        &self.server.about().name
    }

    /// Answers what was asked since the last time. True when somebody asked for the end.
    pub(crate) fn serve(&mut self, simulation: &mut Simulation) -> bool {
        let mut is_over = false;
        while let Some(call) = self.server.next() {
            is_over |= matches!(call.request, Request::Quit {});
            self.answer(simulation, call);
        }
        is_over
    }

    /// Tells subscribers what happened.
    pub(crate) fn publish(&self, simulation: &mut Simulation) {
        let wanted = [EventKind::Note, EventKind::Drop, EventKind::Route].map(|k| self.server.wants(k));
        simulation.watch(wanted.contains(&true));
        while let Some((at, node, what)) = simulation.happening() {
            self.server.publish(&event(at, node, what));
        }
        let count = simulation.missed();
        if count > 0 {
            self.server.publish(&Event::Lost { count });
        }
    }

    fn answer(&mut self, simulation: &mut Simulation, call: Call) {
        let outcome = self.outcome(simulation, &call.request, call.node);
        call.answer(outcome);
    }

    fn outcome(
        &mut self,
        simulation: &mut Simulation,
        request: &Request,
        node: Option<u32>,
    ) -> Result<Value, ControlError> {
        let time_s = simulation.now().as_secs_f64();
        let nodes: Vec<u32> = node.map_or_else(|| (0..simulation.nodes()).collect(), |n| vec![n]);
        match request {
            Request::Tables { tables } => {
                let nodes = nodes.iter().map(|&n| self.tables(simulation, n, tables)).collect();
                json(&Tables { time_s, nodes })
            }
            Request::Counters {} => {
                let nodes = nodes.iter().map(|&n| self.counters(simulation, n)).collect();
                json(&Counters { time_s, nodes })
            }
            Request::Parameters {} => self.parameters(&nodes),
            Request::SetParameters { values } => {
                self.set_parameters(simulation, &nodes, values)?;
                self.parameters(&nodes)
            }
            Request::PurgeRoutes { destination } => {
                for &n in &nodes {
                    let order = Command::PurgeRoutes { destination: *destination };
                    simulation.command(n, &order).map_err(|e| refused(e.0))?;
                }
                Ok(Value::Null)
            }
            Request::Position {} => {
                let nodes = nodes.iter().map(|&n| self.position(simulation, n)).collect();
                json(&Positions { time_s, nodes })
            }
            Request::SetPosition { place } => {
                let node = one(node)?;
                simulation.set_position(node, Some(local(simulation, place)));
                self.server.publish(&Event::Position { time_s, node, place: *place });
                Ok(Value::Null)
            }
            Request::ReleasePosition {} => {
                for &n in &nodes {
                    simulation.set_position(n, None);
                }
                Ok(Value::Null)
            }
            Request::Links {} => {
                let link = |(from, to, state)| LinkOverride { from, to, state: said(state) };
                json(&Links { links: simulation.links().into_iter().map(link).collect() })
            }
            Request::SetLink { a, b, one_way, state } => {
                let (a, b) = (self.server.resolve(a)?, self.server.resolve(b)?);
                if a == b {
                    return Err(refused("a link from a node to itself".to_owned()));
                }
                let ways: &[(u32, u32)] = if *one_way { &[(a, b)] } else { &[(a, b), (b, a)] };
                for &(from, to) in ways {
                    simulation.set_link(from, to, meant(*state));
                    self.server.publish(&Event::Link { time_s, node: from, to, state: *state });
                }
                Ok(Value::Null)
            }
            // The end comes after the answer; the others are the server's own.
            Request::Quit {} | Request::Hello {} | Request::Subscribe { .. } | Request::Unsubscribe {} => {
                Ok(Value::Null)
            }
        }
    }

    fn name_of(&self, node: u32) -> String {
        self.server.about().node(node).map(|n| n.name.clone()).unwrap_or_default()
    }

    fn tables(&self, simulation: &Simulation, node: u32, wanted: &[String]) -> NodeTables {
        let mut tables = JsonTables::new(node, &self.name_of(node), wanted);
        simulation.inspect(node, &mut tables);
        tables.finish()
    }

    fn counters(&self, simulation: &Simulation, node: u32) -> NodeCounters {
        let c = simulation.counters(node);
        let counters = BTreeMap::from(c.named().map(|(name, n)| (format!("mac_{name}"), u64::from(n))));
        NodeCounters { node, name: self.name_of(node), counters }
    }

    fn parameters(&self, nodes: &[u32]) -> Result<Value, ControlError> {
        let one = |&node: &u32| NodeParameters {
            node,
            name: self.name_of(node),
            parameters: self.parameters[node as usize].values().clone(),
        };
        json(&Parameters { nodes: nodes.iter().map(one).collect() })
    }

    /// Changes the parameters of all these nodes, or of none.
    fn set_parameters(
        &mut self,
        simulation: &mut Simulation,
        nodes: &[u32],
        values: &Map<String, Value>,
    ) -> Result<(), ControlError> {
        let changed = |n: &u32| self.parameters[*n as usize].changed(values);
        let new = nodes.iter().map(changed).collect::<Result<Vec<_>, _>>()?;
        for (done, (&n, (_, order))) in nodes.iter().zip(&new).enumerate() {
            let Err(why) = simulation.command(n, order) else { continue };
            // Those before it go back to what they had.
            for &m in &nodes[..done] {
                let old = &self.parameters[m as usize];
                let (_, order) = old.changed(old.values())?;
                simulation.command(m, &order).map_err(|e| refused(e.0))?;
            }
            return Err(refused(why.0));
        }
        for (&n, (set, _)) in nodes.iter().zip(new) {
            self.parameters[n as usize] = set;
        }
        Ok(())
    }

    fn position(&self, simulation: &mut Simulation, node: u32) -> NodePosition {
        let Position { x, y, z } = simulation.position(node);
        let fix = simulation.fix(node);
        NodePosition {
            node,
            name: self.name_of(node),
            local: Some(Place::Local { x, y, z }),
            earth: Some(Place::Earth {
                latitude_deg: fix.latitude_deg,
                longitude_deg: fix.longitude_deg,
                heading_deg: fix.heading_deg,
                speed_m_per_s: fix.speed_m_per_s,
            }),
            overridden: simulation.is_moved(node),
        }
    }
}

fn json(answer: &impl serde::Serialize) -> Result<Value, ControlError> {
    serde_json::to_value(answer).map_err(|e| {
        ControlError::new(ErrorCode::Other, format!("the answer is not JSON: {e}"), "report this")
    })
}

fn one(node: Option<u32>) -> Result<u32, ControlError> {
    node.ok_or_else(|| {
        ControlError::new(ErrorCode::UnknownNode, "which node?", "name one: wayhop ctl --node NODE ...")
    })
}

fn refused(why: String) -> ControlError {
    ControlError::new(ErrorCode::Refused, why, "`wayhop ctl params` shows what holds now")
}

fn local(simulation: &Simulation, place: &Place) -> Position {
    match *place {
        Place::Local { x, y, z } => Position { x, y, z },
        Place::Earth { latitude_deg: lat, longitude_deg: lon, .. } => {
            simulation.local(Geodetic { lat, lon, alt: 0.0 })
        }
    }
}

/// What a link override is called, and the other way round.
fn said(state: Override) -> LinkState {
    match state {
        Override::Up => LinkState::Up,
        Override::Down => LinkState::Down,
        Override::Loss(share) => LinkState::Loss(share),
    }
}
fn meant(state: LinkState) -> Option<Override> {
    match state {
        LinkState::Up => Some(Override::Up),
        LinkState::Down => Some(Override::Down),
        LinkState::Loss(share) => Some(Override::Loss(share)),
        LinkState::Model => None,
    }
}

fn event(at: Time, node: u32, what: Happening) -> Event {
    let time_s = at.as_secs_f64();
    match what {
        Happening::Note(n) => {
            Event::Note { time_s, node, what: n.what.to_owned(), about: n.about, value: n.value }
        }
        Happening::Drop(why, source, destination, bytes) => Event::Drop {
            time_s,
            node,
            reason: why.name().to_owned(),
            source: (!source.is_unspecified()).then_some(source),
            destination: (!destination.is_unspecified()).then_some(destination),
            bytes,
        },
        Happening::Route(destination, row) => Event::Route {
            time_s,
            node,
            destination,
            next_hop: row.map(|(next_hop, _)| next_hop),
            hops: row.map(|(_, hops)| hops),
        },
    }
}
