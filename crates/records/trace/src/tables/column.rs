//! Columns described as functions of a row, and their encoding as Parquet.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::{ColumnPath, Type};
use rustc_hash::FxHashMap;
use wayhop_core::Addr;

pub(crate) struct Column<R: 'static> {
    pub(crate) name: &'static str,
    pub(crate) cells: Cells<R>,
}

/// What a column holds, and how to get it from a row.
pub(crate) enum Cells<R> {
    /// A number that grows or varies from row to row: delta encoded.
    Int64(fn(&R) -> i64),
    OptInt64(fn(&R) -> Option<i64>),
    /// A number with few different values: dictionary encoded.
    Int32(fn(&R) -> i32),
    OptInt32(fn(&R) -> Option<i32>),
    OptFloat(fn(&R) -> Option<f32>),
    Double(fn(&R) -> f64),
    OptDouble(fn(&R) -> Option<f64>),
    /// Text with few different values: dictionary encoded.
    Text(fn(&R, &mut Texts) -> Bytes),
    OptText(fn(&R, &mut Texts) -> Option<Bytes>),
}

/// Texts made once and shared by every row that has them.
#[derive(Default)]
pub(crate) struct Texts {
    addrs: FxHashMap<Addr, Bytes>,
}

impl Texts {
    /// The dotted form of an address.
    pub(crate) fn addr(&mut self, a: Addr) -> Bytes {
        self.addrs.entry(a).or_insert_with(|| Bytes::from(a.to_string())).clone()
    }
}

/// A text that lives as long as the program.
pub(crate) fn name(s: &'static str) -> Bytes {
    Bytes::from_static(s.as_bytes())
}

impl<R> Column<R> {
    fn parquet_type(&self) -> Result<Type> {
        let (physical, optional) = match self.cells {
            Cells::Int64(_) => (Physical::INT64, false),
            Cells::OptInt64(_) => (Physical::INT64, true),
            Cells::Int32(_) => (Physical::INT32, false),
            Cells::OptInt32(_) => (Physical::INT32, true),
            Cells::OptFloat(_) => (Physical::FLOAT, true),
            Cells::Double(_) => (Physical::DOUBLE, false),
            Cells::OptDouble(_) => (Physical::DOUBLE, true),
            Cells::Text(_) => (Physical::BYTE_ARRAY, false),
            Cells::OptText(_) => (Physical::BYTE_ARRAY, true),
        };
        Type::primitive_type_builder(self.name, physical)
            .with_repetition(if optional { Repetition::OPTIONAL } else { Repetition::REQUIRED })
            .with_logical_type((physical == Physical::BYTE_ARRAY).then_some(LogicalType::String))
            .build()
    }

    pub(crate) fn write(
        &self,
        rows: &[R],
        texts: &mut Texts,
        to: &mut SerializedColumnWriter<'_>,
    ) -> Result<()> {
        match self.cells {
            Cells::Int64(f) => required::<Int64Type>(rows.iter().map(f), to),
            Cells::OptInt64(f) => optional::<Int64Type>(rows.iter().map(f), to),
            Cells::Int32(f) => required::<Int32Type>(rows.iter().map(f), to),
            Cells::OptInt32(f) => optional::<Int32Type>(rows.iter().map(f), to),
            Cells::OptFloat(f) => optional::<FloatType>(rows.iter().map(f), to),
            Cells::Double(f) => required::<DoubleType>(rows.iter().map(f), to),
            Cells::OptDouble(f) => optional::<DoubleType>(rows.iter().map(f), to),
            Cells::Text(f) => {
                required::<ByteArrayType>(rows.iter().map(|r| ByteArray::from(f(r, texts))), to)
            }
            Cells::OptText(f) => {
                optional::<ByteArrayType>(rows.iter().map(|r| f(r, texts).map(ByteArray::from)), to)
            }
        }
    }
}

fn required<T: DataType>(
    values: impl Iterator<Item = T::T>,
    to: &mut SerializedColumnWriter<'_>,
) -> Result<()> {
    let values: Vec<T::T> = values.collect();
    to.typed::<T>().write_batch(&values, None, None)?;
    Ok(())
}

fn optional<T: DataType>(
    values: impl Iterator<Item = Option<T::T>>,
    to: &mut SerializedColumnWriter<'_>,
) -> Result<()> {
    let (low, _) = values.size_hint();
    let mut present = Vec::with_capacity(low);
    let mut levels = Vec::with_capacity(low);
    for v in values {
        levels.push(i16::from(v.is_some()));
        present.extend(v);
    }
    to.typed::<T>().write_batch(&present, Some(&levels), None)?;
    Ok(())
}

pub(crate) fn schema<R>(table: &str, columns: &[Column<R>]) -> Result<Type> {
    let fields = columns.iter().map(|c| c.parquet_type().map(Arc::new)).collect::<Result<Vec<_>>>()?;
    Type::group_type_builder(table).with_fields(fields).build()
}

/// How a table is encoded: Snappy, dictionaries for what repeats, deltas for what grows.
pub(crate) fn properties<R>(columns: &[Column<R>]) -> WriterProperties {
    let mut p = WriterProperties::builder()
        .set_created_by(format!("wayhop {}", wayhop_core::version::full()))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    for c in columns {
        let path = ColumnPath::from(c.name);
        p = match c.cells {
            Cells::Int64(_) | Cells::OptInt64(_) => p
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            Cells::OptFloat(_) | Cells::Double(_) | Cells::OptDouble(_) => {
                p.set_column_dictionary_enabled(path, false)
            }
            Cells::Int32(_) | Cells::OptInt32(_) | Cells::Text(_) | Cells::OptText(_) => p,
        };
    }
    p.build()
}
