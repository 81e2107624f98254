//! Clocks that were set while they ran, or stood still: what two clocks say of the same frames jumps.

use std::collections::BTreeMap;

use crate::observation::{Observation, ObservationKind};

/// Frames on either side of a jump that must agree.
const SIDE: usize = 7;
/// The least jump that is looked for, microseconds: waiting for the medium looks like a smaller one.
const LEAST_US: f64 = 20_000.0;
/// How far apart two clocks drift at most, microseconds a second: NTP's own limit.
const DRIFT_US_A_S: f64 = 500.0;
/// Frames on either side of a jump that are looked at for each direction, to see whether waiting explains it.
const WITNESSES: usize = 40;
/// Two nodes receive the same frame at the same time, give or take what their hosts take, microseconds.
const HOSTS_US: f64 = 10_000.0;
/// Settings of clocks that are looked for at most.
const MOST: usize = 64;

/// A jump between two clocks: after which time and before which, by each of them.
#[derive(Copy, Clone, Debug)]
struct Jump {
    nodes: [usize; 2],
    after_ns: [u64; 2],
    before_ns: [u64; 2],
}

/// When each node's clock was set, by its own time after it, in order.
pub(crate) fn steps(nodes: usize, reference: usize, all: &[Observation]) -> Vec<Vec<u64>> {
    let mut pairs: BTreeMap<[usize; 2], Vec<Sample>> = BTreeMap::new();
    for o in all {
        let swapped = o.from > o.to;
        let key = if swapped { [o.to, o.from] } else { [o.from, o.to] };
        let times = if swapped { [o.to_ns, o.from_ns] } else { [o.from_ns, o.to_ns] };
        let difference_us = (i128::from(times[1]) - i128::from(times[0])) as f64 / 1e3;
        let way = match o.kind {
            ObservationKind::Heard => FrameHop::Both,
            _ if swapped => FrameHop::Back,
            _ => FrameHop::There,
        };
        pairs.entry(key).or_default().push(Sample { times, difference_us, way });
    }
    let mut jumps = Vec::new();
    for (nodes, mut samples) in pairs {
        samples.sort_by_key(|s| s.times);
        jumps.extend(jumps_of(nodes, &samples));
    }
    let mut found = vec![Vec::new(); nodes];
    // The node jumped that most neighbours see jumping; of two nodes alone it is not the reference.
    for _ in 0..MOST {
        let suspects = (0..nodes).filter_map(|n| Some((n, blamed(n, &jumps)?)));
        let Some((node, blamed)) = suspects.max_by_key(|(n, b)| (b.jumps.len(), *n != reference, *n)) else {
            break;
        };
        found[node].push(blamed.at_ns);
        let mut places = 0..;
        jumps.retain(|_| places.next().is_some_and(|place| !blamed.jumps.contains(&place)));
    }
    for list in &mut found {
        list.sort_unstable();
        list.dedup();
    }
    found
}

#[derive(Copy, Clone, Debug)]
struct Sample {
    times: [u64; 2],
    difference_us: f64,
    way: FrameHop,
}

/// From which node to which a frame went.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum FrameHop {
    /// From the first to the second: waiting makes the difference larger.
    There,
    /// From the second to the first: waiting makes it smaller.
    Back,
    /// Both received it: nothing that waits is between them.
    Both,
}

/// The jumps in what two clocks say.
fn jumps_of(nodes: [usize; 2], samples: &[Sample]) -> Vec<Jump> {
    let mut found = Vec::new();
    let mut k = SIDE;
    while k + SIDE <= samples.len() {
        if let Some(size) = jump_at(samples, k) {
            // Medians see it from some frames before it to some after it: it is where neighbours differ most.
            let near = k..(k + SIDE).min(samples.len());
            let step = |i: usize| (samples[i].difference_us - samples[i - 1].difference_us).abs();
            let at = near.max_by(|a, b| step(*a).total_cmp(&step(*b))).unwrap_or(k);
            if step(at) > 0.5 * size.abs() && is_proven(samples, at) {
                let (a, b) = (samples[at - 1].times, samples[at].times);
                found.push(Jump { nodes, after_ns: a, before_ns: b });
                k = at + SIDE;
                continue;
            }
        }
        k += 1;
    }
    found
}

/// By how much what frames before a place say and what those from it on say differ, if that is more than chance and drift.
fn jump_at(samples: &[Sample], k: usize) -> Option<f64> {
    let (before, after) = (&samples[k - SIDE..k], &samples[k..k + SIDE]);
    let ((left, left_spread), (right, right_spread)) = (median(before), median(after));
    let passed_s = after[SIDE - 1].times[0].saturating_sub(before[0].times[0]) as f64 / 1e9;
    let least = LEAST_US + 8.0 * left_spread.max(right_spread) + DRIFT_US_A_S * passed_s;
    let jump = right - left;
    (jump.abs() > least).then_some(jump)
}

/// Whether no waiting of frames explains that what clocks say changes here: queues make frames late, but never early. What frames
/// of one direction say is above the difference of the clocks, and what those of the other say below it; so the clocks jumped if
/// the one is below what the other was on the other side.
fn is_proven(samples: &[Sample], at: usize) -> bool {
    let (before, after) = samples.split_at(at);
    let (before, after) =
        (between(before.iter().rev().take(2 * WITNESSES)), between(after.iter().take(2 * WITNESSES)));
    let passed_s = (after.until_ns.saturating_sub(before.from_ns)) as f64 / 1e9;
    let drift_us = DRIFT_US_A_S * passed_s;
    let exceeds =
        |low: Option<f64>, high: Option<f64>| low.zip(high).is_some_and(|(low, high)| low > high + drift_us);
    exceeds(after.low_us, before.high_us) || exceeds(before.low_us, after.high_us)
}

/// Between what the difference of two clocks is, as far as frames tell.
struct Between {
    low_us: Option<f64>,
    high_us: Option<f64>,
    from_ns: u64,
    until_ns: u64,
}

fn between<'a>(samples: impl Iterator<Item = &'a Sample>) -> Between {
    let (mut above, mut below) = (Vec::new(), Vec::new());
    let (mut from_ns, mut until_ns) = (u64::MAX, 0);
    for s in samples {
        from_ns = from_ns.min(s.times[0]);
        until_ns = until_ns.max(s.times[0]);
        match s.way {
            FrameHop::There => above.push(s.difference_us),
            FrameHop::Back => below.push(s.difference_us),
            FrameHop::Both => {
                above.push(s.difference_us + HOSTS_US);
                below.push(s.difference_us - HOSTS_US);
            }
        }
    }
    // Not the least and the greatest: some frames are mistaken for others.
    let share = |all: &mut Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.len() / 5
    };
    let (low, high) = (share(&mut below), share(&mut above));
    Between {
        low_us: below.len().checked_sub(1 + low).map(|i| below[i]),
        high_us: above.get(high).copied(),
        from_ns,
        until_ns,
    }
}

fn median(samples: &[Sample]) -> (f64, f64) {
    let middle = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let mut values: Vec<f64> = samples.iter().map(|s| s.difference_us).collect();
    let at = middle(&mut values);
    let mut distances: Vec<f64> = values.iter().map(|v| (v - at).abs()).collect();
    (at, middle(&mut distances))
}

/// The jumps that one setting of a node's clock explains.
struct ExplainedJumps {
    jumps: Vec<usize>,
    at_ns: u64,
}

/// The most jumps with different neighbours that one setting of this node's clock explains.
fn blamed(node: usize, jumps: &[Jump]) -> Option<ExplainedJumps> {
    let own = |j: &Jump| {
        let side = j.nodes.iter().position(|n| *n == node)?;
        Some((j.after_ns[side], j.before_ns[side]))
    };
    let mut best: Option<ExplainedJumps> = None;
    for j in jumps {
        let Some((_, at_ns)) = own(j) else { continue };
        let explains = |j: &Jump| own(j).is_some_and(|(after, before)| after < at_ns && at_ns <= before);
        let explained: Vec<usize> = (0..jumps.len()).filter(|i| explains(&jumps[*i])).collect();
        if best.as_ref().is_none_or(|b| explained.len() > b.jumps.len()) {
            best = Some(ExplainedJumps { jumps: explained, at_ns });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of two nodes that speak in turn, 50 ms apart; each is on its way for a millisecond and what `waits_us` says of its
    /// number and direction. The second clock is ahead by what `ahead_us` says.
    fn frames(waits_us: impl Fn(u64, bool) -> u64, ahead_us: impl Fn(u64) -> u64) -> Vec<Observation> {
        (0..200)
            .map(|i| {
                let there = i % 2 == 0;
                let sent = 10_000_000 + i * 50_000;
                let received = sent + 1_000 + waits_us(i, there);
                let (from_us, to_us) =
                    if there { (sent, received + ahead_us(i)) } else { (sent + ahead_us(i), received) };
                let (from, to) = if there { (0, 1) } else { (1, 0) };
                let (from_ns, to_ns) = (from_us * 1_000, to_us * 1_000);
                Observation {
                    kind: ObservationKind::Unicast,
                    from,
                    from_ns,
                    to,
                    to_ns,
                    bytes: 100,
                    hops: 1,
                    forwarders: 0,
                    frame: i,
                }
            })
            .collect()
    }

    #[test]
    fn a_clock_that_was_set_jumps() {
        let all = frames(|_, _| 0, |i| if i < 100 { 0 } else { 200_000 });
        let found = steps(2, 0, &all);
        assert_eq!((found[0].len(), found[1].len()), (0, 1));
    }

    #[test]
    fn frames_that_wait_in_a_queue_are_no_jump() {
        // A burst of packets fills the first node's queue for some seconds.
        let all = frames(|i, there| if there && (80..140).contains(&i) { 400_000 } else { 0 }, |_| 0);
        assert!(steps(2, 0, &all).iter().all(Vec::is_empty));
        let one_way: Vec<Observation> = all.into_iter().filter(|o| o.from == 0).collect();
        assert!(steps(2, 0, &one_way).iter().all(Vec::is_empty));
    }
}
