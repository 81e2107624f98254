//! The sums over a run's bundles.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use wayhop_core::{BundleEventKind, NodeId, Time};

use crate::bundle_summary::{BundleFlowSummary, BundleSummary, ContactSummary, DelayS};
use crate::event::{BundleEvent, ContactEvent};
use crate::summary::{LatencyMs, ratio};

/// Adds up the events of a run, which come in the order of their times.
#[derive(Debug, Default)]
pub struct BundleBooks {
    summary: BundleSummary,
    /// When each bundle was made, its flow, and whether it was delivered.
    made: FxHashMap<Arc<str>, BundleRecord>,
    /// By flow, and at the end those of no flow.
    delays: Vec<Vec<u64>>,
    contacts: Vec<(u64, u64)>,
}

#[derive(Copy, Clone, Debug)]
struct BundleRecord {
    at: Time,
    flow: Option<u32>,
    delivered: bool,
}

impl BundleBooks {
    /// For flows between these nodes.
    pub fn new(routing: &str, convergence: &str, agents: u32, flows: &[(NodeId, NodeId)]) -> Self {
        let flow = |(id, (src, dst)): (usize, &(NodeId, NodeId))| BundleFlowSummary {
            id: id as u32,
            src: src.0,
            dst: dst.0,
            ..BundleFlowSummary::default()
        };
        Self {
            summary: BundleSummary {
                routing: routing.to_owned(),
                convergence: convergence.to_owned(),
                agents,
                flows: flows.iter().enumerate().map(flow).collect(),
                ..BundleSummary::default()
            },
            delays: vec![Vec::new(); flows.len() + 1],
            ..Self::default()
        }
    }

    /// Counts an event.
    pub fn add(&mut self, e: &BundleEvent) {
        let s = &mut self.summary;
        match e.kind {
            BundleEventKind::Originate => {
                s.originated += 1;
                if let Some(flow) = e.flow.and_then(|f| s.flows.get_mut(f as usize)) {
                    flow.originated += 1;
                }
                let made = BundleRecord { at: e.time, flow: e.flow, delivered: false };
                self.made.insert(Arc::clone(&e.bundle), made);
            }
            BundleEventKind::Forward => {
                s.forwarded += 1;
                s.forwarded_bytes += e.bytes;
            }
            BundleEventKind::Deliver => self.delivered(e),
            BundleEventKind::Drop => {
                let why = e.reason.as_deref().unwrap_or("unknown");
                *s.dropped.entry(why.to_owned()).or_default() += 1;
            }
            BundleEventKind::CustodyTaken => s.custody_taken += 1,
            BundleEventKind::CustodyReleased => s.custody_released += 1,
            BundleEventKind::Duplicate => s.duplicates += 1,
            _ => {}
        }
    }

    fn delivered(&mut self, e: &BundleEvent) {
        // A bundle from elsewhere, not counted as originated here.
        let Some(made) = self.made.get_mut(&e.bundle) else { return };
        if std::mem::replace(&mut made.delivered, true) {
            self.summary.delivered_again += 1;
            return;
        }
        self.summary.delivered += 1;
        let flow = made.flow.and_then(|f| self.summary.flows.get_mut(f as usize));
        let of = flow.as_ref().map_or(self.delays.len() - 1, |f| f.id as usize);
        self.delays[of].push(e.time.since(made.at).as_nanos());
        if let Some(flow) = flow {
            flow.delivered += 1;
        }
    }

    /// Counts a contact. Of its two ends that with the lower number is counted.
    pub fn add_contact(&mut self, c: &ContactEvent) {
        if c.node < c.peer {
            self.contacts.push((c.sent_bytes + c.received_bytes, c.time.since(c.from).as_nanos()));
        }
    }

    /// The sums.
    pub fn close(mut self) -> BundleSummary {
        let mut s = self.summary;
        for (flow, delays) in s.flows.iter_mut().zip(&mut self.delays) {
            flow.delivery_ratio = ratio(flow.delivered, flow.originated);
            flow.delay_s = delay(delays);
        }
        s.delivery_ratio = ratio(s.delivered, s.originated);
        s.delay_s = delay(&mut self.delays.concat());
        s.overhead =
            (s.delivered > 0).then(|| (s.forwarded as f64 - s.delivered as f64) / s.delivered as f64);
        s.contacts = contacts(&self.contacts);
        s
    }
}

/// Of these delays, in nanoseconds; `None` of nothing.
fn delay(delays_ns: &mut [u64]) -> Option<DelayS> {
    let ms = LatencyMs::of(delays_ns)?;
    Some(DelayS { mean: ms.mean / 1e3, p50: ms.p50 / 1e3, p95: ms.p95 / 1e3, max: ms.max / 1e3 })
}

fn contacts(all: &[(u64, u64)]) -> Option<ContactSummary> {
    let n = all.len() as f64;
    let (min, max) = (all.iter().map(|c| c.0).min()?, all.iter().map(|c| c.0).max()?);
    let mean = all.iter().map(|c| c.0 as f64).sum::<f64>() / n;
    let squares = all.iter().map(|c| (c.0 as f64 - mean).powi(2)).sum::<f64>();
    let sd = (all.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
    Some(ContactSummary {
        count: all.len() as u64,
        used: all.iter().filter(|c| c.0 > 0).count() as u64,
        length_s: all.iter().map(|c| c.1 as f64).sum::<f64>() / n / 1e9,
        bytes_mean: mean,
        bytes_sd: sd,
        bytes_variation: sd.filter(|_| mean > 0.0).map(|sd| sd / mean),
        bytes_min: min,
        bytes_max: max,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: BundleEventKind, seconds: u64, name: &str, flow: Option<u32>) -> BundleEvent {
        BundleEvent {
            time: Time::from_nanos(seconds * 1_000_000_000),
            node: NodeId(0),
            kind,
            bundle: name.into(),
            offset: None,
            flow,
            bytes: 100,
            peer: None,
            reason: (kind == BundleEventKind::Drop).then(|| "expired".into()),
        }
    }

    #[test]
    fn the_books_count_each_bundle_once() {
        use BundleEventKind::{Deliver, Drop, Forward, Originate};
        let mut books = BundleBooks::new("epidemic", "udpcl", 2, &[(NodeId(0), NodeId(1))]);
        for e in [
            event(Originate, 1, "a", Some(0)),
            event(Originate, 2, "b", Some(0)),
            event(Originate, 2, "c", None),
            event(Forward, 3, "a", None),
            event(Forward, 3, "b", None),
            event(Forward, 3, "a", None),
            event(Deliver, 5, "a", None),
            event(Deliver, 6, "a", None),
            event(Deliver, 6, "c", None),
            event(Drop, 7, "b", None),
        ] {
            books.add(&e);
        }
        let s = books.close();
        assert_eq!((s.originated, s.delivered, s.delivered_again, s.forwarded), (3, 2, 1, 3));
        assert_eq!(s.delivery_ratio, Some(2.0 / 3.0));
        assert_eq!(s.overhead, Some(0.5));
        assert_eq!(s.delay_s.map(|d| (d.mean, d.max)), Some((4.0, 4.0)));
        assert_eq!((s.flows[0].originated, s.flows[0].delivered), (2, 1));
        assert_eq!(s.dropped["expired"], 1);
        assert_eq!(s.contacts, None);
    }

    #[test]
    fn contacts_have_the_sample_deviation_of_their_octets() {
        let mut books = BundleBooks::default();
        for (k, bytes) in [2, 4, 4, 4, 5, 5, 7, 9].into_iter().enumerate() {
            let row = |node, peer| ContactEvent {
                time: Time::from_nanos((k as u64 + 2) * 1_000_000_000),
                from: Time::from_nanos(k as u64 * 1_000_000_000),
                node: NodeId(node),
                peer: NodeId(peer),
                sent: 1,
                sent_bytes: bytes,
                received: 0,
                received_bytes: 0,
            };
            books.add_contact(&row(0, 1));
            books.add_contact(&row(1, 0));
        }
        let c = books.close().contacts.expect("contacts");
        // Their sum of squared deviations from 5 is 32.
        assert_eq!((c.count, c.used, c.bytes_mean, c.length_s), (8, 8, 5.0, 2.0));
        assert_eq!(c.bytes_sd, Some((32.0f64 / 7.0).sqrt()));
        assert_eq!((c.bytes_min, c.bytes_max), (2, 9));
    }

    #[test]
    fn nothing_is_undefined_rather_than_zero() {
        let s = BundleBooks::default().close();
        assert_eq!((s.delivery_ratio, s.delay_s, s.overhead), (None, None, None));
    }
}
