//! What the editor is opened with.

use std::path::PathBuf;

/// What is edited, and what runs it.
#[derive(Clone, Debug)]
pub struct Editing {
    /// The scenario's file; it need not be there yet.
    pub scenario: PathBuf,
    /// The folder that its runs go to.
    pub runs: PathBuf,
    /// The program whose `run`, `emulate`, `lab` and `export` the page asks for: this one.
    pub program: PathBuf,
}
