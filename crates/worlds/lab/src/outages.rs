//! Nodes that go down and come back: the wire is cut, and the daemon ends or sleeps.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use wayhop_control::Event;
use wayhop_core::{Addr, NodeId, Time, TraceNote};
use wayhop_linux::Error;
use wayhop_netns::{Namespace, kill_inhabitants};
use wayhop_scenario::{Outage, Resolved, Tables};
use wayhop_trace::{NodeOutages, NoteEvent};

use super::nodes::Nodes;
use super::record::Record;
use super::watch::{EventSinks, watch};
use super::wire::Wire;

/// How long a daemon that is started again may take until it answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// A node goes down, or comes back.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Switch {
    pub(super) at: Time,
    pub(super) node: u32,
    pub(super) on: bool,
    /// Its tables are lost.
    pub(super) lost: bool,
}

/// The switches of a run, in order of time.
pub(super) fn switches(outages: &[Outage]) -> Vec<Switch> {
    let both = |o: &Outage| {
        let one = |at, on| Switch { at, node: o.node.0, on, lost: o.tables == Tables::Lost };
        [one(o.from, false), one(o.until, true)]
    };
    let mut all: Vec<Switch> = outages.iter().flat_map(both).filter(|s| s.at < Time::NEVER).collect();
    all.sort_unstable();
    all
}

pub(super) fn is_down(outages: &[Outage], node: u32, at: Time) -> bool {
    outages.iter().any(|o| o.node.0 == node && o.from <= at && at < o.until)
}

/// The summary's sentence about outages left out of a run that ended at this time. Outages that
/// were ordered are in the daemons' events.
pub(super) fn summary(
    outages: &[Outage],
    end: Time,
    left_out: &BTreeSet<(u32, Time)>,
    ordered: Vec<NodeOutages>,
) -> Vec<NodeOutages> {
    let begun = outages.iter().filter(|o| o.from <= end && !left_out.contains(&(o.node.0, o.from)));
    let mut all = NodeOutages::of(begun.map(|o| (o.node, o.length_until(end))));
    for one in ordered {
        match all.iter_mut().find(|o| o.node == one.node) {
            Some(o) => {
                o.outages += one.outages;
                o.down_s += one.down_s;
            }
            None => all.push(one),
        }
    }
    all.sort_by_key(|o| o.node);
    all
}

/// Those who are told when a daemon is started again.
pub(super) struct Observers {
    pub(super) sinks: EventSinks,
    pub(super) sockets: Vec<PathBuf>,
    /// Each new listener's node, and how many events it missed in the end.
    pub(super) listeners: Vec<(u32, JoinHandle<u64>)>,
    /// The outages that were left out, by node and beginning.
    pub(super) left_out: BTreeSet<(u32, Time)>,
    /// The nodes of those whose time is not over.
    pub(super) passing: BTreeSet<u32>,
}

impl Observers {
    /// Whether a switch is left out: an outage that would begin while its node is down by order does not.
    fn leaves_out(&mut self, s: Switch) -> bool {
        if s.on {
            return self.passing.remove(&s.node);
        }
        let is_down = !self.sinks.server.is_up(s.node);
        if is_down {
            self.passing.insert(s.node);
            self.left_out.insert((s.node, s.at));
        }
        is_down
    }

    /// Writes down, and tells, that a node went down or came back.
    fn tell(&self, s: Switch, now: Time) {
        let what = if s.on { "node_up" } else { "node_down" };
        let (about, value) = (Addr::UNSPECIFIED, u64::from(s.lost));
        let note = TraceNote { what, about, value };
        self.sinks.records.add(Record::Note(NoteEvent { time: now, node: NodeId(s.node), note }));
        let (time_s, what) = (now.as_secs_f64(), what.to_owned());
        self.sinks.server.set_up(s.node, s.on);
        self.sinks.server.publish(&Event::Note { time_s, node: s.node, what, about: about.into(), value });
    }

    /// Hears what a node's new daemon tells, once it answers.
    fn listen(&mut self, node: u32) {
        let (sinks, socket) = (self.sinks.clone(), self.sockets[node as usize].clone());
        let listener = thread::spawn(move || {
            let asked = Instant::now();
            loop {
                match watch(node, &socket, &sinks) {
                    Ok(listener) => return listener.join().unwrap_or_default(),
                    // It ended before it was ready: its end is told elsewhere.
                    Err(_) if asked.elapsed() > PATIENCE => return 0,
                    Err(_) => thread::sleep(Duration::from_millis(10)),
                }
            }
        });
        self.listeners.push((node, listener));
    }
}

/// Carries one out at `now`.
pub(super) fn carry_out(
    s: Switch,
    now: Time,
    wire: &mut Wire,
    nodes: &mut Nodes,
    namespace: &Namespace,
    observers: &mut Observers,
) -> Result<(), Error> {
    let process = |pid, exit| {
        let (time_s, command) = (now.as_secs_f64(), "wayhop node".to_owned());
        Event::Process { time_s, node: s.node, command, pid, exit }
    };
    if observers.leaves_out(s) {
        return Ok(());
    }
    wire.set_down(s.node, !s.on);
    wire.apply()?;
    observers.tell(s, now);
    match (s.on, s.lost) {
        (on, false) => nodes.set_asleep(s.node, !on),
        (false, true) => {
            let daemon = nodes.end_one(s.node);
            // The daemon ends by itself, and says what it counted; nobody else is asked.
            kill_inhabitants(namespace, daemon)
                .map_err(Error::system(format_args!("end the programs of node {}", s.node)))?;
            if let Some(pid) = daemon {
                observers.sinks.server.publish(&process(pid, Some(0)));
            }
        }
        (true, true) => {
            let pid = nodes.start_again(s.node, namespace)?;
            observers.sinks.server.publish(&process(pid, None));
            observers.listen(s.node);
        }
    }
    Ok(())
}

/// The outages of one node as (from, until).
pub(super) fn of_node(s: &Resolved, node: NodeId) -> Vec<(Time, Time)> {
    s.outages.iter().filter(|o| o.node == node).map(|o| (o.from, o.until)).collect()
}
