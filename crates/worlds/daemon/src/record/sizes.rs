//! The sizes of the node's queues and tables, once a second: for its run directory, and for subscribers.

use wayhop_core::{IfaceId, NodeId, Sizes};
use wayhop_trace::SizeEvent;

use crate::config::number::NODE;
use crate::node::host::Host;

impl Host {
    /// Writes down and tells the sizes, if somebody wants to know.
    pub(crate) fn record_sizes(&mut self) {
        if self.around.run.is_none() && !self.around.events.wants_sizes {
            return;
        }
        let time = self.now();
        let row = |what, iface, count| SizeEvent { time, node: NodeId(NODE), what, iface, count };
        let mut rows: Vec<_> = self.ifaces().map(|i| row("queue", i, self.node.queued(i) as u64)).collect();
        let mut sizes = Sizes::default();
        self.node.inspect(time, &mut sizes);
        let neighbours = self.ifaces().map(|i| self.node.neighbours(i).count() as u64).sum();
        let routes = self.node.table().rows().count() as u64;
        let own = [("forwarding", routes), ("link_addresses", neighbours)];
        let all = sizes.iter().chain(own.into_iter().filter(|(_, n)| *n > 0));
        rows.extend(all.map(|(what, count)| row(what, IfaceId::ANY, count)));
        if let Some(run) = &mut self.around.run {
            for e in &rows {
                run.size(*e);
            }
        }
        self.around.events.sizes(time, &rows);
    }
}
