//! The daemons' events, in the lab's own time.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use wayhop_control::answer::Counters;
use wayhop_control::{Client, ClientError, Event, EventKind, Request, Server, SizeOf};
use wayhop_core::{IfaceId, NodeId, Time, TraceNote};
use wayhop_trace::{NoteEvent, SizeEvent};

use super::packets::{FlowEnds, Packets};
use super::record::{Record, Records, known};

/// How often a daemon is asked for its time, to find out what that is in the lab's.
const QUESTIONS: usize = 5;

/// When the run began; until then nothing has a time.
pub(super) type RunStart = Arc<OnceLock<Instant>>;

/// Where the daemons' events go, and what places them in the run.
#[derive(Clone)]
pub(super) struct EventSinks {
    pub(super) begun: RunStart,
    pub(super) server: Arc<Server>,
    pub(super) records: Records,
    pub(super) flows: Arc<[FlowEnds]>,
}

/// Hears a daemon's events until it ends: packets, what the protocol knew when it sent them, and its remarks go to the
/// tables, and all of them to the lab's subscribers. Returns how many events the daemon had no time to tell.
pub(super) fn watch(node: u32, socket: &Path, sinks: &EventSinks) -> Result<JoinHandle<u64>, ClientError> {
    let mut client = Client::connect(socket)?;
    let start = start_of(&mut client)?;
    client.subscribe(None, EventKind::ALL.to_vec())?;
    let EventSinks { begun, server, records, flows } = sinks.clone();
    let mut packets = Packets::new(node, flows);
    Ok(thread::spawn(move || {
        let mut lost = 0;
        while let Ok(Some(event)) = client.event() {
            let time = |s: f64| lab_time(start, s, begun.get().copied());
            if let Event::Note { time_s, what, about, value, .. } = &event
                && let Some(what) = known(what)
            {
                match what {
                    "node_down" => server.set_up(node, false),
                    "node_up" => server.set_up(node, true),
                    _ => {}
                }
                let note = TraceNote { what, about: (*about).into(), value: *value };
                records.add(Record::Note(NoteEvent { time: time(*time_s), node: NodeId(node), note }));
            }
            match &event {
                // What was before the run is not in its tables.
                Event::Packet { time_s, .. } if time(*time_s) > Time::ZERO => {
                    if let Some((e, identity)) = packets.row(time(*time_s), &event) {
                        records.add(Record::Hop(e, identity));
                    }
                }
                Event::Sent { time_s, state, .. } if time(*time_s) > Time::ZERO => {
                    records.add(Record::Sent(packets.sent(time(*time_s), *state)));
                }
                Event::Sizes { time_s, sizes, .. } if time(*time_s) > Time::ZERO => {
                    let rows = sizes.iter().filter_map(|s| size(time(*time_s), node, s));
                    rows.for_each(|e| records.add(Record::Size(e)));
                }
                Event::Lost { count } => lost += count,
                _ => {}
            }
            server.publish(&of_node(event, node, |s| time(s).as_secs_f64()));
        }
        lost
    }))
}

/// A size, as the lab's tables have it.
fn size(time: Time, node: u32, s: &SizeOf) -> Option<SizeEvent> {
    let iface = s.interface.map_or(IfaceId::ANY, IfaceId);
    Some(SizeEvent { time, node: NodeId(node), what: known(&s.what)?, iface, count: s.count })
}

/// When a daemon's clock was at zero: it is asked what time it is, and the quickest answer counts.
fn start_of(client: &mut Client) -> Result<Instant, ClientError> {
    let mut best: Option<(Duration, Instant)> = None;
    for _ in 0..QUESTIONS {
        let asked = Instant::now();
        let told: Counters = client.ask_for(None, Request::Counters {})?;
        let took = asked.elapsed();
        let own = Duration::try_from_secs_f64(told.time_s).unwrap_or_default();
        let start = (asked + took / 2).checked_sub(own).unwrap_or(asked);
        if best.is_none_or(|(t, _)| took < t) {
            best = Some((took, start));
        }
    }
    Ok(best.map_or_else(Instant::now, |(_, start)| start))
}

fn lab_time(start: Instant, daemon_s: f64, begun: Option<Instant>) -> Time {
    let at = start + Duration::try_from_secs_f64(daemon_s).unwrap_or_default();
    let since = begun.map_or(Duration::ZERO, |b| at.saturating_duration_since(b));
    Time::from_nanos(since.as_nanos() as u64)
}

/// A daemon knows itself as node 0, and its own time.
fn of_node(event: Event, number: u32, time: impl Fn(f64) -> f64) -> Event {
    let mut event = event;
    match &mut event {
        Event::Note { time_s, node, .. }
        | Event::Drop { time_s, node, .. }
        | Event::Route { time_s, node, .. }
        | Event::Link { time_s, node, .. }
        | Event::Position { time_s, node, .. }
        | Event::Process { time_s, node, .. }
        | Event::Neighbour { time_s, node, .. }
        | Event::Host { time_s, node, .. }
        | Event::Packet { time_s, node, .. }
        | Event::Sent { time_s, node, .. }
        | Event::Sizes { time_s, node, .. } => {
            *time_s = time(*time_s);
            *node = number;
        }
        Event::Lost { .. } => {}
    }
    event
}
