//! Bundle agents in emulation and lab: a program in each node, and their records.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use wayhop_core::{NodeId, Time};
use wayhop_dtn::node::{DtnRouting, Record, flow_service};
use wayhop_netns::Launch;
use wayhop_scenario::{DtnPlan, Resolved};
use wayhop_sim::{bundle_books, bundle_event, contact_event};
use wayhop_trace::{BundleEvent, BundleSummary, ContactEvent, Recorder};

use super::records::{RecordFolder, each_line, launch};
use crate::error::Error;

/// In the run directory: what agents wrote down.
const RECORDS: &str = "bundles";
/// Seconds from 1970 to 2000, with which agents' clocks begin.
const DTN_EPOCH_S: u64 = 946_684_800;

/// The agents of a run.
pub(crate) struct Agents {
    /// Where their configurations, stores and records are.
    folder: RecordFolder,
    plan: DtnPlan,
    names: Vec<String>,
}

/// What agents have written down.
#[derive(Default)]
struct AgentRows {
    bundles: Vec<BundleEvent>,
    contacts: Vec<ContactEvent>,
}

impl Agents {
    /// Those of a scenario; `launches` gets how each is started. Their records go into the run directory.
    pub(crate) fn new(
        scenario: &Resolved,
        run: Option<&Path>,
        launches: &mut Vec<Launch>,
    ) -> Result<Option<Self>, Error> {
        let Some(plan) = scenario.dtn.clone() else { return Ok(None) };
        let folder = RecordFolder::create(run, RECORDS)?;
        let program = std::env::current_exe().map_err(Error::run)?;
        let agents = Self { plan, names: scenario.names.clone(), folder };
        for node in &agents.plan.nodes {
            let file = agents.file(*node, "toml");
            let text = toml::to_string(&agents.config(*node)).map_err(Error::run)?;
            fs::write(&file, text)
                .map_err(|e| Error::Run(format!("cannot write {}: {e}", file.display())))?;
            let words = [program.as_os_str(), "bundle".as_ref(), "agent".as_ref(), file.as_os_str()];
            launches.push(launch(*node, words.map(ToOwned::to_owned).to_vec(), agents.file(*node, "log")));
        }
        Ok(Some(agents))
    }

    fn file(&self, node: NodeId, kind: &str) -> PathBuf {
        self.folder.file(&self.names[node.index()], kind)
    }

    /// The configuration of a node's agent.
    fn config(&self, node: NodeId) -> Table {
        let plan = &self.plan;
        let path = |kind: &str| Value::from(self.file(node, kind).to_string_lossy().into_owned());
        let mut t = Table::new();
        let mut set = |key: &str, value: Value| drop(t.insert(key.to_owned(), value));
        set("node", DtnPlan::endpoint(node).to_string().into());
        set("store", path("store"));
        set("record", path("jsonl"));
        set("users", "all".into());
        set("store_bytes", Value::from(plan.store_bytes as i64));
        set("layer", plan.convergence.name().into());
        set("layers", Value::Array(vec![plan.convergence.name().into()]));
        set("routing", plan.routing.name().into());
        set("copies", i64::from(plan.copies).into());
        if plan.routing == DtnRouting::Static {
            set("routes", Value::Array(plan.routes_of(node).into_iter().map(Value::from).collect()));
        }
        if let Some(n) = plan.fragment_bytes {
            set("fragment_bytes", Value::from(n as i64));
        }
        set("rate_bps", plan.rate_bps.into());
        set("beacon_s", plan.beacon.as_secs_f64().into());
        set("silence_s", plan.silence.as_secs_f64().into());
        let flows = || (0..).zip(&plan.flows);
        let source = |(k, f): (u32, &wayhop_scenario::BundleFlowPlan)| {
            let mut s = Table::new();
            s.insert("service".into(), flow_service(k).into());
            s.insert(
                "destination".into(),
                DtnPlan::endpoint(f.dst).service(&flow_service(k)).to_string().into(),
            );
            s.insert("start_s".into(), f.series.start.as_secs_f64().into());
            f.series.stop.map(|stop| s.insert("stop_s".into(), stop.as_secs_f64().into()));
            s.insert("size_bytes".into(), Value::from(f.series.size_bytes as i64));
            s.insert("interval_s".into(), f.series.interval.as_secs_f64().into());
            s.insert("lifetime_s".into(), f.series.lifetime.as_secs_f64().into());
            s.insert("custody".into(), f.series.custody.into());
            f.series.max_bundles.map(|most| s.insert("max_bundles".into(), Value::from(most as i64)));
            Value::Table(s)
        };
        set("sources", Value::Array(flows().filter(|(_, f)| f.src == node).map(source).collect()));
        let sinks = flows().filter(|(_, f)| f.dst == node).map(|(k, _)| Value::from(flow_service(k)));
        set("sinks", Value::Array(sinks.collect()));
        t
    }

    /// Reads what they wrote, into the run's tables and sums. `start`: when the run began, nanoseconds since 1970.
    pub(crate) fn finish(self, start: u64, end: Time, recorder: &mut Recorder) -> BundleSummary {
        let start = start.saturating_sub(DTN_EPOCH_S * 1_000_000_000);
        let mut rows = AgentRows::default();
        for node in &self.plan.nodes {
            read(&self.file(*node, "jsonl"), *node, start, end, &mut rows);
        }
        rows.bundles.sort_by_key(|e| (e.time, e.kind, e.node));
        rows.contacts.sort_by_key(|c| (c.time, c.node));
        let mut books = bundle_books(&self.plan);
        for e in &rows.bundles {
            books.add(e);
            recorder.bundle(e);
        }
        for c in &rows.contacts {
            books.add_contact(c);
            recorder.contact(c);
        }
        // A reader does not need stores and configurations.
        for node in &self.plan.nodes {
            let _ = fs::remove_file(self.file(*node, "store"));
        }
        books.close()
    }
}

/// Reads an agent's record; an incomplete last line is ignored.
fn read(path: &Path, node: NodeId, start: u64, end: Time, rows: &mut AgentRows) {
    let time = |at: Time| Time::from_nanos(at.as_nanos().saturating_sub(start)).min(end);
    each_line(path, |line| match serde_json::from_slice(line) {
        Ok(Record::Bundle(b)) => rows.bundles.push(bundle_event(node, time(b.at), &b)),
        Ok(Record::Contact(c)) => {
            rows.contacts.extend(contact_event(node, (time(c.from), time(c.until)), &c));
        }
        Err(_) => {}
    });
}
