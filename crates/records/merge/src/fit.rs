//! Fits all clocks at once, from frames seen by pairs of them.
//!
//! A frame that i sends at Li and j receives at Lj, each by its own clock, says
//!
//! ```text
//! (Lj + cj(Lj)) - (Li + ci(Li)) = delay
//! ```
//!
//! where c is the correction of a clock: a line for each part of the run in which the clock was not set. The delay has a least
//! part that is the same for all nodes and both directions, and a part by chance, which only ever makes it longer. The least part
//! is a constant and so much for each octet, one pair of numbers for unicasts and one for broadcasts, and what forwarders add, who
//! still acknowledge the frame that they forward; a packet that crossed nodes whose runs are missing takes it once for each hop.
//! So the fit is a regression to the third percentile of the delays, not to their mean: queues, retransmissions and busy hosts
//! hardly move it, and frames that were mistaken for others do not either. Two nodes that receive the same frame do so at the same
//! time, give or take what their hosts take: there the fit is to the median. Each kind of observation weighs by how little its own
//! times scatter.
//!
//! The quantiles are found by iteratively reweighted least squares; the loss is convex, so there is
//! one answer. The standard error is that of the jackknife: the fit without each of several parts
//! of the run, since what makes frames late lasts for a while and is not independent for each
//! frame. A node whose frames are not in all parts - one that was killed soon - would be left
//! without many of its own, or all, in one of them: there the parts are those of its own frames.

use wayhop_core::NormalEquations;

use crate::clock::Clock;
use crate::observation::{Observation, ObservationKind};

/// Kinds of observations; `ObservationKind::ALL` has their order.
const KINDS: usize = ObservationKind::ALL.len();
/// Parts of the run; each is left out once.
const GROUPS: u64 = 8;
/// Observations that are used at most: further ones are left out evenly.
const MOST: usize = 40_000;
/// Turns until the weights have settled.
const TURNS: usize = 80;
/// Fits without a group begin near their end.
const FURTHER_TURNS: usize = 20;
/// A turn that changes less than this, microseconds, is the last one.
const SETTLED_US: f64 = 0.005;
/// By kind, the quantile of the delays that the fit goes through; of two receptions, of their difference.
const QUANTILES: [f64; KINDS] = [0.03, 0.03, 0.03, 0.5, 0.03];
/// What is expected of clocks and delays before any frame, as standard deviations: quartz is good to some tens of ppm; the least
/// delay may be anything up to a second; an octet takes some microseconds at 1 Mb/s.
const DRIFT_PPM: f64 = 200.0;
const DELAY_US: f64 = 1e6;
const OCTET_US: f64 = 16.0;
/// What a forwarder waits longer than a source is about an acknowledgement's time.
const FORWARDING_US: f64 = 300.0;
/// Offsets may be anything: this keeps equations solvable whose frames do not fix one.
const OFFSET_US: f64 = 1e15;
/// Scatter is not taken for less than this, microseconds: clocks are read with about that care.
const LEAST_SCATTER_US: f64 = 0.5;
/// An outlier is this many times farther from the fit than half of the frames of its kind.
const OUTLIER: f64 = 30.0;

pub(crate) struct FitResult {
    pub(crate) clocks: Vec<Clock>,
    /// Standard errors, by node: of the drift, ppm, and of the times, microseconds.
    pub(crate) errors: Vec<Option<(f64, f64)>>,
    /// By observation.
    pub(crate) outliers: Vec<bool>,
}

/// Fits the clocks of nodes that are all connected by observations. `spans` are the begin and the end of each node's record, and
/// `steps` when its clock was set, by its own time.
pub(crate) fn fit(
    reference: usize,
    spans: &[(u64, u64)],
    steps: &[Vec<u64>],
    all: &[Observation],
) -> FitResult {
    let unknowns = Unknowns::new(reference, spans, steps);
    let thin = all.len().div_ceil(MOST).max(1) as u64;
    let used: Vec<&Observation> = all.iter().filter(|o| group_of(o, thin) == 0).collect();
    let mut values = unknowns.first_guess(all);
    let scatter = settle(&unknowns, &used, &mut values, TURNS);
    let clocks = unknowns.clocks(&values);
    let outliers = all.iter().map(|o| is_outlier(&unknowns, &values, &scatter, o)).collect();
    let mut order: Vec<(i128, &Observation)> =
        used.iter().map(|o| (clocks[o.from].time_ns(o.from_ns), *o)).collect();
    order.sort_by_key(|(at, o)| (*at, o.frame, o.to));
    let order: Vec<&Observation> = order.into_iter().map(|(_, o)| o).collect();
    let without = |parts: &[Option<usize>]| -> Vec<Vec<Clock>> {
        let fit_without = |part: usize| {
            let kept = order.iter().zip(parts).filter(|(_, p)| **p != Some(part));
            let rest: Vec<&Observation> = kept.map(|(o, _)| *o).collect();
            let mut values = values.clone();
            settle(&unknowns, &rest, &mut values, FURTHER_TURNS);
            unknowns.clocks(&values)
        };
        (0..GROUPS as usize).map(fit_without).collect()
    };
    let of_all = parts(&order, |_| true);
    let left_out = without(&of_all);
    let errors = (0..spans.len()).map(|node| {
        let is_own = |o: &Observation| o.from == node || o.to == node;
        let own = order.iter().filter(|o| is_own(o)).count();
        if (own as u64) < 2 * GROUPS {
            return None;
        }
        let has = |part| order.iter().zip(&of_all).any(|(o, p)| *p == Some(part) && is_own(o));
        let is_throughout = (0..GROUPS as usize).all(has);
        let of_own = (!is_throughout).then(|| without(&parts(&order, is_own)));
        Some(error(node, spans[node], of_own.as_ref().unwrap_or(&left_out)))
    });
    FitResult { errors: errors.collect(), clocks, outliers }
}

/// For each observation, in order of time, the part in which it is left out: those that count make parts of the same size.
fn parts(order: &[&Observation], counts: impl Fn(&Observation) -> bool) -> Vec<Option<usize>> {
    let all = order.iter().filter(|o| counts(o)).count();
    let size = all.div_ceil(GROUPS as usize).max(1);
    let mut seen = 0..;
    order.iter().map(|o| if counts(o) { seen.next().map(|i: usize| i / size) } else { None }).collect()
}

/// One of this number of groups, pseudo-random but fixed.
fn group_of(o: &Observation, groups: u64) -> u64 {
    (o.frame.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % groups
}

/// The jackknife's standard errors of a node: of the drift and of its times.
fn error(node: usize, span: (u64, u64), left_out: &[Vec<Clock>]) -> (f64, f64) {
    let spread = |of: &dyn Fn(&Clock) -> f64| {
        let values: Vec<f64> = left_out.iter().map(|clocks| of(&clocks[node])).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() * (n - 1.0) / n).sqrt()
    };
    let (begin, end) = span;
    let moments = [begin, begin + (end - begin) / 2, end];
    let times = moments.map(|at| spread(&|c: &Clock| c.correction_us(at)));
    (spread(&Clock::drift_ppm), times.into_iter().fold(0.0, f64::max))
}

/// The numbers that are looked for, and where they stand.
struct Unknowns {
    /// By node: its line, whose offsets and slope are those of `first_guess` and zero.
    lines: Vec<Line>,
    count: usize,
}

struct Line {
    shape: Clock,
    /// Of the offset of each part; `None` for the reference's first, which is zero.
    offsets: Vec<Option<usize>>,
    slope: Option<usize>,
}

/// The constant and the octets' share of the least delay of unicasts and of broadcasts come first, and then what forwarders add.
const DELAYS: usize = 5;
/// The place of that.
const FORWARDING: usize = 4;

impl Unknowns {
    fn new(reference: usize, spans: &[(u64, u64)], steps: &[Vec<u64>]) -> Self {
        let mut count = DELAYS;
        let mut next = || {
            count += 1;
            Some(count - 1)
        };
        let mut lines = Vec::new();
        for (node, (span, steps)) in spans.iter().zip(steps).enumerate() {
            let is_reference = node == reference;
            let begins = std::iter::once(0).chain(steps.iter().copied());
            let parts: Vec<(u64, f64)> = begins.map(|from| (from, 0.0)).collect();
            let offset = |part: usize| if is_reference && part == 0 { None } else { next() };
            let offsets = (0..parts.len()).map(offset).collect();
            let shape = Clock { pivot_ns: span.0 + (span.1 - span.0) / 2, slope_ppm: 0.0, parts };
            lines.push(Line { shape, offsets, slope: if is_reference { None } else { next() } });
        }
        Self { lines, count }
    }

    fn clocks(&self, values: &[f64]) -> Vec<Clock> {
        let of = |at: Option<usize>| at.map_or(0.0, |i| values[i]);
        let clock = |line: &Line| Clock {
            slope_ppm: of(line.slope),
            parts: line.shape.parts.iter().zip(&line.offsets).map(|(part, at)| (part.0, of(*at))).collect(),
            ..line.shape.clone()
        };
        self.lines.iter().map(clock).collect()
    }

    /// Offsets from the medians of what pairs say, node by node from the reference on, by the pair with the most frames.
    fn first_guess(&self, all: &[Observation]) -> Vec<f64> {
        let mut values = vec![0.0; self.count];
        let part = |node: usize, ns: u64| (node, self.lines[node].shape.part(ns));
        let mut pairs: std::collections::BTreeMap<[(usize, usize); 2], Vec<f64>> =
            std::collections::BTreeMap::new();
        for o in all {
            let (a, b) = (part(o.from, o.from_ns), part(o.to, o.to_ns));
            // From the first to the second, regardless of the sender.
            let (key, ahead) = if a < b { ([a, b], o.difference_us()) } else { ([b, a], -o.difference_us()) };
            pairs.entry(key).or_default().push(ahead);
        }
        let median = |(key, mut ahead): ([(usize, usize); 2], Vec<f64>)| {
            ahead.sort_by(f64::total_cmp);
            (key, ahead[ahead.len() / 2], ahead.len())
        };
        let mut links: Vec<_> = pairs.into_iter().map(median).collect();
        links.sort_by_key(|(.., frames)| std::cmp::Reverse(*frames));
        let known = |l: &Line| l.offsets.iter().map(|at| at.is_none().then_some(0.0)).collect();
        let mut known: Vec<Vec<Option<f64>>> = self.lines.iter().map(known).collect();
        loop {
            let news = links.iter().find_map(|([a, b], ahead, _)| match (known[a.0][a.1], known[b.0][b.1]) {
                (Some(offset), None) => Some((*b, offset - ahead)),
                (None, Some(offset)) => Some((*a, offset + ahead)),
                _ => None,
            });
            let Some(((node, part), offset)) = news else { break };
            known[node][part] = Some(offset);
            if let Some(at) = self.lines[node].offsets[part] {
                values[at] = offset;
            }
        }
        values
    }

    /// The equation of an observation: at most eight unknowns (with the delay) and their factors, and what their sum should be.
    fn equation(&self, o: &Observation) -> ([(usize, f64); 8], usize, f64) {
        let mut terms = [(0, 0.0); 8];
        let mut count = 0;
        let mut put = |at: usize, factor: f64| {
            terms[count] = (at, factor);
            count += 1;
        };
        match o.kind {
            ObservationKind::Unicast | ObservationKind::Forwarded | ObservationKind::Passage => {
                if o.forwarders > 0 {
                    put(FORWARDING, o.forwarders.into());
                }
                let hops = f64::from(o.hops);
                [(0, hops), (1, hops * f64::from(o.bytes))].map(|(at, f)| put(at, f))
            }
            ObservationKind::Broadcast => [(2, 1.0), (3, f64::from(o.bytes))].map(|(at, f)| put(at, f)),
            ObservationKind::Heard => [(); 2],
        };
        for (node, ns, sign) in [(o.to, o.to_ns, -1.0), (o.from, o.from_ns, 1.0)] {
            let line = &self.lines[node];
            if let Some(at) = line.offsets[line.shape.part(ns)] {
                put(at, sign);
            }
            if let Some(at) = line.slope {
                put(at, sign * line.shape.since_pivot_s(ns));
            }
        }
        (terms, count, o.difference_us())
    }

    /// By how much an observation is later than the fit says.
    fn residual(&self, values: &[f64], o: &Observation) -> f64 {
        let (terms, count, sum) = self.equation(o);
        sum - terms[..count].iter().map(|(at, factor)| values[*at] * factor).sum::<f64>()
    }

    /// What is expected before any frame: for each unknown the inverse of its variance.
    fn expectations(&self) -> Vec<f64> {
        let mut precision = vec![precision_of(OFFSET_US); self.count];
        precision[FORWARDING] = precision_of(FORWARDING_US);
        for (at, of_delay) in precision[..FORWARDING].iter_mut().enumerate() {
            *of_delay = precision_of(if at % 2 == 0 { DELAY_US } else { OCTET_US });
        }
        for at in self.lines.iter().filter_map(|l| l.slope) {
            precision[at] = precision_of(DRIFT_PPM);
        }
        precision
    }
}

fn precision_of(deviation: f64) -> f64 {
    1.0 / (deviation * deviation)
}

/// Moves the values until the weights have settled. Returns the scatter of each kind of observation, microseconds.
fn settle(u: &Unknowns, used: &[&Observation], values: &mut [f64], turns: usize) -> [f64; KINDS] {
    let expected = u.expectations();
    let mut scatter = [LEAST_SCATTER_US; KINDS];
    for turn in 0..turns {
        let residuals: Vec<f64> = used.iter().map(|o| u.residual(values, o)).collect();
        scatter = scatters(used, &residuals);
        // From afar the weights would jump about.
        let near = if turn < 10 { 1.0 } else { 0.05 };
        let mut equations = NormalEquations::new(u.count);
        for (i, (precision, value)) in expected.iter().zip(&*values).enumerate() {
            *equations.element(i, i) = *precision;
            equations.right[i] = -precision * value;
        }
        for (o, r) in used.iter().zip(&residuals) {
            let kind = o.kind as usize;
            let side = if *r > 0.0 { QUANTILES[kind] } else { 1.0 - QUANTILES[kind] };
            let weight = side / (scatter[kind] * r.abs().max(near * scatter[kind]));
            let (terms, count, _) = u.equation(o);
            for (i, a) in &terms[..count] {
                equations.right[*i] += weight * a * r;
                for (j, b) in &terms[..count] {
                    *equations.element(*i, *j) += weight * a * b;
                }
            }
        }
        let Some(step) = equations.solve(0.0) else { break };
        values.iter_mut().zip(&step).for_each(|(value, by)| *value += by);
        if turn > 10 && step.iter().all(|by| by.abs() < SETTLED_US) {
            break;
        }
    }
    scatter
}

/// Of each kind, half of the observations are nearer to the fit than this.
fn scatters(used: &[&Observation], residuals: &[f64]) -> [f64; KINDS] {
    ObservationKind::ALL.map(|kind| {
        let of_kind = used.iter().zip(residuals).filter(|(o, _)| o.kind == kind);
        let mut distances: Vec<f64> = of_kind.map(|(_, r)| r.abs()).collect();
        if distances.is_empty() {
            return LEAST_SCATTER_US;
        }
        let middle = distances.len() / 2;
        let (_, median, _) = distances.select_nth_unstable_by(middle, f64::total_cmp);
        median.max(LEAST_SCATTER_US)
    })
}

fn is_outlier(u: &Unknowns, values: &[f64], scatter: &[f64; KINDS], o: &Observation) -> bool {
    u.residual(values, o).abs() > OUTLIER * scatter[o.kind as usize]
}
