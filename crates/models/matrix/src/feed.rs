//! Positions that arrive as text, a line each time: XML, as the paper's programs send them, or JSON.
//!
//! `<positions><node id="0" x="12.5" y="-3"/><node id="1" x="0" y="0" z="2"/></positions>` and
//! `{"nodes": [{"node": 0, "x": 12.5, "y": -3}, {"node": 1, "x": 0, "y": 0, "z": 2}]}` say the same: metres east, north and up.

use std::io::{BufRead, Read as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use wayhop_core::Position;

/// The longest line, octets.
const MAX_LINE: usize = 64 << 10;
/// Lines that wait to be taken.
const WAITING: usize = 16;
/// How often an interruption is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Receives what is wrong with a line, which is ignored.
type Notice = fn(&str);

/// The radios' positions, from lines that a thread of its own reads.
pub struct Feed {
    lines: Receiver<Vec<(usize, Position)>>,
    /// One line each second: a file has all of them at once.
    is_file: bool,
    positions: Vec<Position>,
    notice: Notice,
}

impl Feed {
    /// Reads lines for this number of radios until the end of `input`, which is called `name` in notices.
    pub fn new(
        input: Box<dyn BufRead + Send>,
        name: String,
        is_file: bool,
        radios: usize,
        notice: Notice,
    ) -> Self {
        let (sender, lines) = sync_channel(WAITING);
        thread::spawn(move || read(input, &name, &sender, notice));
        Self { lines, is_file, positions: vec![Position::default(); radios], notice }
    }

    /// Number of radios.
    pub fn radios(&self) -> usize {
        self.positions.len()
    }

    /// The positions after the first line; waits for it. `None` if there is none before `stop`.
    pub fn first(&mut self, stop: &AtomicBool) -> Option<Vec<Position>> {
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => {
                    self.take(line);
                    // More may never come.
                    return Some(self.positions.clone());
                }
                Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => {}
                Err(_) => return None,
            }
        }
    }

    /// The positions after all lines read so far, or after the next line of a file; `None` at the end.
    pub fn latest(&mut self) -> Option<Vec<Position>> {
        loop {
            match self.lines.try_recv() {
                Ok(line) => {
                    self.take(line);
                    if self.is_file {
                        return Some(self.positions.clone());
                    }
                }
                Err(TryRecvError::Empty) => return Some(self.positions.clone()),
                Err(TryRecvError::Disconnected) => return None,
            }
        }
    }

    fn take(&mut self, line: Vec<(usize, Position)>) {
        for (node, at) in line {
            if let Some(position) = self.positions.get_mut(node) {
                *position = at;
            } else {
                let radios = self.positions.len();
                (self.notice)(&format!("ignoring node {node} in the feed: --radios is {radios}"));
            }
        }
    }
}

fn read(
    mut input: Box<dyn BufRead + Send>,
    name: &str,
    sender: &SyncSender<Vec<(usize, Position)>>,
    notice: Notice,
) {
    for number in 1_u64.. {
        let mut line = Vec::new();
        match input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        match places(text.trim()) {
            Ok(places) => {
                if sender.send(places).is_err() {
                    return;
                }
            }
            Err(e) => notice(&format!("{name}:{number}: {e}; line ignored")),
        }
    }
}

/// A line that says nothing about positions: why, and what would.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; give a line as {{\"nodes\": [{{\"node\": 0, \"x\": 1.5, \"y\": 2}}]}} or \
     <positions><node id=\"0\" x=\"1.5\" y=\"2\"/></positions>, in metres"
)]
pub struct FeedError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonLine {
    nodes: Vec<NodePlace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodePlace {
    node: usize,
    x: f64,
    y: f64,
    #[serde(default)]
    z: f64,
}

/// Reads a line: nodes and where they are. Those that it leaves out stay where they were.
///
/// # Errors
/// It is neither XML nor JSON of that form, or too long; or a place is no number of metres.
pub fn places(line: &str) -> Result<Vec<(usize, Position)>, FeedError> {
    if line.len() > MAX_LINE {
        return Err(FeedError(format!("the line has {} bytes (at most {MAX_LINE})", line.len())));
    }
    let nodes = if line.trim_start().starts_with('<') { xml(line)? } else { json(line)? };
    let place = |n: NodePlace| {
        // Farther than light goes in a second is no radio's place.
        let fits = [n.x, n.y, n.z].iter().all(|m| m.abs() <= 3e8);
        fits.then_some((n.node, Position { x: n.x, y: n.y, z: n.z }))
            .ok_or_else(|| FeedError(format!("the position of node {} is invalid", n.node)))
    };
    nodes.into_iter().map(place).collect()
}

fn json(line: &str) -> Result<Vec<NodePlace>, FeedError> {
    let line: JsonLine = serde_json::from_str(line).map_err(|e| FeedError(e.to_string()))?;
    Ok(line.nodes)
}

fn xml(line: &str) -> Result<Vec<NodePlace>, FeedError> {
    let document = roxmltree::Document::parse(line).map_err(|e| FeedError(e.to_string()))?;
    let elements = document.root_element().children().filter(roxmltree::Node::is_element);
    let node = |e: roxmltree::Node<'_, '_>| {
        let number = |name: &str| e.attribute(name).and_then(|v| v.trim().parse::<f64>().ok());
        let id = e.attribute("id").and_then(|v| v.trim().parse().ok());
        match (e.tag_name().name(), id, number("x"), number("y")) {
            ("node", Some(node), Some(x), Some(y)) => {
                Ok(NodePlace { node, x, y, z: number("z").unwrap_or(0.0) })
            }
            (name, ..) => Err(FeedError(format!("an element {name:?} has no id, x or y"))),
        }
    };
    elements.map(node).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn xml_and_json_say_the_same() {
        let expected =
            vec![(0, Position { x: 12.5, y: -3.0, z: 0.0 }), (1, Position { x: 0.0, y: 0.0, z: 2.0 })];
        let xml = r#"<positions><node id="0" x="12.5" y="-3"/><node id="1" x="0" y="0" z="2"/></positions>"#;
        let json = r#"{"nodes": [{"node": 0, "x": 12.5, "y": -3}, {"node": 1, "x": 0, "y": 0, "z": 2}]}"#;
        assert_eq!(places(xml).unwrap(), expected);
        assert_eq!(places(json).unwrap(), expected);
        for wrong in [
            "",
            "{}",
            "<positions><node id=\"0\" x=\"1\"/></positions>",
            "<positions>",
            r#"{"nodes": [{"node": 0, "x": 1e300, "y": 0}]}"#,
            "<positions><node id=\"0\" x=\"nan\" y=\"1\"/></positions>",
        ] {
            assert!(places(wrong).is_err(), "{wrong}");
        }
        // A billion laughs: entities are not expanded without bound.
        let laughs = r#"<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>"#;
        assert!(places(laughs).is_err());
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(line in "[<>{}\\[\\]a-z0-9\"=:,. /-]{0,200}") {
            let _ = places(&line);
        }
    }
}
