//! Section 9: TCP over one hop and two, in the laboratory and in the field, and Figures 15 and 16: its time-sequence plots.

use std::collections::{BTreeMap, VecDeque};

use wayhop_core::{Addr, NodeId, PacketId};
use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Section, Series};
use wayhop_trace::{HopEvent, HopKind, Observer, Summary, TcpEvent};

use super::bad_routes::WAYS;
use super::goodput;

/// A transfer of the section.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// In the laboratory, over so many hops.
    Lab { hops: usize },
    /// Over one hop outdoors, so many MB.
    Outdoor { megabytes: u32 },
    /// Over two hops outdoors, beside a bad direct route that one of [`WAYS`] remembers.
    Field { way: usize },
}

/// The cars' laptops had the cards of the laboratory.
const CARDS: &str = "radio.preset=wavelan-i-pcmcia";

impl Case {
    /// All of them.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = vec![Self::Lab { hops: 1 }, Self::Lab { hops: 2 }];
        all.extend([1, 5].map(|megabytes| Self::Outdoor { megabytes }));
        all.extend((0..WAYS.len()).map(|way| Self::Field { way }));
        all
    }

    /// The scenario file, and what is set in it.
    pub(crate) fn scenario(self) -> (&'static str, Vec<String>) {
        let transfer = |to: &str, megabytes: u32| {
            format!(
                "traffic=[{{ kind = \"tcp\", src = \"A\", dst = \"{to}\", bytes = {megabytes}_000_000, window = 11, \
                 initial_window = 1, limited_transmit = false, start_s = 12 }}]"
            )
        };
        match self {
            Self::Lab { hops } => {
                ("tcp-lab.toml", vec![format!("nodes.count={}", hops + 1), format!("traffic.0.dst={hops}")])
            }
            Self::Outdoor { megabytes } => {
                ("abc.toml", vec![CARDS.to_owned(), transfer("B", megabytes), "duration_s=112".to_owned()])
            }
            Self::Field { way } => {
                let mut sets = vec![CARDS.to_owned(), transfer("C", 1)];
                sets.extend(WAYS[way].setting.map(str::to_owned));
                ("abc.toml", sets)
            }
        }
    }
}

/// A data segment that left the source.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    at_s: f64,
    octet: u64,
    /// To the destination, without a node between.
    direct: bool,
}

/// One run: what the connection carried, and what its source sent.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    from: NodeId,
    to: Addr,
    /// Octets of the stream whose packets are still to be seen.
    announced: VecDeque<u64>,
    octets: BTreeMap<PacketId, u64>,
    pub(crate) sent: Vec<Sent>,
    /// When the source asked for a route, and whether it asked more than its neighbours.
    pub(crate) requests: Vec<(f64, bool)>,
    pub(crate) mbps: f64,
    pub(crate) timeouts: u64,
}

/// Shorter packets are acknowledgements, and the handshake.
const SHORTEST_DATA: u32 = 200;

impl Connection {
    /// Of the flow from this node to this address.
    pub(crate) fn new(from: NodeId, to: Addr) -> Self {
        Self {
            from,
            to,
            announced: VecDeque::new(),
            octets: BTreeMap::new(),
            sent: Vec::new(),
            requests: Vec::new(),
            mbps: 0.0,
            timeouts: 0,
        }
    }

    /// With what the run's summary has.
    #[must_use]
    pub(crate) fn closed(mut self, summary: &Summary) -> Self {
        if let Some(flow) = summary.flows.first() {
            // Every transfer of the experiment has time.
            self.mbps = flow.goodput_bps.unwrap_or_default() / 1e6;
            self.timeouts = flow.tcp.as_ref().map_or(0, |t| t.timeouts);
        }
        self.octets.clear();
        self
    }
}

impl Observer for Connection {
    fn tcp(&mut self, e: &TcpEvent) {
        // The segment's packet is made next.
        if e.node == self.from && matches!(e.event, "send" | "resend") && e.bytes > 0 {
            self.announced.push_back(e.octet);
        }
    }

    fn hop(&mut self, e: &HopEvent) {
        if e.node != self.from {
            return;
        }
        let at_s = e.time.as_secs_f64();
        match e.kind {
            HopKind::Originate if e.flow.is_some() && e.bytes >= SHORTEST_DATA => {
                if let Some(octet) = self.announced.pop_front() {
                    self.octets.insert(e.packet, octet);
                }
            }
            HopKind::Send if e.messages.has("rreq") => self.requests.push((at_s, e.ttl > 1)),
            HopKind::Send => {
                if let Some(&octet) = self.octets.get(&e.packet) {
                    self.sent.push(Sent { at_s, octet, direct: e.peer == self.to });
                }
            }
            _ => {}
        }
    }
}

/// The transfers, in the order of [`Case::all`], seed by seed.
pub(crate) type Transfers = Vec<Vec<Connection>>;

/// The section of 9; the first transfer of each case has `seed`.
pub(crate) fn section(transfers: &Transfers, seed: u64) -> Section {
    let of = |case: Case| {
        let at = Case::all().iter().position(|c| *c == case);
        at.and_then(|i| transfers.get(i)).map_or(&[][..], Vec::as_slice)
    };
    let rows = goodput::rows(&of);
    let shown = [(0, "Figure 15: nothing remembered"), (WAYS.len() - 1, "Figure 16: perfect routing")];
    let panels: Vec<Panel> = shown
        .into_iter()
        .filter_map(|(way, title)| {
            Some(Panel { title: title.to_owned(), plot: plot(of(Case::Field { way }).first()?) })
        })
        .collect();
    let figure = Figure {
        name: "Figures 15 and 16, with TCP".to_owned(),
        caption: format!(
            "Sequence numbers as the source sent them, by B or directly, and the moments at which it asked for a route: its \
             neighbours only, or the whole network. One run, seed {seed}."
        ),
        panels,
    };
    Section {
        heading: "Section 9: TCP".to_owned(),
        text: vec![
            "Transfers over TCP Reno as FreeBSD had it: delayed acknowledgements, 16 kB of window. Outdoors a transfer has 50 s \
             (5 MB: 100 s). Nothing here was calibrated."
                .to_owned(),
        ],
        rows,
        figures: if figure.panels.is_empty() { vec![] } else { vec![figure] },
    }
}

fn plot(c: &Connection) -> Plot {
    let begin = c.sent.first().map_or(0.0, |s| s.at_s);
    let end = c.sent.last().map_or(1.0, |s| s.at_s - begin);
    let points = |direct| {
        let of = c.sent.iter().filter(|s| s.direct == direct);
        of.map(|s| [s.at_s - begin, s.octet as f64 / 1e6]).collect::<Vec<_>>()
    };
    let top = c.sent.iter().map(|s| s.octet).max().unwrap_or(1) as f64 / 1e6;
    let marks = |wide| {
        let of = c.requests.iter().filter(|r| r.1 == wide);
        of.flat_map(|(at, _)| [[at - begin, 0.0], [at - begin, top], [f64::NAN, f64::NAN]])
            .collect::<Vec<_>>()
    };
    // The first search is at the beginning: its mark stands beside the axis.
    Plot::new(
        Axis::new("time (s)").from_to(-end / 50.0, end),
        Axis::new("sequence number (MB)").from_to(0.0, top),
    )
    .with(Series::new("asked its neighbours", Mark::Line, 3, marks(false)))
    .with(Series::new("asked the network", Mark::Line, 6, marks(true)))
    .with(Series::new("by B", Mark::Dot, 0, points(false)))
    .with(Series::new("directly", Mark::Cross, 1, points(true)))
}
