//! The merged run directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, Classifier, DropReason, FlowTag, IfaceId, NodeId, PacketId, SendState, Time};
use wayhop_trace::{
    ConnectionEvent, ConversationEnds, Counter, Echo, Echoes, FlowSummary, GpsEvent, HopEvent, HopKind,
    LatencyMs, Manifest, MergeRecord, MergedRun, Messages, NodeInfo, NodeOutages, NoteEvent, Origin, Outcome,
    Outputs, PacketClass, PacketOutcome, PositionEvent, Recorder, RunDir, RunStatus, SendEvent, SizeEvent,
    Summary, Totals, ratio,
};

use crate::clocks::Clocks;
use crate::error::Error;
use crate::fates::Story;
use crate::flows::{Flow, FlowPacket, Flows, To};
use crate::frames::RowRef;
use crate::input::{NodeRun, names, nodes};
use crate::places::PositionTranslation;
use crate::report::{MergeReport, MergedNode};
use crate::shared::CommonConfig;
use crate::unite::{Packets, TimedRow, is_data};

/// How runs are to be merged.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The node whose clock counts, by its name or its address; the first run's if there is none.
    pub reference: Option<String>,
    /// Leave nodes out that share no frames or packets with the reference, in place of refusing.
    pub leave_apart: bool,
    /// For the manifest: the command and its arguments.
    pub command: Vec<String>,
    /// For the manifest: the wall clock, seconds since 1970.
    pub now_unix_s: u64,
    /// What the merged run is called.
    pub name: String,
}

/// Numbers of packets that only the table `sends` knows.
const UNSEEN: u64 = 1 << 62;

/// All that is known before anything is written.
pub(crate) struct Merge {
    pub(crate) runs: Vec<NodeRun>,
    pub(crate) reference: usize,
    pub(crate) clocks: Clocks,
    /// When the merged run begins, by the reference's clock.
    pub(crate) zero_ns: i128,
    /// When it ends, in its own time.
    pub(crate) end_ns: i128,
    pub(crate) order: Vec<TimedRow>,
    pub(crate) packets: Packets,
    pub(crate) flows: Flows,
    /// By flow, by number in it.
    pub(crate) stories: Vec<Vec<Story>>,
    pub(crate) left_apart: Vec<String>,
    /// Receptions before their sending.
    pub(crate) early: u64,
}

impl Merge {
    pub(crate) fn write(
        &self,
        out: &Path,
        options: &Options,
        classifier: &'static dyn Classifier,
    ) -> Result<MergeReport, Error> {
        let names = names(&self.runs);
        let manifest = self.manifest(&names, options);
        let dir = RunDir::create(out, &manifest, classifier)?;
        let nodes: Vec<NodeInfo> = self
            .runs
            .iter()
            .zip(&names)
            .map(|(r, name)| (r.number, NodeInfo { name: name.clone(), ..r.node.clone() }))
            .collect::<BTreeMap<u32, NodeInfo>>()
            .into_values()
            .collect();
        let outputs = Outputs {
            identities: true,
            connections: self.runs.iter().any(|r| !r.connections.is_empty()),
            sizes: self.runs.iter().any(|r| !r.sizes.is_empty()),
            gps: self.runs.iter().any(|r| !r.gps.is_empty()),
            ..Outputs::default()
        };
        let by_number: Vec<String> = nodes.iter().map(|n| n.name.clone()).collect();
        let mut recorder = Recorder::start(dir, &outputs, nodes)?;
        self.write_packets(&mut recorder);
        self.write_remarks(&mut recorder);
        self.write_looks(&mut recorder);
        let origin = self.write_places(&mut recorder);
        self.write_outcomes(&mut recorder);
        let mut summary = self.summary(options);
        summary.origin = origin;
        summary.trace_hash = recorder.hash().hex();
        summary.name_nodes(&by_number);
        recorder.finish(&mut summary, RunStatus::Complete)?;
        Ok(self.report(&names, summary))
    }

    fn manifest(&self, names: &[String], options: &Options) -> Manifest {
        let seed = self.runs[self.reference].manifest.seed;
        let shared = CommonConfig::of(&self.runs, self.reference);
        let mut text = format!(
            "# Merged from the runs of {} nodes.\n{}\n# Their configurations:\n",
            nodes(&self.runs),
            shared.text
        );
        for (run, name) in self.runs.iter().zip(names) {
            let _ = writeln!(text, "#\n# {name}:");
            for line in run.manifest.scenario.lines() {
                let _ = writeln!(text, "# {line}");
            }
        }
        let one = |(i, r): (usize, &NodeRun)| MergedRun {
            node: names[i].clone(),
            run: r.path.display().to_string(),
            started: r.manifest.started.clone(),
            clock: self.clocks.told(i, self.zero_ns),
        };
        Manifest {
            merged: Some(MergeRecord {
                reference: names[self.reference].clone(),
                runs: self.runs.iter().enumerate().map(one).collect(),
                left_apart: self.left_apart.clone(),
                differing: shared.differing,
            }),
            library: self.runs[self.reference].manifest.library.clone(),
            // When the nodes ran, and not when their runs were merged.
            started: self.runs[self.reference].manifest.started.clone(),
            ..Manifest::new(text, seed, options.command.clone(), options.now_unix_s)
        }
    }

    fn time(&self, node: usize, own: Time) -> Time {
        if own == Time::NEVER {
            return Time::NEVER;
        }
        nanos(self.clocks.of_node[node].time_ns(own.as_nanos()) - self.zero_ns)
    }

    fn node(&self, run: usize) -> NodeId {
        NodeId(self.runs[run].number)
    }

    fn write_packets(&self, recorder: &mut Recorder) {
        let lost: BTreeSet<RowRef> =
            self.stories.iter().flatten().filter_map(|story| story.lost_after).collect();
        for t in &self.order {
            let (node, row) = (t.seen.node as usize, t.seen.row as usize);
            let (hop, identity) = &self.runs[node].hops[row];
            let packet = self.packets.of_row[node][row];
            let hop = HopEvent {
                time: nanos(t.at_ns),
                packet,
                node: self.node(node),
                flow: self.flows.tags.get(&packet).copied(),
                class: self.class(hop, packet),
                ..*hop
            };
            let mut write = |hop: &HopEvent| {
                if let Some(identity) = identity {
                    recorder.identity(hop, *identity);
                }
                recorder.hop(hop);
            };
            let beside =
                HopEvent { messages: Messages::NONE, iface: IfaceId::ANY, signal_dbm: f32::NAN, ..hop };
            if self.flows.entries.contains(&t.seen) {
                // As of a program's packet, so that all that reads tables finds where it begins.
                write(&HopEvent { kind: HopKind::Originate, peer: Addr::UNSPECIFIED, ..beside });
            }
            write(&hop);
            if lost.contains(&t.seen) {
                write(&HopEvent { kind: HopKind::Drop, reason: Some(DropReason::LostOnAir), ..beside });
            }
        }
    }

    /// What a packet is called: of a flow, as the flow's packets are.
    fn class(&self, hop: &HopEvent, packet: PacketId) -> PacketClass {
        let flow = self.flows.tags.get(&packet).filter(|_| is_data(hop.class));
        flow.map_or(hop.class, |tag| self.flows.list[tag.flow as usize].conversation.ends.class())
    }

    fn write_remarks(&self, recorder: &mut Recorder) {
        self.in_order(
            |run| &run.notes,
            |run, n| (self.time(run, n.time), run, n.note),
            |(time, run, note)| recorder.note(&NoteEvent { time, node: self.node(run), note }),
        );
        let packet = |run: usize, own: PacketId| {
            let unseen = PacketId(UNSEEN | (run as u64) << 40 | own.0 & ((1 << 40) - 1));
            self.packets.of_number[run].get(&own).copied().unwrap_or(unseen)
        };
        self.in_order(
            |run| &run.sends,
            |run, s| {
                (self.time(run, s.time), run, SendState { packet: packet(run, s.state.packet), ..s.state })
            },
            |(time, run, state)| recorder.sent(&SendEvent { time, node: self.node(run), state }),
        );
        for (i, run) in self.runs.iter().enumerate() {
            for c in &run.counters {
                recorder.counter(&Counter { node: self.node(i), ..*c });
            }
        }
    }

    /// What the nodes looked at now and then: their queues and tables, their receivers, their programs' connections.
    fn write_looks(&self, recorder: &mut Recorder) {
        self.in_order(
            |run| &run.sizes,
            |run, s| (self.time(run, s.time), self.node(run).0, *s),
            |(time, node, s)| recorder.size(&SizeEvent { time, node: NodeId(node), ..s }),
        );
        self.in_order(
            |run| &run.connections,
            |run, c| (self.time(run, c.time), self.node(run).0, *c),
            |(time, node, c)| recorder.connection(&ConnectionEvent { time, node: NodeId(node), ..c }),
        );
        self.in_order(
            |run| &run.gps,
            |run, g| (self.time(run, g.time), self.node(run).0, *g),
            |(time, node, g)| recorder.gps(&GpsEvent { time, node: NodeId(node), ..g }),
        );
    }

    /// Writes the rows of all runs, sorted by time and node. What a node looked at in one moment stays together.
    fn in_order<R, N: Ord + Copy, S>(
        &self,
        rows: fn(&NodeRun) -> &Vec<R>,
        moved: impl Fn(usize, &R) -> (Time, N, S),
        write: impl FnMut((Time, N, S)),
    ) {
        let of = |(i, run)| rows(run).iter().map(move |row| (i, row));
        let all = self.runs.iter().enumerate().flat_map(of);
        let mut all: Vec<_> = all.map(|(i, row)| moved(i, row)).collect();
        all.sort_by_key(|(time, node, _)| (*time, *node));
        all.into_iter().for_each(write);
    }

    fn write_places(&self, recorder: &mut Recorder) -> Option<Origin> {
        let (places, origin) = PositionTranslation::of(&self.runs);
        for (node, (run, places)) in self.runs.iter().zip(places).enumerate() {
            for p in &run.positions {
                let Some(at) = places.place(p.at) else { continue };
                let (time, until) = (self.time(node, p.time), self.time(node, p.until));
                recorder.position(&PositionEvent {
                    time,
                    until: until.max(time),
                    node: self.node(node),
                    at,
                    velocity: p.velocity,
                });
            }
        }
        origin
    }

    fn write_outcomes(&self, recorder: &mut Recorder) {
        for (flow, stories) in (0..).zip(&self.stories) {
            for (seq, story) in (0..).zip(stories) {
                for fate in &story.fates {
                    recorder.outcome(&PacketOutcome {
                        packet: FlowTag { flow, seq },
                        outcome: fate.outcome,
                        nodes: fate.nodes,
                    });
                }
            }
        }
    }

    fn summary(&self, options: &Options) -> Summary {
        let mut all_ns = Vec::new();
        let mut round_trips = self.round_trips();
        let mut drops = [0; DropReason::ALL.len()];
        let mut flows = Vec::new();
        for (id, ((flow, sent), stories)) in
            (0..).zip(self.flows.list.iter().zip(&self.flows.sent).zip(&self.stories))
        {
            flows.push(self.flow(id, flow, sent, stories, &mut all_ns));
            for fate in stories.iter().flat_map(|s| &s.fates) {
                if let Outcome::Dropped(why) = fate.outcome {
                    drops[why as usize] += u64::from(fate.nodes);
                }
            }
        }
        let mut totals = Totals::default();
        for run in &self.runs {
            let t = &run.summary.totals;
            totals.routing_packets += t.routing_packets;
            totals.routing_bytes += t.routing_bytes;
            totals.add_routing_headers(t.routing_header_bytes);
            for (name, n) in &t.by_type {
                *totals.by_type.entry(name.clone()).or_default() += n;
            }
        }
        totals.sum_flows(&flows);
        totals.set_drops(&drops);
        totals.latency_ms = LatencyMs::of(&mut all_ns);
        for (flow, round_trips) in flows.iter_mut().zip(&mut round_trips) {
            flow.answered = round_trips.as_ref().map(|all| all.len() as u64);
            flow.round_trip_ms = round_trips.as_mut().and_then(|all| LatencyMs::of(all));
        }
        totals.round_trip_ms =
            LatencyMs::of(&mut round_trips.into_iter().flatten().flatten().collect::<Vec<_>>());
        let outages = self.runs.iter().flat_map(|run| {
            run.summary.outages.iter().map(|o| NodeOutages { node: run.number, ..o.clone() })
        });
        let seconds = self.end_ns.max(0) as f64 / 1e9;
        let first = &self.runs[self.reference];
        Summary {
            wayhop: wayhop_core::version::full().to_owned(),
            scenario: options.name.clone(),
            seed: first.manifest.seed,
            world: "field".to_owned(),
            protocol: first.summary.protocol.clone(),
            simulated_s: seconds,
            wall_s: seconds,
            kernel_forwards: self.runs.iter().any(|run| run.summary.kernel_forwards),
            outages: outages.collect(),
            flows,
            totals,
            ..Summary::default()
        }
    }

    /// By flow, the round trips of its echo requests that were answered, nanoseconds; `None` of flows without requests.
    fn round_trips(&self) -> Vec<Option<Vec<u64>>> {
        let mut all: Vec<Option<Vec<u64>>> = vec![None; self.flows.list.len()];
        let mut echoes = Echoes::default();
        for t in &self.order {
            let (node, row) = (t.seen.node as usize, t.seen.row as usize);
            let (hop, Some(identity)) = &self.runs[node].hops[row] else { continue };
            let packet = self.packets.of_row[node][row];
            let Some(tag) = self.flows.tags.get(&packet) else { continue };
            let flow = &self.flows.list[tag.flow as usize];
            let begins = hop.kind == HopKind::Originate || self.flows.entries.contains(&t.seen);
            if begins && matches!(identity.echo, Some(Echo::Request(_))) {
                all[tag.flow as usize].get_or_insert_default();
                echoes.sent(flow.conversation.ends, identity, tag.flow, t.at_ns);
            }
            if hop.kind == HopKind::Deliver && flow.is_meant_for(self.runs[node].number) {
                let answer = echoes.delivered((hop.source, hop.destination), identity, t.at_ns);
                let asked = answer.and_then(|a| Some((all[a.flow as usize].as_mut()?, a.round_trip_ns)));
                if let Some((round_trips, ns)) = asked {
                    round_trips.push(ns);
                }
            }
        }
        all
    }

    fn flow(
        &self,
        id: u32,
        flow: &Flow,
        sent: &[FlowPacket],
        stories: &[Story],
        all_ns: &mut Vec<u64>,
    ) -> FlowSummary {
        let receivers = u64::from(flow.receivers(nodes(&self.runs)));
        let mut conversation = flow.conversation;
        let mut latencies = Vec::new();
        let (mut hops, mut counted, mut bytes) = (0_u64, 0_u64, 0_u64);
        let (mut dropped, mut held) = (0, 0);
        for (s, story) in sent.iter().zip(stories) {
            for (_, at_ns, ttl) in &story.delivered {
                // Clocks that are nearly right may have it arrive just before it left.
                latencies.push(u64::try_from(at_ns - s.at_ns).unwrap_or(0));
                conversation.arrives(*at_ns);
                bytes += u64::from(s.payload);
                if let Some(passed) = s.ttl.checked_sub(*ttl) {
                    hops += u64::from(passed) + 1;
                    counted += 1;
                }
            }
            for fate in &story.fates {
                match fate.outcome {
                    Outcome::Delivered => {}
                    Outcome::Dropped(_) => dropped += u64::from(fate.nodes),
                    Outcome::Held => held += u64::from(fate.nodes),
                }
            }
        }
        all_ns.extend_from_slice(&latencies);
        let (count, received) = (u64::from(conversation.packets) * receivers, latencies.len() as u64);
        let ConversationEnds { source, destination, .. } = conversation.ends;
        let (to, is_outside) = match flow.to {
            To::Node(to) => (Some(to), false),
            To::All => (None, false),
            To::Outside(by) => (by, true),
        };
        FlowSummary {
            src_address: flow.is_from_outside.then(|| source.to_string()),
            dst_address: is_outside.then(|| destination.to_string()),
            sent: Some(count),
            received: Some(received),
            dropped: Some(dropped),
            held: Some(held),
            delivery_ratio: ratio(received, count),
            received_bytes: Some(bytes),
            goodput_bps: conversation.bits_per_second(bytes),
            latency_ms: LatencyMs::of(&mut latencies),
            hops_mean: (counted > 0).then(|| hops as f64 / counted as f64),
            ..conversation.summary(id, Some(flow.from), to)
        }
    }

    fn report(&self, names: &[String], summary: Summary) -> MergeReport {
        let mut at: FxHashMap<PacketId, Option<u32>> = FxHashMap::default();
        for (run, rows) in self.runs.iter().zip(&self.packets.of_row) {
            for packet in rows {
                let one = at.entry(*packet).or_insert(Some(run.number));
                if *one != Some(run.number) {
                    *one = None;
                }
            }
        }
        let node = |(i, r): (usize, &NodeRun)| MergedNode {
            node: r.number,
            name: names[i].clone(),
            address: Addr::from(r.node.addr).to_string(),
            run: r.path.display().to_string(),
            clock: self.clocks.told(i, self.zero_ns),
        };
        let lost =
            |r: &NodeRun| r.counters.iter().filter(|c| c.name == "lost_rows").map(|c| c.value).sum::<u64>();
        MergeReport {
            wayhop: wayhop_core::version::full().to_owned(),
            reference: names[self.reference].clone(),
            nodes: self.runs.iter().enumerate().map(node).collect(),
            left_apart: self.left_apart.clone(),
            packets: at.len() as u64,
            shared_packets: at.values().filter(|one| one.is_none()).count() as u64,
            strange_receptions: self.packets.strange,
            early_receptions: self.early,
            packets_elsewhere: self.flows.elsewhere,
            lost_rows: self.runs.iter().map(lost).sum(),
            summary,
        }
    }
}

fn nanos(ns: i128) -> Time {
    Time::from_nanos(u64::try_from(ns.max(0)).unwrap_or(u64::MAX - 1))
}
