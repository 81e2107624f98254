//! What is recorded and reported about the node: run directory, captures, logs of inputs, counters,
//! reports, events.

pub(crate) mod capture;
pub(crate) mod captures;
pub(crate) mod connections;
pub(crate) mod counters;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod inputs;
pub(crate) mod monitor;
pub(crate) mod program_flows;
pub(crate) mod run_dir;
pub(crate) mod sizes;
pub(crate) mod telemetry;
