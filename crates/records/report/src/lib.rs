//! The output of a reproduction for people and programs: numbers next to the paper's, figures, one HTML page.
//!
//! * [`Estimate`]: a mean over seeds with its 95 % interval; [`Distribution`]: any number of values in bounded memory.
//! * [`Row`]: one published number next to ours, with the [`Source`] of ours; a [`Tally`] counts how many come near.
//! * [`Plot`], drawn as SVG, by itself or as a panel of a [`Figure`]; [`lines`], [`by_name`] and [`cdf`] draw estimates and
//!   distributions.
//! * [`Page`]: a self-contained HTML report of sections with text, rows and figures; [`Sheet`]: a smaller one with one table.
//! * [`columns`]: a table for a terminal; [`Document`]: an object of JSON that says which version wrote it.
//!
//! Nothing here knows a paper: a reproduction brings its numbers and words.

mod distribution;
mod document;
mod escape;
mod figure;
mod html;
mod numbers;
mod plot;
mod row;
mod rows;
mod ruler;
mod shapes;
mod source;
mod standalone;
mod stats;
mod style;
mod svg;
mod table;
mod tally;
mod view;

pub use distribution::{Distribution, cdf, cdf_of};
pub use document::Document;
pub use figure::{Figure, Panel};
pub use html::{Inset, Page, Section, Sheet};
pub use numbers::{plain, signed};
pub use plot::{Axis, Mark, Plot, Series, Spread};
pub use row::{Range, Row};
pub use rows::{quoted, rows_csv, rows_json, rows_text};
pub use shapes::{At, by_name, lines};
pub use source::{Source, shell_word};
pub use stats::{Estimate, FEWEST_RUNS, mean, median, percentile, standard_deviation, student_t95};
pub use table::{Table, columns};
pub use tally::Tally;
pub use view::View;
