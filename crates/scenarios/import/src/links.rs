//! The links of a field run, as a macfilter's file: the same links on a desk.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_core::{Mac, Time};
use wayhop_simulator_files::{Ignores, MacFilter};

/// How long a frame shows a link before and after it, seconds: nodes send every few seconds at least, if only Hellos.
pub(crate) const HOLD_S: f64 = 5.0;

/// The filter that connects nodes when they were connected in the field. `heard` are the times, seconds, at which the
/// second node received something that the first had sent.
pub(crate) fn macfilter(addresses: &[Ipv4Addr], heard: &BTreeMap<(usize, usize), Vec<f64>>) -> MacFilter {
    // When each link comes and goes, by who hears.
    let mut changes: Vec<(f64, usize, usize, bool)> = Vec::new();
    for (&(from, to), times) in heard {
        let mut times = times.clone();
        times.sort_by(f64::total_cmp);
        let mut until = f64::NEG_INFINITY;
        for at_s in times {
            let begins = (at_s - HOLD_S).max(0.0);
            if begins > until {
                if until.is_finite() {
                    changes.push((until, to, from, false));
                }
                changes.push((begins, to, from, true));
            }
            until = at_s + HOLD_S;
        }
        if until.is_finite() {
            changes.push((until, to, from, false));
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2, a.3).cmp(&(b.1, b.2, b.3))));
    let mut heard_now = vec![vec![false; addresses.len()]; addresses.len()];
    let line = |at_s: f64, node: usize, heard: &[bool]| Ignores {
        at: Time::from_secs_f64(at_s),
        node: node as u32,
        from: (0..addresses.len())
            .filter(|other| *other != node && !heard[*other])
            .map(|other| Mac::from_addr(addresses[other]))
            .collect(),
    };
    let first = changes.partition_point(|c| c.0 <= 0.0);
    for (_, to, from, up) in &changes[..first] {
        heard_now[*to][*from] = *up;
    }
    let mut lines: Vec<Ignores> = (0..addresses.len()).map(|n| line(0.0, n, &heard_now[n])).collect();
    let mut rest = &changes[first..];
    while let [(at_s, ..), ..] = rest {
        let same = rest.partition_point(|c| c.0 <= *at_s);
        let mut whose = Vec::new();
        for (_, to, from, up) in &rest[..same] {
            heard_now[*to][*from] = *up;
            whose.push(*to);
        }
        whose.sort_unstable();
        whose.dedup();
        lines.extend(whose.into_iter().map(|n| line(*at_s, n, &heard_now[n])));
        rest = &rest[same..];
    }
    MacFilter::new(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_lasts_from_before_its_first_frame_to_behind_its_last_one() {
        let addresses = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        let heard = BTreeMap::from([((0, 1), vec![2.0, 8.0, 30.0]), ((1, 0), vec![7.0])]);
        let text = macfilter(&addresses, &heard).to_string();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        let expected = [
            "at 0.000000000 node 0 ignores 02:00:0a:00:00:02",
            "at 0.000000000 node 1 ignores nobody",
            "at 2.000000000 node 0 ignores nobody",
            "at 12.000000000 node 0 ignores 02:00:0a:00:00:02",
            "at 13.000000000 node 1 ignores 02:00:0a:00:00:01",
            "at 25.000000000 node 1 ignores nobody",
            "at 35.000000000 node 1 ignores 02:00:0a:00:00:01",
        ];
        assert_eq!(lines, expected);
    }
}
