//! Where in the files of an import something stands.

use crate::error::Place;

/// A place in one of the files read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) file: usize,
    pub(super) place: Place,
}
