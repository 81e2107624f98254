//! Where the nodes of a run were.

use std::fs::File;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Row, RowAccessor as _};
use wayhop_core::{NodeId, Position};

use crate::tables::{Column, NODES, POSITIONS};
use crate::{Error, PositionEvent, RunDir};

/// Legs of all nodes that are kept at most.
const MAX_LEGS: usize = 1 << 22;

/// The motion of the nodes of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    names: Vec<(String, u32)>,
    /// By node, then by time.
    legs: Vec<Leg>,
}

#[derive(Copy, Clone, Debug, PartialEq)]
struct Leg {
    node: u32,
    from_ns: u64,
    until_ns: u64,
    at: [f64; 2],
    velocity: [f64; 2],
}

impl Places {
    /// Reads `nodes.parquet` and `positions.parquet` of a run directory.
    pub fn of_run(dir: &RunDir) -> Result<Self, Error> {
        let names = rows(&dir.path().join("nodes.parquet"), &names_of(NODES), |r| {
            Ok((r.get_string(1)?.clone(), node(r, 0)?))
        })?;
        let mut places = Self { names, legs: Vec::new() };
        places.legs = rows(&dir.path().join("positions.parquet"), &names_of(POSITIONS), |r| {
            let until_ns =
                if r.get_column_iter().nth(8).is_some_and(|(_, f)| *f != parquet::record::Field::Null) {
                    r.get_long(8)?.unsigned_abs()
                } else {
                    u64::MAX
                };
            Ok(Leg {
                node: node(r, 1)?,
                from_ns: r.get_long(0)?.unsigned_abs(),
                until_ns,
                at: [r.get_double(2)?, r.get_double(3)?],
                velocity: [r.get_double(5)?, r.get_double(6)?],
            })
        })?;
        places.legs.sort_by_key(|l| (l.node, l.from_ns));
        Ok(places)
    }

    /// Of legs as a run records them.
    pub fn of_legs(legs: impl IntoIterator<Item = PositionEvent>) -> Self {
        let leg = |e: PositionEvent| Leg {
            node: e.node.0,
            from_ns: e.time.as_nanos(),
            until_ns: e.until.as_nanos(),
            at: [e.at.x, e.at.y],
            velocity: [e.velocity.x, e.velocity.y],
        };
        let mut legs: Vec<Leg> = legs.into_iter().map(leg).collect();
        legs.sort_by_key(|l| (l.node, l.from_ns));
        Self { names: Vec::new(), legs }
    }

    /// The node of this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.names.iter().find(|(n, _)| n == name).map(|(_, id)| NodeId(*id))
    }

    /// Where a node is at `time_ns` of the run, in the plane; `None` if the run does not say.
    pub fn at(&self, node: NodeId, time_ns: u64) -> Option<Position> {
        let after = self.legs.partition_point(|l| (l.node, l.from_ns) <= (node.0, time_ns));
        let leg = self.legs[..after].last().filter(|l| l.node == node.0)?;
        let seconds = (time_ns.min(leg.until_ns).saturating_sub(leg.from_ns)) as f64 * 1e-9;
        let [x, y] = std::array::from_fn(|i| leg.at[i] + leg.velocity[i] * seconds);
        Some(Position::new(x, y, 0.0))
    }
}

fn node(r: &Row, column: usize) -> Result<u32, ParquetError> {
    Ok(r.get_int(column)?.cast_unsigned())
}

fn names_of<R>(columns: &[Column<R>]) -> Vec<&'static str> {
    columns.iter().map(|c| c.name).collect()
}

/// The rows of a table that has these columns.
fn rows<T>(
    path: &Path,
    columns: &[&str],
    read: impl Fn(&Row) -> Result<T, ParquetError>,
) -> Result<Vec<T>, Error> {
    let damaged = |e: ParquetError| {
        Error::invalid(path, format!("not the table of a run that has ended: {e}; run the scenario again"))
    };
    let file = File::open(path).map_err(Error::io(path, "read"))?;
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    if !schema.columns().iter().map(|c| c.name()).eq(columns.iter().copied()) {
        return Err(Error::invalid(
            path,
            "its columns are not those of this version; run the scenario again",
        ));
    }
    let mut list = Vec::new();
    for row in reader.get_row_iter(None).map_err(damaged)? {
        if list.len() >= MAX_LEGS {
            return Err(Error::invalid(path, format!("more than {MAX_LEGS} rows")));
        }
        list.push(read(&row.map_err(damaged)?).map_err(damaged)?);
    }
    Ok(list)
}
