//! Sentences about the paths between two nodes.

use wayhop_core::Time;
use wayhop_trace::PathBetween;

use crate::reach::Hops;

pub(crate) struct PacketPath<'a> {
    pub(crate) hops: &'a Hops,
    pub(crate) sent: Time,
    /// `None` if it was still under way at the end.
    pub(crate) ended: Option<Time>,
    /// When the run ended.
    pub(crate) end: Time,
    pub(crate) source: &'a str,
    pub(crate) destination: &'a str,
}

/// A time without a path; without an end it lasts until the end of the run.
#[derive(Copy, Clone)]
struct Gap {
    from: Time,
    until: Option<Time>,
}

/// A path appeared, with this number of hops, or the last one was lost.
pub(crate) fn change(destination: &str, hops: Option<u16>) -> String {
    match hops {
        Some(n) => format!("a path to {destination} exists again: {}", hops_text(n)),
        None => format!("there is no longer a path to {destination}"),
    }
}

pub(crate) fn path(way: &PacketPath<'_>) -> PathBetween {
    let ended = way.ended.unwrap_or(way.end).max(way.sent);
    let at =
        |t: Time| way.hops[..way.hops.partition_point(|(from, _)| *from <= t)].last().and_then(|(_, h)| *h);
    let (first, last) = (at(way.sent), at(ended));
    let gaps = gaps(way.hops);
    let touches = |g: &&Gap| g.from <= ended && g.until.is_none_or(|u| u > way.sent);
    let gap = if first.is_none() { gaps.iter().find(touches) } else { gaps.iter().rfind(touches) };
    let covers = |g: &Gap| g.from <= way.sent && g.until.is_none_or(|u| u > ended);
    PathBetween {
        existed: Some(!gap.is_some_and(covers)),
        when_sent: Some(first.is_some()),
        when_ended: Some(last.is_some()),
        hops_when_sent: first,
        none_from_s: gap.map(|g| g.from.as_secs_f64()),
        none_until_s: gap.and_then(|g| g.until).map(Time::as_secs_f64),
        unknown: None,
        text: text(way, first, last, gap.copied()),
    }
}

fn gaps(hops: &Hops) -> Vec<Gap> {
    let mut all: Vec<Gap> = Vec::new();
    for (at, now) in hops {
        match (now, all.last_mut()) {
            (None, _) => all.push(Gap { from: *at, until: None }),
            (Some(_), Some(last)) if last.until.is_none() => last.until = Some(*at),
            _ => {}
        }
    }
    all
}

fn text(way: &PacketPath<'_>, first: Option<u16>, last: Option<u16>, gap: Option<Gap>) -> String {
    let (from, to) = (way.source, way.destination);
    let ended = match way.ended {
        Some(_) => "when it ended",
        None => "at the end of the run",
    };
    match (first, gap) {
        (Some(n), None) => {
            format!("a path from {from} to {to} existed all the time ({} when it was sent)", hops_text(n))
        }
        (Some(n), Some(gap)) => {
            let (hops, when) = (hops_text(n), gap.text());
            let later = if last.is_some() { format!(", but again {ended}") } else { String::new() };
            format!("a path from {from} to {to} existed when it was sent ({hops}), but none {when}{later}")
        }
        (None, Some(gap)) => {
            let is_over = gap.until.is_some_and(|u| u <= way.ended.unwrap_or(way.end));
            let later = match (is_over, last) {
                (false, _) => "",
                (true, Some(_)) => "; then there was one",
                (true, None) => "; then there was one for a while",
            };
            match gap {
                Gap { from: Time::ZERO, until: None } => format!("no path from {from} to {to} ever existed"),
                _ => format!("no path from {from} to {to} existed {}{later}", gap.text()),
            }
        }
        // There is a gap where there is no path.
        (None, None) => String::new(),
    }
}

impl Gap {
    fn text(&self) -> String {
        let from = seconds(self.from);
        match self.until {
            Some(until) => format!("from {from} s to {} s", seconds(until)),
            None => format!("from {from} s to the end of the run"),
        }
    }
}

fn hops_text(n: u16) -> String {
    format!("{n} hop{}", if n == 1 { "" } else { "s" })
}

/// To the millisecond.
pub(crate) fn seconds(t: Time) -> String {
    let text = format!("{:.3}", t.as_secs_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
