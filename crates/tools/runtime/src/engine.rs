//! The class that Python sees.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};
use wayhop_core::Time;

use crate::counts::{LinkCounts, NodeCounts};
use crate::failure::Cause;
use crate::run::Run;

/// A simulation that is run step by step. Other threads of Python go on meanwhile.
#[pyclass(frozen, module = "wayhop_runtime")]
pub(crate) struct Engine {
    /// `None` when it was finished, or failed.
    run: Mutex<Option<Run>>,
}

impl Engine {
    /// Does something with the run, without Python's lock. A panic ends the run.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Option<Run>) -> Result<R, Cause> + Send,
    ) -> PyResult<R> {
        let outcome = py.detach(|| {
            let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
            let outcome = guarded(|| f(&mut run));
            if let Err(Caught::Panic(_)) = &outcome {
                *run = None;
            }
            outcome
        });
        Ok(outcome.map_err(Caught::cause)?)
    }

    /// Does something with a run that is not finished.
    fn with_run<R: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Run) -> Result<R, Cause> + Send,
    ) -> PyResult<R> {
        self.with(py, |run| f(run.as_mut().ok_or_else(finished)?))
    }
}

/// Why something guarded did not come to its end.
enum Caught {
    Cause(Cause),
    Panic(Cause),
}

impl Caught {
    fn cause(self) -> Cause {
        let (Self::Cause(cause) | Self::Panic(cause)) = self;
        cause
    }
}

/// Lets no panic through.
fn guarded<R>(f: impl FnOnce() -> Result<R, Cause>) -> Result<R, Caught> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(outcome) => outcome.map_err(Caught::Cause),
        Err(panic) => Err(Caught::Panic(Cause::of_panic(&*panic))),
    }
}

fn finished() -> Cause {
    Cause::input("the run is finished; create another one")
}

#[pymethods]
impl Engine {
    #[new]
    fn new(py: Python<'_>, scenario: PathBuf, sets: Vec<String>) -> PyResult<Self> {
        let run = py.detach(move || guarded(|| Run::new(&scenario, &sets)));
        Ok(Self { run: Mutex::new(Some(run.map_err(Caught::cause)?)) })
    }

    /// What does not change, as JSON.
    fn facts(&self, py: Python<'_>) -> PyResult<String> {
        self.with_run(py, |run| {
            let r = &run.resolved;
            let flows: Vec<Value> = r
                .flows
                .iter()
                .map(|f| json!({ "src": f.src.0, "dst": if f.is_to_all() { None } else { Some(f.dst.0) } }))
                .collect();
            let facts = json!({
                "name": r.name,
                "seed": r.seed,
                "duration_ns": r.duration.as_nanos(),
                "area_m": r.area,
                "nodes": r.names,
                "flows": flows,
                "protocol": r.protocol.name(),
                "parameters": r.protocol.values(),
                "warnings": r.warnings,
            });
            Ok(facts.to_string())
        })
    }

    /// Runs to this time, in nanoseconds of simulated time, or to the end. Returns whether that is reached.
    fn run_until(&self, py: Python<'_>, time_ns: u64) -> PyResult<bool> {
        self.with_run(py, |run| {
            let mut interrupt = None;
            let mut watch = |_: Time| {
                interrupt = Python::attach(|py| py.check_signals().err());
                if interrupt.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            run.run_until(Time::from_nanos(time_ns), &mut watch)?;
            interrupt.map_or_else(|| Ok(run.is_over()), |e| Err(Cause::Python(e)))
        })
    }

    /// The state of nodes and links, and what happened since the last call: arrays of the machine's byte order, as bytes.
    fn observe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (time_ns, arrays) = self.with_run(py, |run| Ok(observed(run)))?;
        let out = PyDict::new(py);
        out.set_item("time_ns", time_ns)?;
        for (name, bytes) in arrays {
            out.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok(out)
    }

    /// Gives a node other values of parameters: a JSON object.
    fn set_parameters(&self, py: Python<'_>, node: u32, json: &str) -> PyResult<()> {
        self.with_run(py, |run| match serde_json::from_str(json) {
            Ok(changes) => run.set_parameters(node, changes),
            Err(e) => Err(Cause::input(format!("not a JSON object: {e}; give an object of parameters"))),
        })
    }

    /// Replaces a node's routes: pairs of destination and next hop.
    fn set_routes(&self, py: Python<'_>, node: u32, routes: Vec<(u32, u32)>) -> PyResult<()> {
        self.with_run(py, |run| run.set_routes(node, routes))
    }

    /// Ends the run, and returns its summary as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |run| run.take().ok_or_else(finished)?.finish())
    }
}

type Arrays = Vec<(&'static str, Vec<u8>)>;

/// The time, and arrays by name.
fn observed(run: &mut Run) -> (u64, Arrays) {
    let simulation = &mut run.simulation;
    let nodes = 0..simulation.nodes();
    let position = |node| {
        let p = simulation.position(node);
        [p.x, p.y, p.z]
    };
    let positions = bytes(nodes.clone().flat_map(position), f64::to_ne_bytes);
    let up = nodes.clone().map(|node| u8::from(simulation.is_up(node))).collect();
    let queued = bytes(nodes.map(|node| simulation.queued(node)), u32::to_ne_bytes);
    let mut counts = run.counts.lock();
    let links = || counts.links.iter();
    let of = |f: fn(&NodeCounts) -> u32| bytes(counts.nodes.iter().map(f), u32::to_ne_bytes);
    let heard = |l: &LinkCounts| l.heard.map_or(-1, |t| t.as_nanos() as i64);
    let arrays = vec![
        ("position_m", positions),
        ("up", up),
        ("queued", queued),
        ("sent", of(|n| n.sent)),
        ("delivered", of(|n| n.delivered)),
        ("dropped", of(|n| n.dropped)),
        ("routing_packets", of(|n| n.routing_packets)),
        ("transmissions", of(|n| n.transmissions)),
        ("delay_s", bytes(counts.nodes.iter().map(|n| n.delay_s), f64::to_ne_bytes)),
        ("attempts", bytes(links().map(|l| l.attempts), u32::to_ne_bytes)),
        ("arrivals", bytes(links().map(|l| l.arrivals), u32::to_ne_bytes)),
        ("heard_ns", bytes(links().map(heard), i64::to_ne_bytes)),
        ("signal_dbm", bytes(links().map(|l| l.signal_dbm), f32::to_ne_bytes)),
    ];
    counts.begin_step();
    (run.simulation.now().as_nanos(), arrays)
}

fn bytes<T, const N: usize>(values: impl Iterator<Item = T>, octets: fn(T) -> [u8; N]) -> Vec<u8> {
    values.flat_map(octets).collect()
}
