//! Answers for people.
//!
//! Everything here came over a socket: control characters in it never reach the terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::failure::harmless;

/// Columns that say what a row is about stand first, in this order; the others follow by the alphabet.
const FIRST: &str = "run world protocol nodes down pid socket node name destination neighbour address target initiator \
                     source from to tier place route state next_hop hops";

/// Rows as aligned columns under their names.
pub(super) fn columns(rows: &[Map<String, Value>]) -> String {
    let mut names: Vec<&str> = rows.iter().flat_map(|r| r.keys().map(String::as_str)).collect();
    let place = |n: &str| FIRST.split(' ').position(|f| f == n).unwrap_or(usize::MAX);
    names.sort_by_key(|n| (place(n), *n));
    names.dedup();
    columns_in_order(&names, rows)
}

fn columns_in_order(names: &[&str], rows: &[Map<String, Value>]) -> String {
    let mut lines = vec![names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>()];
    lines.extend(
        rows.iter().map(|r| names.iter().map(|n| r.get(*n).map_or_else(String::new, cell)).collect()),
    );
    wayhop_report::columns(&lines, usize::MAX).lines().fold(String::new(), |text, l| text + "  " + l + "\n")
}

fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => "-".to_owned(),
        Value::String(s) => s.clone(),
        // Three decimals are what a reader wants of a measured time.
        Value::Number(n) if n.is_f64() => n.as_f64().map_or_else(String::new, short),
        other => other.to_string(),
    };
    harmless(&text)
}

fn short(v: f64) -> String {
    let text = format!("{v:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn row(pairs: &[(&str, Value)]) -> Map<String, Value> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect()
}

fn nodes(answer: &Value) -> &[Value] {
    answer["nodes"].as_array().map_or(&[], Vec::as_slice)
}

fn objects(rows: &[Value]) -> Vec<Map<String, Value>> {
    rows.iter().filter_map(|r| r.as_object().cloned()).collect()
}

fn heading(node: &Value) -> String {
    format!("node {} {}", cell(&node["node"]), cell(&node["name"]))
}

pub(super) fn list(runs: &[Value]) -> String {
    if runs.is_empty() {
        return "no run or node of this user is running\n".to_owned();
    }
    columns(&objects(runs))
}

pub(super) fn about(answer: &Value) -> String {
    let [name, world, protocol, version, pid] =
        ["name", "world", "protocol", "wayhop", "pid"].map(|key| cell(&answer[key]));
    let text = format!("{name} ({world}), {protocol}, wayhop {version}, process {pid}\n");
    text + &columns(&objects(nodes(answer)))
}

pub(super) fn tables(answer: &Value) -> String {
    let mut text = String::new();
    for node in nodes(answer) {
        let tables = node["tables"].as_object().filter(|t| !t.is_empty());
        let _ = writeln!(text, "{}", heading(node));
        let Some(tables) = tables else {
            text += "  nothing\n";
            continue;
        };
        for (name, rows) in tables {
            let _ = writeln!(text, " {}", cell(&name.as_str().into()));
            text += &columns(&objects(rows.as_array().map_or(&[], Vec::as_slice)));
        }
        if let Some(n) = node["rows_left_out"].as_u64().filter(|n| *n > 0) {
            let _ = writeln!(text, "  and {n} more rows: request a single table");
        }
    }
    text
}

pub(super) fn tables_and_held(answer: &Value) -> String {
    let mut text = tables(answer);
    let held: Vec<Map<String, Value>> = nodes(answer)
        .iter()
        .flat_map(|n| {
            let places = n["held"].as_object().into_iter().flatten();
            places.map(|(place, packets)| {
                row(&[("name", n["name"].clone()), ("place", json!(place)), ("packets", packets.clone())])
            })
        })
        .collect();
    if !held.is_empty() {
        text += "packets held\n";
        text += &columns(&held);
    }
    text
}

/// One row a name, one column a node.
fn by_name(answer: &Value, key: &str) -> String {
    let mut names: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let mut single = Vec::new();
    let all = nodes(answer);
    for node in all {
        for (name, value) in node[key].as_object().into_iter().flatten() {
            single.push(row(&[("name", json!(name)), ("value", value.clone())]));
            names
                .entry(name)
                .or_insert_with(|| row(&[("name", json!(name))]))
                .insert(cell(&node["name"]), value.clone());
        }
    }
    match all.len() {
        1 => format!("{}\n{}", heading(&all[0]), columns(&single)),
        // The most columns that fit on a screen.
        2..=12 => {
            // In the order of their numbers, as everywhere.
            let nodes: Vec<String> = all.iter().map(|n| cell(&n["name"])).collect();
            let order: Vec<&str> = std::iter::once("name").chain(nodes.iter().map(String::as_str)).collect();
            columns_in_order(&order, &names.into_values().collect::<Vec<_>>())
        }
        _ => all.iter().map(|n| by_name(&json!({"nodes": [n]}), key)).collect(),
    }
}

pub(super) fn counters(answer: &Value) -> String {
    by_name(answer, "counters")
}

pub(super) fn parameters(answer: &Value) -> String {
    by_name(answer, "parameters")
}

pub(super) fn positions(answer: &Value) -> String {
    let rows: Vec<Map<String, Value>> = nodes(answer)
        .iter()
        .map(|n| {
            let mut r = row(&[("node", n["node"].clone()), ("name", n["name"].clone())]);
            for place in ["local", "earth", "gps"] {
                r.extend(n[place].as_object().cloned().unwrap_or_default());
            }
            if n["overridden"] == json!(true) {
                r.insert("overridden".to_owned(), json!(true));
            }
            r
        })
        .collect();
    let mut text = columns(&rows);
    let has = |place: &str| nodes(answer).iter().any(|n| n[place].is_object());
    if has("local") && !has("earth") {
        text.push_str(
            "metres from the scenario's origin; for geographic positions, give the scenario an `origin`\n",
        );
    }
    text
}

pub(super) fn links(answer: &Value) -> String {
    let rows = objects(answer["links"].as_array().map_or(&[], Vec::as_slice));
    if rows.is_empty() { "no link is overridden\n".to_owned() } else { columns(&rows) }
}

pub(super) fn event(event: &Value) -> String {
    let mut text = match event["time_s"].as_f64() {
        Some(t) => format!("{t:12.6} "),
        None => format!("{:12} ", ""),
    };
    if let Some(n) = event["node"].as_u64() {
        let _ = write!(text, "node {n} ");
    }
    let _ = write!(text, "{}", cell(&event["kind"]));
    for (key, value) in event.as_object().into_iter().flatten() {
        if !matches!(key.as_str(), "time_s" | "node" | "kind") {
            let _ = write!(text, " {key}={}", cell(value));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_row_is_about_stands_first_and_columns_are_aligned() {
        let rows = [
            row(&[("hops", json!(2)), ("destination", json!("10.0.0.3")), ("age_s", json!(0.5))]),
            row(&[("hops", json!(10)), ("destination", json!("10.0.0.100"))]),
        ];
        let text = columns(&rows);
        let expected = "  destination  hops  age_s\n  10.0.0.3     2     0.5\n  10.0.0.100   10\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn nodes_are_columns_in_the_order_of_their_numbers() {
        let node = |n: u32, name: &str| json!({"node": n, "name": name, "counters": {"sent": n}});
        let mut answer = json!({"nodes": [node(0, "left"), node(1, "1"), node(2, "10"), node(3, "2")]});
        // Only one has it.
        answer["nodes"][0]["counters"]["lost"] = json!(2);
        let expected = "  name  left  1  10  2\n  lost  2\n  sent  0     1  2   3\n";
        assert_eq!(counters(&answer), expected);
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let text = event(&json!({"kind": "process", "command": "a\u{1b}[2Jb\n", "node": 1, "time_s": 1.0}));
        assert!(!text.contains(char::is_control), "{text:?}");
        let text = columns(&[row(&[("name", json!("\u{1b}]0;x\u{7}"))])]);
        assert!(!text.replace('\n', "").contains(char::is_control), "{text:?}");
    }
}
