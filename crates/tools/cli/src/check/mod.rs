//! `--check` of the commands that run a scenario: what would run, where each value comes from, and what it would take.

mod json;
mod label;
mod show;
mod subject;
mod table;
mod units;

pub(crate) use show::{estimated, rounded};
pub(crate) use subject::Check;
