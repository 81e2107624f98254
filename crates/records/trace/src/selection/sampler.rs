//! The choice of rows.

use rustc_hash::FxHashSet;
use wayhop_core::mix;

use super::{Halvings, Selection, Subject};

/// Chooses the rows that a run writes.
pub(crate) struct Sampler {
    nodes: Option<FxHashSet<u32>>,
    flows: Option<FxHashSet<u32>>,
    /// Things whose hash is above are left out; `None` leaves out all of them.
    most: Option<u64>,
}

impl Sampler {
    pub(crate) fn new(selection: &Selection) -> Self {
        let nodes = selection.nodes.as_ref().map(|nodes| nodes.iter().map(|n| n.0).collect());
        let flows = selection.flows.as_ref().map(|flows| flows.iter().copied().collect());
        Self { nodes, flows, most: Some(u64::MAX) }
    }

    /// Keeps a share of all packets and nodes from now on.
    pub(crate) fn thin(&mut self, halvings: Halvings) {
        self.most = halvings.map(|n| u64::MAX.checked_shr(n.get()).unwrap_or(0));
    }

    /// The rows to write: all of them, or a copy of those that are chosen, in `room`.
    pub(crate) fn choose<'a, R: Subject + Clone>(&self, rows: &'a [R], room: &'a mut Vec<R>) -> &'a [R] {
        if self.nodes.is_none() && self.flows.is_none() && self.most == Some(u64::MAX) {
            return rows;
        }
        room.extend(rows.iter().filter(|row| self.keeps(*row)).cloned());
        room
    }

    fn keeps(&self, row: &impl Subject) -> bool {
        self.nodes.as_ref().is_none_or(|nodes| row.is_of_node(&|n| nodes.contains(&n.0)))
            && self.flows.as_ref().is_none_or(|flows| row.is_of_flow(&|f| flows.contains(&f)))
            && row.thinned_by().is_none_or(|id| self.most.is_some_and(|most| mix(id) <= most))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use wayhop_core::{NodeId, PacketId};

    use super::*;
    use crate::fixture::hop;

    #[test]
    fn a_packet_is_kept_or_left_out_as_a_whole_and_fewer_are_a_subset() {
        let rows: Vec<_> =
            (0..40_000).map(|i| crate::HopEvent { packet: PacketId(i / 4), ..hop(i) }).collect();
        let mut sampler = Sampler::new(&Selection::default());
        let mut before: Option<FxHashSet<u64>> = None;
        for halvings in 1..6 {
            sampler.thin(NonZeroU32::new(halvings));
            let mut room = Vec::new();
            let kept = sampler.choose(&rows, &mut room);
            let packets: FxHashSet<u64> = kept.iter().map(|e| e.packet.0).collect();
            assert_eq!(kept.len(), 4 * packets.len(), "all four rows of each");
            let expected = 10_000 >> halvings;
            assert!(
                packets.len().abs_diff(expected) < 4 * expected.isqrt(),
                "{} of {expected}",
                packets.len()
            );
            assert!(before.is_none_or(|all| packets.is_subset(&all)));
            before = Some(packets);
        }
        sampler.thin(None);
        assert!(sampler.choose(&rows, &mut Vec::new()).is_empty());
    }

    #[test]
    fn rows_have_to_be_of_a_chosen_node_and_of_a_chosen_flow() {
        let row = |node, flow: Option<u32>| crate::HopEvent {
            node: NodeId(node),
            flow: flow.map(|flow| wayhop_core::FlowTag { flow, seq: 0 }),
            signal_dbm: -60.0,
            ..hop(0)
        };
        let rows = [row(1, Some(7)), row(1, Some(8)), row(2, Some(7)), row(1, None)];
        let chosen = |nodes: Option<&[u32]>, flows: Option<&[u32]>| {
            let selection = Selection {
                nodes: nodes.map(|n| n.iter().map(|n| NodeId(*n)).collect()),
                flows: flows.map(<[u32]>::to_vec),
                ..Selection::default()
            };
            let mut room = Vec::new();
            Sampler::new(&selection).choose(&rows, &mut room).to_vec()
        };
        assert_eq!(chosen(None, None), rows);
        assert_eq!(chosen(Some(&[2]), None), rows[2..3]);
        assert_eq!(chosen(None, Some(&[7])), [rows[0], rows[2]]);
        assert_eq!(chosen(Some(&[1, 2]), Some(&[8])), rows[1..2]);
    }
}
