//! What a run shows: octets and signal at the receiver, second by second.

use wayhop_trace::{HopEvent, HopKind, Observer};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LinkSeries {
    /// Payload that arrived in each second, Mb/s.
    pub(crate) mbps: Vec<f64>,
    /// The mean signal of the packets of each second, dBm.
    pub(crate) signal_dbm: Vec<Option<f64>>,
}

/// Watches the receiver, node 0, for flow 0.
#[derive(Clone, Debug)]
pub(crate) struct ReceiverWatch {
    rest_s: usize,
    headers: u32,
    octets: Vec<u64>,
    /// Sum of the signals, and how many.
    signals: Vec<(f64, u32)>,
}

impl ReceiverWatch {
    /// For this number of seconds after a rest, and this number of header bytes per packet.
    pub(crate) fn new(rest_s: usize, seconds: usize, headers: u32) -> Self {
        Self { rest_s, headers, octets: vec![0; seconds], signals: vec![(0.0, 0); seconds] }
    }

    pub(crate) fn seen(self) -> LinkSeries {
        LinkSeries {
            mbps: self.octets.iter().map(|&o| o as f64 * 8e-6).collect(),
            signal_dbm: self.signals.iter().map(|&(sum, n)| (n > 0).then(|| sum / f64::from(n))).collect(),
        }
    }
}

impl Observer for ReceiverWatch {
    fn hop(&mut self, e: &HopEvent) {
        let is_received = matches!(e.kind, HopKind::Receive | HopKind::Deliver);
        if e.node.0 != 0 || !is_received {
            return;
        }
        let Some(second) = ((e.time.as_nanos() / 1_000_000_000) as usize).checked_sub(self.rest_s) else {
            return;
        };
        if second >= self.octets.len() {
            return;
        }
        if e.kind == HopKind::Receive {
            let (sum, n) = &mut self.signals[second];
            *sum += f64::from(e.signal_dbm);
            *n += 1;
        } else if e.flow.is_some_and(|f| f.flow == 0) {
            self.octets[second] += u64::from(e.bytes.saturating_sub(self.headers));
        }
    }
}
