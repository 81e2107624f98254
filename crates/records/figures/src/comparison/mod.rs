//! Columns compared figure by figure, with differences to the first one.

mod flows;
mod page;
mod rows;
mod text;

pub use page::{page, table};
pub use rows::{FigureRow, rows};
pub use text::{json, remarks, text};
