//! Many runs: `wayhop sweep`.
//!
//! A [`Plan`] names a scenario and what is varied in it. [`Plan::runs`] is the matrix, one [`PlannedRun`] for
//! each combination; [`Store`] is the file with one line of JSON per finished run; [`go`] runs the rest on
//! all cores; [`Results`] computes means with 95 % intervals and paired differences.
//!
//! A run is identified by everything that its result depends on: after a change of the scenario, of
//! a file that it names or of a value of the plan, only the affected runs are repeated.

mod archive;
mod arguments;
mod changes;
mod chart;
mod chunk;
mod chunk_files;
mod error;
mod execute;
mod figures;
mod files;
mod folders;
mod libraries;
mod lines;
mod matrix;
mod owner;
mod plan;
mod prepared;
mod quantity;
mod results;
mod store;
mod tables;
mod work;

pub use archive::{Provenance, made};
pub use changes::Changes;
pub use chart::{Chart, ChartRequest, chart};
pub use chunk::{Chunk, ChunkOutcome, ChunkOutput, run_chunk};
pub use error::SweepError;
pub use execute::go;
pub use figures::totals;
pub use matrix::PlannedRun;
pub use owner::{continues, is_sweep};
pub use plan::{Axis, LabelledValue, Plan, SeedRange, Seeds, Sweep, reference_markdown};
pub use prepared::{DueRuns, Prepared, SweepOutcome};
pub use quantity::{axis_in_words, capitalised, figure_in_words};
pub use results::{AxisDifference, Cell, Results};
pub use store::Store;
pub use tables::{differences_csv, json, table_csv, text};
