//! The interface queue: strict priority over three classes, each first come, first served.

use std::collections::VecDeque;

use wayhop_core::{Addr, Frame};

/// One interface's queue.
#[derive(Clone, Debug, Default)]
pub struct InterfaceQueue {
    /// `None` until the first frame: most nodes of a large network never have one.
    frames: Option<Box<Frames>>,
    /// Frames in all classes: every call of a protocol asks for it.
    len: usize,
}

#[derive(Clone, Debug, Default)]
struct Frames {
    /// In the order in which they leave. Not a queue for each class: a node that only sends Hellos has memory for one frame.
    queue: VecDeque<Frame>,
    /// How many there are of each class.
    counts: [u32; 3],
}

impl Frames {
    /// How many frames leave before a new one of this class.
    fn before(&self, class: usize) -> usize {
        self.counts[..=class].iter().sum::<u32>() as usize
    }
}

impl InterfaceQueue {
    /// Adds a frame, or gives it back when its class already holds `limit`.
    pub fn push(&mut self, frame: Frame, limit: usize) -> Result<(), Frame> {
        let frames = self.frames.get_or_insert_default();
        let class = frame.priority as usize;
        if frames.counts[class] as usize >= limit {
            return Err(frame);
        }
        if frames.queue.capacity() == 0 {
            frames.queue.reserve_exact(1);
        }
        frames.queue.insert(frames.before(class), frame);
        frames.counts[class] += 1;
        self.len += 1;
        Ok(())
    }

    /// The next frame to send.
    #[inline]
    pub fn pop(&mut self) -> Option<Frame> {
        if self.len == 0 {
            return None;
        }
        let frames = self.frames.as_mut()?;
        let frame = frames.queue.pop_front()?;
        frames.counts[frame.priority as usize] -= 1;
        self.len -= 1;
        Some(frame)
    }

    /// Takes out the IP packets for a neighbour, in order.
    pub fn recall(&mut self, next_hop: Addr, mut taken: impl FnMut(Frame)) {
        let Some(frames) = &mut self.frames else { return };
        let mut i = 0;
        while i < frames.queue.len() {
            if frames.queue[i].next_hop == next_hop
                && !frames.queue[i].payload.is_resolution()
                && let Some(frame) = frames.queue.remove(i)
            {
                frames.counts[frame.priority as usize] -= 1;
                self.len -= 1;
                taken(frame);
            } else {
                i += 1;
            }
        }
    }

    /// Frames in all classes.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Frames in the fullest class.
    pub fn fullest_class(&self) -> usize {
        self.frames.iter().flat_map(|f| f.counts).max().unwrap_or(0) as usize
    }
    /// The frames in it, in the order in which they leave, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Frame> {
        self.frames.iter_mut().flat_map(|f| &mut f.queue)
    }
    /// The frames in it, in the order in which they leave.
    pub fn iter(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter().flat_map(|f| &f.queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::frame;
    use wayhop_core::{NodeId, Priority};

    #[test]
    fn control_leaves_before_data_and_order_holds_within_a_class() {
        let mut q = InterfaceQueue::default();
        for (id, p) in
            [(1, Priority::Data), (2, Priority::Control), (3, Priority::High), (4, Priority::Control)]
        {
            q.push(frame(id, 1, p), 50).unwrap();
        }
        let order: Vec<u64> = std::iter::from_fn(|| q.pop()).map(|f| f.packet.meta.id.0).collect();
        assert_eq!(order, [2, 4, 3, 1]);
    }

    #[test]
    fn a_full_class_refuses_and_others_do_not_suffer() {
        let mut q = InterfaceQueue::default();
        q.push(frame(1, 1, Priority::Data), 1).unwrap();
        assert_eq!(q.push(frame(2, 1, Priority::Data), 1).unwrap_err().packet.meta.id.0, 2);
        assert!(q.push(frame(3, 1, Priority::Control), 1).is_ok());
        assert_eq!((q.len(), q.fullest_class()), (2, 1));
    }

    #[test]
    fn recall_takes_one_neighbours_packets_only() {
        let mut q = InterfaceQueue::default();
        for (id, hop) in [(1, 1), (2, 2), (3, 1), (4, 1)] {
            q.push(frame(id, hop, Priority::Data), 50).unwrap();
        }
        let mut taken = vec![];
        q.recall(NodeId(1).default_addr().into(), |f| taken.push(f.packet.meta.id.0));
        assert_eq!((taken, q.len()), (vec![1, 3, 4], 1));
    }
}
