//! Loop freedom, by visiting every state that a few shipping engines can get into (`docs/concepts/loop-freedom.md`).
//!
//! `checked.rs` adapts the engine to the explorer, `faults.rs` breaks it in known ways, `bounds.rs` bounds
//! the search. The tests: `holds.rs` (the shipping engine never loops), `finds.rs` (each faulty one does).

mod bounds;
mod checked;
mod faults;
mod finds;
mod holds;
mod sweep;
