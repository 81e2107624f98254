//! Which nodes have batteries.

use wayhop_document::{Document, Result, in_range};
use wayhop_radio::{Draw, Supply};

use super::Energy;
use crate::interfaces::Interfaces;
use crate::nodes::{Node, Placement};

/// The defaults of ns-2 (`mac/wireless-phy.cc`), W.
pub(crate) const DRAW: Draw = Draw { tx_watts: 0.66, rx_watts: 0.395, idle_watts: 0.0, sleep_watts: 0.0 };

/// Each node's battery; an empty list if no node has one.
pub(crate) fn resolve(placed: &Placement<'_>, interfaces: &Interfaces) -> Result<Vec<Option<Supply>>> {
    let (scenario, doc) = (placed.scenario, placed.doc());
    let single = &scenario.nodes.single;
    let own = |k: usize| format!("nodes.node[{k}]");
    let first = scenario.energy.as_ref().map(|_| "energy".to_owned());
    let of_node = || single.iter().position(|n| n.energy.is_some()).map(|k| own(k) + ".energy");
    let Some(key) = first.or_else(of_node) else {
        return match single.iter().position(|n| n.mains) {
            Some(k) => Err(doc.error(&(own(k) + ".mains"), "no node has a battery", "remove the key")),
            None => Ok(Vec::new()),
        };
    };
    if !interfaces.is_single() {
        let reason =
            "batteries require one radio per node, but this scenario assigns radios or wires to nodes";
        let remedy = "remove the batteries, or remove radios, wires and radio.nodes";
        return Err(doc.error(&key, reason, remedy));
    }
    let base = scenario.energy.as_ref().map(|e| (e, "energy".to_owned()));
    let mut keys: Vec<Option<usize>> = vec![None; placed.tracks.len()];
    for (k, node) in single.iter().enumerate() {
        keys[node.id as usize] = Some(k);
    }
    keys.into_iter().map(|k| supply(k.map(|k| (&single[k], own(k))).as_ref(), base.as_ref(), doc)).collect()
}

/// The battery of a node, by its own keys and those for all.
fn supply(
    node: Option<&(&Node, String)>,
    base: Option<&(&Energy, String)>,
    doc: &Document,
) -> Result<Option<Supply>> {
    let own = node.and_then(|(n, at)| Some((n.energy.as_ref()?, format!("{at}.energy"))));
    if let Some((_, at)) = node.filter(|(n, _)| n.mains) {
        return match own {
            Some((_, key)) => {
                let remedy = format!("remove the key or {at}.mains");
                Err(doc.error(&key, "a node on mains has no battery", remedy))
            }
            None => Ok(None),
        };
    }
    let given = [own.as_ref(), base];
    let Some((_, place)) = given.iter().flatten().next() else { return Ok(None) };
    let value = |field: &str, of: fn(&Energy) -> Option<f64>, least: f64, default: Option<f64>| {
        let found = given.iter().flatten().find_map(|(e, at)| Some((of(e)?, at)));
        match (found, default) {
            (Some((v, at)), _) => in_range(doc, &format!("{at}.{field}"), v, least, 1e9),
            (None, Some(v)) => Ok(v),
            (None, None) => Err(doc.error(place, format!("{field} is missing"), "give its energy in joules")),
        }
    };
    let joules = value("initial_j", |e| e.initial_j, 1e-6, None)?;
    let draw = Draw {
        tx_watts: value("tx_w", |e| e.tx_w, 0.0, Some(DRAW.tx_watts))?,
        rx_watts: value("rx_w", |e| e.rx_w, 0.0, Some(DRAW.rx_watts))?,
        idle_watts: value("idle_w", |e| e.idle_w, 0.0, Some(DRAW.idle_watts))?,
        sleep_watts: value("sleep_w", |e| e.sleep_w, 0.0, Some(DRAW.sleep_watts))?,
    };
    Ok(Some(Supply { joules, draw }))
}
