//! Reads the commands of a movement or traffic file. Each file may contain both kinds of line, in any order.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use wayhop_core::Time;
use wayhop_document::{Error, LineColumn, Omissions, Problems, Result};
use wayhop_world::Axis;

use super::agents::{Agents, Object, Spot};
use super::god::{self, GodLine};
use super::nodes::{BadId, MotionEvent, Nodes, activity_id, bad_node, node_id, node_number};
use super::tcl::{Commands, Form, Word};
use super::value::{self, Vars};
use crate::MAX_NODES;

/// What a simulator does that changes nothing here.
const WITHOUT_EFFECT: &str = "initial_node_pos color trace-annotate trace-all namtrace-all namtrace-all-wireless \
                              use-newtrace flush-trace halt run stop";

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

const WORDS_AFTER: [&str; 2] =
    ["command with words after a coordinate", "commands with words after a coordinate"];

/// A node that comes or goes.
pub(super) struct Activity {
    pub(super) at: Time,
    pub(super) node: u32,
    pub(super) on: bool,
    pub(super) spot: Spot,
}

/// Reads ns-2's files, movement first. Both kinds of line may stand in any of them.
#[derive(Default)]
pub struct Importer {
    pub(super) files: Vec<PathBuf>,
    vars: Vars,
    pub(super) nodes: Nodes,
    pub(super) agents: Agents,
    pub(super) god: Vec<GodLine>,
    /// When the run is ended, if a line says so.
    pub(super) end: Option<Time>,
    /// Where nodes come and go, as SUMO writes it.
    pub(super) activity: Vec<Activity>,
    pub(super) skipped: Vec<Omissions>,
    /// Whether every object of the file has been created.
    all_created: bool,
    /// Whether the file makes a simulator of its own, as whole scripts do.
    is_script: bool,
}

impl Importer {
    /// Reads a file's text; `path` is for messages. An error speaks of all that is wrong with the file.
    pub fn read(&mut self, path: &Path, text: &str) -> Result<()> {
        self.files.push(path.to_path_buf());
        self.skipped.push(Omissions::of(path));
        (self.all_created, self.is_script) = (false, false);
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
        self.all_created = true;
        for command in &waiting {
            if let Err(Stop::Refused(e) | Stop::Undefined(e)) = self.command(command, None) {
                problems.note(e.in_file(path));
            }
        }
        match problems.outcome() {
            // All that such a file has in it besides would be a list of what this one line says.
            Err(_) if self.is_script => {
                let command = format!("wayhop import ns2 --script {} --out NAME.toml", path.display());
                let remedy = format!("convert it to a scenario (requires ns-2's program ns): {command}");
                let reason = "is a whole ns-2 script, and Tcl is not executed here";
                Err(Error::new(reason, remedy).in_file(path))
            }
            outcome => outcome,
        }
    }

    fn spot(&self, place: LineColumn) -> Spot {
        Spot { file: self.files.len() - 1, place }
    }

    fn skip(&mut self, place: LineColumn, kind: [&str; 2]) {
        if let Some(skipped) = self.skipped.last_mut() {
            skipped.add(place.line, kind);
        }
    }

    /// The run ends at the earliest moment that a line names.
    fn end(&mut self, at: Time, place: LineColumn) -> Result<(), Stop> {
        if at == Time::ZERO {
            return Err(wrong("the run would end at its start", "use a later time", place));
        }
        self.end = Some(self.end.map_or(at, |end| end.min(at)));
        Ok(())
    }

    /// The word's text with scalars put in.
    fn text<'w>(&self, word: &'w Word<'_>) -> Result<Cow<'w, str>> {
        if word.form == Form::Braced {
            return Ok(Cow::Borrowed(&word.text));
        }
        self.vars.substitute(&word.text).ok_or_else(|| {
            Error::new("the variables in this word make it too long", "write the values out").at(word.place)
        })
    }

    fn texts<'w>(&self, words: &'w [Word<'_>]) -> Result<Vec<Cow<'w, str>>> {
        words.iter().map(|w| self.text(w)).collect()
    }

    /// Carries out one command; `at` is its time if it is scheduled.
    fn command(&mut self, words: &[Word<'_>], at: Option<Time>) -> Result<(), Stop> {
        let words = without_comment(words);
        let place = words[0].place;
        let texts = self.texts(words)?;
        let args: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let head = args[0];
        // What is scheduled for the beginning holds from the beginning.
        let later = at.filter(|at| *at > Time::ZERO);
        if words[0].form == Form::Bracketed {
            return Err(refused("a command in brackets on its own", place));
        }
        match head {
            "puts" | "global" | "flush" => Ok(()),
            "stop" | "finish" | "halt" | "exit" if at.is_some() => self.end(at.unwrap_or_default(), place),
            "set" => match later {
                Some(at) => Err(not_then(&args, at, place)),
                None => self.set(words, &args),
            },
            "proc" | "for" | "foreach" | "while" | "if" | "source" | "eval" | "expr" | "incr" | "array" => {
                let reason = format!("{head:?} needs a Tcl interpreter, and scenario files are not executed");
                let remedy =
                    "for a whole script, let ns-2 record it: wayhop import ns2 --script FILE --out NAME.toml";
                Err(wrong(reason, remedy, place))
            }
            _ => {
                let Some(name) = head.strip_prefix('$') else {
                    return match args[1..] {
                        ["set", ..] => self.class(words, &args, later),
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
            return Err(wrong("the value is too long", "write it where it is used", words[2].place));
        }
        let place = words[2].place;
        let inner = Commands::nested(value, LineColumn { column: place.column + 1, ..place });
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

    /// The object that the command in `[value]`, with these words, creates; `None` if it already exists.
    fn made(
        &mut self,
        name: &str,
        value: &str,
        words: &[&str],
        place: LineColumn,
    ) -> Result<Option<Object>, Stop> {
        Ok(Some(match words {
            ["new", class, ..] => {
                self.is_script |= *class == "Simulator";
                self.agents.make(class, place)?
            }
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
            [class, "set", key, value] if !is_of_the_radio(class) => match at {
                Some(at) => Err(not_then(args, at, place)),
                None => Ok(self.agents.set_class(class, key, value, words[3].place)?),
            },
            [class, ..] if is_of_the_radio(class) => {
                let reason =
                    format!("{class} is configured by the scenario, not by movement or traffic files");
                let remedy = "remove the line; set the radio with --radio or in the scenario's [radio]";
                Err(wrong(reason, remedy, place))
            }
            _ => Err(refused(&args.join(" "), place)),
        }
    }

    fn node(&mut self, id: u32, words: &[Word<'_>], args: &[&str], at: Option<Time>) -> Result<(), Stop> {
        let place = |k: usize| words[k].place;
        match args[1..] {
            ["setdest", x, y, speed] => {
                let event = MotionEvent::Destination {
                    x: value::number(x, "setdest x", place(2))?,
                    y: value::number(y, "setdest y", place(3))?,
                    speed: value::non_negative(speed, "setdest speed", place(4))?,
                };
                self.nodes.entry(id).push(at, event);
            }
            ["set", key @ ("X_" | "Y_" | "Z_"), v, ref rest @ ..] => {
                let axis = match key {
                    "X_" => Axis::X,
                    "Y_" => Axis::Y,
                    _ => Axis::Z,
                };
                // ns-2 reads the number that the word begins with.
                let (number, is_comment) = v.split_once('#').map_or((v, false), |(number, _)| (number, true));
                let v = value::number(number, key, place(3))?;
                self.nodes.entry(id).push(at, MotionEvent::Jump(axis, v));
                if !rest.is_empty() && !is_comment {
                    self.skip(place(4), WORDS_AFTER);
                }
            }
            ["set", key, _, ..] if matches!(key.trim_end_matches('_'), "x" | "y" | "z" | "X" | "Y" | "Z") => {
                let meant = format!("write {}_", key.trim_end_matches('_').to_uppercase());
                return Err(wrong(format!("{key} is not a coordinate of ns-2's nodes"), &meant, place(2)));
            }
            ["random-motion", "0"]
            | ["start" | "reset" | "log-movement"]
            | ["set", _]
            | ["label" | "color" | "shape" | "radius" | "size" | "label-color", ..] => {}
            ["set", key, ..] => {
                let one = format!("setting of {key} of a node");
                let several = format!("settings of {key} of nodes");
                self.skip(place(0), [&one, &several]);
            }
            ["random-motion", ..] => {
                let reason = "random-motion generates its own movement";
                return Err(wrong(reason, "write the movement with setdest", place(0)));
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
                let time = value::leading(time);
                let t = Time::from_secs_f64(value::non_negative(time, "time", words[2].place)?);
                let start = LineColumn { column: words[3].place.column + 1, ..words[3].place };
                for command in Commands::nested(script, start) {
                    self.command(&command?, Some(t))?;
                }
            }
            ["attach-agent" | "connect", ..] if at.is_some_and(|at| at > Time::ZERO) => {
                return Err(not_then(args, at.unwrap_or_default(), place));
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
            ["halt" | "stop"] if at.is_some() => self.end(at.unwrap_or_default(), place)?,
            [verb, ..] if WITHOUT_EFFECT.split(' ').any(|known| known == verb) => {}
            _ => return Err(refused(&args.join(" "), place)),
        }
        Ok(())
    }

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
        let object = match (self.find(&format!("${name}"), place), &args[1..], at) {
            (Ok(object), ..) => object,
            // SUMO's activity file, in which no object is ever created.
            (Err(undefined), [verb @ ("start" | "stop")], Some(at)) if self.all_created => {
                let Some(node) = activity_id(name) else { return Err(undefined) };
                self.activity.push(Activity { at, node, on: *verb == "start", spot: self.spot(place) });
                return Ok(());
            }
            (Err(undefined), ..) => return Err(undefined),
        };
        let later = at.filter(|at| *at > Time::ZERO && !self.agents.has_no_part(object));
        match args[1..] {
            ["set", _] => {}
            ["set" | "attach-agent", ..] if later.is_some() => {
                return Err(not_then(args, later.unwrap_or_default(), place));
            }
            ["set", key, value] => self.agents.set(object, key, value, words[3].place)?,
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

    fn find(&self, reference: &str, place: LineColumn) -> Result<usize, Stop> {
        reference.strip_prefix('$').and_then(|name| self.agents.find(name)).ok_or_else(|| {
            let reason = format!("{reference} is not set anywhere");
            Stop::Undefined(Error::new(reason, "create it with: set NAME [new CLASS]").at(place))
        })
    }
}

/// The words of a command before a comment: a word of just `#` where no value is due, or one that begins with it from the
/// fifth word on. ns-2 wants `;#`, but exporters write this, too, and ns-3 reads it.
fn without_comment<'w, 'a>(words: &'w [Word<'a>]) -> &'w [Word<'a>] {
    let says = |k: usize, what| words.get(k).is_some_and(|word| word.text == what);
    let after_values = if says(0, "set") {
        3
    } else if says(1, "set") {
        4
    } else {
        2
    };
    let is_comment = |(k, word): (usize, &Word<'_>)| {
        word.form == Form::Bare
            && (k >= after_values && word.text == "#" || k >= 4 && word.text.starts_with('#'))
    };
    &words[..words.iter().enumerate().position(is_comment).unwrap_or(words.len())]
}

/// A command that changes during a run what holds for all of it here.
fn not_then(args: &[&str], at: Time, place: LineColumn) -> Stop {
    let (shown, at_s) = (args.join(" ").chars().take(60).collect::<String>(), at.as_secs_f64());
    let reason =
        format!("{shown:?} at {at_s} s would change the traffic during the run, which is not supported");
    let remedy = "move it out of $ns_ at if it applies from the beginning; \
        otherwise write two flows, one that stops then and one that starts";
    wrong(reason, remedy, place)
}

/// Classes of ns-2 that make up a node's radio.
fn is_of_the_radio(class: &str) -> bool {
    let family = class.split('/').next().unwrap_or_default();
    matches!(family, "Antenna" | "Channel" | "LL" | "Mac" | "Phy" | "Propagation" | "Queue")
}

fn refused(what: &str, place: LineColumn) -> Stop {
    let shown: String = what.chars().take(60).collect();
    let reason = format!("{shown:?} is not a line of a movement or traffic file");
    let remedy = "remove the line; see docs/reference/scenario.md for the supported commands";
    wrong(reason, remedy, place)
}

fn wrong(reason: impl Into<String>, remedy: &str, place: LineColumn) -> Stop {
    Error::new(reason, remedy).at(place).into()
}

#[cfg(test)]
#[path = "interp_tests.rs"]
mod tests;
