//! The legs of all nodes, as the run recorded them.

use parquet::data_type::{DoubleType, Int32Type, Int64Type};

use crate::error::Error;
use crate::frame::FrameBuilder;
use crate::table::OpenTable;

/// Legs of all nodes that are kept at most.
const MAX_LEGS: usize = 1 << 22;
/// Legs in an answer.
const MOST_ROWS: usize = 1 << 18;

#[derive(Copy, Clone, Debug)]
struct Leg {
    node: i32,
    from_ns: i64,
    until_ns: i64,
    at: [f64; 3],
    velocity: [f64; 3],
}

#[derive(Debug, Default)]
pub(crate) struct Motion {
    /// By node, then by time.
    legs: Vec<Leg>,
    /// One more than the highest number of a node.
    pub(crate) nodes: usize,
}

impl Motion {
    pub(crate) fn read(table: &OpenTable) -> Result<Self, Error> {
        let mut legs = Vec::new();
        for index in 0..table.groups() {
            let group = table.group(index)?;
            let rows = 0..group.rows();
            if legs.len() + rows.len() > MAX_LEGS {
                return Err(table.damaged(format!("it has more than {MAX_LEGS} rows")));
            }
            let from = group.stretch::<Int64Type>("time_ns", &rows)?;
            let until = group.stretch::<Int64Type>("until_ns", &rows)?;
            let node = group.stretch::<Int32Type>("node", &rows)?;
            let names = ["x_m", "y_m", "z_m", "vx_mps", "vy_mps", "vz_mps"].into_iter();
            let metres =
                names.map(|n| group.stretch::<DoubleType>(n, &rows)).collect::<Result<Vec<_>, _>>()?;
            for i in rows {
                // Where a number is missing, the place is not known until the next leg.
                let value = |column: usize| metres[column][i].filter(|v| v.is_finite()).unwrap_or(f64::NAN);
                legs.push(Leg {
                    node: node[i].unwrap_or(-1),
                    from_ns: from[i].unwrap_or(0),
                    until_ns: until[i].unwrap_or(i64::MAX),
                    at: std::array::from_fn(value),
                    velocity: std::array::from_fn(|c| value(c + 3)),
                });
            }
        }
        legs.retain(|l| l.node >= 0);
        legs.sort_by_key(|l| (l.node, l.from_ns));
        let nodes = legs.last().map_or(0, |l| l.node as usize + 1);
        Ok(Self { legs, nodes })
    }

    /// Where a node is at a moment; `None` before its first leg, and where the run does not say.
    pub(crate) fn place(&self, node: i32, at_ns: i64) -> Option<[f64; 3]> {
        let next = self.legs.partition_point(|l| (l.node, l.from_ns) <= (node, at_ns));
        let leg = self.legs[..next].last().filter(|l| l.node == node)?;
        let s = (at_ns.min(leg.until_ns) - leg.from_ns) as f64 * 1e-9;
        let place: [f64; 3] = std::array::from_fn(|axis| leg.at[axis] + leg.velocity[axis] * s);
        place.iter().all(|v| v.is_finite()).then_some(place)
    }

    /// The legs that hold at some moment of `from..to`, or of the first part of it that fits: the head's `until_ns` says how far.
    pub(crate) fn window(&self, from: i64, to: i64) -> Vec<u8> {
        let mut to = to;
        let mut found = self.between(from, to);
        while found.len() > MOST_ROWS && to > from.saturating_add(1) {
            to = from.midpoint(to);
            found = self.between(from, to);
        }
        found.truncate(MOST_ROWS);
        let mut frame = FrameBuilder::default();
        frame.set("from_ns", from);
        frame.set("until_ns", to);
        let mut number = |name: &str, value: &dyn Fn(&Leg) -> f64| {
            frame.f64s(name, found.iter().map(value));
        };
        number("from", &|l| l.from_ns as f64);
        number("until", &|l| if l.until_ns == i64::MAX { f64::INFINITY } else { l.until_ns as f64 });
        for (i, (place, speed)) in [("x", "vx"), ("y", "vy"), ("z", "vz")].into_iter().enumerate() {
            number(place, &|l| l.at[i]);
            number(speed, &|l| l.velocity[i]);
        }
        frame.i32s("node", found.iter().map(|l| l.node));
        frame.finish(found.len())
    }

    /// A leg holds until the next one of its node begins, even if it says less: a field node's fix is the last known place.
    fn between(&self, from: i64, to: i64) -> Vec<Leg> {
        let next = self.legs.iter().skip(1).map(Some).chain([None]);
        let pairs = self.legs.iter().zip(next);
        pairs
            .filter(|(leg, next)| {
                let ends = next.filter(|n| n.node == leg.node).map_or(i64::MAX, |n| n.from_ns);
                leg.from_ns < to && ends > from
            })
            .map(|(leg, _)| *leg)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_not_a_number_is_not_known_and_not_the_origin() {
        let leg = |from_ns, x| Leg {
            node: 0,
            from_ns,
            until_ns: i64::MAX,
            at: [x, 0.0, 0.0],
            velocity: [1.0, 0.0, 0.0],
        };
        let motion = Motion { legs: vec![leg(0, 5.0), leg(10, f64::NAN), leg(20, 7.0)], nodes: 1 };
        let places = [0, 10, 20].map(|at| motion.place(0, at).map(|p| p[0]));
        assert_eq!(places, [Some(5.0), None, Some(7.0)]);
    }
}
