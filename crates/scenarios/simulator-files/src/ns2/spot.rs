//! The position of something in the files of an import.

use wayhop_document::LineColumn;

/// A place in one of the files read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) file: usize,
    pub(super) place: LineColumn,
}
