//! How a file names nodes.

use wayhop_document::{Error, LineColumn};

use crate::limits::MAX_NODES;

/// A node's name with an id that cannot be.
pub(super) struct BadId;

/// The id in `node_(12)`, `node(12)`, `n(12)`, `node12`, `n12`; `None` for the name of something else.
pub(super) fn node_id(name: &str) -> Option<Result<u32, BadId>> {
    let rest = ["node_", "nodes_", "node", "nodes", "n_", "n"].iter().find_map(|p| {
        name.strip_prefix(p).filter(|r| r.starts_with('(') || r.starts_with(|c: char| c.is_ascii_digit()))
    })?;
    let digits = rest.strip_prefix('(').map_or(Some(rest), |r| r.strip_suffix(')'));
    Some(digits.and_then(|d| d.parse::<u32>().ok()).filter(|&id| (id as usize) <= MAX_NODES).ok_or(BadId))
}

/// The node in `g(12)`, as SUMO writes its activity file.
pub(super) fn activity_id(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("g(")?.strip_suffix(')')?;
    digits.parse().ok().filter(|&id| (id as usize) <= MAX_NODES)
}

/// The number in `$node_(3)`.
pub(super) fn node_number(reference: &str, place: LineColumn) -> Result<u32, Error> {
    let id = reference.strip_prefix('$').and_then(node_id).and_then(Result::ok);
    id.ok_or_else(|| bad_node(reference, place))
}

pub(super) fn bad_node(text: &str, place: LineColumn) -> Error {
    Error::new(format!("{text} names no node"), format!("write $node_(N) with N from 0 to {MAX_NODES}"))
        .at(place)
}
