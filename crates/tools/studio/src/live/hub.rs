//! One run under way, read once for all its viewers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use axum::extract::ws::Message;
use serde_json::{Value, json};
use tokio::sync::watch;
use wayhop_control::answer::{Counters, Positions};
use wayhop_control::{About, Client, ClientError, Envelope, Event, EventKind, NodeRef, Place, Request};
use wayhop_world::{GeoOrigin, Geodetic};

use super::packets::Packets;
use super::ring::Ring;

/// How often places are asked for and packets are passed on.
const EVERY: Duration = Duration::from_millis(100);
/// Counters, and which nodes are up, are polled only every this many polls of the rest.
const SELDOM: u32 = 10;
/// How long after a question the end of the run may come to be known.
const FOLLOWED_BY: Duration = Duration::from_secs(2);
/// Messages that a viewer gets at a time.
const BATCH: usize = 64;

pub(crate) struct Hub {
    socket: PathBuf,
    /// Distinguishes this reading of the run from a later one: message numbers restart.
    id: String,
    about: About,
    ring: Mutex<Ring>,
    packets: Mutex<Packets>,
    grown: watch::Sender<u64>,
    /// For viewers' requests; connected again after a failure.
    client: Mutex<Option<Client>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    /// Connects, and reads until the run ends.
    pub(crate) fn open(socket: &Path) -> Result<Arc<Self>, ClientError> {
        let mut looks = Client::connect(socket)?;
        let about: About = looks.ask_for(None, Request::Hello {})?;
        let mut events = Client::connect(socket)?;
        let mut kinds = EventKind::USUAL.to_vec();
        kinds.extend([EventKind::Packet, EventKind::Sizes]);
        events.subscribe(None, kinds)?;
        let began = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let hub = Arc::new(Self {
            socket: socket.to_owned(),
            id: format!("{}-{}", about.pid, began.as_millis()),
            packets: Mutex::new(Packets::new(&about)),
            about,
            ring: Mutex::default(),
            grown: watch::Sender::new(0),
            client: Mutex::default(),
        });
        let (of_events, of_looks) = (Arc::clone(&hub), Arc::clone(&hub));
        thread::spawn(move || of_events.follow(&mut events));
        thread::spawn(move || of_looks.look(&mut looks));
        Ok(hub)
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }
    pub(crate) fn has_ended(&self) -> bool {
        lock(&self.ring).ended
    }
    /// Changes when there is more to say.
    pub(crate) fn growth(&self) -> watch::Receiver<u64> {
        self.grown.subscribe()
    }
    /// What follows from a number on, with the number of the first of it, and whether the run has ended and this is all.
    pub(crate) fn since(&self, number: u64) -> (u64, Vec<Message>, bool) {
        let ring = lock(&self.ring);
        let (begin, messages) = ring.since(number, BATCH);
        let is_all = ring.ended && begin + messages.len() as u64 == ring.next();
        (begin, messages, is_all)
    }
    /// Carries out a request, a line of the control socket's. The answer is for the viewer who asked. Blocks, for 10 s at most.
    pub(crate) fn carry_out(&self, line: &str) -> Value {
        let (id, outcome) = match Envelope::parse(line) {
            Err((id, e)) => (id, Err(e.to_string())),
            Ok(Envelope { id, node, request }) if is_for_viewers(&request) => (id, self.ask(node, request)),
            Ok(Envelope { id, .. }) => {
                (id, Err("the studio does not support this request; use wayhop ctl".to_owned()))
            }
        };
        match outcome {
            Ok(value) => json!({"kind": "answer", "id": id, "ok": value}),
            Err(why) => json!({"kind": "answer", "id": id, "error": why}),
        }
    }

    fn ask(&self, node: Option<NodeRef>, request: Request) -> Result<Value, String> {
        let mut held = lock(&self.client);
        let client = held.take().map_or_else(|| Client::connect(&self.socket), Ok);
        let mut client = client.map_err(|e| e.to_string())?;
        let answer = client.ask(node, request);
        if matches!(answer, Ok(_) | Err(ClientError::Refused(_))) {
            *held = Some(client);
        }
        answer.map_err(|e| e.to_string())
    }

    /// What a viewer hears first.
    pub(crate) fn greeting(&self) -> Value {
        let nodes = &self.about.nodes;
        json!({
            "kind": "run", "hub": self.id, "name": self.about.name, "world": self.about.world,
            "protocol": self.about.protocol, "range_m": self.about.range_m, "speed": self.about.speed,
            "nodes": nodes.iter().map(|n| n.node).collect::<Vec<_>>(),
            "names": nodes.iter().map(|n| &n.name).collect::<Vec<_>>(),
            "addresses": nodes.iter().map(|n| n.address).collect::<Vec<_>>(),
            "flows": lock(&self.packets).flows(),
        })
    }

    /// Passes on what happens, until the run ends.
    fn follow(&self, events: &mut Client) {
        loop {
            match events.event() {
                Ok(Some(event)) => self.happened(&event),
                Ok(None) => return self.end("the run has ended"),
                Err(e) => return self.end(&e.to_string()),
            }
        }
    }

    fn happened(&self, event: &Event) {
        let row = event.node().and_then(|node| self.about.nodes.iter().position(|n| n.node == node));
        match (event, row) {
            (Event::Packet { .. }, Some(row)) => lock(&self.packets).add(row as i32, event),
            _ => self.say(|n| json!({"kind": "event", "n": n, "row": row, "event": event}).to_string()),
        }
    }

    /// Asks for places and counters, and passes on packets, until the run ends.
    fn look(&self, client: &mut Client) {
        let mut places = Places::default();
        let mut begin = Instant::now();
        for round in 0_u32.. {
            match client.ask_for(None, Request::Position {}) {
                Ok(positions) => self.placed(&positions, &places.of(&positions)),
                // A lab does not answer for nodes that are down.
                Err(ClientError::Refused(_)) => {}
                Err(e) => return self.broken(&e),
            }
            if round % SELDOM == 0
                && let Err(e) = self.look_closely(client)
            {
                return self.broken(&e);
            }
            if lock(&self.ring).ended {
                return;
            }
            thread::sleep(EVERY.saturating_sub(begin.elapsed()));
            begin = Instant::now();
        }
    }

    fn placed(&self, positions: &Positions, at: &Value) {
        self.packets_until(positions.time_s);
        let moved: Vec<bool> = positions.nodes.iter().map(|p| p.overridden).collect();
        self.say(|n| {
            json!({"kind": "places", "n": n, "time_s": positions.time_s, "at": at, "moved": moved})
                .to_string()
        });
    }

    fn packets_until(&self, time_s: f64) {
        let mut packets = lock(&self.packets);
        let lost = packets.lost();
        let flows = packets.new_flows();
        let mut ring = lock(&self.ring);
        if !flows.is_empty() {
            let n = ring.next();
            ring.text(json!({"kind": "flows", "n": n, "flows": flows}).to_string());
        }
        let frame = packets.frame(time_s, ring.next());
        ring.frame(frame);
        if lost > 0 {
            let event = Event::Lost { count: lost };
            let n = ring.next();
            ring.text(json!({"kind": "event", "n": n, "row": null, "event": event}).to_string());
        }
    }

    fn look_closely(&self, client: &mut Client) -> Result<(), ClientError> {
        let about: About = client.ask_for(None, Request::Hello {})?;
        let up: Vec<bool> = about.nodes.iter().map(|n| n.up).collect();
        let of = match client.ask_for::<Counters>(None, Request::Counters {}) {
            Ok(counters) => counters.nodes.into_iter().map(|n| n.counters).enumerate().collect(),
            Err(ClientError::Refused(_)) => Self::counters_of_each(client, &about)?,
            Err(e) => return Err(e),
        };
        self.say(|n| json!({"kind": "counters", "n": n, "up": up, "of": of}).to_string());
        Ok(())
    }

    /// By row, of those that answer: a lab does not answer for all while one is down.
    fn counters_of_each(
        client: &mut Client,
        about: &About,
    ) -> Result<BTreeMap<usize, BTreeMap<String, u64>>, ClientError> {
        let mut of = BTreeMap::new();
        for (row, node) in about.nodes.iter().enumerate().filter(|(_, n)| n.up) {
            match client.ask_for::<Counters>(Some(NodeRef::Number(node.node)), Request::Counters {}) {
                Ok(counters) => of.extend(counters.nodes.into_iter().next().map(|n| (row, n.counters))),
                // It went down in between.
                Err(ClientError::Refused(_)) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(of)
    }

    fn say(&self, text: impl FnOnce(u64) -> String) {
        let mut ring = lock(&self.ring);
        if !ring.ended {
            let text = text(ring.next());
            ring.text(text);
            self.grown.send_replace(ring.next());
        }
    }

    /// A request failed. At the end of a run that is expected.
    fn broken(&self, e: &ClientError) {
        let begin = Instant::now();
        while !self.has_ended() && begin.elapsed() < FOLLOWED_BY {
            thread::sleep(EVERY);
        }
        self.end(&e.to_string());
    }

    fn end(&self, why: &str) {
        self.say(|n| json!({"kind": "end", "n": n, "why": why}).to_string());
        let mut ring = lock(&self.ring);
        ring.ended = true;
        self.grown.send_replace(u64::MAX);
    }
}

/// To look and to move, to break and to mend; not to end the run, to change parameters or to capture frames.
const fn is_for_viewers(request: &Request) -> bool {
    matches!(
        request,
        Request::Tables { .. }
            | Request::Counters {}
            | Request::Position {}
            | Request::SetPosition { .. }
            | Request::ReleasePosition {}
            | Request::Links {}
            | Request::SetLink { .. }
            | Request::Down { .. }
            | Request::Up {}
    )
}

/// Nodes that know their place only on the earth are drawn around the first of them.
#[derive(Default)]
struct Places {
    origin: Option<GeoOrigin>,
}

impl Places {
    /// `[x, y, z]` of each node, or null where it is not known.
    fn of(&mut self, positions: &Positions) -> Value {
        positions.nodes.iter().map(|n| self.one(n.local.or(n.earth))).collect()
    }

    fn one(&mut self, place: Option<Place>) -> Value {
        match place {
            None => Value::Null,
            Some(Place::Local { x, y, z }) => json!([x, y, z]),
            Some(Place::Earth { latitude_deg: lat, longitude_deg: lon, .. }) => {
                let at = Geodetic { lat, lon, alt: 0.0 };
                let p = self.origin.get_or_insert_with(|| GeoOrigin::new(at)).to_local(at);
                json!([p.x, p.y, p.z])
            }
        }
    }
}
