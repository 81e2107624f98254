//! The output of a reproduction for people and programs: numbers next to the paper's, figures, one HTML page.
//!
//! * [`Estimate`]: a mean over seeds with its Student-t 95 % interval; [`Estimate::of_differences`] for paired runs,
//!   [`Estimate::of_difference`] for runs that have nothing in common; [`plain`] and [`signed`] write numbers.
//! * [`Row`]: one published number next to ours; [`rows_json`], [`rows_csv`] and [`rows_text`]
//!   write lists of them. A [`Range`] bounds its interval, a [`Source`] names the runs behind it,
//!   and a [`Tally`] counts how many come near to the paper.
//! * [`columns`]: a table for a terminal; [`Document`]: an object of JSON that says which version wrote it.
//! * [`Plot`]: points with error bars, lines, bars and rules over labelled axes, drawn as SVG; [`Plot::svg`] is a file of its own.
//! * [`Distribution`] holds any number of values in bounded memory, and [`cdf`] draws it; [`lines`] and [`by_name`] draw estimates
//!   over a scale and of things that have names. Every page and every file is drawn by these.
//! * [`Page`]: a self-contained HTML report of sections with text, rows and [`Figure`]s. It refers to nothing outside of
//!   itself, and is light or dark as the reader's system is.
//! * [`Sheet`]: a smaller page with one table of anything.
//!
//! Nothing here knows a paper: a reproduction brings its numbers and words.

mod chi_square;
mod columns;
mod distribution;
mod document;
mod escape;
mod figure;
mod figure_csv;
mod html;
mod legend;
mod notes;
mod numbers;
mod plot;
mod row;
mod rows;
mod ruler;
mod shapes;
mod sheet;
mod source;
mod standalone;
mod stats;
mod style;
mod svg;
mod table;
mod tally;
mod ties;
mod view;

pub use columns::columns;
pub use distribution::{Distribution, cdf, cdf_of};
pub use document::Document;
pub use figure::{Figure, Panel};
pub use html::{Inset, Page, Section};
pub use numbers::{plain, signed};
pub use plot::{Axis, Mark, Plot, Series, Spread};
pub use row::{Range, Row};
pub use rows::{rows_csv, rows_json, rows_text};
pub use shapes::{At, by_name, lines};
pub use sheet::Sheet;
pub use source::Source;
pub use stats::{Estimate, FEWEST_RUNS, mean, percentile, standard_deviation, student_t95};
pub use table::Table;
pub use tally::Tally;
pub use view::View;
