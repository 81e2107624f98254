//! A rectangle divided into square cells.

use core::ops::Range;

use wayhop_core::Position;

#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    cell_m: f64,
    origin: (f64, f64),
    columns: usize,
    rows: usize,
}

/// The cells of some neighbouring columns and rows.
#[derive(Clone, Debug)]
pub(super) struct Block {
    columns: Range<usize>,
    rows: Range<usize>,
}

impl Layout {
    /// One that holds all of `places`.
    pub(super) fn over(places: &[Position], cell_m: f64) -> Self {
        let low = |f: fn(&Position) -> f64| places.iter().map(f).fold(f64::INFINITY, f64::min);
        let high = |f: fn(&Position) -> f64| places.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
        let origin = (low(|p| p.x), low(|p| p.y));
        let (width, height) = (high(|p| p.x) - origin.0, high(|p| p.y) - origin.1);
        // Never more cells than a few per station, however far apart the stations are.
        let limit = (places.len() as f64).sqrt().ceil().max(1.0) * 2.0;
        let cell_m = cell_m.max(width / limit).max(height / limit);
        let (columns, rows) = ((width / cell_m) as usize + 1, (height / cell_m) as usize + 1);
        Self { cell_m, origin, columns, rows }
    }

    /// The same rectangle in cells of at least this side, metres.
    pub(super) fn in_cells_of(&self, cell_m: f64) -> Self {
        let cell_m = cell_m.max(self.cell_m);
        let cells = |count: usize| (count as f64 * self.cell_m / cell_m) as usize + 1;
        Self { cell_m, origin: self.origin, columns: cells(self.columns), rows: cells(self.rows) }
    }

    pub(super) fn cells(&self) -> usize {
        self.columns * self.rows
    }

    fn column(&self, x: f64) -> usize {
        (((x - self.origin.0) / self.cell_m) as usize).min(self.columns - 1)
    }
    fn row(&self, y: f64) -> usize {
        (((y - self.origin.1) / self.cell_m) as usize).min(self.rows - 1)
    }
    /// The cell of a place; of one outside of the rectangle, the nearest by column and row.
    pub(super) fn cell(&self, p: Position) -> usize {
        self.row(p.y) * self.columns + self.column(p.x)
    }

    /// The cells that hold all places within `reach` metres of `at`.
    pub(super) fn around(&self, at: Position, reach: f64) -> Block {
        Block {
            columns: self.column(at.x - reach)..self.column(at.x + reach) + 1,
            rows: self.row(at.y - reach)..self.row(at.y + reach) + 1,
        }
    }

    /// A block as ranges of cells, one for each row.
    pub(super) fn rows_of(&self, block: &Block) -> impl Iterator<Item = Range<usize>> + use<> {
        let (width, columns) = (self.columns, block.columns.clone());
        block.rows.clone().map(move |row| row * width + columns.start..row * width + columns.end)
    }
}
