//! Metrics as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::about::About;
use crate::answer::NodeCounters;

/// What there is to tell.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Who tells it.
    pub about: About,
    /// Counters by node: they become `wayhop_NAME_total{node="..."}`.
    pub counters: Vec<NodeCounters>,
    /// Values that go up and down, by name, with the node: they become `wayhop_NAME{node="..."}`.
    pub gauges: BTreeMap<String, Vec<(String, f64)>>,
}

impl Snapshot {
    /// The text format.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let a = &self.about;
        line(&mut text, "wayhop_info", "gauge", "Version of Wayhop.");
        let labels =
            [("version", &a.wayhop), ("name", &a.name), ("world", &a.world), ("protocol", &a.protocol)];
        let labels: Vec<String> = labels.iter().map(|(k, v)| format!("{k}=\"{}\"", quoted(v))).collect();
        let _ = writeln!(text, "wayhop_info{{{}}} 1", labels.join(","));
        // One metric after the other, as the format asks; a name that two counters share after cleaning is one metric.
        let mut by_name: BTreeMap<String, Vec<(&str, u64)>> = BTreeMap::new();
        for n in &self.counters {
            for (counter, value) in &n.counters {
                by_name.entry(clean(counter)).or_default().push((&n.name, *value));
            }
        }
        for (name, rows) in by_name {
            let metric = format!("wayhop_{name}_total");
            line(&mut text, &metric, "counter", "Since the start of the node.");
            let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
            for (node, value) in rows {
                let sum = sums.entry(node).or_default();
                *sum = sum.saturating_add(value);
            }
            for (node, value) in sums {
                let _ = writeln!(text, "{metric}{{node=\"{}\"}} {value}", quoted(node));
            }
        }
        for (name, rows) in &self.gauges {
            let metric = format!("wayhop_{}", clean(name));
            line(&mut text, &metric, "gauge", "As it is now.");
            for (node, value) in rows {
                let _ = writeln!(text, "{metric}{{node=\"{}\"}} {value}", quoted(node));
            }
        }
        text
    }
}

fn line(text: &mut String, metric: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {metric} {help}\n# TYPE {metric} {kind}");
}

/// A name of letters, digits and underscores.
fn clean(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

/// A label's value: backslash, quote and end of line are escaped.
fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
