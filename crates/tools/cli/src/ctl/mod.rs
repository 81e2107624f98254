//! `wayhop ctl`: talking to running nodes.

mod args;
mod capture;
mod complete;
mod show;

use std::io::{ErrorKind, Write as _, stdout};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use wayhop_control::answer::Parameters;
use wayhop_control::{About, Client, ClientError, ErrorCode, EventKind, NodeRef, Place, Request, paths};
use wayhop_report::Document;

use crate::failure::{Failure, output, print_object, put, say, usage};

use args::CtlCommand;
pub(crate) use args::{CtlArgs, EXAMPLES};

/// Groups of tables, by what they tell, whatever the protocol calls them.
const ROUTES: &str = "routes route_cache link_cache flows kernel_routes";
const NEIGHBOURS: &str = "neighbours etx bad_links blacklist positions link_addresses transmit_status";
const CACHE: &str = "route_cache link_cache stability bad_links request_ids positions";
const QUEUES: &str =
    "send_buffer maintenance_buffer held_replies buffer queue queues searches request_targets";

pub(crate) fn ctl(a: CtlArgs) -> Result<(), Failure> {
    if matches!(a.what, CtlCommand::List) {
        return list(a.json);
    }
    let connect = || connect_or_wait(a.socket.as_deref(), a.run.as_deref(), a.node.as_ref(), a.wait);
    let mut ctl = Ctl { client: connect()?, node: a.node.clone(), json: a.json };
    let some = |names: &str| Request::Tables { tables: names.split(' ').map(str::to_owned).collect() };
    match a.what {
        CtlCommand::List => {}
        CtlCommand::Hello => ctl.show(Request::Hello {}, show::about)?,
        CtlCommand::Tables { tables } => ctl.show(Request::Tables { tables }, show::tables)?,
        CtlCommand::Routes => ctl.show(some(ROUTES), show::tables)?,
        CtlCommand::Neighbours => ctl.show(some(NEIGHBOURS), show::tables)?,
        CtlCommand::Cache => ctl.show(some(CACHE), show::tables)?,
        CtlCommand::Queues => ctl.show(some(QUEUES), show::tables_and_held)?,
        CtlCommand::Counters => ctl.show(Request::Counters {}, show::counters)?,
        CtlCommand::Params { params } => ctl.params(&params)?,
        CtlCommand::Purge { destination } => ctl.purge(destination.as_ref())?,
        CtlCommand::Position { place: None, release: false, .. } => {
            ctl.show(Request::Position {}, show::positions)?;
        }
        CtlCommand::Position { place: None, .. } => ctl.order(Request::ReleasePosition {})?,
        CtlCommand::Position { place: Some(place), heading, speed, .. } => {
            let place = moving(place, heading, speed)?;
            ctl.order(Request::SetPosition { place })?;
        }
        CtlCommand::Links => ctl.show(Request::Links {}, show::links)?,
        CtlCommand::Link { a, b, state, one_way, interface } => {
            ctl.order(Request::SetLink { a, b, one_way, state, interface })?;
        }
        CtlCommand::Down { length, lose_tables } => {
            ctl.order(Request::Down { for_s: length, lose_tables })?;
        }
        CtlCommand::Up => ctl.order(Request::Up {})?,
        CtlCommand::Watch { kinds } => {
            while ctl.watch(&kinds, a.wait)? == WatchEnd::NodeEnded && a.wait {
                say!("wayhop: the node has ended; waiting for it");
                ctl.client = connect()?;
            }
        }
        CtlCommand::Capture { interface, count, duration, snap_length, out } => {
            if ctl.json {
                return Err(usage!(
                    "a capture is pcapng, not JSON; for the routing messages in JSON: `wayhop ctl capture | wayhop decode -`"
                ));
            }
            capture::check(out.as_deref())?;
            let frames = ctl.client.capture(ctl.node, interface, snap_length).map_err(failure)?;
            let until = duration.and_then(|d| Instant::now().checked_add(d));
            // Only now: a request that is refused leaves an older file alone.
            capture::copy(frames, capture::open(out.as_deref())?, count, until)?;
        }
        CtlCommand::Quit => ctl.order(Request::Quit {})?,
    }
    Ok(())
}

fn moving(place: Place, heading: f32, speed: f32) -> Result<Place, Failure> {
    let place = match place {
        Place::Earth { latitude_deg, longitude_deg, .. } => {
            Place::Earth { latitude_deg, longitude_deg, heading_deg: heading, speed_m_per_s: speed }
        }
        Place::Local { .. } if heading != 0.0 || speed != 0.0 => {
            return Err(usage!("--heading and --speed go with a place in degrees: give LAT,LON"));
        }
        Place::Local { .. } => place,
    };
    place.check().map_err(Failure::usage)?;
    Ok(place)
}

fn failure(e: ClientError) -> Failure {
    match &e {
        ClientError::Refused(r) => match r.code {
            ErrorCode::BadRequest
            | ErrorCode::UnknownNode
            | ErrorCode::UnknownKey
            | ErrorCode::Refused
            | ErrorCode::Unsupported => Failure::usage(e),
            _ => Failure::run(e),
        },
        // Somebody was named who is not there.
        ClientError::Unreachable { source, .. } if source.kind() == ErrorKind::NotFound => Failure::usage(e),
        _ => Failure::run(e),
    }
}

/// How often a node that does not run yet is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The socket that was named, or that of the one run that goes on and has the node; if asked to, when it is there.
fn connect_or_wait(
    socket: Option<&Path>,
    run: Option<&str>,
    node: Option<&NodeRef>,
    wait: bool,
) -> Result<Client, Failure> {
    let named = match (socket, run) {
        (Some(path), _) => path.to_owned(),
        (None, Some(name)) => paths::find(name).map_err(Failure::usage)?,
        (None, None) => loop {
            match the_only_one(node)? {
                Some(client) => return Ok(client),
                None if wait => std::thread::sleep(LOOK_EVERY),
                None => {
                    return Err(usage!(
                        "no run or node of this user is running; start one with `wayhop emulate` or \
                         `wayhop node`, or give --socket PATH"
                    ));
                }
            }
        },
    };
    loop {
        match Client::connect(&named) {
            Err(ClientError::Unreachable { .. }) if wait => std::thread::sleep(LOOK_EVERY),
            outcome => return outcome.map_err(failure),
        }
    }
}

/// The most node names shown of a run.
const MOST_NAMED: usize = 3;
const MOST_RUNS: usize = 20;

/// The one run that answers, or of several the one that has this node.
fn the_only_one(node: Option<&NodeRef>) -> Result<Option<Client>, Failure> {
    let answering = |path: PathBuf| {
        let mut client = Client::connect(&path).ok()?;
        let about: About = client.ask_for(None, Request::Hello {}).ok()?;
        Some((paths::name_of(&path), about, client))
    };
    let mut going: Vec<(String, About, Client)> =
        paths::sockets().into_iter().filter_map(answering).collect();
    let all: Vec<String> = going.iter().map(|(name, about, _)| in_words(name, about)).collect();
    if let Some(node) = node.filter(|_| going.len() > 1) {
        going.retain(|(_, about, _)| about.resolve(node).is_ok());
    }
    match (going.pop(), going.is_empty()) {
        (Some((_, _, client)), true) => Ok(Some(client)),
        (None, _) if all.is_empty() => Ok(None),
        (found, _) => {
            let has = match (node, found) {
                (None, _) => "several runs answer",
                (Some(_), None) => "no run has this node",
                (Some(_), Some(_)) => "several runs have this node",
            };
            let more = all.len().saturating_sub(MOST_RUNS);
            let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
            let list = all[..all.len() - more].join(", ");
            Err(usage!("{has}: choose one with --run NAME, or by its node with --node: {list}{rest}"))
        }
    }
}

/// A run: `chain (emulation, aodv, nodes left, right)`.
fn in_words(name: &str, about: &About) -> String {
    let mut nodes: Vec<&str> = about.nodes.iter().take(MOST_NAMED).map(|n| n.name.as_str()).collect();
    if about.nodes.len() > MOST_NAMED {
        nodes.push("...");
    }
    format!("{name} ({}, {}, nodes {})", about.world, about.protocol, nodes.join(", "))
}

/// Why a socket of the list has no run.
fn trouble(e: &ClientError) -> String {
    match e {
        ClientError::Unreachable { source, .. } if source.kind() == ErrorKind::ConnectionRefused => {
            "no answer: left by a killed process".to_owned()
        }
        ClientError::Unreachable { source, .. } if source.kind() == ErrorKind::PermissionDenied => {
            "belongs to another user".to_owned()
        }
        e => e.to_string(),
    }
}

/// The runs that go on, and the sockets that nobody answers at.
fn list(as_json: bool) -> Result<(), Failure> {
    let run = |path: PathBuf| {
        let (run, socket) = (paths::name_of(&path), path.to_string_lossy());
        match Client::connect(&path).and_then(|mut c| c.ask_for::<About>(None, Request::Hello {})) {
            Ok(a) => {
                let down = a.nodes.iter().filter(|n| !n.up).count();
                json!({ "run": run, "socket": socket, "world": a.world, "protocol": a.protocol,
                        "nodes": a.nodes.len(), "down": down, "pid": a.pid })
            }
            Err(e) => json!({ "run": run, "socket": socket, "trouble": trouble(&e) }),
        }
    };
    let runs: Vec<Value> = paths::sockets().into_iter().map(run).collect();
    if as_json { print_object(&json!({ "runs": runs })) } else { put(show::list(&runs)) }
}

/// Why there are no more events.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum WatchEnd {
    NodeEnded,
    ReaderGone,
}

struct Ctl {
    client: Client,
    node: Option<NodeRef>,
    json: bool,
}

impl Ctl {
    fn ask(&mut self, request: Request) -> Result<Value, Failure> {
        self.client.ask(self.node.clone(), request).map_err(failure)
    }

    /// Prints the answer, for people by `human`.
    fn show(&mut self, request: Request, human: fn(&Value) -> String) -> Result<(), Failure> {
        let answer = self.ask(request)?;
        if self.json { print_object(&answer) } else { put(human(&answer)) }
    }

    /// Gives an order; there is nothing to tell if it was carried out.
    fn order(&mut self, request: Request) -> Result<(), Failure> {
        let answer = self.ask(request)?;
        if self.json { print_object(&answer) } else { Ok(()) }
    }

    fn params(&mut self, params: &[String]) -> Result<(), Failure> {
        let mut values = Map::new();
        let mut keys = Vec::new();
        for p in params {
            match p.split_once('=') {
                // A word is a word without quotes, as on any command line.
                Some((key, value)) => {
                    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
                    values.insert(key.trim().to_owned(), value);
                    keys.push(key.trim());
                }
                None => keys.push(p.trim()),
            }
        }
        let request =
            if values.is_empty() { Request::Parameters {} } else { Request::SetParameters { values } };
        let answer = self.ask(request)?;
        let mut answer: Parameters = serde_json::from_value(answer).map_err(Failure::run)?;
        if !keys.is_empty() {
            for node in &mut answer.nodes {
                if let Some(missing) = keys.iter().find(|k| !node.parameters.contains_key(**k)) {
                    return Err(usage!("there is no parameter {missing}; `wayhop ctl params` shows all"));
                }
                node.parameters.retain(|k, _| keys.contains(&k.as_str()));
            }
        }
        let answer = serde_json::to_value(answer).map_err(Failure::run)?;
        if self.json { print_object(&answer) } else { put(show::parameters(&answer)) }
    }

    fn purge(&mut self, destination: Option<&NodeRef>) -> Result<(), Failure> {
        let destination = destination.map(|node| self.address_of(node)).transpose()?;
        self.order(Request::PurgeRoutes { destination: destination.map(Into::into) })
    }

    fn address_of(&mut self, node: &NodeRef) -> Result<Ipv4Addr, Failure> {
        if let NodeRef::Name(name) = node
            && let Ok(address) = name.parse()
        {
            return Ok(address);
        }
        let about: About = self.client.ask_for(None, Request::Hello {}).map_err(failure)?;
        let number = about.resolve(node).map_err(Failure::usage)?;
        about
            .node(number)
            .map(|n| n.address)
            .ok_or_else(|| Failure::Run(format!("node {number} has no address; give the address itself")))
    }

    fn watch(&mut self, kinds: &[String], wait: bool) -> Result<WatchEnd, Failure> {
        let kinds = EventKind::ALL.into_iter().filter(|k| kinds.iter().any(|n| n == k.name())).collect();
        match self.client.subscribe(self.node.clone(), kinds) {
            // It was about to end.
            Err(ClientError::Broken { .. }) if wait => return Ok(WatchEnd::NodeEnded),
            subscribed => subscribed.map_err(failure)?,
        }
        while let Some(event) = self.client.event().map_err(failure)? {
            let event = serde_json::to_value(&event).map_err(Failure::run)?;
            let line = if self.json { Document::from(event).to_string() } else { show::event(&event) };
            match writeln!(stdout(), "{line}") {
                Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(WatchEnd::ReaderGone),
                written => output(written)?,
            }
        }
        Ok(WatchEnd::NodeEnded)
    }
}
