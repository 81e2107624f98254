//! From requests to a world's nodes: the part that all worlds share.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use wayhop_core::{Command, Inspect, Refused};

use crate::about::About;
use crate::answer::{
    Counters, LinkOverride, Links, NodeCounters, NodeParameters, NodePosition, Parameters, Positions, Tables,
};
use crate::error::ControlError;
use crate::event::Event;
use crate::inspect_json::JsonTables;
use crate::messages::{LinkState, Place, Request};
use crate::parameters::ParameterSet;
use crate::server::{Call, Server};

/// A world with nodes: those of [`Server::about`], by their numbers there.
pub trait Owner {
    /// Seconds since the start of the run.
    fn time_s(&self) -> f64;
    /// Shows the tables of a node's protocol, and of the host itself.
    fn inspect(&mut self, node: u32, out: &mut dyn Inspect);
    /// What a node has counted since its start.
    fn counters(&mut self, node: u32) -> BTreeMap<String, u64>;
    /// The parameters that a node's protocol runs with.
    fn parameters(&mut self, node: u32) -> &mut ParameterSet;
    /// Gives a node's protocol an order, and carries out the effects.
    fn command(&mut self, node: u32, command: &Command) -> Result<(), Refused>;
    /// Where a node is; its number and name are filled in for it.
    fn position(&mut self, node: u32) -> NodePosition;
    /// Puts a node somewhere, or (`None`) gives its place back to the scenario or the receiver.
    fn set_position(&mut self, node: u32, place: Option<Place>) -> Result<(), ControlError>;
    /// The links that are overridden.
    fn links(&mut self) -> Result<Vec<LinkOverride>, ControlError> {
        Err(no_links())
    }
    /// Overrides one way of a link, or ends that: on the radio or wire of this name, or on all that both nodes have.
    fn set_link(
        &mut self,
        from: u32,
        to: u32,
        state: LinkState,
        interface: Option<&str>,
    ) -> Result<(), ControlError> {
        let _ = (from, to, state, interface);
        Err(no_links())
    }
    /// Takes a node down, for some seconds or until [`Owner::bring_up`], and perhaps its tables with it.
    fn take_down(&mut self, node: u32, for_s: Option<f64>, lose_tables: bool) -> Result<(), ControlError>;
    /// Brings back a node that is down.
    fn bring_up(&mut self, node: u32) -> Result<(), ControlError>;
    /// Answers a request for a capture of a node's frames, by [`Call::stream`].
    fn capture(&mut self, node: u32, call: Call) {
        let _ = node;
        call.answer(Err(ControlError::unsupported(
            "captures are not supported here",
            "use a node or an emulation",
        )));
    }
    /// Ends the run in good order, soon.
    fn quit(&mut self);
}

fn no_links() -> ControlError {
    ControlError::unsupported("links cannot be overridden here", "use an emulation: `wayhop emulate`")
}

impl Server {
    /// Answers the calls that wait now. Never blocks.
    pub fn serve(&self, owner: &mut dyn Owner) {
        // As many as wait: clients that go on asking do not keep the owner from its work.
        for _ in 0..crate::limits::MAX_CLIENTS * crate::limits::MAX_PENDING {
            let Some(call) = self.next() else { return };
            self.answer(call, owner);
        }
    }

    fn answer(&self, call: Call, owner: &mut dyn Owner) {
        let nodes = Nodes { about: self.about(), one: call.node };
        let time_s = owner.time_s();
        match &call.request {
            Request::Tables { tables } => {
                let show = |(node, name): (u32, &str)| {
                    let mut out = JsonTables::new(node, name, tables);
                    owner.inspect(node, &mut out);
                    out.finish()
                };
                let answer = Tables { time_s, nodes: nodes.each().map(show).collect() };
                call.answer_with(Ok(&answer));
            }
            Request::Counters {} => {
                let count = |(node, name): (u32, &str)| NodeCounters {
                    node,
                    name: name.to_owned(),
                    counters: owner.counters(node),
                };
                call.answer_with(Ok(&Counters { time_s, nodes: nodes.each().map(count).collect() }));
            }
            Request::Parameters {} => call.answer_with(Ok(&nodes.parameters(owner))),
            Request::SetParameters { values } => {
                let done = nodes.set_parameters(owner, values).map(|()| nodes.parameters(owner));
                call.answer_with(done.as_ref().map_err(Clone::clone));
            }
            Request::Position {} => {
                let place = |(node, name): (u32, &str)| NodePosition {
                    node,
                    name: name.to_owned(),
                    ..owner.position(node)
                };
                call.answer_with(Ok(&Positions { time_s, nodes: nodes.each().map(place).collect() }));
            }
            Request::Links {} => {
                let answer = owner.links().map(|links| Links { links });
                call.answer_with(answer.as_ref().map_err(Clone::clone));
            }
            Request::Capture { .. } => match nodes.one() {
                Ok(node) => owner.capture(node, call),
                Err(e) => call.answer(Err(e)),
            },
            order => {
                let done = self.carry_out(order, &nodes, owner, time_s);
                let is_end = done.is_ok() && matches!(order, Request::Quit {});
                call.answer(done.map(|()| Value::Null));
                if is_end {
                    // After the answer, which the end of the server would cut off.
                    owner.quit();
                }
            }
        }
    }

    fn carry_out(
        &self,
        order: &Request,
        nodes: &Nodes<'_>,
        owner: &mut dyn Owner,
        time_s: f64,
    ) -> Result<(), ControlError> {
        match order {
            Request::PurgeRoutes { destination } => {
                let command = Command::PurgeRoutes { destination: destination.map(Into::into) };
                for (node, _) in nodes.each() {
                    owner.command(node, &command)?;
                }
                Ok(())
            }
            Request::SetPosition { place } => {
                let node = nodes.one()?;
                owner.set_position(node, Some(*place))?;
                self.publish(&Event::Position { time_s, node, about: None, place: *place, gps: None });
                Ok(())
            }
            Request::ReleasePosition {} => {
                nodes.each().try_for_each(|(node, _)| owner.set_position(node, None))
            }
            Request::SetLink { a, b, one_way, state, interface } => {
                for (from, to) in self.ways(a, b, *one_way)? {
                    owner.set_link(from, to, *state, interface.as_deref())?;
                    self.publish(&Event::Link { time_s, node: from, to, state: *state });
                }
                Ok(())
            }
            Request::Down { for_s, lose_tables } => owner.take_down(nodes.one()?, *for_s, *lose_tables),
            Request::Up {} => owner.bring_up(nodes.one()?),
            // `quit` is carried out after its answer; the others have been answered before.
            _ => Ok(()),
        }
    }
}

/// The nodes that a call means.
struct Nodes<'a> {
    about: &'a About,
    one: Option<u32>,
}

impl<'a> Nodes<'a> {
    fn each(&self) -> impl Iterator<Item = (u32, &'a str)> + use<'a> {
        let one = self.one;
        let all = self.about.nodes.iter();
        all.filter(move |n| one.is_none_or(|o| o == n.node)).map(|n| (n.node, n.name.as_str()))
    }

    /// The one node that can be meant.
    fn one(&self) -> Result<u32, ControlError> {
        let mut all = self.each();
        match (all.next(), all.next()) {
            (Some((node, _)), None) => Ok(node),
            _ => Err(ControlError::needs_one_node()),
        }
    }

    fn parameters(&self, owner: &mut dyn Owner) -> Parameters {
        let of = |(node, name): (u32, &str)| NodeParameters {
            node,
            name: name.to_owned(),
            parameters: owner.parameters(node).values().clone(),
        };
        Parameters { nodes: self.each().map(of).collect() }
    }

    /// At all nodes, or at none.
    fn set_parameters(&self, owner: &mut dyn Owner, values: &Map<String, Value>) -> Result<(), ControlError> {
        let mut done: Vec<(u32, ParameterSet)> = Vec::new();
        for (node, _) in self.each() {
            let (new, command) = match owner.parameters(node).changed(values) {
                Ok(changed) => changed,
                Err(e) => return Err(undo(owner, done, e)),
            };
            if let Err(refused) = owner.command(node, &command) {
                return Err(undo(owner, done, refused.into()));
            }
            done.push((node, std::mem::replace(owner.parameters(node), new)));
        }
        Ok(())
    }
}

/// Gives the nodes that took the change their old parameters back.
fn undo(owner: &mut dyn Owner, done: Vec<(u32, ParameterSet)>, e: ControlError) -> ControlError {
    for (node, old) in done {
        // They ran with these a moment ago.
        if owner.command(node, &old.order()).is_ok() {
            *owner.parameters(node) = old;
        }
    }
    e
}
