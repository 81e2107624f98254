//! `$god_ set-dist` lines: the shortest hop counts that `setdest` wrote, compared with our own geometry.

use wayhop_core::{Span, Time};
use wayhop_world::links::{self, NS2_RANGE_M};
use wayhop_world::{HopTable, Track};

/// ns-2's hop count for "no path".
pub(super) const UNREACHABLE: u32 = 0x00ff_ffff;

/// All pairs of more nodes are not compared: the table grows with the square.
pub(super) const MAX_NODES_IN_TABLE: usize = 1_000;

/// How many entries of the table may be computed to check a file: seconds of work. Files with more
/// moments are sampled.
const MAX_WORK: usize = 20_000_000;

/// How far a line's time may be from our own moment of the change: `setdest` rounds at 1e-9 s and adds up.
const TOLERANCE: Span = Span::from_micros(1);

/// One line, by the file's ids.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct GodLine {
    pub(super) at: Time,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) hops: u32,
}

/// Our count in ns-2's terms.
pub(super) fn ns2_hops(table: &HopTable, a: usize, b: usize) -> u32 {
    match table.hops(a, b) {
        wayhop_world::UNREACHABLE => UNREACHABLE,
        h => u32::from(h),
    }
}

/// A warning about lines that differ from discs of 250 m around the tracks; none if all agree.
pub(super) fn check(
    lines: &[GodLine],
    tracks: &[Track],
    index: impl Fn(u32) -> Option<u32>,
) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    if tracks.len() > MAX_NODES_IN_TABLE {
        return Some(format!(
            "$god_ set-dist lines are only checked for up to {MAX_NODES_IN_TABLE} nodes: {} lines not checked",
            lines.len()
        ));
    }
    let mut lines: Vec<GodLine> = lines.to_vec();
    lines.sort_by_key(|l| l.at);
    let last = lines.last().map_or(Time::ZERO, |l| l.at);
    let mut ours = Ours::new(tracks, last + TOLERANCE + TOLERANCE, index);
    let moments: Vec<&[GodLine]> = lines.chunk_by(|x, y| x.at == y.at).collect();
    let stride = (moments.len() * tracks.len() * tracks.len()).div_ceil(MAX_WORK).max(1);
    let (mut looked_at, mut differing, mut examples) = (0, 0, Vec::new());
    for group in moments.into_iter().step_by(stride) {
        looked_at += group.len();
        for line in ours.differing(group) {
            differing += 1;
            if examples.len() < 3 {
                examples.push(ours.describe(line));
            }
        }
    }
    (differing > 0).then(|| {
        let all = if stride > 1 { format!("{looked_at} checked (of {})", lines.len()) } else { lines.len().to_string() };
        format!(
            "{differing} of {all} $god_ set-dist lines differ from the geometry of the movement with links of 250 m: {}{}",
            examples.join("; "),
            if differing > examples.len() { "; ..." } else { "" }
        )
    })
}

struct Ours<F> {
    /// The index of the node with a number of the file.
    index: F,
    table: HopTable,
    changes: Vec<links::LinkChange>,
    next: usize,
}

impl<F: Fn(u32) -> Option<u32>> Ours<F> {
    fn new(tracks: &[Track], until: Time, index: F) -> Self {
        let start: Vec<_> = tracks.iter().map(|t| t.position(Time::ZERO)).collect();
        Self {
            index,
            table: HopTable::new(links::neighbours(&start, NS2_RANGE_M)),
            changes: links::changes(tracks, NS2_RANGE_M, until),
            next: 0,
        }
    }

    fn advance(&mut self, t: Time) {
        let end = self.next + self.changes[self.next..].partition_point(|c| c.at <= t);
        if end > self.next {
            self.table.apply(&self.changes[self.next..end]);
            self.next = end;
        }
    }

    /// Applies the changes of the next moment, if that is not after `limit`.
    fn step(&mut self, limit: Time) -> bool {
        match self.changes.get(self.next) {
            Some(c) if c.at <= limit => {
                self.advance(c.at);
                true
            }
            _ => false,
        }
    }

    /// The lines of one moment that say something that does not hold at any moment close to it.
    fn differing<'l>(&mut self, group: &'l [GodLine]) -> Vec<&'l GodLine> {
        let at = group[0].at;
        self.advance(if at == Time::ZERO { at } else { at - TOLERANCE });
        let mut open: Vec<&GodLine> = group.iter().filter(|l| !self.agrees(l)).collect();
        while !open.is_empty() && self.step(at + TOLERANCE) {
            open.retain(|l| !self.agrees(l));
        }
        open
    }

    fn hops(&self, line: &GodLine) -> Option<u32> {
        let index = |id: u32| (self.index)(id).map(|i| i as usize);
        Some(ns2_hops(&self.table, index(line.a)?, index(line.b)?))
    }

    fn agrees(&self, line: &GodLine) -> bool {
        self.hops(line) == Some(line.hops)
    }

    fn describe(&self, line: &GodLine) -> String {
        let word = |h| if h == UNREACHABLE { "no path".to_owned() } else { format!("{h} hops") };
        let what = match self.hops(line) {
            Some(ours) => format!("{} in the file, {} by the movement", word(line.hops), word(ours)),
            None => "no such node".to_owned(),
        };
        format!("at {} s nodes {} and {}: {what}", line.at.as_secs_f64(), line.a, line.b)
    }
}
