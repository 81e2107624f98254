//! Columns described as functions of rows, and the cells of rows that wait for being written.

use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::{ColumnDescPtr, Type};

use super::encode::{EncodedChunk, Encoder, Part, Values};
use super::texts::{TextId, Texts};

pub(crate) struct Column<R: 'static> {
    pub(crate) name: &'static str,
    pub(crate) cells: Cells<R>,
    pub(crate) is_optional: bool,
}

/// Adds the cells that a column has in these rows.
type Fill<R, T> = fn(&[R], &mut Texts, &mut Values<T>);

/// What a column holds, and how to get it from rows.
pub(crate) enum Cells<R> {
    /// A number that grows or varies from row to row.
    Int64(Fill<R, i64>),
    /// A number with few different values.
    Int32(Fill<R, i32>),
    Float(Fill<R, f32>),
    Double(Fill<R, f64>),
    Text(Fill<R, TextId>),
}

/// A column: its name, its type, and its cell in a row, which is an `Option` for types that begin with `Opt`. Those of texts
/// get [`Texts`], too.
macro_rules! column {
    ($name:literal, OptText, |$row:pat_param, $texts:pat_param| $cell:expr) => {
        column!(@ $name, true, Text, |rows, texts, to| to.optional(rows.iter().map(|$row| { let $texts = &mut *texts; $cell })))
    };
    ($name:literal, Text, |$row:pat_param, $texts:pat_param| $cell:expr) => {
        column!(@ $name, false, Text, |rows, texts, to| to.required(rows.iter().map(|$row| { let $texts = &mut *texts; $cell })))
    };
    ($name:literal, OptInt64, $cell:expr) => { column!(@optional $name, Int64, $cell) };
    ($name:literal, OptInt32, $cell:expr) => { column!(@optional $name, Int32, $cell) };
    ($name:literal, OptFloat, $cell:expr) => { column!(@optional $name, Float, $cell) };
    ($name:literal, OptDouble, $cell:expr) => { column!(@optional $name, Double, $cell) };
    ($name:literal, $type:ident, $cell:expr) => {
        column!(@ $name, false, $type, |rows, _, to| to.required(rows.iter().map($cell)))
    };
    (@optional $name:literal, $type:ident, $cell:expr) => {
        column!(@ $name, true, $type, |rows, _, to| to.optional(rows.iter().map($cell)))
    };
    (@ $name:literal, $is_optional:literal, $type:ident, $fill:expr) => {
        $crate::tables::column::Column {
            name: $name,
            cells: $crate::tables::column::Cells::$type($fill),
            is_optional: $is_optional,
        }
    };
}
pub(super) use column;

impl<R> Column<R> {
    fn parquet_type(&self) -> Result<Type> {
        let physical = match self.cells {
            Cells::Int64(_) => Physical::INT64,
            Cells::Int32(_) => Physical::INT32,
            Cells::Float(_) => Physical::FLOAT,
            Cells::Double(_) => Physical::DOUBLE,
            Cells::Text(_) => Physical::BYTE_ARRAY,
        };
        Type::primitive_type_builder(self.name, physical)
            .with_repetition(if self.is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED })
            .with_logical_type((physical == Physical::BYTE_ARRAY).then_some(LogicalType::String))
            .build()
    }

    pub(super) fn waiting(&self) -> WaitingCells<R> {
        match self.cells {
            Cells::Int64(fill) => WaitingCells::Int64(fill, Values::default()),
            Cells::Int32(fill) => WaitingCells::Int32(fill, Values::default()),
            Cells::Float(fill) => WaitingCells::Float(fill, Values::default()),
            Cells::Double(fill) => WaitingCells::Double(fill, Values::default()),
            Cells::Text(fill) => WaitingCells::Text(fill, Values::default()),
        }
    }
}

/// The cells of a column that are not in the file yet, and where more come from.
pub(super) enum WaitingCells<R> {
    Int64(Fill<R, i64>, Values<i64>),
    Int32(Fill<R, i32>, Values<i32>),
    Float(Fill<R, f32>, Values<f32>),
    Double(Fill<R, f64>, Values<f64>),
    Text(Fill<R, TextId>, Values<TextId>),
}

/// Does the same with the cells of each type.
macro_rules! each_type {
    ($cells:expr, $fill:pat, $values:ident => $what:expr) => {
        match $cells {
            WaitingCells::Int64($fill, $values) => $what,
            WaitingCells::Int32($fill, $values) => $what,
            WaitingCells::Float($fill, $values) => $what,
            WaitingCells::Double($fill, $values) => $what,
            WaitingCells::Text($fill, $values) => $what,
        }
    };
}

impl<R> WaitingCells<R> {
    pub(super) fn extend(&mut self, rows: &[R], texts: &mut Texts) {
        each_type!(self, fill, values => fill(rows, texts, values));
    }

    pub(super) fn clear(&mut self) {
        each_type!(self, _, values => values.clear());
    }

    /// The cells of these rows as a column chunk.
    pub(super) fn encode(
        &self,
        about: &ColumnDescPtr,
        rows: Range<usize>,
        texts: &Texts,
        encoder: &mut Encoder,
    ) -> Result<EncodedChunk> {
        let part = Part { about, rows };
        match self {
            Self::Int64(_, values) => encoder.int64(&part, values),
            Self::Int32(_, values) => encoder.int32(&part, values),
            Self::Float(_, values) => encoder.float(&part, values),
            Self::Double(_, values) => encoder.double(&part, values),
            Self::Text(_, values) => encoder.texts(&part, values, texts),
        }
    }
}

pub(crate) fn schema<R>(table: &str, columns: &[Column<R>]) -> Result<Type> {
    let fields = columns.iter().map(|c| c.parquet_type().map(Arc::new)).collect::<Result<Vec<_>>>()?;
    Type::group_type_builder(table).with_fields(fields).build()
}
