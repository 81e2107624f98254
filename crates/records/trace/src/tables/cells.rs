//! A column of one row group, read some rows at a time.

use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::DataType;
use parquet::errors::Result;
use parquet::file::reader::RowGroupReader;

/// The cells of a column, in the order of the rows.
pub struct ColumnCells<T: DataType> {
    reader: ColumnReaderImpl<T>,
    is_optional: bool,
    levels: Vec<i16>,
    values: Vec<T::T>,
    row: usize,
    value: usize,
}

impl<T: DataType> ColumnCells<T> {
    /// Column number `at` of a row group; `None` if it is not a plain column of this type.
    pub fn of(group: &dyn RowGroupReader, at: usize) -> Result<Option<Self>> {
        let about = group.metadata().column(at).column_descr_ptr();
        let is_plain = about.max_rep_level() == 0 && about.max_def_level() <= 1;
        if about.physical_type() != T::get_physical_type() || !is_plain {
            return Ok(None);
        }
        let (levels, values) = (Vec::new(), Vec::new());
        let (reader, is_optional) = (group.get_column_reader(at)?, about.max_def_level() == 1);
        let reader = get_typed_column_reader(reader);
        Ok(Some(Self { reader, is_optional, levels, values, row: 0, value: 0 }))
    }

    /// Passes over rows.
    pub fn skip(&mut self, rows: usize) -> Result<()> {
        self.reader.skip_records(rows).map(drop)
    }

    /// Reads further rows, at most `most`. Returns how many; 0 at the end.
    pub fn fill(&mut self, most: usize) -> Result<usize> {
        (self.row, self.value) = (0, 0);
        self.levels.clear();
        self.values.clear();
        let levels = self.is_optional.then_some(&mut self.levels);
        Ok(self.reader.read_records(most, levels, None, &mut self.values)?.0)
    }

    /// The value of the next row that was read; nothing if it has none.
    pub fn next_value(&mut self) -> Option<&T::T> {
        let row = self.row;
        self.row += 1;
        if self.is_optional && self.levels.get(row) != Some(&1) {
            return None;
        }
        self.value += 1;
        self.values.get(self.value - 1)
    }
}
