//! Many runs: `wayhop sweep`.
//!
//! A [`Plan`] names a scenario and what is varied in it. [`Plan::runs`] is the matrix, one [`PlannedRun`] for each
//! combination; [`Store`] is the file that takes one line of JSON a run and knows which are done; [`go`] does the rest on
//! all cores; [`Results`] sums up with 95 % intervals and paired differences.
//!
//! A run is known by everything that its result depends on: change the scenario, a file that it names or a value of the
//! plan, and those runs that it concerns are made again, and no others.

mod archive;
mod arguments;
mod changes;
mod chart;
mod error;
mod execute;
mod figures;
mod files;
mod folders;
mod made;
mod matrix;
mod owner;
mod plan;
mod quantity;
mod results;
mod store;
mod survey;
mod tables;
mod work;
mod written;

pub use changes::Changes;
pub use chart::{Chart, ChartRequest, chart};
pub use error::SweepError;
pub use execute::{SweepOutcome, go};
pub use figures::totals;
pub use made::{Provenance, made};
pub use matrix::PlannedRun;
pub use owner::is_sweep;
pub use plan::{Axis, LabelledValue, Plan, SeedRange, Seeds, Sweep, reference_markdown};
pub use quantity::{axis_in_words, capitalised, figure_in_words};
pub use results::{AxisDifference, Cell, Results};
pub use store::{Store, StoreError};
pub use survey::DueRuns;
pub use tables::{differences_csv, json, table_csv, text};
pub use written::continues;
