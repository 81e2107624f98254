//! Tables I to IV: the links from E1 to each first hop, with and without retransmissions.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use wayhop_report::{Row, Section};

use super::paper;
use super::ping::Ping;

/// What one first hop, or all of them together, had.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) sent: usize,
    pub(crate) received_raw: usize,
    pub(crate) received: usize,
    pub(crate) passive_acks: usize,
    pub(crate) retransmissions: usize,
    pub(crate) retransmissions_lost: usize,
    pub(crate) acks_lost: usize,
}

impl Counts {
    pub(crate) fn of(ping: &Ping, hops: &[Ipv4Addr]) -> Self {
        let mut c = Self::default();
        let mut arrived = BTreeSet::new();
        for t in ping.transmissions.iter().filter(|t| hops.contains(&t.first_hop)) {
            if t.first {
                c.sent += 1;
                c.received_raw += usize::from(t.received);
                c.passive_acks += usize::from(t.passive_ack);
            } else {
                c.retransmissions += 1;
                c.retransmissions_lost += usize::from(!t.received);
            }
            if t.received {
                arrived.insert((t.first_hop, t.seq));
            }
        }
        c.received = arrived.len();
        c.acks_lost = ping.acks.iter().filter(|a| hops.contains(&a.from) && !a.received).count();
        c
    }

    fn loss_raw_pct(&self) -> Option<f64> {
        loss_pct(self.received_raw, self.sent)
    }
    fn loss_pct(&self) -> Option<f64> {
        loss_pct(self.received, self.sent)
    }
    fn expected(&self) -> f64 {
        self.sent as f64 - self.passive_acks as f64
    }
    /// The right side of the equation of section 8.2.
    fn equation(&self) -> f64 {
        self.expected() + self.retransmissions_lost as f64 + self.acks_lost as f64
    }
    fn successful(&self) -> f64 {
        self.retransmissions as f64 - self.retransmissions_lost as f64 - self.acks_lost as f64
    }
}

/// A table, a quantity, its column in the paper's numbers, and ours.
type Quantity = (&'static str, &'static str, &'static str, fn(&Counts) -> Option<f64>);

const LOSSES: [Quantity; 5] = [
    ("Table I", "packets_sent", "sent", |c| Some(c.sent as f64)),
    ("Table I", "packets_received", "recv_raw", |c| Some(c.received_raw as f64)),
    ("Table I", "loss_pct", "loss_raw_pct", Counts::loss_raw_pct),
    ("Table II", "packets_received", "recv_with_rexmt", |c| Some(c.received as f64)),
    ("Table II", "loss_pct", "loss_with_rexmt_pct", Counts::loss_pct),
];
const RETRANSMISSIONS: [Quantity; 6] = [
    ("Table III", "passive_acks", "passive_acks", |c| Some(c.passive_acks as f64)),
    ("Table III", "expected_retransmissions", "expected_rexmts", |c| Some(c.expected())),
    ("Table IV", "retransmissions", "rexmts", |c| Some(c.retransmissions as f64)),
    ("Table IV", "retransmissions_lost", "rexmts_lost", |c| Some(c.retransmissions_lost as f64)),
    ("Table IV", "acks_lost", "acks_lost", |c| Some(c.acks_lost as f64)),
    ("Table IV", "successful_retransmissions", "successful_rexmts", |c| Some(c.successful())),
];

/// What E1's first hops had in a run, each and together.
struct OfRun {
    hops: Vec<Counts>,
    total: Counts,
}

impl OfRun {
    fn new(run: &Ping, cars: &[Ipv4Addr]) -> Self {
        Self {
            hops: cars.iter().map(|car| Counts::of(run, std::slice::from_ref(car))).collect(),
            total: Counts::of(run, cars),
        }
    }
}

pub(crate) fn sections(runs: &[Ping], cars: &[Ipv4Addr]) -> Vec<Section> {
    let runs: Vec<OfRun> = runs.iter().map(|p| OfRun::new(p, cars)).collect();
    let mut losses = rows(&LOSSES, &runs, cars.len());
    losses.push(times_fewer_losses(&runs));
    let mut needed = rows(&RETRANSMISSIONS, &runs, cars.len());
    needed.extend(equation(&runs));
    vec![
        Section::new(
            "Tables I and II: loss from E1 to its first hops",
            "A request counts once for each first hop to which it was sent: one that is withdrawn from an unreachable \
             first hop and sent through another counts for both, as the sums in the paper's tables show. Table I \
             counts the first transmission to that node, Table II all of them.",
        )
        .rows(losses),
        Section::new(
            "Tables III and IV: are the retransmissions needed?",
            "Retransmissions minus lost ones and minus lost acknowledgements should be about equal to packets sent \
             minus passive acknowledgements. A passive acknowledgement counts if E1 heard the first hop forward the \
             packet before E1 retransmitted it.",
        )
        .rows(needed),
    ]
}

/// For each quantity a row a car, and one for all.
fn rows(quantities: &[Quantity], runs: &[OfRun], cars: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (artefact, name, column, value) in quantities {
        for i in 0..=cars {
            let who = if i < cars { format!("T{}", i + 1) } else { "Total".to_owned() };
            let ours = runs.iter().map(|r| value(r.hops.get(i).unwrap_or(&r.total)));
            rows.push(Row::new(artefact, &who, name, paper::cell(paper::PING, &who, column)).with(ours));
        }
    }
    rows
}

fn total(column: &str) -> Option<f64> {
    paper::cell(paper::PING, "Total", column)
}

/// What retransmissions gain.
fn times_fewer_losses(runs: &[OfRun]) -> Row {
    let ratio = |raw: Option<f64>, with: Option<f64>| Some(raw? / with.filter(|w| *w > 0.0)?);
    let paper = ratio(total("loss_raw_pct"), total("loss_with_rexmt_pct"));
    Row::new("Table II", "Total", "times_fewer_losses", paper)
        .with(runs.iter().map(|r| ratio(r.total.loss_raw_pct(), r.total.loss_pct())))
        .note("Loss without retransmissions divided by loss with them; the paper's value is from its two tables.")
}

/// The equation of section 8.2, in percent.
fn equation(runs: &[OfRun]) -> [Row; 2] {
    let share = |part: f64, whole: f64| (whole > 0.0).then(|| 100.0 * part / whole);
    let paper_share = total("successful_rexmts").zip(total("expected_rexmts")).and_then(|(s, e)| share(s, e));
    let paper_sum =
        ["expected_rexmts", "rexmts_lost", "acks_lost"].map(total).into_iter().sum::<Option<f64>>();
    let paper_equation = total("rexmts").zip(paper_sum).and_then(|(r, sum)| share(r, sum));
    [
        Row::new("Section 8.2", "Total", "successful_of_expected_pct", paper_share)
            .with(runs.iter().map(|r| share(r.total.successful(), r.total.expected())))
            .note(
                "By the equation of section 8.2 about 100; lower because of packets given up after three transmissions, \
                 higher if nodes retransmit unnecessarily.",
            ),
        Row::new("Section 8.2", "Total", "retransmissions_of_equation_pct", paper_equation)
            .with(runs.iter().map(|r| share(r.total.retransmissions as f64, r.total.equation())))
            .note(
                "Retransmissions divided by the right side of the same equation: packets not confirmed passively, plus \
                 lost retransmissions and acknowledgements.",
            ),
    ]
}

pub(crate) fn loss_pct(received: usize, sent: usize) -> Option<f64> {
    (sent > 0).then(|| 100.0 * (sent as f64 - received as f64) / sent as f64)
}
