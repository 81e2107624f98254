//! The simulator as a module of Python, stepped from outside.
//!
//! `engine` is the class that Python sees; `run` a run under way; `counts` what agents may know of it. Python's
//! package `wayhop` wraps the class in `wayhop.Simulation`, which is documented and checks its arguments: nothing else
//! should use it.

mod counts;
mod engine;
mod failure;
mod run;

/// The module.
#[pyo3::pymodule]
mod wayhop_runtime {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::engine::Engine;
    #[pymodule_export]
    use crate::failure::Failure;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", wayhop_core::version::RELEASE)
    }
}
