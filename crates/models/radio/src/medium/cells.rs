//! Numbers by the place of what they stand for.

use wayhop_core::Position;

use super::layout::Layout;

/// For each cell a list of numbers, all threaded through one array.
#[derive(Debug, Default)]
pub(super) struct Cells {
    layout: Layout,
    /// By cell, the first number of its list.
    heads: Vec<u32>,
    /// By number, the next one of the same cell.
    next: Vec<u32>,
}

/// The end of a list.
const END: u32 = u32::MAX;
/// An area of no more cells is one cell: to look at all takes less time than to find out which of them are near.
const FEW: usize = 4;

impl Cells {
    /// Empties it, and divides the area again.
    pub(super) fn clear(&mut self, layout: Layout) {
        let cells = if layout.cells() <= FEW { 1 } else { layout.cells() };
        self.heads.clear();
        self.heads.resize(cells, END);
        self.layout = layout;
    }

    fn cell(&self, at: Position) -> usize {
        if self.heads.len() == 1 { 0 } else { self.layout.cell(at) }
    }

    /// Adds a number that is not in it. Does nothing before the first [`Cells::clear`].
    pub(super) fn put(&mut self, number: u32, at: Position) {
        if self.heads.is_empty() {
            return;
        }
        let needed = number as usize + 1;
        if self.next.len() < needed {
            self.next.resize(needed, END);
        }
        let cell = self.cell(at);
        let head = &mut self.heads[cell];
        self.next[number as usize] = std::mem::replace(head, number);
    }

    /// Takes a number out, if it is in the cell of this place.
    pub(super) fn remove(&mut self, number: u32, at: Position) {
        // As long as the array is too short for it, it was never put in.
        if self.heads.is_empty() || self.next.len() <= number as usize {
            return;
        }
        let (after, cell) = (self.next[number as usize], self.cell(at));
        let mut before = self.heads[cell];
        if before == number {
            self.heads[cell] = after;
            return;
        }
        while before != END {
            let next = self.next[before as usize];
            if next == number {
                self.next[before as usize] = after;
                return;
            }
            before = next;
        }
    }

    /// Calls `found` with each number in the cells around a place, some of which are farther away than `reach` metres.
    pub(super) fn around(&self, at: Position, reach: f64, mut found: impl FnMut(u32)) {
        if self.heads.len() <= 1 {
            return self.heads.iter().for_each(|head| self.list(*head, &mut found));
        }
        for row in self.layout.rows_of(&self.layout.around(at, reach)) {
            for &head in &self.heads[row] {
                self.list(head, &mut found);
            }
        }
    }

    #[inline]
    fn list(&self, head: u32, found: &mut impl FnMut(u32)) {
        let mut number = head;
        while number != END {
            found(number);
            number = self.next[number as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wayhop_core::{Purpose, stream};

    use super::*;

    #[test]
    fn it_finds_what_was_put_in_and_not_taken_out() {
        let mut r = stream(3, Purpose::Mobility, 0);
        let mut place = |size: f64| Position::new(r.range(-size, size), r.range(0.0, size), 0.0);
        let places: Vec<Position> = (0..200).map(|_| place(3000.0)).collect();
        for cell_m in [100.0, 700.0, 1e5] {
            let mut cells = Cells::default();
            cells.put(7, places[0]);
            cells.clear(Layout::over(&places, 50.0).in_cells_of(cell_m));
            let mut held = BTreeMap::new();
            for step in 0..2_000u32 {
                let number = step * 37 % 150;
                if let Some(at) = held.remove(&number) {
                    cells.remove(number, at);
                } else {
                    // Some lie outside of the rectangle.
                    let at = place(4000.0);
                    cells.put(number, at);
                    held.insert(number, at);
                }
                let (here, mut found) = (place(4000.0), Vec::new());
                cells.around(here, 500.0, |n| found.push(n));
                for (number, at) in &held {
                    let times = found.iter().filter(|n| *n == number).count();
                    assert!(times == 1 || times == 0 && at.distance(here) > 500.0, "{number} {times} times");
                }
                assert!(found.iter().all(|n| held.contains_key(n)));
            }
        }
    }
}
