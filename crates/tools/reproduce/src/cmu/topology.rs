//! Section 2: how often the movement of the cars changes the topology.

use std::collections::BTreeMap;

use wayhop_core::{NodeId, Span, Time};
use wayhop_report::{Row, Section};
use wayhop_scenario::Resolved;
use wayhop_topology::{LinkSurvey, survey};

use super::paper::number;

/// The nominal range of the radios (section 4.1), metres.
const RANGE_M: f64 = 250.0;

#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Changes {
    /// The time over the number of changes; `None` if nothing changed.
    pub(crate) mean_s: Option<f64>,
    /// The longest time for which a link between an end and a car stayed as it was.
    pub(crate) longest_s: Option<f64>,
}

impl Changes {
    /// Of a scenario's movement; `ends` are the nodes that stand.
    pub(crate) fn new(scenario: &Resolved, ends: [NodeId; 2]) -> Self {
        Self::of(&survey(&scenario.tracks, &scenario.outages, RANGE_M, scenario.duration, &[]).links, ends)
    }

    pub(crate) fn of(links: &LinkSurvey, ends: [NodeId; 2]) -> Self {
        let changes = links.ups() + links.downs();
        let mean_s = (changes > 0).then(|| links.until.as_secs_f64() / changes as f64);
        let is_end = |n: u32| ends.contains(&NodeId(n));
        let mut moments: BTreeMap<(u32, u32), Vec<Time>> = BTreeMap::new();
        for node in (0..links.nodes.len() as u32).filter(|n| !is_end(*n)) {
            for end in ends {
                moments.insert((node.min(end.0), node.max(end.0)), vec![Time::ZERO, links.until]);
            }
        }
        for c in &links.contacts {
            if let Some(list) = moments.get_mut(&(c.a, c.b)) {
                list.extend([c.up, c.down].into_iter().flatten());
            }
        }
        let longest = moments.into_values().filter_map(|mut list| {
            list.sort_unstable();
            list.windows(2).map(|w| w[1].since(w[0])).max()
        });
        Self { mean_s, longest_s: longest.max().map(Span::as_secs_f64) }
    }
}

pub(crate) fn section(runs: &[Changes]) -> Section {
    let row = |who, quantity, value: fn(&Changes) -> Option<f64>| {
        Row::new("Section 2", who, quantity, number(quantity)).with(runs.iter().map(value))
    };
    Section::new(
        "Section 2: the rate of topology change",
        "Computed only from the cars' movement in the ping test and the radios' nominal range of 250 m, like the \
         paper's figures, without packets lost to wireless errors.",
    )
    .rows(vec![
        row("all links", "topology_change_every_s", |c| c.mean_s)
            .note("The time divided by the number of links that appeared or disappeared."),
        row("links of E1 and E2", "link_status_at_longest_s", |c| c.longest_s).note(
            "In the paper all links change at least every 220 s, one lap. Ours are the links between an end and a car; \
             two cars 200 m apart may stay in range, and E1 and E2 do not move.",
        ),
    ])
}
