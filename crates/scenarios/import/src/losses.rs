//! EMANE's path losses, as a scenario's.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};
use wayhop_document::{Error, Result};

use crate::counted;
use crate::notes::Notes;
use crate::xml::finite;

/// The path loss of a missing link, dB: the maximum of a scenario.
const SILENT_DB: f64 = 400.0;
const MOST_STEPS: usize = 1_000_000;
/// Two directions of a link that differ by less, dB, count as equal.
const SAME_DB: f64 = 0.5;
const NO_LOSS: [&str; 2] = ["path loss that is not NEM,dB", "path losses that are not NEM,dB"];

/// A path loss in one direction.
#[derive(Copy, Clone, Debug)]
struct LossStep {
    at_s: f64,
    /// Towards the lower NEM of the two.
    to_lower: bool,
    db: f64,
}

/// The path losses between pairs of NEMs, by when they were set.
#[derive(Default)]
pub(crate) struct Losses {
    /// By the lower and the higher NEM.
    of: BTreeMap<(u16, u16), Vec<LossStep>>,
}

impl Losses {
    /// Reads an event `pathloss nem:2,90 nem:3,80,85` of a NEM: the losses of what it hears from others; behind a second comma those of what
    /// they hear from it, which is the same if it is not given.
    pub(crate) fn read(
        &mut self,
        at_s: f64,
        to: u16,
        arguments: &[String],
        line: u32,
        notes: &mut Notes,
    ) -> Result<()> {
        for argument in arguments {
            notes.count_point(line)?;
            let Some((from, forward_db, reverse_db)) = parse(argument).filter(|(from, ..)| *from != to)
            else {
                notes.skipped[0].add(line, NO_LOSS);
                continue;
            };
            let steps = self.of.entry((to.min(from), to.max(from))).or_default();
            steps.push(LossStep { at_s, to_lower: to < from, db: forward_db });
            if let Some(reverse_db) = reverse_db {
                steps.push(LossStep { at_s, to_lower: to > from, db: reverse_db });
            }
        }
        Ok(())
    }

    pub(crate) fn times(&self) -> impl Iterator<Item = f64> {
        self.of.values().flatten().map(|s| s.at_s)
    }

    /// The NEMs with a known path loss.
    pub(crate) fn nems(&self) -> impl Iterator<Item = u16> + use<> {
        let all: BTreeSet<u16> = self.of.keys().flat_map(|(a, b)| [*a, *b]).collect();
        all.into_iter()
    }

    /// Adds remarks about how they are used.
    pub(crate) fn remarks(&self, notes: &mut Notes) {
        if self.of.is_empty() {
            return;
        }
        notes.remarks.push(
            "path losses replace those of the radio model, and pairs without one cannot communicate, as in EMANE; \
             --set path_losses=[] ignores them"
                .to_owned(),
        );
        let uneven = self.of.values().filter(|steps| is_uneven(steps)).count();
        if uneven > 0 {
            let pairs = counted(uneven, "pair", "pairs");
            notes.remarks.push(format!(
                "path losses of {pairs} differ by direction; both directions get the mean in dB"
            ));
        }
    }

    /// Adds them to a scenario whose nodes have these names, and whose time begins at `begin_s`.
    pub(crate) fn add_to(&self, table: &mut Table, nems: &[String], begin_s: f64) -> Result<()> {
        if self.of.is_empty() {
            return Ok(());
        }
        let pairs = nems.len() * (nems.len() - 1) / 2;
        let steps: usize = self.of.values().map(Vec::len).sum();
        if pairs + steps > MOST_STEPS {
            let many = format!("{steps} path losses among {} NEMs are too many", nems.len());
            let remedy = format!("reduce them to at most {MOST_STEPS}, including one step for each pair");
            return Err(Error::new(many, remedy));
        }
        let mut known: BTreeMap<(&str, &str), Vec<[f64; 2]>> = BTreeMap::new();
        let named: Vec<(String, String)> =
            self.of.keys().map(|(a, b)| (format!("nem-{a}"), format!("nem-{b}"))).collect();
        for ((a, b), steps) in named.iter().zip(self.of.values()) {
            known.insert((a, b), table_of(steps, begin_s));
        }
        let mut all = Vec::new();
        for (i, a) in nems.iter().enumerate() {
            for b in &nems[i + 1..] {
                let (a, b) = (a.as_str(), b.as_str());
                let db = known.remove(&(a, b)).or_else(|| known.remove(&(b, a)));
                let db = db.unwrap_or_else(|| vec![[0.0, SILENT_DB]]);
                let pair = |p: [f64; 2]| Value::from(p.map(Value::Float).to_vec());
                let db = Value::Array(db.into_iter().map(pair).collect());
                all.push(crate::table([("nodes", vec![a, b].into()), ("db", db)]).into());
            }
        }
        table.insert("path_losses".into(), Value::Array(all));
        let last_s = self.times().fold(0.0, f64::max) - begin_s;
        let length_s = table.get("duration_s").and_then(Value::as_float).unwrap_or(0.0);
        if last_s > length_s {
            table.insert("duration_s".into(), Value::Float(last_s));
        }
        Ok(())
    }
}

fn parse(argument: &str) -> Option<(u16, f64, Option<f64>)> {
    let mut parts = argument.strip_prefix("nem:")?.split(',').map(str::trim);
    let from = parts.next()?.parse().ok()?;
    let db = |text: &str| finite(text).filter(|db| (0.0..=SILENT_DB).contains(db));
    let forward_db = db(parts.next()?)?;
    let reverse_db = match parts.next() {
        None => None,
        Some(text) => Some(db(text)?),
    };
    parts.next().is_none().then_some((from, forward_db, reverse_db))
}

/// Goes through steps in order of time: when, and the loss in both directions as far as it is known.
fn walk(steps: &[LossStep], mut each: impl FnMut(f64, [Option<f64>; 2])) {
    let mut sorted = steps.to_vec();
    sorted.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let mut now = [None, None];
    for at_once in sorted.chunk_by(|a, b| a.at_s == b.at_s) {
        for s in at_once {
            now[usize::from(s.to_lower)] = Some(s.db);
        }
        each(at_once[0].at_s, now);
    }
}

fn is_uneven(steps: &[LossStep]) -> bool {
    let mut uneven = false;
    walk(steps, |_, now| {
        uneven |= now[0].zip(now[1]).is_some_and(|(a, b)| (a - b).abs() >= SAME_DB);
    });
    uneven
}

/// The steps of a scenario's path loss: silent before the first one.
fn table_of(steps: &[LossStep], begin_s: f64) -> Vec<[f64; 2]> {
    let mut all: Vec<[f64; 2]> = vec![[0.0, SILENT_DB]];
    walk(steps, |at_s, now| {
        let known: Vec<f64> = now.into_iter().flatten().collect();
        let db = known.iter().sum::<f64>() / known.len() as f64;
        let at_s = (at_s - begin_s).max(0.0);
        match all.last_mut() {
            Some(last) if last[0] == at_s => last[1] = db,
            Some(last) if last[1] == db => {}
            _ => all.push([at_s, db]),
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(events: &[(f64, u16, &str)]) -> (Losses, Notes) {
        let (mut all, mut notes) = (Losses::default(), Notes::of(["f".as_ref()]));
        for ((at_s, to, arguments), line) in events.iter().zip(1..) {
            let words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
            all.read(*at_s, *to, &words, line, &mut notes).unwrap();
        }
        all.remarks(&mut notes);
        (all, notes)
    }

    fn added(all: &Losses, nems: &[&str]) -> Vec<(String, Vec<[f64; 2]>)> {
        let mut table = Table::new();
        let nems: Vec<String> = nems.iter().map(ToString::to_string).collect();
        all.add_to(&mut table, &nems, 0.0).unwrap();
        let one = |p: &Value| {
            let nodes: Vec<&str> =
                p["nodes"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
            let step = |s: &Value| [0, 1].map(|i| s[i].as_float().unwrap());
            (nodes.join(" "), p["db"].as_array().unwrap().iter().map(step).collect())
        };
        table["path_losses"].as_array().unwrap().iter().map(one).collect()
    }

    #[test]
    fn each_pair_has_its_losses_over_time_and_is_silent_before() {
        let (all, notes) = losses(&[
            (f64::NEG_INFINITY, 1, "nem:2,90"),
            (2.0, 2, "nem:1,90"),
            (5.0, 2, "nem:1,100 nem:3,70,70"),
            (9.0, 1, "nem:2,100"),
        ]);
        let expected = [
            // At 5 s only what NEM 2 hears has changed: both directions get the mean.
            ("nem-1 nem-2".to_owned(), vec![[0.0, 90.0], [5.0, 95.0], [9.0, 100.0]]),
            ("nem-1 nem-3".to_owned(), vec![[0.0, 400.0]]),
            ("nem-2 nem-3".to_owned(), vec![[0.0, 400.0], [5.0, 70.0]]),
        ];
        assert_eq!(added(&all, &["nem-1", "nem-2", "nem-3"]), expected);
        let uneven = &notes.remarks[1];
        assert!(uneven.starts_with("path losses of 1 pair differ by direction"), "{uneven}");
        assert!(notes.skipped[0].is_empty());
    }

    #[test]
    fn what_is_no_path_loss_is_counted() {
        for wrong in
            ["nem:2", "nem:2,x", "nem:2,-3", "nem:2,401", "nem:2,3,4,5", "2,90", "nem:1,90", "nem:70000,1"]
        {
            let (all, notes) = losses(&[(0.0, 1, wrong)]);
            assert_eq!(all.nems().count(), 0, "{wrong}");
            assert_eq!(notes.skipped[0].kinds().next().unwrap(), "1 path loss that is not NEM,dB (line 1)");
        }
    }
}
