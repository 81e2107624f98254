//! The labels of a figure's axes: keys and figures end in their unit, and so do the labels.

use crate::plan::Axis;

/// The last part of a name, after `_`, and its unit.
const UNITS: [(&str, &str); 20] = [
    ("bps", "bit/s"),
    ("bytes", "octets"),
    ("db", "dB"),
    ("dbi", "dBi"),
    ("dbm", "dBm"),
    ("deg", "\u{b0}"),
    ("hz", "Hz"),
    ("j", "J"),
    ("kbps", "kbit/s"),
    ("m", "m"),
    ("mbps", "Mbit/s"),
    ("mhz", "MHz"),
    ("mps", "m/s"),
    ("ms", "ms"),
    ("mw", "mW"),
    ("pct", "%"),
    ("pps", "packets/s"),
    ("s", "s"),
    ("us", "\u{b5}s"),
    ("w", "W"),
];

/// A figure of a summary in words, by the way to it there: `latency_ms.p95` is `latency, 95th percentile (ms)`.
pub fn figure_in_words(way: &str) -> String {
    Quantity::of_figure(way).label()
}

/// An axis of a plan in words: `nodes.count` is `number of nodes`.
pub fn axis_in_words(axis: &Axis) -> String {
    Quantity::of_axis(&axis.name, axis.key.as_deref()).label()
}

/// `text` with a capital letter at its beginning.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quantity {
    words: String,
    unit: Option<&'static str>,
}

impl Quantity {
    /// Of a figure, by the way to it in the summary: `totals.latency_ms.p95`.
    pub(crate) fn of_figure(way: &str) -> Self {
        let mut parts: Vec<&str> = way.split('.').collect();
        parts.retain(|p| *p != "totals");
        let mut words = Vec::new();
        let mut unit = None;
        for (k, part) in parts.iter().enumerate() {
            let (word, own) = word(part);
            unit = unit.or(own);
            words.push(match word.as_str() {
                "p50" => "median".to_owned(),
                "p95" => "95th percentile".to_owned(),
                "p99" => "99th percentile".to_owned(),
                "max" => "largest".to_owned(),
                "flows" if k + 1 < parts.len() => "flow".to_owned(),
                "by type" => "messages".to_owned(),
                _ => word,
            });
        }
        // A flow and its number are one word.
        if parts.first() == Some(&"flows") && words.len() > 2 {
            let number = words.remove(1);
            words[0] = format!("flow {number}");
        }
        Self { words: words.join(", "), unit }
    }

    /// Of an axis of a plan that goes by `name` and sets `key`.
    pub(crate) fn of_axis(name: &str, key: Option<&str>) -> Self {
        let unit = key.and_then(|k| word(k).1);
        if key != Some(name) {
            return Self { words: name.to_owned(), unit };
        }
        let parts: Vec<String> = name.split('.').map(|part| word(part).0).collect();
        let words = match parts.split_last() {
            Some((last, rest)) if last == "count" && !rest.is_empty() => {
                format!("number of {}", rest.join(" "))
            }
            Some((last, rest)) if last == "name" && !rest.is_empty() => rest.join(" "),
            _ => parts.join(" "),
        };
        Self { words, unit }
    }

    /// With a unit in which values up to `most` have few digits, and what to divide values by.
    pub(crate) fn scaled(self, most: f64) -> (Self, f64) {
        match self.unit {
            Some("bit/s") if most >= 1e7 => (Self { unit: Some("Mbit/s"), ..self }, 1e6),
            Some("bit/s") if most >= 1e4 => (Self { unit: Some("kbit/s"), ..self }, 1e3),
            _ => (self, 1.0),
        }
    }

    /// The label of an axis: `latency, mean (ms)`.
    pub(crate) fn label(&self) -> String {
        self.unit.map_or_else(|| self.words.clone(), |unit| format!("{} ({unit})", self.words))
    }
}

/// A part of a name as words, and its unit.
fn word(part: &str) -> (String, Option<&'static str>) {
    let known = part.rsplit_once('_').and_then(|(word, last)| {
        let unit = UNITS.iter().find(|(name, _)| *name == last)?.1;
        Some((word, unit))
    });
    let (word, unit) = known.map_or((part, None), |(word, unit)| (word, Some(unit)));
    // Causes of drops, NO_ROUTE, are names.
    let is_name = word.chars().any(|c| c.is_ascii_uppercase());
    (if is_name { word.to_owned() } else { word.replace('_', " ") }, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_words_with_a_unit() {
        for (way, label) in [
            ("totals.delivery_ratio", "delivery ratio"),
            ("totals.goodput_bps", "goodput (bit/s)"),
            ("totals.latency_ms.p95", "latency, 95th percentile (ms)"),
            ("totals.latency_ms.mean", "latency, mean (ms)"),
            ("totals.routing_packets", "routing packets"),
            ("totals.routing_bytes", "routing (octets)"),
            ("totals.drops.NO_ROUTE", "drops, NO_ROUTE"),
            ("totals.by_type.rreq", "messages, rreq"),
            ("flows.0.goodput_bps", "flow 0, goodput (bit/s)"),
            ("flows.12.tcp.timeouts", "flow 12, tcp, timeouts"),
        ] {
            assert_eq!(Quantity::of_figure(way).label(), label);
        }
    }

    #[test]
    fn axes_are_called_by_their_own_name_or_by_their_key() {
        for (name, key, label) in [
            ("nodes.count", Some("nodes.count"), "number of nodes"),
            ("protocol.name", Some("protocol.name"), "protocol"),
            ("movement.speed_max_mps", Some("movement.speed_max_mps"), "movement speed max (m/s)"),
            ("radio.tx_power_dbm", Some("radio.tx_power_dbm"), "radio tx power (dBm)"),
            ("duration_s", Some("duration_s"), "duration (s)"),
            ("speed", Some("movement.speed_max_mps"), "speed (m/s)"),
            ("how fast", None, "how fast"),
        ] {
            assert_eq!(Quantity::of_axis(name, key).label(), label);
        }
    }

    #[test]
    fn bits_per_second_are_counted_in_thousands_when_they_are_many() {
        let label = |most: f64| {
            let (q, by) = Quantity::of_figure("totals.goodput_bps").scaled(most);
            (q.label(), by)
        };
        assert_eq!(label(9_999.0), ("goodput (bit/s)".to_owned(), 1.0));
        assert_eq!(label(1e4), ("goodput (kbit/s)".to_owned(), 1e3));
        assert_eq!(label(1e7), ("goodput (Mbit/s)".to_owned(), 1e6));
    }
}
