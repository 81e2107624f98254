//! Figures that protocols noted when they sent, in equal stretches of the run, and what happened at TCP senders.

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use serde::Deserialize;
use wayhop_trace::RunDir;

use crate::error::Error;
use crate::frame::{FrameBuilder, Words};
use crate::table::{Group, OpenTable};

/// Columns of `tcp` that a chart has.
const NUMBERS: [&str; 5] = ["octet", "acked", "in_flight", "bytes", "cwnd"];
/// Rows of `tcp` in an answer. A page asks again for what follows.
const MOST_EVENTS: usize = 1 << 16;

/// Equal stretches of a run, in which charts count.
pub(crate) const BINS: usize = 300;

/// The stretch of a moment; what is outside of the run is in the first or the last.
pub(crate) fn bin(time_ns: i64, end_ns: i64) -> usize {
    let bin = i128::from(time_ns) * BINS as i128 / i128::from(end_ns.max(1));
    bin.clamp(0, BINS as i128 - 1) as usize
}

/// A figure of the table `sends`.
#[derive(Copy, Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Figure {
    /// Packets in the interface queue.
    Queued,
    /// Length of the route.
    Hops,
    /// Round trip to the neighbour, microseconds.
    RttUs,
}

/// A figure of a node.
#[derive(Copy, Clone, Debug, Deserialize)]
pub(crate) struct SeriesQuery {
    figure: Figure,
    node: Option<i32>,
}

impl Figure {
    fn of(self, group: &Group<'_>, rows: usize) -> Result<Vec<Option<f64>>, Error> {
        let name = match self {
            Self::Queued => "queued",
            Self::Hops => "hops",
            Self::RttUs => "rtt_us",
        };
        // A column of whole numbers, of 32 or of 64 bits.
        let values = group.values(name, &(0..rows))?;
        // A route of no hops is one that is not known yet.
        let is_known = |v: &f64| !matches!(self, Self::Hops) || *v > 0.0;
        Ok(values.iter().map(|v| v.as_f64().filter(is_known)).collect())
    }
}

/// Mean and greatest value of the figure in each stretch of time; not a number where nothing was sent.
pub(crate) fn figure(run: &RunDir, wanted: SeriesQuery, end_ns: i64) -> Result<Vec<u8>, Error> {
    let table = OpenTable::open(run, "sends")?;
    let (mut sums, mut counts, mut most) = (vec![0.0; BINS], vec![0.0; BINS], vec![f64::NAN; BINS]);
    table.each_group(|group, of, times| {
        let nodes = group.stretch::<Int32Type>("node", &of)?;
        let values = wanted.figure.of(group, of.end)?;
        for ((time, node), value) in times.iter().zip(nodes).zip(&values[of.start..]) {
            let Some(value) = value.filter(|_| wanted.node.is_none() || node == wanted.node) else {
                continue;
            };
            let bin = bin(*time, end_ns);
            sums[bin] += value;
            counts[bin] += 1.0;
            most[bin] = value.max(most[bin]);
        }
        Ok(())
    })?;
    let means = sums.iter().zip(&counts).map(|(s, n)| if *n > 0.0 { s / n } else { f64::NAN });
    let mut frame = FrameBuilder::default();
    frame.set("bin_ns", end_ns as f64 / BINS as f64);
    frame.f64s("mean", means);
    frame.f64s("most", most);
    Ok(frame.finish(BINS))
}

/// A stretch of the events of one flow's sender.
#[derive(Copy, Clone, Debug, Deserialize)]
pub(crate) struct OfFlow {
    flow: i32,
    from: i64,
    to: i64,
}

/// What happened at the sender of a TCP flow; the head's `until_ns` says how far the rows reach.
pub(crate) fn tcp(run: &RunDir, wanted: OfFlow) -> Result<Vec<u8>, Error> {
    let table = OpenTable::open(run, "tcp")?;
    let (mut times, mut events, mut words) = (Vec::new(), Vec::new(), Words::default());
    let mut numbers = NUMBERS.map(|_| Vec::new());
    let mut until = wanted.to;
    'groups: for index in table.groups_between(wanted.from, wanted.to) {
        let group = table.group(index)?;
        let (rows, moments) = group.between(wanted.from, wanted.to, group.rows())?;
        let flows = group.stretch::<Int32Type>("flow", &rows)?;
        let kinds = group.stretch::<ByteArrayType>("event", &rows)?;
        let columns = NUMBERS.into_iter().map(|n| group.values(n, &rows)).collect::<Result<Vec<_>, _>>()?;
        for (i, (time, flow)) in moments.iter().zip(flows).enumerate() {
            if flow != Some(wanted.flow) {
                continue;
            }
            if times.len() >= MOST_EVENTS {
                until = *time;
                break 'groups;
            }
            times.push(*time as f64);
            events.push(words.number(kinds[i].as_ref().map(ByteArray::data)));
            for (to, from) in numbers.iter_mut().zip(&columns) {
                to.push(from[i].as_f64().unwrap_or(f64::NAN));
            }
        }
    }
    // All of the last moment come with the next answer.
    let before = times.partition_point(|t| (*t as i64) < until);
    if before > 0 {
        times.truncate(before);
        events.truncate(before);
        for column in &mut numbers {
            column.truncate(before);
        }
    }
    let mut frame = FrameBuilder::default();
    frame.set("from_ns", wanted.from);
    frame.set("until_ns", until);
    frame.set("events", words.list());
    let rows = times.len();
    frame.f64s("time_ns", times);
    for (name, column) in NUMBERS.into_iter().zip(numbers) {
        frame.f64s(name, column);
    }
    frame.u8s("event", events);
    Ok(frame.finish(rows))
}
