//! Figure 2, Tables 4 and 5: UDP over one to four hops, and where its packets are lost.

use wayhop_report::{Axis, Estimate, Figure, Mark, Panel, Plot, Range, Row, Section, Series};

use super::losses::Losses;
use super::paper;
use crate::table::hops_in_words;

/// The offered loads, tenths of a Mb/s.
pub(crate) const TENTHS: std::ops::RangeInclusive<u32> = 1..=9;
/// A load at which so much is received counts as free of errors: of the paper's own rows at 0.2 Mb/s one has 97.49 %.
const ERROR_FREE_PCT: f64 = 97.0;

/// The runs over this number of hops: for each load, by seed.
pub(crate) type ByLoad = Vec<Vec<Losses>>;

fn load(tenths: u32) -> f64 {
    f64::from(tenths) / 10.0
}

fn received_mbps(l: &Losses, tenths: u32) -> Option<f64> {
    Some(load(tenths) * l.received_pct()? / 100.0)
}

/// Of one seed: what `of` makes of its runs at all loads, if it has them all.
fn per_seed(runs: &ByLoad, of: impl Fn(&[&Losses]) -> Option<f64>) -> Vec<Option<f64>> {
    let seeds = runs.iter().map(Vec::len).min().unwrap_or(0);
    (0..seeds).map(|s| of(&runs.iter().map(|r| &r[s]).collect::<Vec<_>>())).collect()
}

/// Means over seeds with their intervals at each load, a joined mark each.
fn averages(
    name: &str,
    look: (Mark, usize),
    runs: &ByLoad,
    of: impl Fn(&Losses, u32) -> Option<f64>,
) -> Series {
    let at = |(tenths, r): (u32, &Vec<Losses>)| {
        let values: Vec<f64> = r.iter().filter_map(|l| of(l, tenths)).collect();
        Some((load(tenths), Estimate::of(&values)?))
    };
    Series::of_estimates(name, look, TENTHS.zip(runs).filter_map(at)).joined()
}

fn printed(hops: usize, column: &str) -> Vec<[f64; 2]> {
    TENTHS.filter_map(|t| Some([load(t), paper::udp(hops, t, column)?])).collect()
}

/// The section of Figure 2; `by_hops[h - 1]` are the runs over h hops.
pub(crate) fn throughput(by_hops: &[ByLoad; 4]) -> Section {
    let mut rows = Vec::new();
    for (h, runs) in (1..).zip(by_hops) {
        let who = hops_in_words(h);
        let row = |quantity, printed: Option<f64>| Row::new("Figure 2", &who, quantity, printed);
        let highest =
            per_seed(runs, |r| TENTHS.zip(r).filter_map(|(t, l)| received_mbps(l, t)).reduce(f64::max));
        let printed_highest = [None, None, Some(0.6), Some(0.4)][h - 1];
        let highest = row("max_received_mbps", printed_highest).with(highest);
        rows.push(match h {
            1 | 2 => highest.note("The paper: \"almost ideal\"; its figure has no numbers."),
            _ => highest.note("The paper: \"about\"."),
        });
        let clean = per_seed(runs, |r| {
            let clean =
                TENTHS.zip(r).take_while(|(_, l)| l.received_pct().is_some_and(|p| p >= ERROR_FREE_PCT));
            Some(clean.last().map_or(0.0, |(t, _)| load(t)))
        });
        let clean = row("max_error_free_mbps", Some(0.2)).with(clean);
        rows.push(match h {
            1 | 2 => clean.note(
                "The paper says 0.2 \"for all hop counts\", but also calls one and two hops \"almost ideal\"; we use the \
                 latter.",
            ),
            _ => clean.note("The highest load at and below which at least 97 % is received."),
        });
    }
    let mut plot = Plot::new(
        Axis::new("offered load (Mb/s)").from_to(0.0, 1.0),
        Axis::new("received (Mb/s)").from_to(0.0, 1.0),
    )
    .with(Series::new("all received", Mark::Line, 6, vec![[0.0, 0.0], [1.0, 1.0]]));
    for (h, runs) in (1..).zip(by_hops) {
        plot = plot.with(averages(&hops_in_words(h), Mark::nth(h - 1), runs, received_mbps));
    }
    for h in [3, 4] {
        let points = printed(h, "received_pct").iter().map(|[x, pct]| [*x, x * pct / 100.0]).collect();
        let mark = if h == 3 { Mark::Cross } else { Mark::Plus };
        plot = plot.with(Series::new(&format!("{h} hops, paper"), mark, h - 1, points));
    }
    Section::new(
        "Figure 2: offered load and received throughput",
        "UDP packets of 1472 bytes from the desktop to the last laptop of the chain, for 300 s at each load. One and \
         two hops lose almost nothing until two hops fill the channel (twice 6.7 ms per packet, 0.88 Mb/s); with three \
         or more hops, nodes that do not hear each other send to the same one.",
    )
    .rows(rows)
    .figures([Figure::of(
        "Figure 2",
        "Received throughput by offered load, means over seeds with 95 % intervals. The paper's points are from its \
         Tables 4 and 5.",
        plot,
    )])
}

pub(crate) const TABLE_4: &str = "Node x: dropped by its routing (no route, or more than 30 packets waiting for one). Node x to x + 1: transmitted by \
     the first and not received by the second. Runs continue until every packet has ended, so the shares of a load add up \
     to 100 %.\n\
     Nodes 1 and 3 do not hear each other, and their simultaneous transmissions collide at node 2: UDP from node 1, and \
     Hellos from node 3, whose loss makes node 2 give up its route. The knee is where a packet is still two hops ahead \
     when the next one starts: 30 ms with these cards, 0.4 Mb/s, and less for packets that follow sooner than the mean.\n\
     From 0.3 Mb/s, we lose two to four times as much between nodes 1 and 2 as the paper. Up to 0.6 Mb/s the paper also \
     loses nearly everything there, so our received share is too low by this link's excess; from 0.7 Mb/s it loses as much \
     at nodes 1 and 2 and between nodes 2 and 3, where we lose almost nothing.";

pub(crate) const TABLE_5: &str = "Like Table 4, but node 4 sends too: packets from node 2 collide with its packets at node 3.\n\
     The paper loses most between nodes 2 and 3 (13 to 42 % from 0.5 Mb/s on) and at nodes 1 and 2, and 0.4 to 6.3 % \
     between nodes 1 and 2 up to 0.8 Mb/s. We lose 20 to 38 % between nodes 1 and 2, and half as much as the paper between \
     nodes 2 and 3. The paper's drops at node 1 are packets that waited too long for a route; ours are few because our \
     discoveries are repeated less often (Table 3).";

/// The section of Table 4 (three hops) or 5 (four).
pub(crate) fn losses(table: &str, hops: usize, runs: &ByLoad, text: &str) -> Section {
    let rows = |(tenths, runs): (u32, &Vec<Losses>)| {
        load_rows(table, &format!("{:.1} Mb/s", load(tenths)), hops, tenths, runs)
    };
    Section::new(&format!("{table}: where packets are lost over {hops} hops"), text)
        .rows(TENTHS.zip(runs).flat_map(rows).collect())
        .figures([Figure::new(
            table,
            "Share of the packets sent, by offered load: dropped by a node's routing, lost between two nodes, received. \
             Ours are means over seeds with 95 % intervals.",
            panels(hops, runs),
        )])
}

pub(crate) fn load_rows(table: &str, at: &str, hops: usize, tenths: u32, runs: &[Losses]) -> Vec<Row> {
    let row = |quantity: &str, column: &str, place| {
        Row::new(table, at, quantity, paper::udp(hops, tenths, column))
            .within(Range::Percent)
            .note(miss(place, hops))
    };
    let mut rows = Vec::new();
    for n in 1..=hops {
        let next = n + 1;
        let node = row(&format!("node_{n}_drops_pct"), &format!("node{n}"), PacketEnd::Node(n));
        let link =
            row(&format!("link_{n}_to_{next}_lost_pct"), &format!("link{n}{next}"), PacketEnd::Link(n));
        rows.push(node.with(runs.iter().map(|l| l.node_pct(n))));
        rows.push(link.with(runs.iter().map(|l| l.link_pct(n))));
    }
    let received = row("received_pct", "received_pct", PacketEnd::End);
    rows.push(received.with(runs.iter().map(Losses::received_pct)));
    for r in &mut rows {
        // What is near enough needs no explanation.
        let is_near = r.difference_pct().map_or(r.ours.is_some_and(|o| o < 0.05), |pct| pct.abs() <= 25.0);
        if is_near {
            r.note.clear();
        }
    }
    rows
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum PacketEnd {
    /// Dropped by this node, counted from 1.
    Node(usize),
    /// Lost between this node and the next.
    Link(usize),
    End,
}

/// Why a share is far from the paper's, as far as we know.
fn miss(place: PacketEnd, hops: usize) -> &'static str {
    match (place, hops) {
        (PacketEnd::Node(1), _) => {
            "Drops at node 1 are packets beyond the 30 that wait for a route. Few of our discoveries are repeated (Table 3), so few overflow."
        }
        (PacketEnd::Node(2), _) => {
            "Node 2 drops packets that reach it while it has no route. Here most are lost before, between nodes 1 and 2; \
             fewer are if a receiver stays with the first frame (see that section)."
        }
        (PacketEnd::Node(_), _) => {
            "Routes lost by node 3 and later nodes; the paper has almost none. Here Hellos of the next node collide with \
             packets of the previous node."
        }
        (PacketEnd::Link(1), _) => {
            "Collisions at node 2 with packets forwarded by node 3. Of two equally strong frames neither is received here; \
             with receivers that stay with the first one, half as many are lost (see that section)."
        }
        (PacketEnd::Link(n), last) if n == last => {
            "Nothing collides on the last link here; in the paper a few packets in a thousand are lost there, so its links \
             also lost frames without collisions."
        }
        (PacketEnd::Link(2), 4) => {
            "Node 4 forwards too, and collides at node 3; but here a third of the packets are already lost before node 2."
        }
        (PacketEnd::Link(2), _) => {
            "Here only Hellos of node 4 collide at node 3, at every load. What the frames of the paper's node 2 collided \
             with from 0.7 Mb/s is not known."
        }
        (PacketEnd::Link(_), _) => "Hellos beyond the last forwarder; few in both.",
        (PacketEnd::End, _) => "Follows from the losses in the rows above.",
    }
}

/// Ours and the paper's losses, in the same colours.
fn panels(hops: usize, runs: &ByLoad) -> Vec<Panel> {
    let frame = || {
        Plot::new(
            Axis::new("offered load (Mb/s)").from_to(0.0, 1.0),
            Axis::new("share of packets sent (%)").from_to(0.0, 100.0),
        )
    };
    let look = (Mark::nth(4).0, 6);
    let theirs_are = |name, (mark, colour), points| Series::new(name, mark, colour, points).joined();
    let mut ours = frame().with(averages("received", look, runs, |l, _| l.received_pct()));
    let mut theirs = frame().with(theirs_are("received", look, printed(hops, "received_pct")));
    let places: [(&str, usize, bool); 4] =
        [("node 1", 1, true), ("node 1 to 2", 1, false), ("node 2", 2, true), ("node 2 to 3", 2, false)];
    for (colour, (name, n, at_node)) in places.into_iter().enumerate() {
        let look = Mark::nth(colour);
        let share = |l: &Losses, _: u32| if at_node { l.node_pct(n) } else { l.link_pct(n) };
        ours = ours.with(averages(name, look, runs, share));
        let column = if at_node { format!("node{n}") } else { format!("link{n}{}", n + 1) };
        theirs = theirs.with(theirs_are(name, look, printed(hops, &column)));
    }
    vec![Panel::new("Wayhop", ours), Panel::new("paper", theirs)]
}
