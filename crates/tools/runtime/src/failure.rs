//! Failures on their way to Python.

use std::any::Any;

use pyo3::PyErr;

pyo3::create_exception!(
    wayhop_runtime,
    Failure,
    pyo3::exceptions::PyException,
    "Exit code and messages of the command with this failure; the package makes its own exceptions of them."
);

/// Why something was not done.
pub(crate) enum Cause {
    /// Invalid input: a line for each problem.
    Input(Vec<String>),
    /// Valid input, but a failure.
    Run(String),
    /// An exception of Python, such as an interrupt.
    Python(PyErr),
}

impl Cause {
    pub(crate) fn input(what: impl Into<String>) -> Self {
        Self::Input(vec![what.into()])
    }

    /// A panic, which is a defect. Its place is on standard error.
    pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Self::defect(text)
    }

    pub(crate) fn defect(what: &str) -> Self {
        Self::Run(format!("bug in Wayhop, please report it with the scenario: {what}"))
    }
}

impl From<wayhop_document::Error> for Cause {
    fn from(e: wayhop_document::Error) -> Self {
        Self::Input(e.lines())
    }
}

impl From<Cause> for PyErr {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Input(lines) => Failure::new_err((2, lines)),
            Cause::Run(line) => Failure::new_err((1, vec![line])),
            Cause::Python(e) => e,
        }
    }
}
