//! How long queues, caches and tables were: the table `sizes`, in equal stretches of the run.

use std::collections::BTreeMap;

use parquet::data_type::{ByteArrayType, Int32Type};
use wayhop_trace::RunDir;

use crate::error::Error;
use crate::frame::FrameBuilder;
use crate::series::{BINS, bin};
use crate::table::{OpenTable, text};

/// Different lists: protocols have some ten of them.
const MOST_LISTS: usize = 64;

/// A list in each stretch of time: entries, at how many nodes or moments it was looked at, and the longest.
#[derive(Clone)]
struct Lengths {
    sums: Vec<f64>,
    most: Vec<f64>,
}

/// What one node had at one moment.
#[derive(Default)]
struct Look {
    at: Option<(i64, Option<i32>)>,
    counts: BTreeMap<String, f64>,
}

struct Reading {
    end_ns: i64,
    lists: BTreeMap<String, Lengths>,
    looks: Vec<f64>,
}

impl Reading {
    /// Takes what a node had, whole. A list without a row was empty.
    fn take(&mut self, look: &mut Look) {
        let Some((time, _)) = look.at.take() else { return };
        let bin = bin(time, self.end_ns);
        self.looks[bin] += 1.0;
        for (what, count) in std::mem::take(&mut look.counts) {
            if self.lists.len() >= MOST_LISTS && !self.lists.contains_key(&what) {
                continue;
            }
            let none = || Lengths { sums: vec![0.0; BINS], most: vec![0.0; BINS] };
            let list = self.lists.entry(what).or_insert_with(none);
            list.sums[bin] += count;
            list.most[bin] = list.most[bin].max(count);
        }
    }

    fn frame(self) -> Vec<u8> {
        let mut frame = FrameBuilder::default();
        frame.set("bin_ns", self.end_ns as f64 / BINS as f64);
        frame.set("lists", self.lists.keys().cloned().collect::<Vec<_>>());
        for (what, list) in &self.lists {
            let known = |of: fn(f64, f64) -> f64| {
                move |(v, n): (&f64, &f64)| if *n > 0.0 { of(*v, *n) } else { f64::NAN }
            };
            frame.f64s(&format!("mean/{what}"), list.sums.iter().zip(&self.looks).map(known(|v, n| v / n)));
            frame.f64s(&format!("most/{what}"), list.most.iter().zip(&self.looks).map(known(|v, _| v)));
        }
        frame.finish(BINS)
    }
}

/// Mean and greatest length of each list, of one node or over all; NaN where nobody looked. Queues of a node count together.
pub(crate) fn lengths(run: &RunDir, node: Option<usize>, end_ns: i64) -> Result<Vec<u8>, Error> {
    let node = node.map(|n| i32::try_from(n).unwrap_or(i32::MAX));
    let table = OpenTable::open(run, "sizes")?;
    let mut reading = Reading { end_ns, lists: BTreeMap::new(), looks: vec![0.0; BINS] };
    let mut look = Look::default();
    table.each_group(|group, of, times| {
        let nodes = group.stretch::<Int32Type>("node", &of)?;
        let names = group.stretch::<ByteArrayType>("what", &of)?;
        let counts = group.stretch::<Int32Type>("count", &of)?;
        for (i, time) in times.iter().enumerate() {
            if node.is_some() && nodes[i] != node {
                continue;
            }
            let at = Some((*time, nodes[i]));
            if look.at != at {
                reading.take(&mut look);
                look.at = at;
            }
            if let (Some(what), Some(count)) = (&names[i], counts[i]) {
                *look.counts.entry(text(what)).or_default() += f64::from(count);
            }
        }
        Ok(())
    })?;
    reading.take(&mut look);
    Ok(reading.frame())
}
