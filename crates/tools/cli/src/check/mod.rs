//! `--check` of the commands that run a scenario: every setting with its origin, and the estimated time and memory.

mod json;
mod label;
mod show;
mod subject;
mod table;

pub(crate) use show::rounded;
pub(crate) use subject::Check;
