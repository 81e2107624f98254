//! How long queues, caches and tables are over the time of a run: the table `sizes`.

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
        let mut sizes = Sizes::default();
        while self.next_look <= now {
            for node in 0..self.net.nodes.len() as u32 {
                self.look(self.next_look, node, &mut sizes);
            }
            self.next_look += every;
        }
    }

    fn look(&mut self, time: Time, node: u32, sizes: &mut Sizes) {
        let n = &self.net.nodes[node as usize];
        let recorder = &mut self.net.common.recorder;
        let mut record = |what, iface, count| {
            recorder.size(&SizeEvent { time, node: NodeId(node), what, iface, count });
        };
        for iface in (0..n.interfaces()).map(IfaceId) {
            record("queue", iface, n.queued(iface) as u64);
        }
        sizes.clear();
        n.inspect(time, sizes);
        sizes.iter().for_each(|(what, count)| record(what, IfaceId::ANY, count));
        let routes = n.table().rows().count() as u64;
        if routes > 0 {
            record("forwarding", IfaceId::ANY, routes);
        }
    }
}
