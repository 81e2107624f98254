//! What this node knows of links: bad ones are remembered (CMU-CS-99-116 section 9.2), and costs are measured.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Inspect, Span, Time};
use wayhop_link_quality::bad_links::{
    BadLinkMemory, DirectedLink, Evidence, FailedLinks, Probability, ProbabilityParams,
};
use wayhop_link_quality::etx::{Cost, Etx};
use wayhop_link_quality::{Positions, Signals};

use crate::engine::reception::Reception;
use crate::params::{BadLinks, Metric, Params};

/// How many neighbours' signals and probes, and how many nodes' positions, are kept.
const NEIGHBOURS: usize = 64;
const NODES: usize = 128;
/// How often a memory that follows positions looks at its own.
const POSITION_PERIOD: Span = Span::from_secs(1);
/// News that a link failed, within so short a time of the last, is the same news.
const SAME_NEWS: Span = Span::from_millis(100);
/// How many last failures are compared.
const NEWS: usize = 8;

/// What a node knows of links.
#[derive(Clone)]
pub(crate) struct LinkKnowledge {
    /// This node, once it has come up.
    pub(crate) me: Ipv4Addr,
    pub(crate) positions: Positions,
    pub(crate) signals: Signals,
    pub(crate) memory: Option<Box<dyn BadLinkMemory>>,
    pub(crate) etx: Option<Etx>,
    /// The last failures, a ring.
    news: Vec<(DirectedLink, Time)>,
    next_news: usize,
    wants_signals: bool,
    /// How often it wants to know where it is.
    pub(crate) position_period: Option<Span>,
}

impl LinkKnowledge {
    pub(crate) fn new(p: &Params) -> Self {
        let memory: Option<Box<dyn BadLinkMemory>> = match p.bad_links {
            BadLinks::None => None,
            BadLinks::Timed => {
                Some(Box::new(FailedLinks::timed(Span::from_secs(p.bad_link_timeout_s.into()))))
            }
            BadLinks::UntilMoved => {
                let unlocated = Span::from_secs(p.bad_link_unlocated_timeout_s.into());
                Some(Box::new(FailedLinks::until_moved(p.bad_link_distance_m.into(), unlocated)))
            }
            BadLinks::Probability => Some(Box::new(Probability::new(ProbabilityParams {
                threshold: p.bad_link_probability,
                half_dbm: p.bad_link_signal_dbm,
                path_loss_exponent: p.bad_link_path_loss_exponent,
            }))),
        };
        Self {
            me: Ipv4Addr::UNSPECIFIED,
            positions: Positions::new(NODES),
            signals: Signals::new(NEIGHBOURS),
            memory,
            etx: (p.metric == Metric::Etx).then(|| Etx::new(NEIGHBOURS)),
            news: Vec::new(),
            next_news: 0,
            position_period: matches!(p.bad_links, BadLinks::UntilMoved | BadLinks::Probability)
                .then_some(POSITION_PERIOD),
            wants_signals: p.bad_links == BadLinks::Probability,
        }
    }

    /// Feeds what the future depends on, where nothing but failures is known of links.
    #[cfg(test)]
    pub(crate) fn digest(&self, to: &mut impl core::hash::Hasher) {
        use core::hash::Hash;
        let Self {
            me,
            positions,
            signals: _,
            memory,
            etx,
            news,
            next_news,
            wants_signals,
            position_period: _,
        } = self;
        let dull = positions.iter().next().is_none() && !wants_signals && memory.is_none() && etx.is_none();
        assert!(dull, "positions, signals, remembered bad links and measured costs are not explored");
        (me, news, next_news).hash(to);
    }

    pub(crate) fn known(&self, now: Time) -> Evidence<'_> {
        Evidence { now, me: self.me, positions: &self.positions, signals: &self.signals }
    }

    /// Whether anything depends on the strength of received frames.
    pub(crate) fn wants_signals(&self) -> bool {
        self.wants_signals
    }

    /// Notes the strength of a received frame, if anything depends on it.
    #[inline]
    pub(crate) fn hear(&mut self, rx: &Reception, now: Time) {
        if self.wants_signals {
            self.signals.heard(rx.from, rx.signal_dbm.into(), now);
        }
    }

    /// A link failed: this node gave it up, or a Route Error says so.
    pub(crate) fn failed(&mut self, cx: &Cx<'_>, from: Ipv4Addr, to: Ipv4Addr) {
        let Some(mut memory) = self.memory.take() else { return };
        let (link, now) = (DirectedLink { from, to }, cx.now());
        let old = self.news.iter().any(|(l, at)| *l == link && now.since(*at) < SAME_NEWS);
        if !old {
            if self.news.len() < NEWS {
                self.news.push((link, now));
            } else {
                self.news[self.next_news] = (link, now);
                self.next_news = (self.next_news + 1) % NEWS;
            }
            memory.failed(link, &self.known(now));
        }
        self.memory = Some(memory);
    }

    /// A packet to a neighbour was acknowledged.
    #[inline]
    pub(crate) fn worked(&mut self, cx: &Cx<'_>, neighbour: Ipv4Addr) {
        if let Some(mut memory) = self.memory.take() {
            let link = DirectedLink { from: cx.addr(), to: neighbour };
            memory.worked(link, &self.known(cx.now()));
            self.memory = Some(memory);
        }
    }

    pub(crate) fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        if let Some(memory) = &self.memory {
            let known = self.known(now);
            memory.links(&mut |link| {
                let (doubt, refused) = (memory.doubt(link, &known), memory.refuses(link, &known));
                out.row(
                    "bad_links",
                    &[("from", &link.from), ("to", &link.to), ("doubt", &doubt), ("refused", &refused)],
                );
            });
        }
        for (node, p) in self.positions.iter() {
            let (latitude, longitude) = (p.fix.latitude_deg, p.fix.longitude_deg);
            let age_s = now.since(p.at).as_secs_f64();
            let motion: [(&'static str, &dyn core::fmt::Display); 2] =
                [("heading_deg", &p.fix.heading_deg), ("speed_m_per_s", &p.fix.speed_m_per_s)];
            let place: [(&'static str, &dyn core::fmt::Display); 2] =
                [("latitude_deg", &latitude), ("longitude_deg", &longitude)];
            out.row(
                "positions",
                &[("node", &node), place[0], place[1], motion[0], motion[1], ("age_s", &age_s)],
            );
        }
        for (a, (df, dr)) in self.etx.iter().flat_map(|e| e.iter(now)) {
            let etx = Cost::of_ratios(df, dr).etx();
            out.row("etx", &[("neighbour", &a), ("df", &df), ("dr", &dr), ("etx", &etx)]);
        }
    }
}
