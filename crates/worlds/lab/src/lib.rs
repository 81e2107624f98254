//! `wayhop lab`: N nodes on this machine, each a `wayhop node` in its own network namespace, on one
//! Ethernet that a macfilter turns into a mesh.
//!
//! * `wire`: the bridges between the namespaces, and their filter.
//! * `outages`: nodes that go down and come back.
//! * `nodes`: the daemons. `watch`: their events. `desk`: the control socket for all of them.
//! * `receivers`: gpsd in each node.
//! * `traffic`: the scenario's flows over real sockets. `program_flows`: conversations of programs.
//! * `record`: the tables of the run.
//!
//! Only the control sockets have names outside this process: when it ends, for whatever reason, the
//! nodes end, and with them the namespaces and everything in them.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod desk;
mod nodes;
mod outages;
mod packets;
mod plan;
mod program_flows;
mod receivers;
mod record;
mod stop;
mod traffic;
mod watch;
mod wire;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wayhop_control::Event;
use wayhop_core::Time;
use wayhop_linux::Error;
use wayhop_netns::{
    Launch, Namespace, Need, ProgramResults, ProgramRunner, Registry, end_inhabitants, make_room,
};
use wayhop_scenario::{FlowKind, Ignores, MacFilter, Resolved, WirePlan};
use wayhop_trace::{FlowSummary, LatencyMs, Recorder, Summary};

use desk::Desk;
use nodes::Nodes;
use outages::{Observers, Switch};
pub use plan::Plan;
use receivers::Receivers;
use record::TableRecorder;
pub use stop::StopFlag;
use traffic::{Traffic, TrafficThreads};
use watch::{EventSinks, RunStart};
use wire::Wire;

/// More daemons than this are hardly meant for one machine.
const MAX_NODES: usize = 250;
/// What this process has open for each node: its namespace, pipes to its daemon, sockets.
const DESCRIPTORS: u64 = 16;
/// What a node takes of memory, in the kernel and in its daemon: measured with 100 nodes.
const OCTETS: u64 = 7_000_000;
/// A node's daemon and the process that sets the host back, with their threads and the one that hears them.
const TASKS: u64 = 7;
/// The longest that the loop sleeps.
const TURN: Duration = Duration::from_millis(10);

/// What a lab does beside its scenario.
pub struct Tasks<'a> {
    /// Programs, each with its time.
    pub programs: Vec<(Time, Launch)>,
    /// The number in `programs` of the one with which the run ends.
    pub main: Option<usize>,
    /// Where the run is known, and what programs are started with.
    pub registry: &'a Registry,
    /// Takes the run's records.
    pub recorder: Recorder,
    /// Called now and then with the run's time; it may break the run off.
    pub watch: &'a mut dyn FnMut(Time) -> ControlFlow<()>,
}

/// How a lab ended.
#[derive(Debug)]
pub struct LabOutcome {
    /// When its time was zero.
    pub begun: Instant,
    /// The run in numbers.
    pub summary: Summary,
    /// Whether it came to its end.
    pub complete: bool,
    /// What the user should know.
    pub complaints: Vec<String>,
    /// To be finished with the summary.
    pub recorder: Recorder,
}

/// A lab whose nodes are up.
pub struct Lab {
    scenario: Arc<Resolved>,
    namespaces: Vec<Namespace>,
    wire: Arc<Mutex<Wire>>,
    filter: MacFilter,
    receivers: Receivers,
    nodes: Nodes,
    desk: Desk,
    begun: RunStart,
}

/// Refuses what a lab cannot do.
pub fn check(s: &Resolved) -> Result<(), Error> {
    let n = s.addresses.len();
    let wrong = if n > MAX_NODES {
        format!("{n} nodes are too many for a lab (at most {MAX_NODES}); simulate or emulate them")
    } else if s.edge.is_some() {
        "gateways: not supported in a lab; emulate the scenario, or run `wayhop node` with [gateway]"
            .to_owned()
    } else if s.prefix_len().is_none() {
        "the nodes' addresses do not share a network of /8 or longer; choose closer addresses".to_owned()
    } else if let Some((_, r)) =
        s.routes.iter().find(|(_, r)| r.destination.addr.is_v4() && r.destination.as_host().is_none())
    {
        format!(
            "routes: {} is a prefix, but IPv4 routes of a lab's nodes lead to single hosts; give hosts, or \
             emulate the scenario",
            r.destination
        )
    } else if s.ns2_trace {
        "output.ns2_trace: not supported in a lab, which does not see frames; remove it, or emulate the \
         scenario"
            .to_owned()
    } else if s.receptions.is_wanted() || s.captures.damaged {
        let key = if s.captures.damaged { "captures.damaged" } else { "receptions" };
        format!(
            "{key}: not supported in a lab, which does not see lost frames; remove it, or simulate or \
             emulate the scenario"
        )
    } else if let Some(name) = s.interfaces.names().find(|n| ["lo", "mesh0"].contains(n)) {
        format!("{name}: each node already has an interface of this name; rename the radio or wire")
    } else if !s.attacks.is_empty() {
        "attacks: not supported in a lab, whose nodes are ordinary daemons; remove them, or simulate or \
         emulate the scenario"
            .to_owned()
    } else if !s.energy.is_empty() {
        "energy: not supported in a lab, which has no radio model; remove it, or simulate or emulate the \
         scenario"
            .to_owned()
    } else if !s.stalls.is_empty() {
        "stalls: not supported in a lab, whose interface queues are the kernel's; remove them, or emulate \
         the scenario"
            .to_owned()
    } else if let Some(i) = s.flows.iter().position(|f| matches!(f.kind, FlowKind::Tcp(_))) {
        format!(
            "flow {i}: TCP flows are not supported in a lab; run a program that uses TCP, such as iperf3, \
             in [[programs]]"
        )
    } else {
        return Ok(());
    };
    Err(Error::Config(wrong))
}

/// The nodes' hosts and the Ethernet between them, before any daemon runs.
pub struct Wiring {
    wire: Wire,
    namespaces: Vec<Namespace>,
}

impl Wiring {
    /// Makes them.
    ///
    /// # Errors
    /// If a lab cannot run this scenario, or this user may not, or a program that it needs is missing, or if `is_stopped` says
    /// meanwhile that the lab is not wanted any more.
    pub fn new(scenario: &Resolved, is_stopped: StopFlag<'_>) -> Result<Self, Error> {
        check(scenario)?;
        let nodes = scenario.addresses.len();
        let need = Need {
            nodes,
            descriptors: nodes as u64 * DESCRIPTORS,
            octets_per_node: OCTETS,
            tasks_per_node: TASKS,
        };
        make_room(&need).map_err(|e| Error::System(e.to_string()))?;
        let (wire, namespaces) = Wire::new(scenario, is_stopped)?;
        Ok(Self { wire, namespaces })
    }
}

impl Lab {
    /// Starts the daemons on what was made for this plan's scenario, unless `is_stopped` says meanwhile that they are not wanted
    /// any more.
    pub fn start(plan: &Plan, wiring: Wiring, is_stopped: StopFlag<'_>) -> Result<Self, Error> {
        let Wiring { mut wire, namespaces } = wiring;
        // What holds from the beginning holds before the first node speaks.
        for step in plan.filter.steps(&plan.scenario.addresses) {
            if step.at == Time::ZERO {
                wire.ignore(step.node, step.from)?;
            }
        }
        wire.apply()?;
        let mut receivers = Receivers::open(&plan.scenario, &namespaces)?;
        receivers.tell(&plan.scenario, Time::ZERO);
        let nodes = Nodes::start(plan, &namespaces, is_stopped)?;
        let scenario = Arc::new(plan.scenario.clone());
        let wire = Arc::new(Mutex::new(wire));
        let begun: RunStart = Arc::new(OnceLock::new());
        let desk = Desk::open(Arc::clone(&scenario), nodes.sockets(), Arc::clone(&wire), Arc::clone(&begun))?;
        let filter = plan.filter.clone();
        Ok(Self { scenario, namespaces, wire, filter, receivers, nodes, desk, begun })
    }

    /// The nodes' namespaces, in their order.
    pub fn namespaces(&self) -> Vec<&Namespace> {
        self.namespaces.iter().collect()
    }
    /// The name of the run, for `wayhop ctl --run`.
    pub fn name(&self) -> &str {
        &self.desk.server.about().name
    }

    /// Runs until the scenario's time is over, the main program has ended, somebody asks for the end, or `watch` breaks it
    /// off.
    pub fn run(self, tasks: Tasks<'_>) -> Result<LabOutcome, Error> {
        let (mut tables, records) = TableRecorder::new(tasks.recorder, &self.scenario);
        let mut programs = ProgramRunner::new(tasks.programs, tasks.main, tasks.registry, || {});
        let traffic = Traffic::new(&self.scenario, &mut programs.results.complaints)?;
        let sinks = EventSinks {
            begun: Arc::clone(&self.begun),
            server: Arc::clone(&self.desk.server),
            records: records.clone(),
            flows: packets::FlowEnds::of(&self.scenario),
        };
        let listeners = self.listen(&sinks)?;
        let observers = Observers {
            sinks,
            sockets: self.nodes.sockets(),
            listeners: Vec::new(),
            left_out: BTreeSet::new(),
            passing: BTreeSet::new(),
        };
        let (quit, server) = (Arc::clone(&self.desk.quit), Arc::clone(&self.desk.server));
        let stop = Arc::new(AtomicBool::new(false));
        let begun = *self.begun.get_or_init(Instant::now);
        let time_zero = unix_time(begun);
        tables.begin(&self.scenario, first_summary(&self.scenario, &traffic, time_zero));
        let running = traffic.begin(&self.scenario, &self.namespaces, begun, &records)?;
        let desk = {
            let (desk, stop) = (self.desk, Arc::clone(&stop));
            std::thread::spawn(move || desk.run(&stop))
        };
        let mut turns = Turns {
            scenario: &self.scenario,
            namespaces: &self.namespaces,
            wire: &self.wire,
            receivers: self.receivers,
            nodes: self.nodes,
            running: Some(running),
            programs,
            observers,
            has_main: tasks.main.is_some(),
            begun,
            tables,
        };
        drop(records);
        let outcome = turns.run(self.filter.steps(&self.scenario.addresses), &quit, &server, tasks.watch);
        let seconds = begun.elapsed().as_secs_f64();
        let flows = turns.running.take().map(TrafficThreads::end);
        // They are asked what they counted.
        turns.nodes.wake_all();
        stop.store(true, Ordering::Relaxed);
        let desk = desk.join().map_err(|_| Error::System("the control desk stopped".to_owned()))?;
        let (counters, mut more) = desk.finish();
        let Turns { nodes, tables, programs, observers, .. } = turns;
        let ProgramResults { command_exit, mut complaints, exits, .. } = programs.results;
        complaints.append(&mut more);
        complaints.extend(flows.iter().flat_map(|f| f.complaints.iter().cloned()));
        let mut summary = nodes.end(&mut complaints);
        // What others started in the nodes ends with them.
        end_inhabitants(&self.namespaces.iter().collect::<Vec<_>>());
        let Observers { listeners: later, left_out, .. } = observers;
        let listeners = (0..).zip(listeners).chain(later);
        complaints
            .extend(listeners.filter_map(|(node, l)| lost_events(&self.scenario.names[node as usize], l)));
        let complete = outcome?;
        let (recorder, program_flows) = tables.finish(&counters);
        name_run(&mut summary, &self.scenario, seconds, time_zero);
        count_flows(&mut summary, flows, program_flows.end());
        summary.trace_hash = recorder.hash().hex();
        (summary.command_exit, summary.program_exits) = (command_exit, exits);
        let ordered = std::mem::take(&mut summary.outages);
        let end = Time::from_secs_f64(seconds);
        summary.outages = outages::summary(&self.scenario.outages, end, &left_out, ordered);
        summary.name_nodes(&self.scenario.names);
        Ok(LabOutcome { begun, summary, complete, complaints, recorder })
    }

    /// Begins to hear what the daemons tell.
    fn listen(&self, sinks: &EventSinks) -> Result<Vec<JoinHandle<u64>>, Error> {
        let one = |(i, socket): (usize, PathBuf)| {
            watch::watch(i as u32, &socket, sinks)
                .map_err(|e| Error::System(format!("node {}: {e}", self.scenario.names[i])))
        };
        self.nodes.sockets().into_iter().enumerate().map(one).collect()
    }
}

/// The time of the day at a moment not long ago, nanoseconds since 1970.
fn unix_time(moment: Instant) -> Option<u64> {
    let then = SystemTime::now().checked_sub(moment.elapsed())?;
    then.duration_since(UNIX_EPOCH).ok().and_then(|d| u64::try_from(d.as_nanos()).ok())
}

/// What to say of a node whose listener missed events.
fn lost_events(name: &str, listener: JoinHandle<u64>) -> Option<String> {
    let Ok(lost @ 1..) = listener.join() else { return None };
    Some(format!(
        "node {name}: {lost} events were lost (node overloaded); the tables `packets` and `sends` are incomplete"
    ))
}

/// Puts the scenario's flows and those of programs, with the latencies of these, into the summary.
fn count_flows(summary: &mut Summary, own: Option<traffic::Outcome>, programs: (Vec<FlowSummary>, Vec<u64>)) {
    let (flows, mut latencies_ns) = programs;
    if let Some(f) = own {
        latencies_ns.extend(f.latencies_ns);
        summary.totals.round_trip_ms = f.round_trip;
        summary.lateness_us = f.lateness.summary();
        summary.flows = f.flows;
    }
    summary.flows.extend(flows);
    summary.totals.latency_ms = LatencyMs::of(&mut latencies_ns);
    summary.totals.sum_flows(&summary.flows);
}

/// What is known of a run before it has begun.
fn first_summary(s: &Resolved, traffic: &Traffic, time_zero: Option<u64>) -> Summary {
    let mut summary = Summary { flows: traffic.flows(), ..Summary::default() };
    name_run(&mut summary, s, 0.0, time_zero);
    summary.name_nodes(&s.names);
    summary
}

/// Says in the summary what was run, and for how long.
fn name_run(summary: &mut Summary, s: &Resolved, seconds: f64, time_zero: Option<u64>) {
    summary.time_zero_unix_ns = time_zero;
    "lab".clone_into(&mut summary.world);
    wayhop_core::version::full().clone_into(&mut summary.wayhop);
    summary.scenario.clone_from(&s.name);
    summary.seed = s.seed;
    s.protocol.name().clone_into(&mut summary.protocol);
    (summary.simulated_s, summary.wall_s) = (seconds, seconds);
}

/// The loop of a run.
struct Turns<'a> {
    scenario: &'a Resolved,
    namespaces: &'a [Namespace],
    wire: &'a Mutex<Wire>,
    receivers: Receivers,
    nodes: Nodes,
    running: Option<TrafficThreads>,
    programs: ProgramRunner<'a>,
    observers: Observers,
    /// Whether the run ends with one of the programs.
    has_main: bool,
    begun: Instant,
    tables: TableRecorder,
}

impl<'a> Turns<'a> {
    fn wire(&self) -> MutexGuard<'a, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the run came to its end.
    fn run(
        &mut self,
        steps: Vec<Ignores>,
        quit: &AtomicBool,
        server: &wayhop_control::Server,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<bool, Error> {
        let mut steps = steps.into_iter().filter(|s| s.at > Time::ZERO).peekable();
        let mut cuts = cuts(self.scenario).into_iter().peekable();
        let mut switches = outages::switches(&self.scenario.outages).into_iter().peekable();
        loop {
            let now = Time::from_nanos(self.begun.elapsed().as_nanos() as u64);
            while let Some((_, wire, is_cut)) = cuts.next_if(|(at, ..)| *at <= now) {
                self.wire().cut(wire, is_cut)?;
            }
            if steps.peek().is_some_and(|s| s.at <= now) {
                let mut wire = self.wire();
                while let Some(step) = steps.next_if(|s| s.at <= now) {
                    wire.ignore(step.node, step.from)?;
                }
                wire.apply()?;
            }
            while let Some(switch) = switches.next_if(|s| s.at <= now) {
                self.switch(switch, now)?;
            }
            self.receivers.tell(self.scenario, now);
            let (outages, namespaces) = (&self.scenario.outages, self.namespaces);
            let is_up = |node| !outages::is_down(outages, node, now);
            self.programs.start_due(now, is_up, |node| &namespaces[node as usize]);
            self.programs.hear_of_ends(now);
            for (node, pid, exit) in self.nodes.check(&mut self.programs.results.complaints) {
                let (time_s, command) = (now.as_secs_f64(), "wayhop node".to_owned());
                server.publish(&Event::Process { time_s, node, command, pid, exit: Some(exit) });
            }
            self.tables.settle(now);
            let end = self.scenario.duration;
            if watch(now.min(end)).is_break() {
                return Ok(false);
            }
            // A command may take as long as it likes.
            let is_over = self.programs.results.is_over || quit.load(Ordering::Relaxed);
            if is_over || !self.has_main && now >= end {
                return Ok(true);
            }
            let (step, switch) = (steps.peek().map(|s| s.at), switches.peek().map(|s| s.at));
            let cut = cuts.peek().map(|c| c.0);
            let next = [step, switch, cut, self.programs.next_due()].into_iter().flatten().min();
            let wait = next.map_or(TURN, |at| Duration::from_nanos(at.since(now).as_nanos()));
            std::thread::sleep(wait.min(TURN));
        }
    }

    /// A node goes down or comes back. A reboot ends its programs; those whose time came meanwhile begin after it.
    fn switch(&mut self, s: Switch, now: Time) -> Result<(), Error> {
        let node = s.node;
        if !s.on && s.lost {
            self.programs.node_down(node);
        }
        let namespace = &self.namespaces[node as usize];
        outages::carry_out(s, now, &mut self.wire(), &mut self.nodes, namespace, &mut self.observers)?;
        if s.on {
            self.programs.node_up(node, namespace);
        }
        Ok(())
    }
}

/// When wires are cut, and whole again, in order.
fn cuts(scenario: &Resolved) -> Vec<(Time, u16, bool)> {
    let of_wire = |(k, w): (u16, &WirePlan)| {
        let both = w.cuts.iter().flat_map(|&(from, until)| [Some((from, true)), until.map(|t| (t, false))]);
        both.flatten().map(|(at, is_cut)| (at, k, is_cut)).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = (0..).zip(&scenario.interfaces.wires).flat_map(of_wire).collect();
    all.sort_unstable();
    all
}
