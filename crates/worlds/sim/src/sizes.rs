//! The sizes of queues, caches and tables over the time of a run: the table `sizes`, for followers as well.

use wayhop_core::{IfaceId, NodeId, Sizes, Span, Time};
use wayhop_trace::SizeEvent;

use crate::simulation::Simulation;

/// A run is looked at so often, but not more than once a second: enough for a chart, and cheap beside the events between two looks.
const LOOKS: u64 = 200;
const AT_LEAST: Span = Span::from_secs(1);

impl Simulation {
    /// Writes down the sizes at the times to look up to `now`. Nothing has happened since then, or it is the end.
    #[cold]
    pub(crate) fn look_until(&mut self, now: Time) {
        let every = Span::from_nanos(self.end.as_nanos() / LOOKS).max(AT_LEAST);
        let mut rows = Vec::new();
        while self.next_look <= now {
            for node in 0..self.nodes() {
                self.look(self.next_look, node, &mut rows);
                rows.drain(..).for_each(|row| self.net.common.recorder.size(&row));
            }
            self.next_look += every;
        }
    }

    /// How long a node's queues and tables are now: its rows of the table `sizes`.
    pub fn sizes(&self, node: u32) -> Vec<SizeEvent> {
        let mut rows = Vec::new();
        self.look(self.now, node, &mut rows);
        rows
    }

    fn look(&self, time: Time, node: u32, rows: &mut Vec<SizeEvent>) {
        let n = &self.net.nodes[node as usize];
        let mut record =
            |what, iface, count| rows.push(SizeEvent { time, node: NodeId(node), what, iface, count });
        for iface in (0..n.interfaces()).map(IfaceId) {
            record("queue", iface, n.queued(iface) as u64);
        }
        let mut sizes = Sizes::default();
        n.inspect(time, &mut sizes);
        sizes.iter().for_each(|(what, count)| record(what, IfaceId::ANY, count));
        let routes = n.table().rows().count() as u64;
        let mut own = vec![("forwarding", routes)];
        if let Some(applications) = &self.net.common.applications {
            applications.sizes(node, |what, count| own.push((what, count)));
        }
        own.into_iter().filter(|(_, n)| *n > 0).for_each(|(what, count)| record(what, IfaceId::ANY, count));
    }
}
