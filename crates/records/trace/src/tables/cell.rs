//! Cells of a row, by the names of their columns.

use std::str::FromStr;

use parquet::record::{Field, Row};
use wayhop_core::{NodeId, Time};

/// What a row has in a column; `None` for null, for another type, or if it has no such column.
pub(crate) trait Cell {
    fn field(&self, column: &str) -> Option<&Field>;

    fn text(&self, column: &str) -> Option<&str> {
        match self.field(column)? {
            Field::Str(s) => Some(s),
            _ => None,
        }
    }
    /// A text that stands for something else; `None` also if it does not.
    fn parsed<T: FromStr>(&self, column: &str) -> Option<T> {
        self.text(column)?.parse().ok()
    }
    fn number(&self, column: &str) -> Option<i64> {
        match *self.field(column)? {
            Field::Int(v) => Some(v.into()),
            Field::Long(v) => Some(v),
            _ => None,
        }
    }
    /// A number within the type; `None` also for one that is not.
    fn int<T: TryFrom<i64>>(&self, column: &str) -> Option<T> {
        T::try_from(self.number(column)?).ok()
    }
    /// As [`Cell::int`], but an error for a number that is not within the type.
    fn optional<T: TryFrom<i64>>(&self, column: &str) -> Result<Option<T>, T::Error> {
        self.number(column).map(T::try_from).transpose()
    }
    fn time(&self, column: &str) -> Option<Time> {
        self.int(column).map(Time::from_nanos)
    }
    fn node(&self, column: &str) -> Option<NodeId> {
        self.int(column).map(NodeId)
    }
    fn float(&self, column: &str) -> Option<f64> {
        match *self.field(column)? {
            Field::Float(v) => Some(v.into()),
            Field::Double(v) => Some(v),
            _ => None,
        }
    }
    fn decibels(&self, column: &str) -> Option<f64> {
        match self.field(column)? {
            // Shown as it is written: a float has seven digits.
            Field::Float(v) => v.to_string().parse().ok(),
            _ => self.float(column),
        }
    }
}

impl Cell for Row {
    fn field(&self, column: &str) -> Option<&Field> {
        self.get_column_iter().find(|(name, _)| name.as_str() == column).map(|(_, f)| f)
    }
}
