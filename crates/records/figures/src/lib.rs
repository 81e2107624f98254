//! The figures of runs, for pages and for files of their own.
//!
//! * [`Column`]: a run, or the runs of a folder that differ only in their seeds.
//! * [`Traffic`]: the fates of a run's packets, from tables of any size.
//! * [`Runs`]: runs side by side with their tables; [`Runs::figure`] draws a [`FigureKind`] of figure
//!   from them.
//! * [`comparison`]: their figures side by side, with differences.
//! * [`methods`]: how the runs were produced, in sentences, from their manifests.

mod column;
pub mod comparison;
mod draw;
mod kind;
mod methods;
mod mixture;
mod over_time;
pub mod picture;
mod runs;
mod senders;
mod sequence;
mod shares;
mod times;
mod traffic;
mod words;

pub use column::{Column, ColumnRun, tell_apart};
pub use kind::FigureKind;
pub use methods::{methods, world_in_words};
pub use runs::{Choices, Runs};
pub use traffic::Traffic;
