//! Rows of a table as JSON: notes, protocol state, counters, flows.

use parquet::data_type::{ByteArrayType, Int32Type};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wayhop_trace::RunDir;

use crate::error::Error;
use crate::table::{Group, OpenTable};

const MOST_ROWS: usize = 2_000;
/// Row groups that are searched for one node's last row.
const MOST_GROUPS_BACK: usize = 4;

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct RowQuery {
    pub(crate) table: String,
    pub(crate) from: Option<i64>,
    pub(crate) to: Option<i64>,
    pub(crate) node: Option<i32>,
    /// With this in the column `source`.
    pub(crate) source: Option<String>,
    /// The last one only.
    #[serde(default)]
    pub(crate) last: bool,
}

/// The rows as a list of objects, and whether there are more.
pub(crate) fn rows(run: &RunDir, wanted: &RowQuery) -> Result<Value, Error> {
    let table = OpenTable::open(run, &wanted.table)?;
    let columns = table.columns();
    let timed = columns.iter().any(|c| c == "time_ns");
    let (from, to) = (wanted.from.unwrap_or(i64::MIN), wanted.to.unwrap_or(i64::MAX));
    let groups: Vec<usize> =
        if timed { table.groups_between(from, to).collect() } else { (0..table.groups()).collect() };
    let mut found = Vec::new();
    if wanted.last {
        for index in groups.into_iter().rev().take(MOST_GROUPS_BACK) {
            found = of_group(&table.group(index)?, &columns, timed, wanted, usize::MAX)?;
            if !found.is_empty() {
                break;
            }
        }
        return Ok(json!({"rows": found, "more": false}));
    }
    for index in groups {
        found.extend(of_group(&table.group(index)?, &columns, timed, wanted, MOST_ROWS + 1 - found.len())?);
        if found.len() > MOST_ROWS {
            break;
        }
    }
    let more = found.len() > MOST_ROWS;
    found.truncate(MOST_ROWS);
    Ok(json!({"rows": found, "more": more}))
}

fn of_group(
    group: &Group<'_>,
    columns: &[String],
    timed: bool,
    wanted: &RowQuery,
    most: usize,
) -> Result<Vec<Value>, Error> {
    let stretch = if timed {
        group.between(wanted.from.unwrap_or(i64::MIN), wanted.to.unwrap_or(i64::MAX), group.rows())?.0
    } else {
        0..group.rows()
    };
    let mut places: Vec<usize> = match wanted.node {
        Some(node) => {
            let nodes = group.stretch::<Int32Type>("node", &stretch)?;
            let ours = nodes.iter().enumerate().filter(|(_, n)| **n == Some(node));
            ours.map(|(i, _)| stretch.start + i).collect()
        }
        None => stretch.collect(),
    };
    if let Some(source) = &wanted.source {
        let sources = group.stretch::<ByteArrayType>("source", &(0..group.rows()))?;
        places.retain(|p| sources[*p].as_ref().is_some_and(|s| s.data() == source.as_bytes()));
    }
    if wanted.last {
        places.drain(..places.len().saturating_sub(1));
    }
    places.truncate(most);
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return Ok(Vec::new()) };
    let around = *first..*last + 1;
    let mut rows = vec![Map::new(); places.len()];
    for name in columns {
        let values = group.values(name, &around)?;
        for (row, place) in rows.iter_mut().zip(&places) {
            row.insert(name.clone(), values[place - around.start].clone());
        }
    }
    Ok(rows.into_iter().map(Value::Object).collect())
}
