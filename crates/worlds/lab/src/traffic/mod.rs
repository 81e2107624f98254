//! The scenario's flows over real sockets: their sources, and receivers at their destinations, are applications in the nodes'
//! namespaces. The destination's kernel answers pings.
//!
//! Packets and their times are those of the simulator: the same sources with the same random
//! streams. Each packet carries its number and the time at which it was due; all nodes have the
//! same clock, so that latencies are one-way and exact.

mod meter;
mod receiver;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as Channel, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::eventfd::{EfdFlags, EventFd};
use wayhop_application_host::{Settings, run_until};
use wayhop_core::{Application, Purpose, Time};
use wayhop_linux::Error;
use wayhop_netns::{Lateness, Namespace, priority};
use wayhop_scenario::{FlowConfig, FlowKind, Resolved};
use wayhop_trace::{FlowSummary, LatencyMs, PacketClass, ratio};
use wayhop_transport::{Departures, GROUP, Source, Stamp};

use super::outages;
use super::packets::FlowEnds;
use super::record::Records;
use meter::{Expected, FlowReceipt, Meter};
use receiver::Receiver;

/// How long what is under way at the end is waited for.
const LAST_PACKETS: Duration = Duration::from_millis(300);

/// Flows that are ready to begin.
pub(super) struct Traffic {
    flows: Vec<(FlowConfig, FlowEnds)>,
    nodes: usize,
    end: Time,
}

/// Flows under way.
pub(super) struct TrafficThreads {
    traffic: Traffic,
    hosts: Vec<JoinHandle<Result<Meter, String>>>,
    begun: Instant,
    stop: Arc<AtomicBool>,
    /// Readable when all is over.
    done: Arc<EventFd>,
}

/// What became of the flows.
pub(super) struct Outcome {
    pub(super) flows: Vec<FlowSummary>,
    /// Of the packets of all flows but pings, nanoseconds.
    pub(super) latencies_ns: Vec<u64>,
    /// Of the replies to all pings.
    pub(super) round_trip: Option<LatencyMs>,
    /// How late packets left.
    pub(super) lateness: Lateness,
    /// What went wrong.
    pub(super) complaints: Vec<String>,
}

impl Traffic {
    /// The flows of a scenario.
    pub(super) fn new(s: &Resolved, complaints: &mut Vec<String>) -> Result<Self, Error> {
        let mut flows = Vec::with_capacity(s.flows.len());
        for (config, ends) in s.flows.iter().zip(FlowEnds::of(s).iter()) {
            let (config, is_longer) = stamped(config.clone());
            if is_longer {
                complaints.push(format!(
                    "flow {}: packets need at least {} bytes, for their number and time",
                    ends.flow,
                    Stamp::LEN
                ));
            }
            config.check().map_err(|e| Error::System(format!("flow {}: {e}", ends.flow)))?;
            flows.push((config, *ends));
        }
        Ok(Self { flows, nodes: s.addresses.len(), end: s.duration })
    }

    /// The flows, before anything was sent.
    pub(super) fn flows(&self) -> Vec<FlowSummary> {
        let flows = self.flows.iter();
        flows.map(|(config, ends)| summary(config, ends, Time::ZERO, self.nodes, &[])).collect()
    }

    /// Lets them begin, on threads of their own. Times count from `begun`.
    pub(super) fn begin(
        self,
        s: &Resolved,
        namespaces: &[Namespace],
        begun: Instant,
        records: &Records,
    ) -> Result<TrafficThreads, Error> {
        let cannot = |e: nix::Error| Error::system("begin the flows")(e.into());
        let done = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC).map_err(cannot)?;
        let (stop, done) = (Arc::default(), Arc::new(done));
        let mut all = TrafficThreads { traffic: self, hosts: Vec::new(), begun, stop, done };
        all.begin(s, namespaces, records)?;
        Ok(all)
    }

    /// What each node receives over IPv4 and over IPv6, but for the replies to pings.
    fn expected(&self) -> BTreeMap<(usize, bool), Vec<Expected>> {
        let mut all: BTreeMap<_, Vec<Expected>> = BTreeMap::new();
        for (config, ends) in self.flows.iter().filter(|(_, ends)| ends.class != PacketClass::Ping) {
            let is_receiver = |node: &usize| config.is_to_all() || *node == config.dst.index();
            for node in (0..self.nodes).filter(|node| is_receiver(node) && *node != config.src.index()) {
                let expected = Expected { port: config.dst_port, ends: *ends };
                all.entry((node, config.ip6)).or_default().push(expected);
            }
        }
        all
    }
}

impl TrafficThreads {
    fn begin(&mut self, s: &Resolved, namespaces: &[Namespace], records: &Records) -> Result<(), Error> {
        let settings =
            Settings { since: self.begun, seed: s.seed, purpose: Purpose::Traffic, ..Settings::default() };
        let meter = |node| Meter::new(node, self.begun, records.clone(), Arc::clone(&self.stop));
        let mut hosts: Vec<(usize, Box<dyn Application>, Settings, Meter)> = Vec::new();
        for ((node, is_ip6), expected) in self.traffic.expected() {
            let any = if is_ip6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
            let addr: IpAddr = if is_ip6 { any } else { s.addresses[node].into() };
            let is_grouped = expected.iter().any(|e| e.ends.to == GROUP);
            let groups = if is_grouped { vec![GROUP] } else { Vec::new() };
            let receiver = Receiver(expected.iter().map(|e| e.port).collect());
            let settings = Settings { addr, listen: any, groups, ..settings.clone() };
            hosts.push((node, Box::new(receiver), settings, Meter { expected, ..meter(node) }));
        }
        for (config, ends) in &self.traffic.flows {
            let (node, own) = (config.src.index(), ends.from.ip());
            let reply = FlowEnds { from: ends.to, to: ends.from, ..*ends };
            let is_ping = ends.class == PacketClass::Ping;
            let expected = is_ping.then_some(Expected { port: config.src_port, ends: reply });
            let stop = Some(config.stop.map_or(self.traffic.end, |stop| stop.min(self.traffic.end)));
            let source = Source::new(FlowConfig { stop, ..config.clone() }, ends.to.ip());
            let settings = Settings { addr: own, listen: own, number: ends.flow, ..settings.clone() };
            let meter = Meter {
                sends: Some(*ends),
                expected: expected.into_iter().collect(),
                down: outages::of_node(s, config.src),
                ..meter(node)
            };
            hosts.push((node, Box::new(source), settings, meter));
        }
        let mut ready = Vec::new();
        for (node, application, settings, meter) in hosts {
            let namespace = namespaces[node].try_clone().map_err(Error::system("begin the flows"))?;
            ready.push(self.host(namespace, application, settings, meter));
        }
        // A host that has not opened its sockets has ended.
        if ready.into_iter().any(|ready| ready.recv().is_err()) {
            let why = self.finish().1;
            return Err(Error::System(format!("cannot open the sockets of the flows: {}", why.join("; "))));
        }
        Ok(())
    }

    /// Runs an application in a node. Who listens hears when its sockets are open.
    fn host(
        &mut self,
        namespace: Namespace,
        application: Box<dyn Application>,
        settings: Settings,
        mut meter: Meter,
    ) -> Channel<()> {
        let (opened, ready) = channel();
        let done = Arc::clone(&self.done);
        meter.opened = Some(opened);
        self.hosts.push(thread::spawn(move || {
            namespace.enter().map_err(|e| e.to_string())?;
            // What it measures is departures and arrivals, not its own turn among the nodes.
            priority::raise();
            run_until(&*done, application, &settings, None, None, &mut meter).map_err(|e| e.to_string())?;
            Ok(meter)
        }));
        ready
    }

    /// Ends them, and says what became of each.
    pub(super) fn end(mut self) -> Outcome {
        self.stop.store(true, Ordering::Relaxed);
        let ran = Time::from_nanos(self.begun.elapsed().as_nanos() as u64).min(self.traffic.end);
        thread::sleep(LAST_PACKETS);
        let (meters, complaints) = self.finish();
        let flows = self.traffic.flows.iter();
        let flows = flows.map(|(config, ends)| summary(config, ends, ran, self.traffic.nodes, &meters));
        let is_ping = |r: &&FlowReceipt| self.traffic.flows[r.flow as usize].1.class == PacketClass::Ping;
        let times = |pings: bool| {
            let of = meters.iter().flat_map(|m| &m.receipts).filter(|r| is_ping(r) == pings);
            of.flat_map(|r| r.latencies_ns.iter().copied()).collect::<Vec<_>>()
        };
        let mut lateness = Lateness::default();
        for meter in &meters {
            lateness.merge(&meter.lateness);
        }
        Outcome {
            flows: flows.collect(),
            latencies_ns: times(false),
            round_trip: LatencyMs::of(&mut times(true)),
            lateness,
            complaints,
        }
    }

    /// Ends the threads: what they measured, and what went wrong.
    fn finish(&mut self) -> (Vec<Meter>, Vec<String>) {
        // It takes many more to fill the counter.
        let _ = self.done.write(1);
        let (mut meters, mut complaints) = (Vec::new(), Vec::new());
        for host in self.hosts.drain(..) {
            match host.join() {
                Ok(Ok(meter)) => meters.push(meter),
                Ok(Err(why)) => complaints.push(why),
                Err(_) => complaints.push("a host of a flow panicked".to_owned()),
            }
        }
        (meters, complaints)
    }
}

/// The flow with packets that have room for their number and time, and whether that makes any longer.
fn stamped(mut config: FlowConfig) -> (FlowConfig, bool) {
    let least = Stamp::LEN as u32;
    let mut is_longer = config.payload_bytes < least;
    config.payload_bytes = config.payload_bytes.max(least);
    if let FlowKind::Trace(schedule) = &mut config.kind {
        is_longer = schedule.packets().iter().any(|p| p.payload_bytes < least);
        *schedule = Arc::new(schedule.with_payload_of_at_least(least));
    }
    (config, is_longer)
}

fn summary(config: &FlowConfig, ends: &FlowEnds, ran: Time, nodes: usize, meters: &[Meter]) -> FlowSummary {
    let receivers = if config.is_to_all() { nodes as u64 - 1 } else { 1 };
    let (mut latencies, mut octets, mut hops) = (Vec::new(), 0, 0);
    for r in meters.iter().flat_map(|m| &m.receipts).filter(|r| r.flow == ends.flow) {
        latencies.extend_from_slice(&r.latencies_ns);
        octets += r.octets;
        hops += r.hops;
    }
    let sends = |m: &&Meter| m.sends.is_some_and(|s| s.flow == ends.flow);
    let departures = meters.iter().find(sends).map_or_else(Departures::default, |m| m.departures);
    let (sent, received) = (departures.packets() * receivers, latencies.len() as u64);
    let active_s = departures.active_time(config, ran).as_secs_f64();
    FlowSummary {
        id: ends.flow,
        kind: ends.class.name().to_owned(),
        src: config.src.0,
        dst: config.dst.0,
        sent: Some(sent),
        received: Some(received),
        delivery_ratio: ratio(received, sent),
        received_bytes: Some(octets),
        goodput_bps: (active_s > 0.0).then(|| octets as f64 * 8.0 / active_s),
        latency_ms: LatencyMs::of(&mut latencies),
        hops_mean: ratio(hops, received),
        // The kernels between do not tell what became of the others.
        ..FlowSummary::default()
    }
}

#[cfg(test)]
mod tests {
    use wayhop_core::{NodeId, Span};
    use wayhop_transport::{Schedule, Scheduled};

    use super::*;

    #[test]
    fn packets_of_a_trace_are_made_long_enough_for_their_stamps() {
        let mut schedule = Schedule::default();
        for (s, payload_bytes) in [(0, 1), (1, 1_000)] {
            assert!(schedule.push(Scheduled { after: Span::from_secs(s), payload_bytes }));
        }
        let flow =
            |schedule| FlowConfig::new(FlowKind::Trace(Arc::new(schedule)), NodeId(0), NodeId(1), 1_000);
        let long = schedule.with_payload_of_at_least(Stamp::LEN as u32);
        let octets: Vec<u32> = long.packets().iter().map(|p| p.payload_bytes).collect();
        assert_eq!(octets, [16, 1_000]);
        assert_eq!(stamped(flow(schedule)), (flow(long.clone()), true));
        assert_eq!(stamped(flow(long.clone())), (flow(long), false));
    }
}
