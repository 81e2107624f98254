//! What became of each packet that a program sent.

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, BROADCAST, Decision, DropReason, PacketId, Time};
use wayhop_trace::{HopKind, Outcome};

use crate::flows::{Flow, FlowPacket, Flows, To};
use crate::frames::RowRef;
use crate::input::{NodeRun, nodes};
use crate::unite::{Packets, TimedRow};

/// What happened to a packet in the last second before the first record ends may have gone on after it.
const END_NS: i128 = 1_000_000_000;
/// What the record of a node that was killed lacks at most.
const UNRECORDED_NS: i128 = 5_000_000_000;

/// The end of a packet at some of the nodes that it is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) outcome: Outcome,
    pub(crate) nodes: u32,
}

/// What became of a packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Story {
    pub(crate) fates: Vec<Fate>,
    /// When each node's application first got it.
    pub(crate) delivered: Vec<(u32, i128, u8)>,
    /// The last row of a packet that was not received further: it was lost there, and the record gets a row for that.
    pub(crate) lost_after: Option<RowRef>,
}

#[expect(clippy::struct_field_names, reason = "the unit of each")]
pub(crate) struct RecordEnds {
    /// The first of those that ended by themselves.
    first_ns: i128,
    pub(crate) last_ns: i128,
    /// Those of nodes that were killed.
    killed_ns: Vec<i128>,
}

impl RecordEnds {
    /// Of these ends, each with whether its node was killed.
    pub(crate) fn of(ends: impl Iterator<Item = (i128, bool)>) -> Self {
        let (mut own, mut killed_ns, mut last_ns) = (Vec::new(), Vec::new(), 0);
        for (at_ns, killed) in ends {
            last_ns = last_ns.max(at_ns);
            if killed { &mut killed_ns } else { &mut own }.push(at_ns);
        }
        Self { first_ns: own.into_iter().min().unwrap_or(last_ns), last_ns, killed_ns }
    }

    /// Whether a packet that was last seen then may have gone on where there is no record. A node that was killed went on for
    /// some seconds after its record ends, and then no more: what was sent to it later is lost.
    fn is_near(&self, at_ns: i128) -> bool {
        let in_gap = |end: &i128| (end - END_NS..=end + UNRECORDED_NS).contains(&at_ns);
        at_ns > self.first_ns - END_NS || self.killed_ns.iter().any(in_gap)
    }
}

/// The stories of all packets of flows, by flow and number in it.
pub(crate) fn stories(
    runs: &[NodeRun],
    packets: &Packets,
    flows: &Flows,
    order: &[TimedRow],
    ends: &RecordEnds,
) -> Vec<Vec<Story>> {
    let mut rows: FxHashMap<PacketId, Vec<TimedRow>> = FxHashMap::default();
    for t in order {
        let packet = packets.of_row[t.seen.node as usize][t.seen.row as usize];
        if flows.tags.contains_key(&packet) {
            rows.entry(packet).or_default().push(*t);
        }
    }
    let waits = Waits::of(runs, packets);
    let of_flow = |(flow, sent): (&Flow, &Vec<FlowPacket>)| {
        sent.iter()
            .map(|s| (s.packet, rows.get(&s.packet).map_or(&[][..], Vec::as_slice)))
            .map(|packet| story(runs, flow, packet, ends, &waits))
            .collect()
    };
    flows.list.iter().zip(&flows.sent).map(of_flow).collect()
}

/// When each node last put a packet back among those that wait for a route, by its own clock.
struct Waits(FxHashMap<(u32, PacketId), Time>);

impl Waits {
    fn of(runs: &[NodeRun], packets: &Packets) -> Self {
        let mut last = FxHashMap::default();
        for ((node, run), numbers) in (0..).zip(runs).zip(&packets.of_number) {
            for s in run.sends.iter().filter(|s| s.state.decision == Decision::Waits) {
                if let Some(packet) = numbers.get(&s.state.packet) {
                    let at: &mut Time = last.entry((node, *packet)).or_default();
                    *at = s.time.max(*at);
                }
            }
        }
        Self(last)
    }

    /// Whether the node has a packet again that it sent at this time: it was not acknowledged.
    fn since(&self, node: u32, packet: PacketId, sent: Time) -> bool {
        self.0.get(&(node, packet)).is_some_and(|at| *at > sent)
    }
}

fn story(
    runs: &[NodeRun],
    flow: &Flow,
    (packet, rows): (PacketId, &[TimedRow]),
    ends: &RecordEnds,
    waits: &Waits,
) -> Story {
    let hop = |t: &TimedRow| &runs[t.seen.node as usize].hops[t.seen.row as usize].0;
    let mut story = Story::default();
    for t in rows.iter().filter(|t| hop(t).kind == HopKind::Deliver) {
        let node = runs[t.seen.node as usize].number;
        if flow.is_meant_for(node) && story.delivered.iter().all(|(n, ..)| *n != node) {
            story.delivered.push((node, t.at_ns, hop(t).ttl));
        }
    }
    let arrived = story.delivered.len() as u32;
    let wanted = flow.receivers(nodes(runs));
    if arrived > 0 {
        story.fates.push(Fate { outcome: Outcome::Delivered, nodes: arrived });
    }
    if arrived >= wanted {
        return story;
    }
    let outcome = match rows.last() {
        Some(last) if ends.is_near(last.at_ns) => Outcome::Held,
        Some(last) if waits.since(last.seen.node, packet, hop(last).time) => Outcome::Held,
        Some(_) if flow.to == To::All => Outcome::Dropped(DropReason::LostOnAir),
        Some(last) => match (hop(last).kind, hop(last).reason) {
            (HopKind::Drop, Some(why)) => Outcome::Dropped(why),
            // How it ended is in the next hop's record, which is missing.
            (HopKind::Send | HopKind::Forward | HopKind::Transmit, _) if !has_run(runs, hop(last).peer) => {
                Outcome::Held
            }
            (HopKind::Send | HopKind::Forward | HopKind::Transmit, _) => {
                story.lost_after = Some(last.seen);
                Outcome::Dropped(DropReason::LostOnAir)
            }
            _ => Outcome::Held,
        },
        None => Outcome::Held,
    };
    story.fates.push(Fate { outcome, nodes: wanted - arrived });
    story
}

/// Whether one of the runs is that of the node with this address. A broadcast is for all of them.
fn has_run(runs: &[NodeRun], peer: Addr) -> bool {
    peer == BROADCAST || runs.iter().any(|run| run.has(peer))
}
