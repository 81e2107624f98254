//! ns-2's own scenario files: movement as `setdest` writes it, traffic as `cbrgen` writes it, and what people write by
//! hand in their manner. Nothing of Tcl is executed; a file that needs a Tcl interpreter is refused by line and column.

mod agents;
mod export;
mod generator;
mod god;
mod interp;
mod nodes;
mod tcl;
mod tcp;
pub(crate) mod value;
mod whole;

pub use export::{ExportOptions, Exporter, Ns2Files};
pub use interp::Importer;
pub use whole::Ns2Scenario;
