//! Neighbours in the mesh: those of a node's routing protocol, queried over its control socket.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use wayhop_control::answer::Tables;
use wayhop_control::{Client, NodeRef, Request};

use crate::error::Error;

/// How often it is asked.
const EVERY: Duration = Duration::from_secs(1);

/// Whom to ask.
#[derive(Clone, Debug)]
pub struct MeshNode {
    /// The control socket of a node or a run.
    pub socket: PathBuf,
    /// Which node of a run.
    pub node: Option<NodeRef>,
}

/// Asks for as long as somebody wants to know. A node that does not answer has no neighbours.
pub(crate) fn follow(mesh: MeshNode) -> Result<Receiver<Vec<IpAddr>>, Error> {
    let (news, receiver) = channel();
    let ask = move || {
        let mut client = None;
        loop {
            if client.is_none() {
                client = Client::connect(&mesh.socket).ok();
            }
            let request = Request::Tables { tables: vec!["neighbours".to_owned()] };
            let answer = client.as_mut().and_then(|c| c.ask_for::<Tables>(mesh.node.clone(), request).ok());
            if answer.is_none() {
                client = None;
            }
            if news.send(answer.as_ref().map_or_else(Vec::new, neighbours)).is_err() {
                return;
            }
            thread::sleep(EVERY);
        }
    };
    let thread = thread::Builder::new().name("mesh".to_owned()).spawn(ask);
    thread.map_err(Error::new("cannot start a thread"))?;
    Ok(receiver)
}

/// The addresses in a node's table of neighbours. Each protocol has columns of its own; one says who.
fn neighbours(tables: &Tables) -> Vec<IpAddr> {
    let rows = tables.nodes.iter().filter_map(|n| n.tables.get("neighbours")).flatten();
    let who = rows.filter_map(|row| ["address", "neighbour"].iter().find_map(|key| row.get(*key)?.as_str()));
    who.filter_map(|text| text.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_protocols_table_names_its_neighbours() {
        let tables = |rows| -> Tables {
            let node = json!({"node": 0, "name": "a", "tables": {"neighbours": rows}});
            serde_json::from_value(json!({"time_s": 1.0, "nodes": [node]})).expect("tables")
        };
        let of = |rows| neighbours(&tables(rows)).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(of(json!([{"address": "10.0.0.2", "heard_ms_ago": 3}])), ["10.0.0.2"]);
        assert_eq!(of(json!([{"neighbour": "10.0.0.3", "rtt_ms": null}, {"x": 1}])), ["10.0.0.3"]);
    }
}
