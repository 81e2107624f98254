//! Where and when packets ended, as far as a picture can show them.

use crate::frame::FrameBuilder;
use crate::motion::Motion;
use crate::words::Words;

/// Losses that are kept.
const MOST_LOSSES: usize = 1 << 16;

#[derive(Copy, Clone, Debug)]
struct Loss {
    time_ns: i64,
    node: i32,
    packet: i64,
    reason: u8,
}

/// The losses of a run, the first of them if there are many.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    list: Vec<Loss>,
    reasons: Words,
    more: bool,
}

impl Losses {
    pub(crate) fn add(&mut self, time_ns: i64, node: i32, packet: Option<i64>, reason: Option<&[u8]>) {
        if self.list.len() >= MOST_LOSSES {
            self.more = true;
            return;
        }
        let reason = self.reasons.number(reason);
        self.list.push(Loss { time_ns, node, packet: packet.unwrap_or(-1), reason });
    }

    /// Puts the losses of one node, or of all, with the places of the nodes then, where the run says them. Returns how many there are.
    pub(crate) fn put(&self, frame: &mut FrameBuilder, motion: &Motion, node: Option<usize>) -> usize {
        let of = |l: &&Loss| node.is_none_or(|n| i32::try_from(n) == Ok(l.node));
        let list: Vec<&Loss> = self.list.iter().filter(of).collect();
        frame.set("more", self.more);
        frame.set("reasons", self.reasons.list());
        let places: Vec<_> = list.iter().map(|l| motion.place(l.node, l.time_ns)).collect();
        frame.f64s("time_ns", list.iter().map(|l| l.time_ns as f64));
        frame.f64s("packet", list.iter().map(|l| l.packet as f64));
        for (axis, name) in ["x", "y"].into_iter().enumerate() {
            frame.f64s(name, places.iter().map(|p| p.map_or(f64::NAN, |p| p[axis])));
        }
        frame.i32s("node", list.iter().map(|l| l.node));
        frame.u8s("reason", list.iter().map(|l| l.reason));
        list.len()
    }
}
