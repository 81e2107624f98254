//! Interface queues that are not served for a while: deliberate congestion (Maltz, Broch and Johnson 1999, section
//! 6.3).

use wayhop_core::{NodeId, Span, Time};
use wayhop_document::{Result, in_range};
use wayhop_simulator_files::MAX_DURATION_S;

use super::Stall;
use crate::interfaces::{self, Attachment, Interfaces};
use crate::nodes::Placement;

/// When a node's driver does not serve its interface queue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct QueueStall {
    /// The node.
    pub node: NodeId,
    /// The interface; `None` for all of the node's.
    pub interface: Option<Attachment>,
    /// When it stops for the first time.
    pub from: Time,
    /// For how long.
    pub length: Span,
    /// From one stop to the next; `None` for a single one.
    pub every: Option<Span>,
}

pub(crate) fn resolve(placed: &Placement<'_>, interfaces: &Interfaces) -> Result<Vec<QueueStall>> {
    let doc = placed.doc();
    let one = |(k, s): (usize, &Stall)| {
        let key = |field: &str| format!("stalls[{k}].{field}");
        in_range(doc, &key("start_s"), s.start_s, 0.0, MAX_DURATION_S)?;
        in_range(doc, &key("length_s"), s.length_s, 1e-6, MAX_DURATION_S)?;
        let every_s = in_range(doc, &key("every_s"), s.every_s, 1e-6, MAX_DURATION_S)?;
        if let Some(every) = every_s.filter(|every| *every <= s.length_s) {
            let length = s.length_s;
            let reason = format!("an interval of {every} s is not longer than the stall of {length} s");
            return Err(doc.error(&key("every_s"), reason, "set it above length_s"));
        }
        let node = placed.find(&s.node, &key("node"))?;
        let find = |name: &String| interfaces::find(doc, interfaces, node, name, &key("interface"));
        Ok(QueueStall {
            node,
            interface: s.interface.as_ref().map(find).transpose()?,
            from: Time::from_secs_f64(s.start_s),
            length: Span::from_secs_f64(s.length_s),
            every: s.every_s.map(Span::from_secs_f64),
        })
    };
    placed.scenario.stalls.iter().enumerate().map(one).collect()
}
