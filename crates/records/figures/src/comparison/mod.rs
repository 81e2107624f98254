//! Columns compared figure by figure, with differences to the first one.

mod flows;
mod rows;

pub use rows::{Difference, Row, common_flows, rows, totals};
