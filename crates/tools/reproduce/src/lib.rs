//! Published experiments, run again: `wayhop reproduce`.
//!
//! Each paper has a module with its scenarios, its numbers as data, and one file per artefact with the
//! derivation of its numbers from a run. [`cmu`] is Maltz, Broch and Johnson's testbed, [`das`] Desilva and
//! Das's, [`pran`] the system of Saha and others, [`holland_vaidya`] a study of TCP by simulation,
//! [`meshtest`] UDP and TCP between radios at a matrix of attenuators, [`mule`] a data MULE and the routings
//! of delay-tolerant networks. A reproduction is a list of runs ([`wayhop_runs::jobs`] spreads them over the
//! cores) and what they show: [`wayhop_report::Row`]s and a [`wayhop_report::Page`].

pub mod cmu;
pub mod das;
pub mod holland_vaidya;
pub mod meshtest;
pub mod mule;
mod outcome;
mod plan;
#[cfg(feature = "linux")]
pub mod pran;
mod simulate;
mod table;
#[cfg(test)]
mod testing;

pub use outcome::Outcome;
pub use plan::{Options, Plan};
pub use simulate::{Ready, RunError, Runs};
