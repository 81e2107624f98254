//! The agent: one loop over what comes from sockets, programs, the mesh and the clock.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use tokio::net::UdpSocket;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use wayhop_bundle_node::{Act, Layer, Node, Record};
use wayhop_core::{Span, Time};
use wayhop_dtn::{BundleId, Eid, Request};

use crate::beacons::Beacons;
use crate::clock::Clock;
use crate::config::{AgentConfig, AgentPlan, Users};
use crate::disk::DiskStore;
use crate::error::Error;
use crate::event::Event;
use crate::frames::Frame;
use crate::messages::{
    Ask, ContactNow, DeliveryHeader, HeldBundle, Hello, Listing, Refusal, SentBundle, VERSION, answer,
    delivery, read, refusal,
};
use crate::record::Recorder;
use crate::tcp::{Connections, ROOM};
use crate::traffic::Running;
use crate::waiting::Outbox;
use crate::{mesh, programs, tcp, udp};

/// Events that wait for the agent; who has more waits with them.
const WAITING: usize = 64;
/// Events of which one commit makes the store durable.
const PER_COMMIT: usize = 256;
/// The most bundles that are listed.
const MOST_LISTED: usize = 10_000;
/// How long a bundle lives if nobody says, seconds.
const LIFETIME_S: f64 = 3_600.0;
/// The longest lifetime, seconds: a hundred years.
const MAX_LIFETIME_S: f64 = 3.2e9;

/// Runs an agent until SIGINT or SIGTERM, or until its disk fails. `ready` is called once its sockets are open; `remark` with what
/// people should know.
///
/// # Errors
/// If it cannot begin, or its store fails.
pub fn run(loaded: AgentPlan, ready: impl FnOnce(&str), mut remark: impl FnMut(&str)) -> Result<(), Error> {
    let runtime =
        Builder::new_current_thread().enable_all().build().map_err(Error::system("cannot begin"))?;
    runtime.block_on(async {
        let mut stop = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        let (mut agent, mut events) = Agent::open(loaded).await?;
        ready(&agent.about());
        let [interrupt, terminate] = &mut stop;
        let (Ok(interrupt), Ok(terminate)) = (interrupt, terminate) else {
            return Err(Error::System("cannot hear of signals".to_owned()));
        };
        loop {
            let due = agent.clock.instant(agent.next_due());
            tokio::select! {
                event = events.recv() => {
                    let Some(event) = event else { break };
                    agent.hear(event);
                }
                () = tokio::time::sleep_until(due.into()) => {}
                _ = interrupt.recv() => break,
                _ = terminate.recv() => break,
            }
            for _ in 0..PER_COMMIT {
                let Ok(event) = events.try_recv() else { break };
                agent.hear(event);
            }
            agent.turn(&mut remark)?;
        }
        agent.close(&mut remark)
    })
}

/// A program that is connected.
struct Program {
    outbox: Outbox,
    endpoints: BTreeSet<Eid>,
}

/// A request that is answered when its bundle is in the store.
struct Pending {
    program: u64,
    id: Option<u64>,
    destination: String,
    source: String,
    bytes: u64,
    permit: OwnedSemaphorePermit,
}

struct Agent {
    node: Node<DiskStore>,
    config: AgentConfig,
    clock: Clock,
    beacons: Beacons,
    hello: Arc<UdpSocket>,
    udp: BTreeMap<Layer, Arc<UdpSocket>>,
    connections: Connections,
    programs: BTreeMap<u64, Program>,
    /// Whose an endpoint is.
    endpoints: BTreeMap<Eid, u64>,
    pending: BTreeMap<u64, Pending>,
    next_request: u64,
    links: BTreeSet<IpAddr>,
    sources: Vec<Running>,
    sinks: BTreeSet<Eid>,
    recorder: Recorder,
    socket: crate::socket::SocketName,
    remarks: Vec<String>,
}

impl Agent {
    async fn open(loaded: AgentPlan) -> Result<(Self, Receiver<Event>), Error> {
        let AgentPlan { config, mut settings, socket, peers, sources, sinks } = loaded;
        let recorder = Recorder::open(config.record.as_deref())?;
        let mut store = DiskStore::open(&config.store)?;
        // A later life never says that it is the one before.
        let clock = Clock::start(store.left() + Span::from_millis(1));
        store.set_time(clock.now());
        // The system's entropy, so that nobody can tell the session numbers in advance.
        settings.life =
            std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), clock.now().as_nanos());
        settings.engine = engine(&settings.agent.node);
        // Agents that begin together do not speak at once.
        let phase = f64::from(std::process::id() % 97) / 97.0;
        settings.first_beacon = settings.beacon.map_or(Span::ZERO, |b| b.mul_f64(phase));
        let beacon_port = settings.ports.beacon;
        let (events, inbox) = channel(WAITING);
        let hello = udp::open(config.listen, beacon_port, "beacons")?;
        tokio::spawn(udp::receive(Arc::clone(&hello), events.clone(), |from, octets| {
            Event::Beacon(from.ip(), octets)
        }));
        let udp = open_layers(&config, &settings, &events).await?;
        let programs = bind(&socket)?;
        let largest = config.largest_bytes;
        tokio::spawn(programs::accept(programs, largest, config.users == Users::All, events.clone()));
        if let Some(run) = &config.mesh {
            mesh::follow(run, config.mesh_node.clone(), events.clone())?;
        }
        let mut node = Node::open(settings, store, clock.now()).map_err(Error::System)?;
        for (peer, layer, at) in peers {
            node.peer(clock.now(), peer, layer, at);
        }
        let begun = clock.now();
        for sink in &sinks {
            node.register(begun, sink.clone(), 0);
        }
        let sources = sources.into_iter().map(|(s, from, to)| Running::new(s, from, to, begun)).collect();
        let agent = Self {
            node,
            sources,
            sinks: sinks.into_iter().collect(),
            clock,
            beacons: Beacons::new(config.interfaces.clone(), beacon_port),
            hello,
            udp,
            connections: Connections::new(events),
            programs: BTreeMap::new(),
            endpoints: BTreeMap::new(),
            pending: BTreeMap::new(),
            next_request: 1,
            links: BTreeSet::new(),
            recorder,
            socket,
            remarks: Vec::new(),
            config,
        };
        Ok((agent, inbox))
    }

    /// When something is to be done, if nothing comes before.
    fn next_due(&self) -> Time {
        let own = self.sources.iter().filter_map(Running::next).min();
        [self.node.next_timer(), own].into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    /// Makes the bundles of its own that are due.
    fn make_due(&mut self, now: Time) {
        for i in 0..self.sources.len() {
            while self.sources[i].next().is_some_and(|at| at <= now) {
                let number = self.next_request;
                self.next_request += 1;
                let source = &mut self.sources[i];
                source.make();
                let request = Request {
                    number,
                    source: source.from.clone(),
                    destination: source.to.clone(),
                    report_to: Eid::None,
                    lifetime: Span::from_secs_f64(source.config.lifetime_s),
                    flags: 0,
                    custody: source.config.custody,
                    payload: vec![0; source.config.size_bytes as usize],
                };
                self.node.request(now, request);
            }
        }
    }

    /// A line for people.
    fn about(&self) -> String {
        let layers: Vec<&str> = self.config.layers.iter().map(|l| l.name()).collect();
        format!(
            "{} is up: {}, {}; programs use {}",
            self.node.eid(),
            self.config.routing.name(),
            layers.join(", "),
            self.socket
        )
    }

    fn hear(&mut self, event: Event) {
        let now = self.clock.now();
        match event {
            Event::Beacon(from, octets) => self.node.beacon(now, from, &octets),
            Event::Datagram(layer, from, octets) => self.node.datagram(now, layer, from, &octets),
            Event::Incoming(stream, from) => {
                if self.connections.has_place()
                    && let Some(connection) = self.node.incoming(now, from.ip())
                {
                    self.connections.open(connection, stream, true);
                    self.node.writable(connection, ROOM);
                }
            }
            Event::Connected(connection, stream, to) => {
                self.connections.open(connection, stream, false);
                self.node.connected(now, connection, to.ip());
                self.node.writable(connection, ROOM);
            }
            Event::Octets(connection, octets) => self.node.octets(now, connection, &octets),
            Event::Written(connection, octets) => {
                let room = self.connections.written(connection, octets);
                self.node.writable(connection, room);
            }
            Event::Closed(connection) => self.node.closed(now, connection),
            Event::Links(links) => self.set_links(now, links.into_iter().collect()),
            Event::Program(number, outbox) => {
                self.programs.insert(number, Program { outbox, endpoints: BTreeSet::new() });
            }
            Event::Asked(number, frame, permit, held) => {
                self.asked(now, number, frame, permit);
                drop(held);
            }
            Event::Unreadable(number, why) => {
                self.refuse(number, &Refusal { id: None, message: why }, None);
                self.gone(now, number);
            }
            Event::Gone(number) => self.gone(now, number),
        }
    }

    fn set_links(&mut self, now: Time, links: BTreeSet<IpAddr>) {
        for gone in self.links.difference(&links) {
            self.node.link_down(now, *gone);
        }
        for there in &links {
            self.node.link_up(now, *there);
        }
        self.links = links;
    }

    /// Does what is due, and all that follows.
    fn turn(&mut self, remark: &mut impl FnMut(&str)) -> Result<(), Error> {
        let now = self.clock.now();
        self.make_due(now);
        if self.node.next_timer().is_some_and(|at| at <= now) {
            self.node.timer(now);
        }
        self.node.settle(now).map_err(|e| {
            Error::System(format!("{e}; the agent ends, and loses nothing that it had promised"))
        })?;
        while let Some(act) = self.node.act() {
            self.carry_out(act);
        }
        self.recorder.flush();
        self.remarks.drain(..).for_each(|r| remark(&r));
        Ok(())
    }

    fn close(mut self, remark: &mut impl FnMut(&str)) -> Result<(), Error> {
        let closed = self.node.close(self.clock.now());
        while let Some(act) = self.node.act() {
            self.carry_out(act);
        }
        self.recorder.flush();
        if let Some(path) = self.socket.path() {
            // It may be gone already.
            let _ = std::fs::remove_file(path);
        }
        self.remarks.drain(..).for_each(|r| remark(&r));
        closed.map_err(|e| Error::System(e.to_string()))
    }

    fn carry_out(&mut self, act: Act) {
        match act {
            Act::Beacon(octets) => self.beacons.send(&octets),
            // A datagram that the kernel does not take is lost, as on the way.
            Act::BeaconTo(to, octets) => drop(self.hello.try_send_to(&octets, to)),
            Act::Datagram(layer, to, octets) => {
                if let Some(socket) = self.udp.get(&layer) {
                    let _ = socket.try_send_to(&octets, to);
                }
            }
            Act::Connect(connection, to) => self.connections.call(connection, to),
            Act::Write(connection, octets) => self.connections.write(connection, octets),
            Act::Close(connection) => self.connections.close(connection),
            Act::Deliver { endpoint, number, id, payload } => self.deliver(&endpoint, number, &id, payload),
            Act::Sent { number, id } => self.sent(number, &id),
            Act::Rejected { number, why } => {
                if let Some(p) = self.pending.remove(&number) {
                    let refusal = Refusal { id: p.id, message: why.to_string() };
                    self.refuse(p.program, &refusal, Some(p.permit));
                }
            }
            Act::Record(record) => self.note(&record),
            Act::Remark(text) => self.remarks.push(text),
        }
    }

    fn note(&mut self, record: &Record) {
        self.recorder.write(record);
    }

    fn deliver(&mut self, endpoint: &Eid, number: u64, id: &BundleId, payload: Vec<u8>) {
        if self.sinks.contains(endpoint) {
            return self.node.confirm(self.clock.now(), endpoint.clone(), number);
        }
        // Without a program it waits in the store.
        let Some(program) = self.endpoints.get(endpoint).and_then(|n| self.programs.get(n)) else { return };
        let about = DeliveryHeader {
            endpoint: endpoint.to_string(),
            number,
            bundle: name(id),
            source: id.source.to_string(),
            created_ms: id.created.time_ms,
        };
        let frame = Frame { head: delivery(&about), octets: payload };
        // One that has just gone will get it when it is back.
        let _ = program.outbox.send((frame.encode(), None));
    }

    fn sent(&mut self, number: u64, id: &BundleId) {
        let Some(p) = self.pending.remove(&number) else { return };
        let sent =
            SentBundle { bundle: name(id), source: p.source, destination: p.destination, bytes: p.bytes };
        self.tell(p.program, answer(p.id, &sent), Some(p.permit));
    }

    fn tell(
        &self,
        program: u64,
        head: serde_json::Map<String, serde_json::Value>,
        permit: Option<OwnedSemaphorePermit>,
    ) {
        if let Some(p) = self.programs.get(&program) {
            // It may be gone.
            let _ = p.outbox.send((Frame { head, octets: Vec::new() }.encode(), permit));
        }
    }

    fn refuse(&self, program: u64, r: &Refusal, permit: Option<OwnedSemaphorePermit>) {
        self.tell(program, refusal(r), permit);
    }

    fn gone(&mut self, now: Time, number: u64) {
        let Some(program) = self.programs.remove(&number) else { return };
        for endpoint in program.endpoints {
            self.endpoints.remove(&endpoint);
            self.node.unregister(now, endpoint);
        }
        self.pending.retain(|_, p| p.program != number);
    }

    fn asked(&mut self, now: Time, number: u64, frame: Frame, permit: OwnedSemaphorePermit) {
        let Frame { head, octets } = frame;
        let (id, ask) = match read(head) {
            Ok(read) => read,
            Err(r) => return self.refuse(number, &r, Some(permit)),
        };
        let head = match ask {
            Ask::Send { .. } => return self.send(now, number, id, ask, octets, permit),
            Ask::Hello {} => Ok(answer(id, &self.hello())),
            Ask::List {} => Ok(answer(id, &self.listing(now))),
            Ask::Register { endpoint, got } => {
                self.register(now, number, &endpoint, got).map(|e| answer(id, &e.to_string()))
            }
            Ask::Unregister { endpoint } => self.unregister(now, number, &endpoint).map(|()| answer(id, &())),
            Ask::Confirm { endpoint, number: delivery } => self.own(number, &endpoint).map(|e| {
                self.node.confirm(now, e, delivery);
                answer(id, &())
            }),
        };
        match head {
            Ok(head) => self.tell(number, head, Some(permit)),
            Err(message) => self.refuse(number, &Refusal { id, message }, Some(permit)),
        }
    }

    fn hello(&self) -> Hello {
        Hello {
            wayhop: wayhop_core::version::full().to_owned(),
            messages: VERSION,
            node: self.node.eid().to_string(),
            routing: self.config.routing.name().to_owned(),
            layers: self.config.layers.iter().map(|l| l.name().to_owned()).collect(),
            largest: self.config.largest_bytes,
        }
    }

    fn listing(&self, now: Time) -> Listing {
        let held = self.node.held();
        let numbers = self.node.statistics();
        let bundle = |h: &wayhop_dtn::Held| HeldBundle {
            bundle: name(&h.id),
            offset: h.id.fragment.map(|(offset, _)| offset),
            destination: h.destination.to_string(),
            octets: h.octets,
            expires_s: h.expires.since(now).as_secs_f64(),
            custody: h.in_custody,
            here: h.is_for_here,
        };
        let contact = |(node, address, layer): (Eid, IpAddr, Layer)| ContactNow {
            node: node.to_string(),
            address: address.to_string(),
            layer: layer.name().to_owned(),
        };
        Listing {
            node: self.node.eid().to_string(),
            bundles: held.iter().take(MOST_LISTED).map(bundle).collect(),
            left_out: held.len().saturating_sub(MOST_LISTED) as u64,
            contacts: self.node.contacts().into_iter().map(contact).collect(),
            octets: numbers.octets,
            unconfirmed: numbers.unconfirmed as u64,
        }
    }

    /// An endpoint as programs write it: whole, or a service of this node.
    fn endpoint(&self, text: &str) -> Result<Eid, String> {
        if text.contains(':') {
            return text.parse().map_err(|e: wayhop_dtn::EidError| e.to_string());
        }
        let whole = self.node.eid().service(text).to_string();
        whole.parse().map_err(|e: wayhop_dtn::EidError| e.to_string())
    }

    fn register(&mut self, now: Time, number: u64, endpoint: &str, got: u64) -> Result<Eid, String> {
        let endpoint = self.endpoint(endpoint)?;
        if endpoint.is_singleton() && !endpoint.same_node(self.node.eid()) {
            return Err(format!(
                "{endpoint} is not of this node, {}; name a service of it, such as inbox",
                self.node.eid()
            ));
        }
        if self.endpoints.get(&endpoint).is_some_and(|n| *n != number) || self.sinks.contains(&endpoint) {
            return Err(format!(
                "{endpoint} is another program's; take another service, or end that program"
            ));
        }
        let Some(program) = self.programs.get_mut(&number) else {
            return Err("the program is gone".to_owned());
        };
        program.endpoints.insert(endpoint.clone());
        self.endpoints.insert(endpoint.clone(), number);
        self.node.register(now, endpoint.clone(), got);
        Ok(endpoint)
    }

    /// An endpoint that this program has registered.
    fn own(&self, number: u64, endpoint: &str) -> Result<Eid, String> {
        let endpoint = self.endpoint(endpoint)?;
        if self.endpoints.get(&endpoint) == Some(&number) {
            return Ok(endpoint);
        }
        Err(format!("{endpoint} is not registered by this program; register it first"))
    }

    fn unregister(&mut self, now: Time, number: u64, endpoint: &str) -> Result<(), String> {
        let endpoint = self.own(number, endpoint)?;
        if let Some(p) = self.programs.get_mut(&number) {
            p.endpoints.remove(&endpoint);
        }
        self.endpoints.remove(&endpoint);
        self.node.unregister(now, endpoint);
        Ok(())
    }

    fn send(
        &mut self,
        now: Time,
        program: u64,
        id: Option<u64>,
        ask: Ask,
        payload: Vec<u8>,
        permit: OwnedSemaphorePermit,
    ) {
        let request = match self.request_of(ask, payload) {
            Ok(request) => request,
            Err(message) => return self.refuse(program, &Refusal { id, message }, Some(permit)),
        };
        let pending = Pending {
            program,
            id,
            destination: request.destination.to_string(),
            source: request.source.to_string(),
            bytes: request.payload.len() as u64,
            permit,
        };
        self.pending.insert(request.number, pending);
        self.node.request(now, request);
    }

    fn request_of(&mut self, ask: Ask, payload: Vec<u8>) -> Result<Request, String> {
        let Ask::Send { source, destination, lifetime_s, custody, report_to } = ask else {
            return Err("nothing is to be sent".to_owned());
        };
        let lifetime = lifetime_s.unwrap_or(LIFETIME_S);
        if !(0.001..=MAX_LIFETIME_S).contains(&lifetime) {
            return Err(format!("lifetime_s is {lifetime}; give seconds from 0.001 to {MAX_LIFETIME_S}"));
        }
        let number = self.next_request;
        self.next_request += 1;
        let report_to = report_to.map(|text| self.endpoint(&text)).transpose()?;
        Ok(Request {
            number,
            source: source.map_or_else(|| Ok(self.node.eid().clone()), |text| self.endpoint(&text))?,
            destination: destination.parse().map_err(|e: wayhop_dtn::EidError| e.to_string())?,
            flags: if report_to.is_some() { wayhop_dtn::flags::REPORT_DELIVERY } else { 0 },
            report_to: report_to.unwrap_or_default(),
            lifetime: Span::from_secs_f64(lifetime),
            custody,
            payload,
        })
    }
}

/// The name of a bundle, as tables have it.
fn name(id: &BundleId) -> String {
    format!("{}-{}-{}", id.source, id.created.time_ms, id.created.sequence)
}

/// The number of LTP's engine: that of an `ipn` node, else one that follows from its name.
fn engine(node: &Eid) -> u64 {
    match node {
        Eid::Ipn { node, .. } => *node,
        other => {
            let hash = other
                .to_string()
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
            hash >> 32 | 1
        }
    }
}

/// Listens for the convergence layers.
async fn open_layers(
    config: &AgentConfig,
    settings: &wayhop_bundle_node::Settings,
    events: &Sender<Event>,
) -> Result<BTreeMap<Layer, Arc<UdpSocket>>, Error> {
    let mut udp = BTreeMap::new();
    let sends = settings.listens.iter().chain([&settings.layer]).copied().collect::<BTreeSet<Layer>>();
    for layer in sends {
        let port = match layer {
            Layer::Udpcl => settings.ports.udpcl,
            Layer::Ltp => settings.ports.ltp,
            Layer::Tcpcl => {
                if settings.listens.contains(&layer) {
                    let listener = tcp::listen(config.listen, settings.ports.tcpcl).await?;
                    tokio::spawn(tcp::accept(listener, events.clone()));
                }
                continue;
            }
        };
        let socket = udp::open(config.listen, port, layer.name())?;
        let event = move |from, octets| Event::Datagram(layer, from, octets);
        tokio::spawn(udp::receive(Arc::clone(&socket), events.clone(), event));
        udp.insert(layer, socket);
    }
    Ok(udp)
}

/// Opens the socket for programs.
fn bind(socket: &crate::socket::SocketName) -> Result<tokio::net::UnixListener, Error> {
    let open = || {
        let listener = socket.bind()?;
        listener.set_nonblocking(true)?;
        tokio::net::UnixListener::from_std(listener)
    };
    open().map_err(Error::system(format!(
        "cannot open the socket for programs at {socket}; give it another name with socket = \"...\" if another agent runs here"
    )))
}
