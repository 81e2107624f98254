//! Neighbours that are heard but may not hear this node (RFC 4728 section 4.6).

use std::net::Ipv4Addr;

use wayhop_core::{Inspect, Span, Time};

/// How sure it is that a neighbour does not hear this node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum OneWay {
    /// Its Route Requests are ignored.
    Probable,
    /// It has to be asked before its Route Requests count.
    Questionable,
}

/// The blacklist: a bounded table of neighbours, by the time of the last failure.
#[derive(Clone, Hash)]
pub(crate) struct Blacklist {
    rows: Vec<(Ipv4Addr, Time)>,
    probable: Span,
    expiry: Span,
}

/// The most neighbours in the list; a new one then replaces the oldest.
const SIZE: usize = 32;

impl Blacklist {
    pub(crate) fn new(probable: Span, expiry: Span) -> Self {
        Self { rows: Vec::new(), probable, expiry }
    }
    /// Changes how long failures count.
    pub(crate) fn keep_for(&mut self, probable: Span, expiry: Span) {
        (self.probable, self.expiry) = (probable, expiry);
    }
    /// Unicast to `a` failed although `a` is heard.
    pub(crate) fn add(&mut self, a: Ipv4Addr, now: Time) {
        if let Some(r) = self.rows.iter_mut().find(|r| r.0 == a) {
            r.1 = now;
            return;
        }
        if self.rows.len() == SIZE {
            let oldest = (0..SIZE).min_by_key(|&i| self.rows[i].1).unwrap_or(0);
            self.rows.swap_remove(oldest);
        }
        self.rows.push((a, now));
    }
    /// Unicast to or from `a` worked.
    pub(crate) fn remove(&mut self, a: Ipv4Addr) {
        self.rows.retain(|r| r.0 != a);
    }
    /// Whether `a` is on the list, and how surely.
    pub(crate) fn state(&self, a: Ipv4Addr, now: Time) -> Option<OneWay> {
        let age = now.since(self.rows.iter().find(|r| r.0 == a)?.1);
        match age {
            _ if age < self.probable => Some(OneWay::Probable),
            _ if age < self.expiry => Some(OneWay::Questionable),
            _ => None,
        }
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    pub(crate) fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        for (a, at) in &self.rows {
            let age = now.since(*at).as_secs_f64();
            out.row("blacklist", &[("neighbour", a), ("age_s", &age)]);
        }
    }
}
