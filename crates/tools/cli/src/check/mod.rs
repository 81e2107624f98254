//! `--check` of the commands that run a scenario: every setting with its origin, and the estimated time and memory.

mod json;
mod label;
mod show;
mod subject;
mod table;
mod units;

pub(crate) use show::{estimated, rounded};
pub(crate) use subject::Check;
