//! Which nodes are in range of each other under a disc model, and the exact moments at which that changes.
//!
//! Two nodes are linked while their distance is less than the range: the rule of ns-2's `setdest`, whose `$god_
//! set-dist` lines assume 250 m.
//!
//! Nodes that move side by side at the range exactly are not linked, whatever rounding says at the moment: the edge lies a
//! part in 10^12 within the range (0.1 nm of 250 m), a thousand times what rounding moves positions by and a thousandth
//! of what the fastest car drives in a nanosecond.

use wayhop_core::{Position, Time};

use crate::{Leg, Track};

/// The range that `setdest` assumes, metres.
pub const NS2_RANGE_M: f64 = 250.0;

/// The square of the distance below which nodes are linked.
fn edge_squared(range: f64) -> f64 {
    range * range * (1.0 - 2e-12)
}

/// A pair of nodes comes into range or leaves it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkChange {
    /// When.
    pub at: Time,
    /// The lower of the two nodes.
    pub a: u32,
    /// The higher.
    pub b: u32,
    /// Into range, or out of it.
    pub up: bool,
}

/// For every node the nodes in range, in ascending order. Takes time in proportion to the pairs in range, not to all.
pub fn neighbours(at: &[Position], range: f64) -> Vec<Vec<u32>> {
    let edge = edge_squared(range);
    let cell = |p: &Position| [p.x, p.y].map(|c| (c / range).floor() as i64);
    let mut cells: Vec<([i64; 2], u32)> = at.iter().enumerate().map(|(i, p)| (cell(p), i as u32)).collect();
    cells.sort_unstable();
    at.iter()
        .enumerate()
        .map(|(i, p)| {
            let [cx, cy] = cell(p);
            let mut near = Vec::new();
            for x in cx.saturating_sub(1)..=cx.saturating_add(1) {
                let first = cells.partition_point(|(c, _)| *c < [x, cy.saturating_sub(1)]);
                near.extend(
                    cells[first..]
                        .iter()
                        .take_while(|(c, _)| *c <= [x, cy.saturating_add(1)])
                        .map(|&(_, j)| j)
                        .filter(|&j| j as usize != i)
                        .filter(|&j| p.distance_squared(at[j as usize]) < edge),
                );
            }
            near.sort_unstable();
            near
        })
        .collect()
}

/// Every change of a link after time zero and before `until`, in order of (time, a, b): the roots of the quadratic that
/// each pair of legs makes.
pub fn changes(tracks: &[Track], range: f64, until: Time) -> Vec<LinkChange> {
    changes_up_to(tracks, range, until, usize::MAX).unwrap_or_default()
}

/// The same; `None` if there are more than `most`.
pub fn changes_up_to(tracks: &[Track], range: f64, until: Time, most: usize) -> Option<Vec<LinkChange>> {
    let boxes: Vec<_> = tracks.iter().map(|t| bounds(t, until)).collect();
    // Sorted by west edge, so that each node meets only those that ever come near it along x.
    let mut order: Vec<u32> = (0..tracks.len() as u32).collect();
    order.sort_by(|&a, &b| boxes[a as usize].0.x.total_cmp(&boxes[b as usize].0.x));
    let mut out = Vec::new();
    for (k, &i) in order.iter().enumerate() {
        let (lo, hi) = boxes[i as usize];
        for &j in &order[k + 1..] {
            let (other_lo, other_hi) = boxes[j as usize];
            if other_lo.x > hi.x + range {
                break;
            }
            if other_lo.y <= hi.y + range && lo.y <= other_hi.y + range {
                let (a, b) = (i.min(j), i.max(j));
                pair_changes(&tracks[a as usize], &tracks[b as usize], range, until, |at, up| {
                    out.push(LinkChange { at, a, b, up });
                });
            }
        }
        if out.len() > most {
            return None;
        }
    }
    out.sort_unstable();
    Some(out)
}

/// The changes of the links of some nodes, with each other and with all others, in the same order. Takes time in proportion to
/// `of` times all nodes.
pub fn changes_of(tracks: &[Track], of: &[u32], range: f64, until: Time) -> Vec<LinkChange> {
    let boxes: Vec<_> = tracks.iter().map(|t| bounds(t, until)).collect();
    let mut is_done = vec![false; tracks.len()];
    let mut out = Vec::new();
    for &i in of {
        is_done[i as usize] = true;
        let (lo, hi) = boxes[i as usize];
        let apart = |(l, h): (Position, Position)| {
            l.x > hi.x + range || lo.x > h.x + range || l.y > hi.y + range || lo.y > h.y + range
        };
        for j in (0..tracks.len()).filter(|&j| !is_done[j] && !apart(boxes[j])) {
            let (a, b) = (i.min(j as u32), i.max(j as u32));
            pair_changes(&tracks[a as usize], &tracks[b as usize], range, until, |at, up| {
                out.push(LinkChange { at, a, b, up });
            });
        }
    }
    out.sort_unstable();
    out
}

/// The box that a node never leaves.
fn bounds(track: &Track, until: Time) -> (Position, Position) {
    let first = track.position(Time::ZERO);
    let (mut lo, mut hi) = (first, first);
    for leg in track.legs().iter().take_while(|l| l.from <= until) {
        for p in [leg.start, leg.position(leg.until.min(until))] {
            lo = Position { x: lo.x.min(p.x), y: lo.y.min(p.y), z: lo.z.min(p.z) };
            hi = Position { x: hi.x.max(p.x), y: hi.y.max(p.y), z: hi.z.max(p.z) };
        }
    }
    (lo, hi)
}

fn pair_changes(a: &Track, b: &Track, range: f64, until: Time, mut emit: impl FnMut(Time, bool)) {
    let (mut i, mut j) = (0, 0);
    let mut now = Time::ZERO;
    let mut linked = None;
    let mut pending: Option<(Time, bool)> = None;
    let mut change = |at: Time, up: bool| {
        // Up and down within one nanosecond is a touch, not a link.
        match pending.take() {
            Some((t, _)) if t == at => {}
            Some((t, u)) => {
                emit(t, u);
                pending = Some((at, up));
            }
            None => pending = Some((at, up)),
        }
    };
    while now < until {
        let (la, lb) = (&a.legs()[i], &b.legs()[j]);
        let end = la.until.min(lb.until).min(until);
        let m = Relative::new(la, lb, now, range);
        let inside = m.c < 0.0;
        if linked.is_some_and(|was| was != inside) {
            change(now, inside);
        }
        let mut is = inside;
        if let Some(roots) = m.roots() {
            for (root, up) in roots {
                let at = now + wayhop_core::Span::from_secs_f64(root);
                if up != is && root > 0.0 && at < end {
                    change(at, up);
                    is = up;
                }
            }
        }
        linked = Some(is);
        if la.until == end {
            i += 1;
        }
        if lb.until == end {
            j += 1;
        }
        now = end;
    }
    if let Some((t, up)) = pending {
        emit(t, up);
    }
}

/// The square of the distance less that of the edge, `a t^2 + 2 b t + c`, in seconds since the segment began.
struct Relative {
    a: f64,
    b: f64,
    c: f64,
}

impl Relative {
    fn new(p: &Leg, q: &Leg, now: Time, range: f64) -> Self {
        let (pp, qp) = (p.position(now), q.position(now));
        let d = [qp.x - pp.x, qp.y - pp.y, qp.z - pp.z];
        let v: [f64; 3] = std::array::from_fn(|k| q.velocity[k] - p.velocity[k]);
        let dot = |x: [f64; 3], y: [f64; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        Self { a: dot(v, v), b: dot(d, v), c: dot(d, d) - edge_squared(range) }
    }
    /// When the pair comes into range and when it leaves it, in that order; none if it never crosses the edge.
    fn roots(&self) -> Option<[(f64, bool); 2]> {
        let disc = self.b * self.b - self.a * self.c;
        if self.a <= 0.0 || disc <= 0.0 {
            return None;
        }
        // The form without cancellation.
        let q = -(self.b + disc.sqrt().copysign(self.b));
        let (t1, t2) = (q / self.a, self.c / q);
        Some([(t1.min(t2), true), (t1.max(t2), false)])
    }
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
