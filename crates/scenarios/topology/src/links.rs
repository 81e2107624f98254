//! Links from their first moment to their last, and every node's neighbours.

use wayhop_core::{Span, Time};
use wayhop_world::Adjacency;
use wayhop_world::links::LinkChange;

/// A time in which two nodes were in range of each other.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The lower of the two nodes.
    pub a: u32,
    /// The higher.
    pub b: u32,
    /// When they came into range; `None` if they were when the time began.
    pub up: Option<Time>,
    /// When they left it; `None` if they had not when the time ended.
    pub down: Option<Time>,
}

/// One node's neighbours over time.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct NodeLinks {
    /// Mean number of neighbours.
    pub neighbours_mean: f64,
    /// At least.
    pub neighbours_min: u32,
    /// At most.
    pub neighbours_max: u32,
    /// The share of the time in which it had none.
    pub isolated_share: f64,
    /// How many of its links came or went.
    pub changes: u64,
}

/// The links of a whole network over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkSurvey {
    /// From time zero until then.
    pub until: Time,
    /// Every contact, in order of (a, b, time).
    pub contacts: Vec<Contact>,
    /// By node.
    pub nodes: Vec<NodeLinks>,
}

impl Contact {
    /// How long it lasted, as far as it lay in the time up to `until`.
    pub fn seen(&self, until: Time) -> Span {
        self.down.unwrap_or(until).since(self.up.unwrap_or(Time::ZERO))
    }

    /// How long it lasted, if it began and ended within the time.
    pub fn lifetime(&self) -> Option<Span> {
        Some(self.down?.since(self.up?))
    }
}

impl LinkSurvey {
    /// How many links there were on average.
    pub fn links_mean(&self) -> f64 {
        self.link_seconds() / self.until.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// How many neighbours a node had on average.
    pub fn neighbours_mean(&self) -> f64 {
        2.0 * self.links_mean() / (self.nodes.len().max(1) as f64)
    }

    /// How often a link came.
    pub fn ups(&self) -> u64 {
        self.contacts.iter().filter(|c| c.up.is_some()).count() as u64
    }

    /// How often a link went.
    pub fn downs(&self) -> u64 {
        self.contacts.iter().filter(|c| c.down.is_some()).count() as u64
    }

    /// The mean lifetime of a link: the total time of all links, divided by the number that ended. Unlike the mean of
    /// those that both began and ended, it has no bias in a short time. `None` if none ended.
    pub fn lifetime_mean_s(&self) -> Option<f64> {
        let downs = self.downs();
        (downs > 0).then(|| self.link_seconds() / downs as f64)
    }

    /// The lifetimes of the links that both began and ended, in ascending order, seconds.
    pub fn lifetimes_s(&self) -> Vec<f64> {
        let mut spans: Vec<Span> = self.contacts.iter().filter_map(Contact::lifetime).collect();
        spans.sort_unstable();
        spans.into_iter().map(Span::as_secs_f64).collect()
    }

    fn link_seconds(&self) -> f64 {
        // Not `sum`, whose zero is negative.
        self.contacts.iter().fold(0.0, |sum, c| sum + c.seen(self.until).as_secs_f64())
    }
}

/// Writes down contacts while links come and go.
pub(crate) struct Book {
    contacts: Vec<Contact>,
    /// By link that is up: where its contact stands, in order of (a, b).
    open: std::collections::BTreeMap<(u32, u32), usize>,
    nodes: Vec<Tally>,
}

/// One node's neighbours so far.
#[derive(Copy, Clone, Debug, Default)]
struct Tally {
    count: u32,
    min: u32,
    max: u32,
    since: Time,
    isolated: Span,
    neighbour_seconds: f64,
    changes: u64,
}

impl Tally {
    fn advance(&mut self, at: Time) {
        let span = at.since(self.since);
        self.neighbour_seconds += f64::from(self.count) * span.as_secs_f64();
        if self.count == 0 {
            self.isolated += span;
        }
        // A state that lasts no time does not count.
        if span > Span::ZERO {
            self.min = self.min.min(self.count);
            self.max = self.max.max(self.count);
        }
        self.since = at;
    }
}

impl Book {
    pub(crate) fn new(links: &Adjacency) -> Self {
        let tally = |node| {
            let count = links.near(node).len() as u32;
            Tally { count, min: count, max: count, ..Tally::default() }
        };
        let mut book = Self {
            contacts: Vec::new(),
            open: std::collections::BTreeMap::new(),
            nodes: (0..links.len() as u32).map(tally).collect(),
        };
        for a in 0..links.len() as u32 {
            for &b in links.near(a).iter().filter(|&&b| b > a) {
                book.open(Contact { a, b, up: None, down: None });
            }
        }
        book
    }

    fn open(&mut self, contact: Contact) {
        self.open.insert((contact.a, contact.b), self.contacts.len());
        self.contacts.push(contact);
    }

    pub(crate) fn change(&mut self, c: &LinkChange) {
        for node in [c.a, c.b] {
            let tally = &mut self.nodes[node as usize];
            tally.advance(c.at);
            tally.count = if c.up { tally.count + 1 } else { tally.count.saturating_sub(1) };
            tally.changes += 1;
        }
        if c.up {
            self.open(Contact { a: c.a, b: c.b, up: Some(c.at), down: None });
        } else if let Some(k) = self.open.remove(&(c.a, c.b)) {
            self.contacts[k].down = Some(c.at);
        }
    }

    pub(crate) fn close(mut self, until: Time) -> LinkSurvey {
        let whole = until.as_secs_f64().max(f64::MIN_POSITIVE);
        let node = |tally: &mut Tally| {
            tally.advance(until);
            NodeLinks {
                neighbours_mean: tally.neighbour_seconds / whole,
                neighbours_min: tally.min,
                neighbours_max: tally.max,
                isolated_share: tally.isolated.as_secs_f64() / whole,
                changes: tally.changes,
            }
        };
        let nodes = self.nodes.iter_mut().map(node).collect();
        self.contacts.sort_by_key(|c| (c.a, c.b, c.up));
        LinkSurvey { until, contacts: self.contacts, nodes }
    }
}
