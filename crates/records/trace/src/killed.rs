//! Runs without a summary: the state of running and killed ones, and how to recover them.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;

use parquet::file::reader::FileReader as _;
use parquet::file::statistics::Statistics;
use wayhop_core::Classifier;

use crate::fates::Fates;
use crate::run_dir::SUMMARY;
use crate::tables::{Checkpoint, FLOWS, OUTCOMES, TABLES, TableWriter, Tables, mend, open_table};
use crate::{Error, HopKind, PacketOutcome, RunDir, RunStatus, Summary};

/// Where tables are rewritten, in the run directory.
const WORKSHOP: &str = ".recover";

impl RunDir {
    /// Reads the summary. Of a run that goes on, or was killed, it is made of what the tables tell: see [`Summary::cut_off_s`].
    pub fn summary(&self) -> Result<Summary, Error> {
        let path = self.path().join(SUMMARY);
        let text = match fs::read(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                if let Some(summary) = summary(self)? {
                    return Ok(summary);
                }
                let what = match self.manifest()?.status {
                    RunStatus::Running if self.is_under_way() => {
                        "the run has just started and has recorded nothing yet; wait a few seconds"
                    }
                    RunStatus::Running => {
                        "the run was killed before it wrote its summary, and there is no tables.checkpoint; run it again"
                    }
                    _ => "the run failed before it wrote a summary; see manifest.json for the reason",
                };
                return Err(Error::invalid(&path, what));
            }
            read => read.map_err(Error::io(&path, "read"))?,
        };
        serde_json::from_slice(&text).map(Summary::brought_up_to_date).map_err(|e| {
            Error::invalid(
                &path,
                format!("not a summary written by Wayhop ({e}); copy the run again, or repeat it"),
            )
        })
    }
}

impl RunDir {
    /// The summary, and whether it has counts. Of a run that goes on or was killed [`RunDir::summary`] reads all packets. If they
    /// have more than `most_rows` rows this does not: then nothing is known of totals, and of what flows sent and received.
    pub fn outline(&self, most_rows: u64) -> Result<(Summary, bool), Error> {
        let rows =
            || open_table(self, "packets").map(|t| t.metadata().file_metadata().num_rows().unsigned_abs());
        if self.path().join(SUMMARY).exists() || rows().is_ok_and(|n| n <= most_rows) {
            return Ok((self.summary()?, true));
        }
        let Some(mut summary) = known(self)? else { return Ok((self.summary()?, true)) };
        forget_counts(&mut summary);
        summary.simulated_s = summary.simulated_s.max(last_ns(self)? as f64 / 1e9);
        summary.cut_off_s = Some(summary.simulated_s);
        Ok((summary, false))
    }
}

/// What flows sent and received is not known.
fn forget_counts(summary: &mut Summary) {
    for f in &mut summary.flows {
        (f.sent, f.received, f.delivery_ratio) = (None, None, None);
    }
}

/// The summary that the run's last checkpoint has; `None` without one.
fn known(run: &RunDir) -> Result<Option<Summary>, Error> {
    Checkpoint::read(run.path())?.map_or(Ok(None), |checkpoint| checkpoint.summary())
}

/// The summary of a run that has none, by its tables; `None` if they are not there.
pub(crate) fn summary(run: &RunDir) -> Result<Option<Summary>, Error> {
    let Some(mut summary) = known(run)? else { return Ok(None) };
    summary.record = run.manifest()?.record;
    let record = summary.record.as_mut().filter(|r| r.lacks_packets());
    let has_packets = record.as_ref().is_none_or(|r| !r.lacks("packets"));
    if let Some(record) = record {
        record.summary_of_rows = true;
    }
    if !has_packets {
        forget_counts(&mut summary);
    } else if is_of_one_node(&summary) {
        // It counts its totals by itself, and tells them at each checkpoint.
        count_ends(run, &mut summary)?;
    } else {
        Fates::read(run, &summary)?.tell(&mut summary);
    }
    let end_s = (last_ns(run)? as f64 / 1e9).max(summary.simulated_s);
    summary.simulated_s = end_s;
    summary.cut_off_s = Some(end_s);
    summary.trace_hash.clear();
    Ok(Some(summary))
}

/// Counts the packets of the flows of a node on a real interface: those that began there, and those that ended there.
fn count_ends(run: &RunDir, summary: &mut Summary) -> Result<(), Error> {
    let flows = &mut summary.flows;
    for f in &mut *flows {
        (f.sent, f.received, f.goodput_bps) = (f.sent.map(|_| 0), f.received.map(|_| 0), None);
    }
    Tables::of(run, summary.protocol.clone()).packets(&mut |e| {
        let Some(flow) = e.flow.and_then(|tag| flows.get_mut(tag.flow as usize)) else { return Ok(()) };
        let count = match e.kind {
            HopKind::Originate => &mut flow.sent,
            HopKind::Deliver => &mut flow.received,
            _ => return Ok(()),
        };
        *count = count.map(|n| n + 1);
        Ok(())
    })
}

fn is_of_one_node(summary: &Summary) -> bool {
    summary.world == "field"
}

/// The fates of packets of a run that did not write them; `None` if it did, or if they cannot be known.
pub(crate) fn outcomes(run: &RunDir) -> Result<Option<Vec<PacketOutcome>>, Error> {
    if run.manifest()?.status != RunStatus::Running {
        return Ok(None);
    }
    match known(run)? {
        Some(summary) if !is_of_one_node(&summary) && !run.leaves_out("packets") => {
            Ok(Some(Fates::read(run, &summary)?.outcomes()))
        }
        _ => Ok(None),
    }
}

/// The time of the last row of any table, nanoseconds. Positions may extend to later times.
fn last_ns(run: &RunDir) -> Result<u64, Error> {
    let mut last = 0;
    for table in TABLES.into_iter().filter(|t| *t != "positions") {
        if !run.has(table) {
            continue;
        }
        let reader = open_table(run, table)?;
        let metadata = reader.metadata();
        let columns = metadata.file_metadata().schema_descr().columns();
        let Some(at) = columns.iter().position(|c| c.name() == "time_ns") else { continue };
        for group in metadata.row_groups() {
            if let Some(Statistics::Int64(s)) = group.columns().get(at).and_then(|c| c.statistics()) {
                last = last.max(s.max_opt().copied().unwrap_or(0));
            }
        }
    }
    Ok(u64::try_from(last).unwrap_or(0))
}

/// How a run that did not come to its end did end, for those who read it: a sentence. `None` of one that ended by itself.
pub fn how_it_ended(run: &RunDir) -> Result<Option<String>, Error> {
    let status = run.manifest()?.status;
    if !matches!(status, RunStatus::Running | RunStatus::Killed) {
        return Ok(None);
    }
    let (path, end_s) = (run.path().display(), last_ns(run)? as f64 / 1e9);
    Ok(Some(if status == RunStatus::Killed {
        format!("{path}: the run was killed; recorded up to {end_s:.3} s")
    } else if run.is_under_way() {
        format!("{path}: the run is still running; recorded up to {end_s:.3} s")
    } else {
        format!(
            "{path}: the run was killed; recorded up to {end_s:.3} s (complete its files with: wayhop recover {path})"
        )
    }))
}

/// What was recovered.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovery {
    /// How far the record goes, seconds of the run's own clock.
    pub until_s: f64,
    /// The tables and how many rows each has now.
    pub tables: Vec<(&'static str, u64)>,
}

/// Makes a run that was killed an ordinary one: its tables get their footers, its summary says what the tables tell, and its
/// manifest that it was killed. `None` if it ended by itself, or was recovered before.
///
/// # Errors
/// If the run is still running, if it left nothing to recover it from, or if its files are damaged or cannot be written.
pub fn recover(
    path: &std::path::Path,
    classifier: &'static dyn Classifier,
) -> Result<Option<Recovery>, Error> {
    let run = RunDir::open_alone(path, classifier)?;
    if run.manifest()?.status != RunStatus::Running {
        return Ok(None);
    }
    if Checkpoint::read(run.path())?.is_none() {
        return Err(Error::invalid(run.path(), nothing_left(&run)));
    }
    let in_its_first_moment =
        "the run was killed right after its start, with nothing to recover; run it again";
    if known(&run)?.is_none() {
        return Err(Error::invalid(run.path(), in_its_first_moment));
    }
    // Before the summary, which may be too much to compute: then other programs can read them all the same.
    for table in TABLES.into_iter().filter(|t| run.has(t)) {
        mend(&run, table)?;
    }
    let summary = summary(&run)?.ok_or_else(|| Error::invalid(run.path(), in_its_first_moment))?;
    let outcomes = outcomes(&run)?;
    let workshop = run.path().join(WORKSHOP);
    fs::create_dir_all(&workshop).map_err(Error::io(&workshop, "create"))?;
    let put = |table: &str| {
        let file = format!("{table}.parquet");
        fs::rename(workshop.join(&file), run.path().join(&file)).map_err(Error::io(&workshop, "write"))
    };
    if run.has("outcomes")
        && let Some(outcomes) = outcomes
    {
        TableWriter::write_all(&workshop, "outcomes", OUTCOMES, outcomes)?;
        put("outcomes")?;
    }
    if run.has("packets") && !run.leaves_out("flows") {
        TableWriter::write_all(&workshop, "flows", FLOWS, summary.flows.iter().cloned())?;
        put("flows")?;
    }
    fs::remove_dir_all(&workshop).map_err(Error::io(&workshop, "remove"))?;
    let mut tables = Vec::new();
    for table in TABLES.into_iter().filter(|t| run.has(t)) {
        let rows = open_table(&run, table)?.metadata().file_metadata().num_rows();
        tables.push((table, rows.unsigned_abs()));
    }
    run.write_summary(&summary)?;
    let until_s = summary.simulated_s;
    let what = format!("killed; recorded up to {until_s:.3} s");
    run.end(RunStatus::Killed, Some(what))?;
    Ok(Some(Recovery { until_s, tables }))
}

/// What there is of a run that was killed and has no checkpoint.
fn nothing_left(run: &RunDir) -> String {
    let is_readable = |t: &&str| open_table(run, t).is_ok();
    let (whole, lost): (Vec<&str>, Vec<&str>) =
        TABLES.into_iter().filter(|t| run.has(t)).partition(is_readable);
    let lost = if lost.is_empty() { "all".to_owned() } else { lost.join(", ") };
    let mut text = format!(
        "the run was killed and has no tables.checkpoint (older versions wrote none): the rows of {lost} cannot be \
         recovered"
    );
    if !whole.is_empty() {
        let _ = write!(text, "; readable: {}", whole.join(", "));
    }
    for (folder, what) in [("captures", "captures"), ("inputs", "logs of inputs")] {
        let n = fs::read_dir(run.path().join(folder)).into_iter().flatten().flatten().count();
        if n > 0 {
            let _ = write!(text, "; {n} {what} in {folder}/ are readable");
        }
    }
    text
}
