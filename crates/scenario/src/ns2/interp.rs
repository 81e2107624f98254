//! Reads the commands of a movement or traffic file. Both kinds of line may stand in either file, in any order.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use wayhop_core::{NodeId, Time};
use wayhop_transport::FlowConfig;
use wayhop_world::{Axis, Track};

use super::agents::{Agents, Object};
use super::god::{self, GodLine};
use super::names::{BadId, bad_node, node_id, node_number};
use super::nodes::{Event, Nodes};
use super::spot::Spot;
use super::tcl::{Commands, Form, Word};
use super::value;
use super::vars::Vars;
use crate::error::{Error, Place, Problems};
use crate::limits::MAX_NODES;

/// Why a command was not carried out.
enum Stop {
    /// It is wrong.
    Refused(Error),
    /// It names something that a later line may create.
    Undefined(Error),
}

impl From<Error> for Stop {
    fn from(e: Error) -> Self {
        Self::Refused(e)
    }
}

/// Reads ns-2's files, movement first. Both kinds of line may stand in any of them.
#[derive(Default)]
pub struct Importer {
    files: Vec<PathBuf>,
    vars: Vars,
    nodes: Nodes,
    agents: Agents,
    god: Vec<GodLine>,
}

/// What the files say, with nodes numbered from 0.
#[derive(Clone, Debug)]
pub struct Imported {
    /// One for each node.
    pub tracks: Vec<Track>,
    /// The nodes' numbers in the files.
    pub ids: Vec<u32>,
    /// The flows, in the order in which the files create them.
    pub flows: Vec<FlowConfig>,
    /// The time of the last scheduled move.
    pub last_move: Option<Time>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

impl Importer {
    /// Reads a file's text; `path` is for messages. An error speaks of all that is wrong with the file.
    pub fn read(&mut self, path: &Path, text: &str) -> Result<(), Error> {
        self.files.push(path.to_path_buf());
        let mut waiting = Vec::new();
        let mut problems = Problems::default();
        for command in Commands::new(text) {
            let outcome = match &command {
                Ok(command) => self.command(command, None),
                Err(e) => Err(e.clone().into()),
            };
            match (outcome, command) {
                (Ok(()), _) => {}
                (Err(Stop::Undefined(_)), Ok(command)) => waiting.push(command),
                (Err(Stop::Refused(e) | Stop::Undefined(e)), _) => problems.note(e.in_file(path)),
            }
        }
        // What named an object before the line that creates it. Creation never waits, so one more pass is enough.
        for command in &waiting {
            if let Err(Stop::Refused(e) | Stop::Undefined(e)) = self.command(command, None) {
                problems.note(e.in_file(path));
            }
        }
        problems.outcome()
    }

    /// Everything read, checked as a whole. `count`: how many nodes there are, if not as many as the files name.
    pub fn finish(self, count: Option<usize>) -> Result<Imported, Error> {
        let movement = self.files.first().cloned().unwrap_or_default();
        let located = |spot: Spot, e: Error| e.in_file(&self.files[spot.file]).at(spot.place);
        let mut warnings = Vec::new();
        let mut flows = self.agents.flows(&self.files, &mut warnings)?;
        let Some((highest, placed)) = self.nodes.extent() else {
            return Err(
                Error::new("has no nodes", "give lines such as: $node_(0) set X_ 10.0").in_file(&movement)
            );
        };
        // Some tools number from 1. Node 0 then occurs nowhere, neither in movement nor in traffic.
        let base = u32::from(!self.nodes.contains(0) && !flows.iter().any(|f| f.src == 0 || f.dst == 0));
        let named = (highest - base) as usize + 1;
        if named > 1000 + 10 * placed && count.is_none_or(|c| c < named) {
            return Err(Error::new(
                format!("names node {highest}, but only {placed} nodes have a position or a move"),
                "correct the node's number, or say how many nodes there are",
            )
            .in_file(&movement));
        }
        let count = match count {
            Some(c) if c < named => {
                return Err(Error::new(
                    format!("names node {highest}, beyond the {c} nodes of the scenario"),
                    format!("set nodes.count to {named}, or leave it out"),
                )
                .in_file(&movement));
            }
            c => c.unwrap_or(named),
        };
        let mut problems = Problems::default();
        'flows: for flow in &mut flows {
            for (end, id) in [("source", &mut flow.src), ("destination", &mut flow.dst)] {
                let exists = self.nodes.contains(*id)
                    || (*id >= base && ((*id - base) as usize) < count && count > named);
                if !exists {
                    problems.note(located(
                        flow.spot,
                        Error::new(
                            format!("the flow's {end} is node {id}, which no line of the movement places"),
                            format!(
                                "the nodes are {base} to {highest}: correct the number (cbrgen can name one node too many), or place the node"
                            ),
                        ),
                    ));
                    continue 'flows;
                }
                *id -= base;
            }
            if flow.src == flow.dst {
                problems.note(located(
                    flow.spot,
                    Error::new(
                        format!("the flow goes from node {} to itself", flow.src + base),
                        "name two nodes",
                    ),
                ));
            }
        }
        problems.outcome()?;
        let last_move = self.nodes.last_event();
        let (tracks, odd) = self.nodes.tracks(base, count);
        warnings.extend(odd);
        warnings.extend(god::check(&self.god, &tracks, base));
        let ids = (base..).take(count).collect();
        let flows = flows
            .into_iter()
            .map(|f| FlowConfig {
                start: f.start,
                stop: f.stop,
                max_packets: f.max_packets,
                ..FlowConfig::new(f.kind, NodeId(f.src), NodeId(f.dst), f.payload_bytes)
            })
            .collect();
        Ok(Imported { tracks, ids, flows, last_move, warnings })
    }

    fn spot(&self, place: Place) -> Spot {
        Spot { file: self.files.len() - 1, place }
    }

    /// The word's text with scalars put in.
    fn text<'w>(&self, word: &'w Word<'_>) -> Result<Cow<'w, str>, Error> {
        if word.form == Form::Braced {
            return Ok(Cow::Borrowed(&word.text));
        }
        self.vars.substitute(&word.text).ok_or_else(|| {
            Error::new("the variables in this word make it too long", "write the values out").at(word.place)
        })
    }

    fn texts<'w>(&self, words: &'w [Word<'_>]) -> Result<Vec<Cow<'w, str>>, Error> {
        words.iter().map(|w| self.text(w)).collect()
    }

    /// Carries out one command; `at` is its time if it is scheduled.
    fn command(&mut self, words: &[Word<'_>], at: Option<Time>) -> Result<(), Stop> {
        let place = words[0].place;
        let texts = self.texts(words)?;
        let args: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let head = args[0];
        if words[0].form == Form::Bracketed {
            return Err(refused("a command in brackets on its own", place));
        }
        match head {
            "puts" | "global" | "flush" => Ok(()),
            "stop" | "finish" | "halt" | "exit" if at.is_some() => Ok(()),
            "set" => self.set(words, &args),
            "proc" | "for" | "foreach" | "while" | "if" | "source" | "eval" | "expr" | "incr" | "array" => {
                Err(Error::new(
                    format!("{head:?} is a program, and scenario files are not executed"),
                    "run the script once in ns-2 or tclsh and save the lines that it makes",
                )
                .at(place)
                .into())
            }
            _ => {
                let Some(name) = head.strip_prefix('$') else {
                    return match args[1..] {
                        ["set", ..] => self.class(words, &args, at),
                        _ => Err(refused(head, place)),
                    };
                };
                if let Some(id) = node_id(name) {
                    let id = id.map_err(|BadId| bad_node(head, place))?;
                    return self.node(id, words, &args, at);
                }
                match name {
                    "ns_" | "ns" => self.simulator(words, &args, at),
                    "god_" | "god" => self.god(words, &args, at),
                    "topo" | "topo_" => Ok(()),
                    _ => self.object(name, words, &args, at),
                }
            }
        }
    }

    fn set(&mut self, words: &[Word<'_>], args: &[&str]) -> Result<(), Stop> {
        let &[_, name, value] = args else {
            // Reading a variable has no effect.
            return if args.len() == 2 { Ok(()) } else { Err(refused("set", words[0].place)) };
        };
        if words[2].form != Form::Bracketed {
            if self.vars.set(name, value) {
                return Ok(());
            }
            return Err(Error::new("the value is too long", "write it where it is used")
                .at(words[2].place)
                .into());
        }
        let place = words[2].place;
        let inner = Commands::nested(value, Place { column: place.column + 1, ..place });
        let Some(inner) = inner.last() else { return Ok(()) };
        let inner = inner?;
        let texts = self.texts(&inner)?;
        let made: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let spot = self.spot(words[0].place);
        let object = self.made(name, value, &made, place);
        // Lines that name what could not be made would be wrong for no reason of their own.
        let (object, outcome) = match object {
            Ok(object) => (object, Ok(())),
            Err(Stop::Refused(e)) => (Some(Object::Other), Err(Stop::Refused(e))),
            Err(Stop::Undefined(e)) => (None, Err(Stop::Undefined(e))),
        };
        if let Some(object) = object {
            self.agents.create(name, object, spot);
        }
        outcome
    }

    /// The object that the command in `[value]`, of these words, makes; `None` if it has a place already.
    fn made(
        &mut self,
        name: &str,
        value: &str,
        words: &[&str],
        place: Place,
    ) -> Result<Option<Object>, Stop> {
        Ok(Some(match words {
            ["new", class, ..] => self.agents.make(class, place)?,
            ["God" | "Simulator", "instance"] | ["create-god", _] | ["$ns_" | "$ns", "node"] => Object::Other,
            ["$ns_" | "$ns", "create-connection", source, from, sink, to, ..] => {
                let (from, to) = (node_number(from, place)?, node_number(to, place)?);
                let spot = self.spot(place);
                self.agents.create_connection(name, (source, from), (sink, to), spot)?;
                return Ok(None);
            }
            [agent, "attach-source" | "attach-app", class] => {
                let agent = self.find(agent, place)?;
                let object = self.agents.make(&format!("Application/{class}"), place)?;
                let spot = self.spot(place);
                let made = self.agents.create(name, object, spot);
                self.agents.attach_agent(made, agent);
                return Ok(None);
            }
            _ => return Err(refused(&format!("[{value}]"), place)),
        }))
    }

    /// `CLASS set KEY VALUE`
    fn class(&mut self, words: &[Word<'_>], args: &[&str], at: Option<Time>) -> Result<(), Stop> {
        let place = words[0].place;
        match args {
            [_, "set", _] => Ok(()),
            [class, "set", key, value] if at.is_none() && !is_of_the_radio(class) => {
                Ok(self.agents.set_class(class, key, value, words[3].place)?)
            }
            [class, ..] if is_of_the_radio(class) => {
                let reason = format!("{class} is set up by the scenario, not by movement or traffic files");
                Err(Error::new(
                    reason,
                    "take the line out; give the radio by --radio, or by the scenario's [radio]",
                )
                .at(place)
                .into())
            }
            _ => Err(refused(&args.join(" "), place)),
        }
    }

    /// `$node_(i) ...`
    fn node(&mut self, id: u32, words: &[Word<'_>], args: &[&str], at: Option<Time>) -> Result<(), Stop> {
        let place = |k: usize| words[k].place;
        match args[1..] {
            ["setdest", x, y, speed] => {
                let event = Event::Destination {
                    x: value::number(x, "setdest x", place(2))?,
                    y: value::number(y, "setdest y", place(3))?,
                    speed: value::non_negative(speed, "setdest speed", place(4))?,
                };
                self.nodes.entry(id).events.push((at.unwrap_or(Time::ZERO), event));
            }
            ["set", key @ ("X_" | "Y_" | "Z_"), v] => {
                let axis = match key {
                    "X_" => Axis::X,
                    "Y_" => Axis::Y,
                    _ => Axis::Z,
                };
                let v = value::number(v, key, place(3))?;
                let node = self.nodes.entry(id);
                match at {
                    Some(t) => node.events.push((t, Event::Jump(axis, v))),
                    None => node.start[axis as usize] = Some(v),
                }
            }
            ["random-motion", "0"]
            | ["start" | "reset" | "log-movement"]
            | ["set" | "label" | "color" | "shape" | "radius" | "size" | "label-color", ..] => {}
            ["random-motion", ..] => {
                return Err(Error::new(
                    "random-motion draws its own moves",
                    "write the moves out with setdest",
                )
                .at(place(0))
                .into());
            }
            _ => return Err(refused(&args.join(" "), place(0))),
        }
        Ok(())
    }

    /// `$ns_ ...`
    fn simulator(&mut self, words: &[Word<'_>], args: &[&str], at: Option<Time>) -> Result<(), Stop> {
        let place = words[0].place;
        match args[1..] {
            ["at", time, script] if at.is_none() => {
                let t = Time::from_secs_f64(value::non_negative(time, "time", words[2].place)?);
                let start = Place { column: words[3].place.column + 1, ..words[3].place };
                for command in Commands::nested(script, start) {
                    self.command(&command?, Some(t))?;
                }
            }
            ["attach-agent", node, agent] => {
                let id = node_number(node, words[2].place)?;
                let agent = self.find(agent, words[3].place)?;
                self.agents.attach_to_node(agent, id, words[3].place)?;
            }
            ["connect", a, b] => {
                let (a, b) = (self.find(a, words[2].place)?, self.find(b, words[3].place)?);
                self.agents.connect(a, b);
            }
            [
                "initial_node_pos"
                | "color"
                | "trace-annotate"
                | "trace-all"
                | "namtrace-all"
                | "namtrace-all-wireless"
                | "use-newtrace"
                | "flush-trace"
                | "halt"
                | "run"
                | "stop",
                ..,
            ] => {}
            _ => return Err(refused(&args.join(" "), place)),
        }
        Ok(())
    }

    /// `$god_ ...`
    fn god(&mut self, words: &[Word<'_>], args: &[&str], at: Option<Time>) -> Result<(), Stop> {
        match args[1..] {
            ["set-dist", a, b, hops] => {
                let id = |k: usize, t| {
                    value::count(t, "set-dist", MAX_NODES as u64, words[k].place).map(|n| n as u32)
                };
                let hops =
                    value::count(hops, "set-dist", u64::from(god::UNREACHABLE), words[4].place)? as u32;
                let line = GodLine { at: at.unwrap_or(Time::ZERO), a: id(2, a)?, b: id(3, b)?, hops };
                self.god.push(line);
            }
            ["num_nodes" | "compute_route" | "allow_to_stop" | "stop", ..] => {}
            _ => return Err(refused(&args.join(" "), words[0].place)),
        }
        Ok(())
    }

    /// `$cbr_(0) ...` and other things that a `set` created.
    fn object(
        &mut self,
        name: &str,
        words: &[Word<'_>],
        args: &[&str],
        at: Option<Time>,
    ) -> Result<(), Stop> {
        let place = words[0].place;
        let object = self.find(&format!("${name}"), place)?;
        match args[1..] {
            ["set", _] => {}
            ["set", key, value] if at.is_none() => self.agents.set(object, key, value, words[3].place)?,
            ["attach-agent", agent] => {
                let to = self.find(agent, words[2].place)?;
                self.agents.attach_agent(object, to);
            }
            ["start"] => self.agents.switch(object, at.unwrap_or(Time::ZERO), true),
            ["stop"] => self.agents.switch(object, at.unwrap_or(Time::ZERO), false),
            [verb, value] if self.agents.order(object, at.unwrap_or(Time::ZERO), verb, value, place)? => {}
            _ if self.agents.has_no_part(object) => {}
            _ => return Err(refused(&args.join(" "), place)),
        }
        Ok(())
    }

    fn find(&self, reference: &str, place: Place) -> Result<usize, Stop> {
        reference.strip_prefix('$').and_then(|name| self.agents.find(name)).ok_or_else(|| {
            Stop::Undefined(
                Error::new(
                    format!("{reference} is not set anywhere"),
                    "create it with: set NAME [new CLASS]",
                )
                .at(place),
            )
        })
    }
}

/// Classes of ns-2 that make up a node's radio.
fn is_of_the_radio(class: &str) -> bool {
    let family = class.split('/').next().unwrap_or_default();
    matches!(family, "Antenna" | "Channel" | "LL" | "Mac" | "Phy" | "Propagation" | "Queue")
}

fn refused(what: &str, place: Place) -> Stop {
    let shown: String = what.chars().take(60).collect();
    Error::new(
        format!("{shown:?} is not a line of a movement or traffic file"),
        "take the line out; what is understood is listed in docs/reference/scenario.md",
    )
    .at(place)
    .into()
}

#[cfg(test)]
#[path = "interp_tests.rs"]
mod tests;
